//! Messages as lines of JSON.
//!
//! Beyond what the SDK's own transport does, a request that is wrong is answered under its own id, so that
//! its sender does not wait for ever; and what comes before the first request and is none, which
//! cannot mean anything yet, is passed over. A client that does not read its answers is not listened to until
//! it does.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, ErrorCode, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, Notify},
    task::JoinSet,
};

use super::memo::Memo;

/// The longest line. A longer one is dropped as it comes, and never held.
const LONGEST: usize = 16 << 20;
/// The room that is kept for lines to come.
const ROOM: usize = 64 << 10;
/// While so many answers wait for a client to read them, no more of its requests are read.
const UNREAD: usize = 256;

pub(super) struct Frames<R, W> {
    read: BufReader<R>,
    /// The line so far: reading may be given up at any await and taken up again.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being dropped.
    is_dropping: bool,
    has_begun: bool,
    /// An async lock, because its holder writes; `None` once it is closed.
    write: Arc<Mutex<Option<W>>>,
    /// Answers of our own, on their way.
    answers: JoinSet<()>,
    backlog: Arc<Backlog>,
    memo: Memo,
}

/// Messages that are not written yet.
#[derive(Default)]
struct Backlog {
    count: AtomicUsize,
    shrinks: Notify,
}

impl Backlog {
    /// Counts one message until the guard is dropped.
    fn add(self: &Arc<Self>) -> Unwritten {
        self.count.fetch_add(1, Ordering::AcqRel);
        Unwritten(Arc::clone(self))
    }

    async fn is_short(&self) {
        loop {
            let shrinks = self.shrinks.notified();
            if self.count.load(Ordering::Acquire) < UNREAD {
                return;
            }
            shrinks.await;
        }
    }
}

struct Unwritten(Arc<Backlog>);

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.shrinks.notify_waiters();
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R, W> Frames<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, memo: Memo) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_dropping: false,
            has_begun: false,
            write: Arc::new(Mutex::new(Some(write))),
            answers: JoinSet::new(),
            backlog: Arc::default(),
            memo,
        }
    }

    /// Reads on until a line is whole. Nothing is lost if this is dropped at its await: what was taken is in
    /// `line`, and what was not is still in the buffer.
    async fn read_line(&mut self) -> Line {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = !self.is_dropping && self.line.len() + taken <= LONGEST;
            if fits {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            match (fits, end.is_some()) {
                (true, true) => return Line::Whole,
                (true, false) => {}
                (false, is_end) => {
                    let is_first = !self.is_dropping;
                    self.is_dropping = !is_end;
                    if is_first {
                        self.line = Vec::new();
                        return Line::TooLong;
                    }
                }
            }
        }
    }

    /// The message in the line, if it is one that means something now.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii();
        if let Some(known) = self.memo.answer(line) {
            self.line.clear();
            self.answer(known);
            return None;
        }
        let parsed = serde_json::from_slice::<ClientJsonRpcMessage>(line);
        let refusal = match &parsed {
            Ok(_) => None,
            Err(_) => refusal(line),
        };
        self.line.clear();
        // One long message is no reason to hold its room for ever.
        self.line.shrink_to(ROOM);
        if let Some((error, id)) = refusal {
            self.refuse(error, id);
        }
        let message = parsed.ok()?;
        self.memo.hear(&message);
        self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.has_begun.then_some(message)
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        if let Ok(line) = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)) {
            self.answer(line);
        }
    }

    /// Not awaited here: whoever reads may be given up at any await, and half an answer must not be left.
    fn answer(&mut self, line: Vec<u8>) {
        while self.answers.try_join_next().is_some() {}
        let writing = write_line(Arc::clone(&self.write), line, self.backlog.add());
        self.answers.spawn(async move {
            // A client that is gone needs no answer.
            let _ = writing.await;
        });
    }
}

impl<R, W> Transport<RoleServer> for Frames<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = match self.memo.keep(&item) {
            Some(line) => Ok(line),
            None => serde_json::to_vec(&item),
        };
        let (write, unwritten) = (Arc::clone(&self.write), self.backlog.add());
        async move { write_line(write, line?, unwritten).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.backlog.is_short().await;
            match self.read_line().await {
                Line::End => return None,
                Line::TooLong => {
                    let message = format!("a message may have {LONGEST} bytes");
                    self.refuse(ErrorData::invalid_request(message, None), None);
                }
                Line::Whole => {
                    if let Some(message) = self.take_message() {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        while self.answers.join_next().await.is_some() {}
        self.write.lock().await.take();
        Ok(())
    }
}

async fn write_line<W: AsyncWrite + Unpin>(
    write: Arc<Mutex<Option<W>>>,
    mut line: Vec<u8>,
    _unwritten: Unwritten,
) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    let write = write.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
    write.write_all(&line).await?;
    write.flush().await
}

/// What a line that is no message says of itself. The same field twice is read by nobody.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    jsonrpc: Option<Value>,
    method: Option<Value>,
    #[serde(rename = "params")]
    _params: Option<serde::de::IgnoredAny>,
}

/// The answer to a line that is no message; none to what is no JSON, which may be the banner of some
/// program, or an answer to our own refusal.
fn refusal(line: &[u8]) -> Option<(ErrorData, Option<RequestId>)> {
    if line.is_empty() || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        return None;
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope>(line) else {
        return Some((ErrorData::invalid_request("Invalid request", None), None));
    };
    let id = envelope.id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    let is_request = envelope.jsonrpc.is_some_and(|version| version == "2.0")
        && envelope.method.as_ref().is_some_and(Value::is_string);
    match (is_request, id) {
        (true, Some(id)) => {
            Some((ErrorData::new(ErrorCode::INVALID_PARAMS, "Invalid params", None), Some(id)))
        }
        (_, id) => Some((ErrorData::invalid_request("Invalid request", None), id)),
    }
}
