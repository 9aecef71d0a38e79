//! The socket to Pinza, as scripts' requests see it.

use std::{
    cell::{Cell, RefCell},
    collections::{HashSet, VecDeque},
    io::{self, BufReader, Write as _},
    os::unix::net::UnixStream,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Instant, UNIX_EPOCH},
};

use serde::Serialize;

use super::units::Units;
use crate::{
    awake::wait_awake,
    frame::{self, FromWorker, IN_FLIGHT, LOG_LENGTH, LOG_LINES, ToWorker},
};

/// An answer from Pinza.
pub(super) struct Reply {
    pub(super) id: u32,
    pub(super) ok: bool,
    pub(super) json: Option<String>,
    pub(super) bytes: Option<Vec<u8>>,
}

/// What a script that waits is told.
pub(super) enum Next {
    Reply(Reply),
    /// No request is pending: nothing will ever come.
    Nothing,
    /// Nobody wants the call's answer any more.
    Stop,
}

/// Shared by the functions that scripts reach; single-threaded, so cells are enough.
pub(super) struct Link {
    socket: UnixStream,
    /// Reads ahead, so that a frame is one system call.
    incoming: RefCell<BufReader<UnixStream>>,
    /// Set by a signal.
    stop: Arc<AtomicBool>,
    next_id: Cell<u32>,
    pending: RefCell<HashSet<u32>>,
    /// Answers that came while a synchronous request waited for its own.
    inbox: RefCell<VecDeque<Reply>>,
    logged: Cell<usize>,
    /// Whether a script asked for something that is not the same each time.
    used: Cell<bool>,
    /// While a script loads, the files of the libraries that it has loaded.
    watched: RefCell<Option<Vec<String>>>,
    begun: Cell<Instant>,
    /// The same moment, in milliseconds since 1970.
    origin: Cell<f64>,
    chance: Cell<Option<u64>>,
    alert: Cell<bool>,
    /// Of the script that is called.
    units: RefCell<Rc<Units>>,
}

impl Link {
    pub(super) fn new(socket: UnixStream, stop: Arc<AtomicBool>) -> io::Result<Self> {
        Ok(Self {
            incoming: RefCell::new(BufReader::new(socket.try_clone()?)),
            socket,
            stop,
            next_id: Cell::new(1),
            pending: RefCell::default(),
            inbox: RefCell::default(),
            logged: Cell::new(0),
            used: Cell::new(false),
            watched: RefCell::default(),
            begun: Cell::new(Instant::now()),
            origin: Cell::new(0.0),
            chance: Cell::new(None),
            alert: Cell::new(false),
            units: RefCell::default(),
        })
    }

    pub(super) fn send(&self, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
        frame::write(&self.socket, message, bytes)
    }

    pub(super) fn receive(&self) -> io::Result<(ToWorker, Vec<u8>)> {
        if self.alert.take() && self.incoming.borrow().buffer().is_empty() {
            wait_awake(&self.socket);
        }
        frame::read(&mut *self.incoming.borrow_mut())
    }

    /// Whether the next wait begins awake.
    pub(super) fn stay_alert(&self, alert: bool) {
        self.alert.set(alert);
    }

    /// Microseconds since the call began.
    pub(super) fn now_micros(&self) -> u64 {
        self.begun.get().elapsed().as_micros().try_into().unwrap_or(u64::MAX)
    }

    /// Starts a request; its answer comes through [`next_reply`](Self::next_reply).
    pub(super) fn request(&self, op: &str, json: &str, bytes: Option<&[u8]>) -> Result<u32, String> {
        if self.pending.borrow().len() >= IN_FLIGHT {
            return Err(format!("more than {IN_FLIGHT} requests are waiting for an answer"));
        }
        // A library or a package is the same each time.
        let is_code = op == "lib" || op.starts_with("module.");
        self.used.set(self.used.get() || !is_code);
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
            match self.read().map_err(|error| error.to_string())? {
                Next::Reply(reply) if reply.id == id => return Ok(reply),
                Next::Reply(reply) => self.inbox.borrow_mut().push_back(reply),
                // The engine finds the flag that came with it.
                Next::Stop | Next::Nothing => return Err("the call was stopped".into()),
            }
        }
    }

    /// The next answer; waits for it.
    pub(super) fn next(&self) -> io::Result<Next> {
        if let Some(reply) = self.inbox.borrow_mut().pop_front() {
            return Ok(Next::Reply(reply));
        }
        if self.pending.borrow().is_empty() {
            return Ok(Next::Nothing);
        }
        self.read()
    }

    pub(super) fn cancel(&self, id: u32) {
        if self.pending.borrow_mut().remove(&id) {
            // A lost socket shows at the next read.
            let _ = self.send(&FromWorker::Cancel { id }, &[]);
        }
    }

    pub(super) fn log(&self, level: &str, text: &str) {
        self.used.set(true);
        let logged = self.logged.get();
        self.logged.set(logged + 1);
        let text = match logged {
            LOG_LINES.. if logged > LOG_LINES => return,
            LOG_LINES => "(more lines were written; they are left out)",
            _ => &text[..text.floor_char_boundary(LOG_LENGTH)],
        };
        let _ = self.send(&FromWorker::Log { level: level.into(), text: text.into() }, &[]);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What is known of the code that is to be compiled.
    pub(super) fn units(&self) -> Rc<Units> {
        Rc::clone(&self.units.borrow())
    }

    /// A call begins: nothing of the last one is left.
    pub(super) fn begin(&self, units: Rc<Units>) {
        *self.units.borrow_mut() = units;
        // A signal was sent before its call ended, so it has come by now.
        self.stop.store(false, Ordering::Relaxed);
        self.pending.borrow_mut().clear();
        self.inbox.borrow_mut().clear();
        self.logged.set(0);
        *self.watched.borrow_mut() = None;
        self.begun.set(Instant::now());
        self.origin.set(since_1970());
        self.chance.set(None);
    }

    /// From now on, remembers whether a script asks for what is not the same each time.
    pub(super) fn watch(&self) {
        self.used.set(false);
        *self.watched.borrow_mut() = Some(Vec::new());
    }

    pub(super) fn loads_library(&self, file: &str) {
        if let Some(libraries) = &mut *self.watched.borrow_mut() {
            libraries.push(format!("({file}:"));
        }
    }

    /// Whether it did.
    pub(super) fn watched(&self) -> bool {
        *self.watched.borrow_mut() = None;
        self.used.get()
    }

    /// Milliseconds since 1970. While a script loads, `None` until the caller shows its stack.
    ///
    /// A library may read the clock while it loads, and many do, for their own ends: to it, that
    /// is the time when it was loaded. A script's own top level gets the time of each call.
    pub(super) fn clock(&self, stack: Option<&str>) -> Option<f64> {
        match (&*self.watched.borrow(), stack) {
            (Some(_), None) => return None,
            (Some(libraries), Some(stack)) if asked_by_library(libraries, stack) => {}
            _ => self.used.set(true),
        }
        Some(since_1970())
    }

    /// When the call began, by the same clock.
    pub(super) fn origin(&self) -> f64 {
        self.used.set(true);
        self.origin.get()
    }

    /// Milliseconds since the call began.
    pub(super) fn now(&self) -> f64 {
        self.used.set(true);
        self.begun.get().elapsed().as_secs_f64() * 1000.0
    }

    /// Bytes that nobody can foretell.
    pub(super) fn random(&self, bytes: &mut [u8]) -> Result<(), getrandom::Error> {
        self.used.set(true);
        getrandom::fill(bytes)
    }

    /// A number from 0 up to 1, for `Math.random`: fast, and foretellable by who sees enough of them.
    pub(super) fn chance(&self) -> Result<f64, getrandom::Error> {
        self.used.set(true);
        // SplitMix64, seeded for each call.
        let state = match self.chance.get() {
            Some(state) => state,
            None => {
                let mut seed = [0; 8];
                getrandom::fill(&mut seed)?;
                u64::from_le_bytes(seed)
            }
        };
        let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.chance.set(Some(state));
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        Ok((mixed >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// An answer, or the end.
    fn read(&self) -> io::Result<Next> {
        loop {
            let (id, ok, json, has_bytes, bytes) = match self.receive()? {
                (ToWorker::Reply { id, ok, json, has_bytes }, bytes) => (id, ok, json, has_bytes, bytes),
                (ToWorker::Stop, _) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Ok(Next::Stop);
                }
                _ => return Err(io::Error::other("Pinza sent something else than an answer")),
            };
            // An answer that nobody waits for was cancelled, or belongs to an earlier call.
            if self.pending.borrow_mut().remove(&id) {
                return Ok(Next::Reply(Reply { id, ok, json, bytes: has_bytes.then_some(bytes) }));
            }
        }
    }
}

/// Whether the first frame beyond the prelude is of a library.
fn asked_by_library(libraries: &[String], stack: &str) -> bool {
    let asking = stack.lines().find(|line| line.contains(':') && !line.contains("(prelude:"));
    asking.is_some_and(|line| libraries.iter().any(|library| line.contains(library)))
}

fn since_1970() -> f64 {
    UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}
