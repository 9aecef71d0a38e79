//! Workers, pre-started and replaced: one call has one worker.
//!
//! A worker whose call is given up in the middle is asked to stop; one that does not is killed.
//! Workers that nobody needs for a while end, but for a few.

use std::{
    collections::HashSet,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    cache::Cache,
    frame::{EngineKind, FromWorker, ToWorker, encode},
    loader::ScriptSource,
    module::Package,
    placement::Placement,
    wire::{Incoming, Outgoing},
    worker::WORK,
};

/// Calls that run at the same time; more wait their turn.
const WORKERS: usize = 64;

/// Workers that wait for work however long it takes. Each takes a few megabytes.
const LASTING: usize = 2;

/// The others wait this long.
const LINGER: Duration = Duration::from_secs(2);

/// A worker that has not said by now that it is ready is not going to.
const START: Duration = Duration::from_secs(10);

/// From being asked to stop to being killed.
const GRACE: Duration = Duration::from_millis(25);

/// From a closed socket to the end of the process.
const END: Duration = Duration::from_secs(2);

/// Scripts that one worker keeps, in bytes; one that holds more is replaced.
const KEPT: usize = 16 << 20;

/// What the prelude is called in the cache.
const PRELUDE: &str = "prelude";

/// A script that workers keep: named by its number, sent to each worker once.
#[derive(Debug)]
pub struct Code {
    pub(crate) number: u64,
    pub(crate) script: Arc<ScriptSource>,
    /// The package that stands in the script's place.
    pub(crate) package: Option<Package>,
    /// Whether its last call was a small one.
    pub(crate) small: AtomicBool,
}

impl Code {
    pub fn new(script: Arc<ScriptSource>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, script, package: None, small: AtomicBool::new(false) }
    }

    /// A package, whose files are sent when the worker asks for them.
    pub(crate) fn of_package(file: String, package: Package) -> Self {
        let script = Arc::new(ScriptSource { file, code: String::new(), lines: Vec::new() });
        Self { package: Some(package), ..Self::new(script) }
    }
}

/// The pool. Cheap to share.
#[derive(Debug)]
pub struct Pool {
    program: PathBuf,
    engine: EngineKind,
    /// The prelude as the first worker compiled it, before it saw any script, for the others.
    prelude: OnceLock<Prelude>,
    /// Where compiled code waits for other processes.
    pub(crate) cache: Option<Cache>,
    places: Arc<Semaphore>,
    /// A std lock, held for a push or a pop.
    idle: Mutex<Vec<Idle>>,
    /// Whether somebody looks after workers that nobody needs.
    watched: AtomicBool,
}

#[derive(Debug, Default)]
struct Prelude {
    build: u64,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Idle {
    worker: Worker,
    since: Instant,
}

impl Pool {
    /// `program` must call [`work`](crate::work) when its first argument is [`WORK`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            engine: EngineKind::default(),
            prelude: OnceLock::new(),
            cache: None,
            places: Arc::new(Semaphore::new(WORKERS)),
            idle: Mutex::default(),
            watched: AtomicBool::new(false),
        }
    }

    /// Has workers make a new engine for every call instead of copying one back: slower, and what
    /// they do anyway where the system does not lend them the address space.
    #[must_use]
    pub fn fresh(self) -> Self {
        Self { engine: EngineKind::Fresh, ..self }
    }

    /// Keeps compiled code in a directory, which no tool may write to, for processes that come later.
    #[must_use]
    pub fn cached(self, directory: impl Into<PathBuf>) -> Self {
        let cache = Cache::new(directory.into(), &self.program);
        Self { cache: Some(cache), ..self }
    }

    /// The program that is running now.
    pub fn this_program() -> Self {
        Self::new("/proc/self/exe")
    }

    /// A worker for one call, one that knows the script if there is one.
    pub(crate) async fn lease(self: &Arc<Self>, code: &Code) -> io::Result<Lease> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        match self.waiting(code) {
            Some(worker) => Ok(Lease::new(self, worker, place, Age::Used)),
            None => Ok(Lease::new(self, self.start().await?, place, Age::New)),
        }
    }

    pub(crate) fn has_one_call(&self) -> bool {
        self.places.available_permits() + 1 == WORKERS
    }

    async fn start(&self) -> io::Result<Worker> {
        let worker = Worker::start(&self.program)?;
        // While the process starts.
        let known = self.known_prelude();
        let (worker, compiled) = worker.ready(self.engine, known).await?;
        if !compiled.bytes.is_empty() {
            if let Some(cache) = &self.cache {
                cache.write(PRELUDE, &[&compiled.build.to_le_bytes()[..], &compiled.bytes].concat());
            }
            // Another worker may have been first.
            let _ = self.prelude.set(compiled);
        }
        Ok(worker)
    }

    fn known_prelude(&self) -> Option<&Prelude> {
        if self.prelude.get().is_none()
            && let Some(kept) = self.cache.as_ref().and_then(|cache| cache.read(PRELUDE))
            && let Some((build, bytes)) = kept.split_first_chunk()
        {
            let prelude = Prelude { build: u64::from_le_bytes(*build), bytes: bytes.to_vec() };
            let _ = self.prelude.set(prelude);
        }
        self.prelude.get()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self, code: &Code) -> Option<Worker> {
        let mut idle = self.idle();
        let knows = idle.iter().rposition(|idle| idle.worker.loaded.contains(&code.number));
        match knows {
            Some(index) => Some(idle.remove(index).worker),
            None => idle.pop().map(|idle| idle.worker),
        }
    }

    fn give_back(self: &Arc<Self>, worker: Worker) {
        if worker.kept >= KEPT || worker.outgoing.is_spoiled() {
            return;
        }
        let waiting = {
            let mut idle = self.idle();
            idle.push(Idle { worker, since: Instant::now() });
            idle.len()
        };
        if waiting > LASTING && !self.watched.swap(true, Ordering::Relaxed) {
            tokio::spawn(shrink(Arc::downgrade(self)));
        }
    }

    /// One more worker, if none waits: the next call finds it started.
    async fn replenish(self: &Arc<Self>) {
        if self.idle().is_empty()
            && let Ok(worker) = self.start().await
        {
            self.give_back(worker);
        }
    }
}

/// Ends workers that have waited too long, until few are left or the pool is gone.
async fn shrink(pool: std::sync::Weak<Pool>) {
    loop {
        tokio::time::sleep(LINGER / 2).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle();
        while idle.len() > LASTING && idle.first().is_some_and(|idle| idle.since.elapsed() > LINGER) {
            // They are in the order of their last call.
            idle.remove(0);
        }
        if idle.len() <= LASTING {
            pool.watched.store(false, Ordering::Relaxed);
            return;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    New,
    Used,
}

/// A worker for one call. Dropped in the middle of the call, it takes the worker from the script.
#[derive(Debug)]
pub(crate) struct Lease {
    pool: Arc<Pool>,
    /// Until the call has ended.
    worker: Option<Worker>,
    place: Option<OwnedSemaphorePermit>,
    pub(crate) age: Age,
}

impl Lease {
    fn new(pool: &Arc<Pool>, worker: Worker, place: OwnedSemaphorePermit, age: Age) -> Self {
        Self { pool: Arc::clone(pool), worker: Some(worker), place: Some(place), age }
    }

    pub(crate) fn worker(&mut self) -> io::Result<&mut Worker> {
        self.worker.as_mut().ok_or_else(|| io::Error::other("the worker is gone"))
    }

    /// The call has ended inside the worker: it may serve another.
    pub(crate) fn finish(mut self) {
        if let Some(worker) = self.worker.take() {
            self.pool.give_back(worker);
        }
    }

    /// Another worker in the place of one that has died, a new one.
    pub(crate) async fn renew(&mut self) -> io::Result<()> {
        self.worker = Some(self.pool.start().await?);
        self.age = Age::New;
        Ok(())
    }

    /// How the process ended, after its socket closed. `None` for one that did not end by itself.
    pub(crate) async fn exit_status(&mut self) -> Option<ExitStatus> {
        let mut worker = self.worker.take()?;
        timeout(END, worker.child.wait()).await.ok()?.ok()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        // Without a runtime the worker is killed here and now.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (pool, place) = (Arc::clone(&self.pool), self.place.take());
        // Ends by itself within moments; it holds the place, so that there are never too many workers.
        runtime.spawn(async move {
            let stopped = timeout(GRACE, worker.stopped()).await;
            match stopped {
                Ok(Some(worker)) => pool.give_back(worker),
                _ => pool.replenish().await,
            }
            drop(place);
        });
    }
}

/// Where a script's own worker waits between calls, with all that the script has kept in it.
#[derive(Debug, Default)]
pub(crate) struct Seat(tokio::sync::Mutex<Option<Lease>>);

impl Seat {
    /// One call at a time; the others wait. An async lock, because its holder waits for the call.
    pub(crate) async fn take(&self) -> tokio::sync::MutexGuard<'_, Option<Lease>> {
        self.0.lock().await
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    /// Killed when dropped.
    child: Child,
    pub(crate) incoming: Incoming,
    pub(crate) outgoing: Outgoing,
    pub(crate) placement: Placement,
    loaded: HashSet<u64>,
    /// The size of what is loaded.
    kept: usize,
    pub(crate) sandbox: Arc<[String]>,
}

impl Worker {
    fn start(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let child = Command::new(program)
            .arg(WORK)
            .env_clear()
            // Dates are local to whoever started Pinza; a process of Node sees the same.
            .envs(std::env::var_os("TZ").map(|zone| ("TZ", zone)))
            // A sealed process cannot look for them.
            .env("MIMALLOC_USE_NUMA_NODES", "1")
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let process = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let (reading, writing) = UnixStream::from_std(ours)?.into_split();
        Ok(Self {
            child,
            incoming: Incoming::new(reading),
            outgoing: Outgoing::new(writing),
            placement: Placement::of(process),
            loaded: HashSet::new(),
            kept: 0,
            sandbox: Arc::default(),
        })
    }

    /// Waits until it can take calls; with the prelude, if it compiled it itself.
    async fn ready(mut self, engine: EngineKind, prelude: Option<&Prelude>) -> io::Result<(Self, Prelude)> {
        let (build, bytes) = prelude.map_or((0, &[][..]), |prelude| (prelude.build, &prelude.bytes));
        let greeting = timeout(START, async {
            self.outgoing.send(&encode(&ToWorker::Start { engine, build }, bytes)).await?;
            self.incoming.frame().await
        });
        let Ok(greeting) = greeting.await else {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the worker did not start"));
        };
        let (FromWorker::Ready { sandbox, build }, bytes) = greeting? else {
            return Err(io::Error::other("the worker did not say that it is ready"));
        };
        self.sandbox = sandbox.into();
        Ok((self, Prelude { build, bytes }))
    }

    /// Asks it to give its call up and waits until it has.
    async fn stopped(mut self) -> Option<Self> {
        // A script that runs is told by a signal, one that waits by a frame.
        let process = self.child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?))?;
        kill_process(process, Signal::USR1).ok()?;
        self.outgoing.send(&encode(&ToWorker::Stop, &[])).await.ok()?;
        loop {
            match self.incoming.frame().await.ok()? {
                (FromWorker::Result { .. }, _) => return Some(self),
                (FromWorker::Ready { .. }, _) => return None,
                // What it asks for on its way out has no answer.
                _ => {}
            }
        }
    }

    /// Whether a script must be sent before it can be called.
    pub(crate) fn lacks(&mut self, code: &Code) -> bool {
        let lacks = self.loaded.insert(code.number);
        if lacks {
            self.keeps(code.script.code.len());
        }
        lacks
    }

    /// Counts what it was sent, with what its own book-keeping takes.
    pub(crate) fn keeps(&mut self, bytes: usize) {
        self.kept += bytes + 1024;
    }

    /// Whether no script has run in it yet.
    pub(crate) fn is_new(&self) -> bool {
        self.loaded.is_empty()
    }
}
