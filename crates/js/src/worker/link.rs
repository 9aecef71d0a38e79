//! The socket to Pinza, as scripts' requests see it.

use std::{
    cell::{Cell, RefCell},
    collections::{HashSet, VecDeque},
    io::{self, Write as _},
    os::unix::net::UnixStream,
};

use serde::Serialize;

use crate::frame::{self, FromWorker, IN_FLIGHT, LOG_LENGTH, LOG_LINES, ToWorker};

/// An answer from Pinza.
pub(super) struct Reply {
    pub(super) id: u32,
    pub(super) ok: bool,
    pub(super) json: Option<String>,
    pub(super) bytes: Option<Vec<u8>>,
}

/// Shared by the functions that scripts reach; single-threaded, so cells are enough.
pub(super) struct Link {
    socket: UnixStream,
    next_id: Cell<u32>,
    pending: RefCell<HashSet<u32>>,
    /// Answers that came while a synchronous request waited for its own.
    inbox: RefCell<VecDeque<Reply>>,
    logged: Cell<usize>,
}

impl Link {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            next_id: Cell::new(1),
            pending: RefCell::default(),
            inbox: RefCell::default(),
            logged: Cell::new(0),
        }
    }

    pub(super) fn send(&self, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
        frame::write(&self.socket, message, bytes)
    }

    pub(super) fn receive(&self) -> io::Result<(ToWorker, Vec<u8>)> {
        frame::read(&self.socket)
    }

    /// Starts a request; its answer comes through [`next_reply`](Self::next_reply).
    pub(super) fn request(&self, op: &str, json: &str, bytes: Option<&[u8]>) -> Result<u32, String> {
        if self.pending.borrow().len() >= IN_FLIGHT {
            return Err(format!("more than {IN_FLIGHT} requests are waiting for an answer"));
        }
        let id = self.next_id.get();
        let message =
            FromWorker::Request { id, op: op.into(), json: json.into(), has_bytes: bytes.is_some() };
        let frame = frame::encode(&message, bytes.unwrap_or_default());
        // Measured as it is sent: escapes make a text larger.
        if frame.len() > frame::LIMIT {
            return Err("the request is too large".into());
        }
        self.next_id.set(id.wrapping_add(1));
        (&self.socket).write_all(&frame).map_err(|error| error.to_string())?;
        self.pending.borrow_mut().insert(id);
        Ok(id)
    }

    /// Starts a request and waits for its answer.
    pub(super) fn request_sync(&self, op: &str, json: &str, bytes: Option<&[u8]>) -> Result<Reply, String> {
        let id = self.request(op, json, bytes)?;
        loop {
            let reply = self.read_reply().map_err(|error| error.to_string())?;
            if reply.id == id {
                return Ok(reply);
            }
            self.inbox.borrow_mut().push_back(reply);
        }
    }

    /// The next answer; waits for it. `None` where no request is pending.
    pub(super) fn next_reply(&self) -> io::Result<Option<Reply>> {
        if let Some(reply) = self.inbox.borrow_mut().pop_front() {
            return Ok(Some(reply));
        }
        if self.pending.borrow().is_empty() {
            return Ok(None);
        }
        self.read_reply().map(Some)
    }

    pub(super) fn cancel(&self, id: u32) {
        if self.pending.borrow_mut().remove(&id) {
            // A lost socket shows at the next read.
            let _ = self.send(&FromWorker::Cancel { id }, &[]);
        }
    }

    pub(super) fn log(&self, level: &str, text: &str) {
        let logged = self.logged.get();
        self.logged.set(logged + 1);
        let text = match logged {
            LOG_LINES.. if logged > LOG_LINES => return,
            LOG_LINES => "(more lines were written; they are left out)",
            _ => &text[..text.floor_char_boundary(LOG_LENGTH)],
        };
        let _ = self.send(&FromWorker::Log { level: level.into(), text: text.into() }, &[]);
    }

    /// Between two calls nothing of the first is left.
    pub(super) fn forget(&self) {
        self.pending.borrow_mut().clear();
        self.inbox.borrow_mut().clear();
        self.logged.set(0);
    }

    fn read_reply(&self) -> io::Result<Reply> {
        loop {
            let (ToWorker::Reply { id, ok, json, has_bytes }, bytes) = self.receive()? else {
                return Err(io::Error::other("Pinza sent something else than an answer"));
            };
            // An answer that nobody waits for was cancelled, or belongs to an earlier call.
            if self.pending.borrow_mut().remove(&id) {
                return Ok(Reply { id, ok, json, bytes: has_bytes.then_some(bytes) });
            }
        }
    }
}
