//! The way to a server's process and back: messages as lines, on pipes.
//!
//! The SDK speaks over it ([`Lines`]). Calls do as well, past the SDK: what it does for a request takes longer than a small
//! call. The first call of a connection is the SDK's all the same, and all others carry the same `_meta`, so what a
//! request has to say of its sender is written down once.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use bytes::{Buf as _, BytesMut};
use rmcp::{
    ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, NumberOrString, RequestId,
        ServerJsonRpcMessage, ServerResult,
    },
    service::{RxJsonRpcMessage, ServiceError, TxJsonRpcMessage},
    transport::Transport,
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;
use tokio::{net::unix::pipe, sync::oneshot, time::Instant};

use super::{
    MESSAGE_LIMIT,
    stdio::Log,
    unread::{self, Answer},
};
use crate::{
    lines::{Line, LineReader, refusal},
    object::Object,
};

/// Where the ids of calls begin; the SDK's own count from zero, and never get here.
const FIRST: i64 = 1_000_000_000;
/// How much may wait for a server that does not read. One message more than that is always taken, if none waits.
const UNWRITTEN: usize = 32 << 20;
/// A server that has not read for so long will not.
const STANDSTILL: Duration = Duration::from_secs(60);
const PROGRESS_TOKEN: &str = "progressToken";

/// Writes, and knows who waits for what.
pub(crate) struct Wire {
    /// `None` once it is closed.
    pipe: Mutex<Option<Arc<pipe::Sender>>>,
    /// Bytes that are not written yet, whole lines of them. Std locks, held for a write that does not wait.
    unwritten: Mutex<BytesMut>,
    /// When the pipe last took something, or had nothing to take.
    moved: Mutex<Instant>,
    waiting: Mutex<HashMap<i64, oneshot::Sender<Answered>>>,
    next: AtomicI64,
    /// What a call says beside its name and arguments, written down already.
    meta: OnceLock<Vec<(String, Box<RawValue>)>>,
    /// Whether the server asks back. Since 2026-07-28 the SDK passes on only what is asked during its own requests.
    asks: AtomicBool,
    /// Whether a task writes what the pipe did not take.
    is_writing: AtomicBool,
}

type Answered = Result<ServerResult, ServiceError>;

/// A call that is on its way. Dropped, nobody waits for its answer.
pub(crate) struct Sent {
    wire: Arc<Wire>,
    number: i64,
    answer: oneshot::Receiver<Answered>,
}

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'a str,
    id: i64,
    method: &'a str,
    params: Params<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
    #[serde(flatten)]
    call: &'a CallToolRequestParams,
}

struct Meta<'a> {
    token: i64,
    rest: &'a [(String, Box<RawValue>)],
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(PROGRESS_TOKEN, &self.token)?;
        for (key, value) in self.rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Wire {
    fn new(pipe: pipe::Sender) -> Self {
        Self {
            pipe: Mutex::new(Some(Arc::new(pipe))),
            unwritten: Mutex::default(),
            moved: Mutex::new(Instant::now()),
            waiting: Mutex::default(),
            next: AtomicI64::new(FIRST),
            meta: OnceLock::new(),
            asks: AtomicBool::new(false),
            is_writing: AtomicBool::new(false),
        }
    }

    /// Sends a call; `None` while it is not known what a call has to say.
    pub(crate) fn call(self: &Arc<Self>, call: &CallToolRequestParams) -> Option<Result<Sent, ServiceError>> {
        let rest = self.meta.get().filter(|_| !self.asks.load(Ordering::Relaxed))?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let params = Params { meta: Meta { token: number, rest }, call };
        let request = Request { jsonrpc: "2.0", id: number, method: "tools/call", params };
        let line = serde_json::to_vec(&request).ok()?;
        if let Err(error) = self.has_room(line.len()) {
            return Some(Err(error));
        }
        let (tell, answer) = oneshot::channel();
        self.waiting().insert(number, tell);
        let sent = Sent { wire: Arc::clone(self), number, answer };
        Some(match self.begin(&line) {
            Ok(()) => Ok(sent),
            Err(_) => {
                self.close();
                Err(ServiceError::TransportClosed)
            }
        })
    }

    /// A server that does not read keeps nobody waiting, and does not fill our memory. One that has not read for long is
    /// given up, so that it is started again.
    fn has_room(&self, more: usize) -> Result<(), ServiceError> {
        let waiting = self.unwritten().len();
        if waiting == 0 || waiting + more <= UNWRITTEN {
            return Ok(());
        }
        if self.moved().elapsed() > STANDSTILL {
            self.close();
            return Err(ServiceError::TransportClosed);
        }
        let message = format!("it does not read what it is sent, and {} MiB wait for it", waiting >> 20);
        Err(ServiceError::McpError(ErrorData::internal_error(message, None)))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe().is_some()
    }

    /// Writes a line, for somebody who may go away before all of it is written.
    fn begin(self: &Arc<Self>, line: &[u8]) -> io::Result<()> {
        let pipe = self.queue(line)?;
        if !self.write_some(&pipe)? && !self.is_writing.swap(true, Ordering::AcqRel) {
            let wire = Arc::clone(self);
            tokio::spawn(async move {
                let written = wire.write_all(&pipe).await;
                wire.is_writing.store(false, Ordering::Release);
                // What came between the last write and the word that nobody writes any more.
                if written.is_err() || wire.write_all(&pipe).await.is_err() {
                    wire.close();
                }
            });
        }
        Ok(())
    }

    /// Puts a line after those that are not written yet.
    fn queue(&self, line: &[u8]) -> io::Result<Arc<pipe::Sender>> {
        let pipe = self.pipe().clone().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        let mut unwritten = self.unwritten();
        if unwritten.is_empty() {
            *self.moved() = Instant::now();
        }
        unwritten.extend_from_slice(line);
        unwritten.extend_from_slice(b"\n");
        Ok(pipe)
    }

    async fn write_all(&self, pipe: &pipe::Sender) -> io::Result<()> {
        while !self.write_some(pipe)? {
            pipe.writable().await?;
        }
        Ok(())
    }

    /// Writes what the pipe takes; tells whether that was all.
    fn write_some(&self, pipe: &pipe::Sender) -> io::Result<bool> {
        let mut unwritten = self.unwritten();
        while !unwritten.is_empty() {
            match pipe.try_write(&unwritten) {
                Ok(written) => {
                    unwritten.advance(written);
                    *self.moved() = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Takes from the SDK's own first call what all calls say.
    fn learn(&self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(request) = message else { return };
        if self.meta.get().is_some() || !matches!(request.request, ClientRequest::CallToolRequest(_)) {
            return;
        }
        let meta = serde_json::to_value(message).ok().and_then(|message| {
            let mut meta = message["params"]["_meta"].as_object().cloned()?;
            // Without one it is not understood how they are made.
            meta.remove(PROGRESS_TOKEN)?;
            let written = |(key, value)| Some((key, serde_json::value::to_raw_value(&value).ok()?));
            meta.into_iter().map(written).collect::<Option<Vec<_>>>()
        });
        if let Some(meta) = meta {
            let _ = self.meta.set(meta);
        }
    }

    /// Hands an answer to the call that waits for it; tells whether the line was one.
    fn settle(&self, line: &[u8]) -> bool {
        if self.waiting().is_empty() {
            return false;
        }
        let Ok(Object(answer)) = serde_json::from_slice::<Object<Answer<'_>>>(line) else { return false };
        if answer.method.is_some() {
            return false;
        }
        let Some(tell) = self.awaited(&answer.id) else { return false };
        // Whoever waited may have gone; and whatever the answer is, there will be no other.
        let _ = tell.send(answer.read().map_err(ServiceError::McpError));
        true
    }

    /// Whoever waits for the answer to a call past the SDK.
    fn awaited(&self, id: &RequestId) -> Option<oneshot::Sender<Answered>> {
        unread::number(id).and_then(|number| self.waiting().remove(&number))
    }

    /// What is to be said to the SDK of a line that is no message. A call past the SDK is told here.
    fn unread(&self, line: &[u8]) -> Unread {
        let Some((id, read)) = unread::answer(line) else { return Unread::NoAnswer };
        if let Some(tell) = self.awaited(&id) {
            let _ = tell.send(read.map_err(ServiceError::McpError));
            return Unread::Settled;
        }
        Unread::ForSdk(Box::new(match read {
            Ok(result) => ServerJsonRpcMessage::response(result, id),
            Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
        }))
    }

    fn close(&self) {
        self.pipe().take();
        // Nobody writes it any more; whoever tries to finds the pipe gone.
        *self.unwritten() = BytesMut::new();
        self.waiting().clear();
    }

    fn pipe(&self) -> MutexGuard<'_, Option<Arc<pipe::Sender>>> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moved(&self) -> MutexGuard<'_, Instant> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritten(&self) -> MutexGuard<'_, BytesMut> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Answered>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of a line that is no message.
enum Unread {
    Settled,
    /// An answer that was mended, or an error in its place.
    ForSdk(Box<ServerJsonRpcMessage>),
    NoAnswer,
}

impl Sent {
    pub(crate) fn id(&self) -> RequestId {
        NumberOrString::Number(self.number)
    }

    pub(crate) async fn answer(&mut self) -> Answered {
        // The connection is gone, and whoever would have told with it.
        (&mut self.answer).await.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.wire.waiting().remove(&self.number);
    }
}

/// The SDK's side of it.
pub(crate) struct Lines {
    lines: LineReader<pipe::Receiver>,
    wire: Arc<Wire>,
    log: Log,
}

impl Lines {
    pub(crate) fn new(read: pipe::Receiver, write: pipe::Sender, log: Log) -> Self {
        Self { lines: LineReader::new(read, MESSAGE_LIMIT), wire: Arc::new(Wire::new(write)), log }
    }

    pub(crate) fn wire(&self) -> Arc<Wire> {
        Arc::clone(&self.wire)
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.wire.learn(&item);
        let (wire, line) = (Arc::clone(&self.wire), serde_json::to_vec(&item));
        async move {
            let pipe = wire.queue(&line?)?;
            wire.write_all(&pipe).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Line::Whole => {}
                Line::End => break,
                Line::TooLong => {
                    // A line that is dropped would leave its call waiting for ever.
                    self.log.set_overlong();
                    break;
                }
            }
            let line = self.lines.line();
            if self.wire.settle(line) {
                self.lines.clear();
                continue;
            }
            let message = match serde_json::from_slice::<ServerJsonRpcMessage>(line) {
                Ok(message) => message,
                Err(_) => match self.wire.unread(line) {
                    Unread::ForSdk(message) => *message,
                    Unread::Settled => {
                        self.lines.clear();
                        continue;
                    }
                    // An answer is never answered; what else has no sense is.
                    Unread::NoAnswer => {
                        let refusal = if unread::is_answer(line) { None } else { refusal(line) };
                        self.lines.clear();
                        if let Some((error, id)) = refusal
                            && let Ok(line) = serde_json::to_vec(&ClientJsonRpcMessage::error(error, id))
                            && let Ok(pipe) = self.wire.queue(&line)
                        {
                            // Waited for, so that a server that only talks is not listened to; queued, so that it can
                            // be given up.
                            let _ = self.wire.write_all(&pipe).await;
                        }
                        continue;
                    }
                },
            };
            self.lines.clear();
            if matches!(message, ServerJsonRpcMessage::Request(_)) {
                self.wire.asks.store(true, Ordering::Relaxed);
            }
            return Some(message);
        }
        self.wire.close();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.wire.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt as _, time::timeout};

    use super::*;

    #[tokio::test]
    async fn what_waits_for_a_server_that_does_not_read_is_bounded() {
        let (_theirs, ours) = pipe::pipe().unwrap();
        let (write, _unread) = pipe::pipe().unwrap();
        let wire = Lines::new(ours, write, Log::default()).wire();
        wire.meta.set(Vec::new()).unwrap();
        let mut arguments = serde_json::Map::new();
        arguments.insert("text".into(), "x".repeat(12 << 20).into());
        let call = CallToolRequestParams::new("echo").with_arguments(arguments);
        let tried: Vec<bool> = (0..5).map(|_| wire.call(&call).unwrap().is_ok()).collect();
        assert_eq!(tried, [true, true, false, false, false]);
        assert!(wire.unwritten().len() < UNWRITTEN && wire.is_open());
        *wire.moved() = Instant::now().checked_sub(STANDSTILL * 2).unwrap();
        assert!(matches!(wire.call(&call), Some(Err(ServiceError::TransportClosed))));
        assert!(!wire.is_open() && wire.unwritten().is_empty());
    }

    #[tokio::test]
    async fn a_server_that_only_talks_is_not_listened_to() {
        let (mut theirs, ours) = pipe::pipe().unwrap();
        // Its other end is open, and nobody reads there.
        let (write, _unread) = pipe::pipe().unwrap();
        let mut lines = Lines::new(ours, write, Log::default());
        let talking = tokio::spawn(async move {
            loop {
                theirs.write_all(&b"[]\n".repeat(1000)).await.unwrap();
            }
        });
        assert!(timeout(Duration::from_secs(1), lines.receive()).await.is_err());
        let unwritten = lines.wire.unwritten().len();
        assert!(unwritten < 1000, "{unwritten} bytes wait");
        talking.abort();
    }
}
