//! Workers, pre-started and replaced: one call has one worker, and a worker that was in the
//! middle of a call when the call ended is killed, not reused.
//!
//! A worker says that it is ready before each call, not only before the first: one that died of
//! what a script left behind is found here, and the next call gets another.

use std::{
    collections::HashSet,
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    pin::Pin,
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWrite},
    net::{
        UnixStream,
        unix::{ReadHalf, WriteHalf},
    },
    process::{Child, Command},
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{
    frame::{self, FromWorker, HEAD},
    loader::ScriptSource,
    worker::WORK,
};

/// Calls that run at the same time; more wait their turn.
const WORKERS: usize = 64;

/// Workers that wait for work. Each takes a few megabytes.
const IDLE: usize = 4;

/// A worker that has not said by now that it is ready is not going to.
const START: Duration = Duration::from_secs(10);

/// From a closed socket to the end of the process.
const END: Duration = Duration::from_secs(2);

/// Scripts that one worker keeps, in bytes; one that holds more is replaced.
const KEPT: usize = 16 << 20;

/// A script that workers keep: named by its number, sent to each worker once.
#[derive(Debug)]
pub struct Code {
    pub(crate) number: u64,
    pub(crate) script: Arc<ScriptSource>,
}

impl Code {
    pub fn new(script: Arc<ScriptSource>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), script }
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
        while let Some(mut worker) = self.waiting() {
            // One that died while it waited is dropped here.
            if worker.ready().await.is_ok() {
                return Ok(Lease { pool: self, worker, _place: place });
            }
        }
        let mut worker = Worker::start(&self.program)?;
        worker.ready().await?;
        Ok(Lease { pool: self, worker, _place: place })
    }

    fn waiting(&self) -> Option<Worker> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE && worker.kept < KEPT && !worker.spoiled {
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
    /// The size of what is loaded.
    kept: usize,
    /// A call ended in the middle of a frame to this worker: it would take the next one for the rest.
    spoiled: bool,
    pub(crate) sandbox: Vec<String>,
}

impl Worker {
    fn start(program: &PathBuf) -> io::Result<Self> {
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
        Ok(Self {
            child,
            socket: UnixStream::from_std(ours)?,
            loaded: HashSet::new(),
            kept: 0,
            spoiled: false,
            sandbox: Vec::new(),
        })
    }

    /// Waits until it can take a call.
    async fn ready(&mut self) -> io::Result<()> {
        if let Some(status) = self.child.try_wait()? {
            return Err(io::Error::other(format!("the worker ended ({status})")));
        }
        let (mut reader, _) = self.socket.split();
        let Ok(greeting) = timeout(START, receive(&mut reader)).await else {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the worker did not start"));
        };
        match greeting? {
            (FromWorker::Ready { sandbox }, _) => self.sandbox = sandbox,
            _ => return Err(io::Error::other("the worker did not say that it is ready")),
        }
        Ok(())
    }

    /// Whether a script must be sent before it can be called.
    pub(crate) fn lacks(&mut self, code: &Code) -> bool {
        let lacks = self.loaded.insert(code.number);
        if lacks {
            // With what the worker's own book-keeping takes.
            self.kept += code.script.code.len() + 1024;
        }
        lacks
    }

    /// The two directions, so that neither waits for the other.
    pub(crate) fn split(&mut self) -> (ReadHalf<'_>, Sending<'_>) {
        let (reader, writer) = self.socket.split();
        (reader, Sending { writer, spoiled: &mut self.spoiled })
    }

    /// How the process ended, after its socket closed. One that does not end is killed with the lease.
    pub(crate) async fn exit_status(&mut self) -> Option<ExitStatus> {
        timeout(END, self.child.wait()).await.ok()?.ok()
    }
}

/// The way to a worker, one frame a `write_all`. A script may end while the answer to its
/// request is under way: what was begun and not finished makes the worker useless.
#[derive(Debug)]
pub(crate) struct Sending<'a> {
    writer: WriteHalf<'a>,
    spoiled: &'a mut bool,
}

impl AsyncWrite for Sending<'_> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, frame: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.writer).poll_write(cx, frame))?;
        *self.spoiled = written < frame.len();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
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
