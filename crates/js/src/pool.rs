//! Workers, pre-started and replaced: one call has one worker, and a worker that was in the
//! middle of a call when the call ended is killed, not reused.

use std::{
    collections::HashSet,
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::AsyncReadExt as _,
    net::{
        UnixStream,
        unix::{ReadHalf, WriteHalf},
    },
    process::{Child, Command},
    sync::{Semaphore, SemaphorePermit},
};

use crate::{
    frame::{self, FromWorker, HEAD},
    worker::WORK,
};

/// Calls that run at the same time; more wait their turn.
const WORKERS: usize = 64;

/// Workers that wait for work. Each takes a few megabytes.
const IDLE: usize = 4;

/// A script that workers keep: named by its number, sent to each worker once.
#[derive(Debug)]
pub struct Code {
    pub(crate) number: u64,
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Code {
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), file: file.into(), text: text.into() }
    }
}

/// The pool. Cheap to share.
#[derive(Debug)]
pub struct Pool {
    program: PathBuf,
    places: Semaphore,
    /// A std lock, held for a push or a pop.
    idle: Mutex<Vec<Worker>>,
}

impl Pool {
    /// `program` must call [`work`](crate::work) when its first argument is [`WORK`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), places: Semaphore::new(WORKERS), idle: Mutex::default() }
    }

    /// The program that is running now.
    pub fn this_program() -> Self {
        Self::new("/proc/self/exe")
    }

    /// A ready worker, for one call.
    pub(crate) async fn lease(self: &Arc<Self>) -> io::Result<Lease<'_>> {
        let place = self.places.acquire().await.map_err(io::Error::other)?;
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = match waiting {
            Some(worker) => worker,
            None => Worker::start(&self.program).await?,
        };
        Ok(Lease { pool: self, worker, _place: place })
    }

    fn give_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(worker);
        }
    }
}

/// A worker for one call. Dropped in the middle of the call, the worker dies with it.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a Pool,
    pub(crate) worker: Worker,
    _place: SemaphorePermit<'a>,
}

impl Lease<'_> {
    /// The call has ended inside the worker: it may serve another.
    pub(crate) fn finish(self) {
        self.pool.give_back(self.worker);
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    /// Killed when dropped.
    child: Child,
    socket: UnixStream,
    loaded: HashSet<u64>,
    pub(crate) sandbox: Vec<String>,
}

impl Worker {
    async fn start(program: &PathBuf) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let child = Command::new(program)
            .arg(WORK)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut worker =
            Self { child, socket: UnixStream::from_std(ours)?, loaded: HashSet::new(), sandbox: Vec::new() };
        let (mut reader, _) = worker.socket.split();
        match receive(&mut reader).await? {
            (FromWorker::Ready { sandbox }, _) => worker.sandbox = sandbox,
            _ => return Err(io::Error::other("the worker did not say that it is ready")),
        }
        Ok(worker)
    }

    /// Whether a script must be sent before it can be called.
    pub(crate) fn lacks(&mut self, code: &Code) -> bool {
        self.loaded.insert(code.number)
    }

    /// The two directions, so that neither waits for the other.
    pub(crate) fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        self.socket.split()
    }

    /// How the process ended, after its socket closed.
    pub(crate) async fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        self.child.wait().await.ok()
    }
}

/// The next frame from a worker. Not to be dropped half-way.
pub(crate) async fn receive(reader: &mut ReadHalf<'_>) -> io::Result<(FromWorker, Vec<u8>)> {
    let mut head = [0; HEAD];
    reader.read_exact(&mut head).await?;
    let (body, json) = frame::lengths(head)?;
    let mut bytes = vec![0; body];
    reader.read_exact(&mut bytes).await?;
    frame::decode(bytes, json)
}
