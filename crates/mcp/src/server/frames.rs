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
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, Notify},
    task::JoinSet,
    time::Instant,
};

use super::{memo::Memo, params, session::Session};
use crate::lines::{Line, LineReader, refusal};

/// The longest line. A longer one is dropped as it comes, and never held.
const LONGEST: usize = 16 << 20;
/// How long answers of our own get at the end, as the SDK's do.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long they get when the connection is closed.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// While so many answers wait for a client to read them, no more of its requests are read.
const UNREAD: usize = 256;

pub(super) struct Frames<R, W> {
    lines: LineReader<R>,
    has_begun: bool,
    /// An async lock, because its holder writes; `None` once it is closed.
    write: Arc<Mutex<Option<W>>>,
    /// Answers of our own, on their way.
    answers: JoinSet<()>,
    backlog: Arc<Backlog>,
    memo: Memo,
    session: Session,
    /// Until when answers are waited for, once the client has nothing more to say.
    ends: Option<Instant>,
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

impl<R, W> Frames<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, memo: Memo, session: Session) -> Self {
        Self {
            lines: LineReader::new(read, LONGEST),
            has_begun: false,
            write: Arc::new(Mutex::new(Some(write))),
            answers: JoinSet::new(),
            backlog: Arc::default(),
            memo,
            session,
            ends: None,
        }
    }

    /// The message in the line, if it is one that means something now.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.lines.line();
        if let Some(known) = self.memo.answer(line) {
            self.lines.clear();
            self.answer(known);
            return None;
        }
        if let Some(call) = self.session.begin(line) {
            self.lines.clear();
            self.answer_later(call);
            return None;
        }
        let parsed = serde_json::from_slice::<ClientJsonRpcMessage>(line);
        let refusal = match &parsed {
            Ok(_) => None,
            Err(_) => refusal(line),
        };
        self.lines.clear();
        if let Some((error, id)) = refusal {
            self.refuse(error, id);
        }
        let message = parsed.ok()?;
        if let Some((error, id)) = params::broken_greeting(&message) {
            self.refuse(error, Some(id));
            return None;
        }
        self.memo.hear(&message);
        if self.session.hear(&message) {
            return None;
        }
        self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.has_begun.then_some(message)
    }

    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        if let Ok(line) = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)) {
            self.answer(line);
        }
    }

    fn answer_later(&mut self, call: impl Future<Output = Option<Vec<u8>>> + Send + 'static) {
        while self.answers.try_join_next().is_some() {}
        let (write, backlog) = (Arc::clone(&self.write), Arc::clone(&self.backlog));
        self.answers.spawn(async move {
            if let Some(line) = call.await {
                // A client that is gone needs no answer.
                let _ = write_line(write, line, backlog.add()).await;
            }
        });
    }

    /// Waits for answers of our own, and no longer than that.
    async fn last_answers(&mut self, until: Instant) {
        let written = async { while self.answers.join_next().await.is_some() {} };
        if tokio::time::timeout_at(until, written).await.is_err() {
            self.session.give_up();
        }
    }

    /// Not awaited here: whoever reads may be given up at any await, and half an answer must not be left.
    fn answer(&mut self, line: Vec<u8>) {
        while self.answers.try_join_next().is_some() {}
        let writing = write_line(Arc::clone(&self.write), line, self.backlog.add());
        let late = Arc::clone(self.memo.late());
        self.answers.spawn(async move {
            // A client that is gone needs no answer.
            let _ = writing.await;
            late.has_listed();
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
            match self.lines.next().await {
                Line::End => {
                    // Whoever has nothing more to say may still listen.
                    // Whoever reads is given up and begins again whenever something else happens.
                    let until = *self.ends.get_or_insert_with(|| Instant::now() + FAREWELL);
                    self.last_answers(until).await;
                    return None;
                }
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
        let until = Instant::now() + LAST_WORDS;
        self.last_answers(until).await;
        // What was given up ends by itself.
        self.answers.detach_all();
        // A client that does not read keeps whoever writes.
        if let Ok(mut write) = tokio::time::timeout_at(until, self.write.lock()).await {
            write.take();
        }
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
