//! One configured server: started when it is first needed, started again when it is lost, and left alone for a while
//! when that does not help.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pinza_core::{Arguments, CallContext, ErrorKind, ToolError, ToolResult};
use sha2::{Digest as _, Sha256};
use tokio::{sync::watch, time::Instant};

use super::{
    call::Call,
    connection::{Connection, Facts, StartError, within},
    credentials::TokenStore,
    record::{Face, Record, SeenTool},
    services::Services,
    spec::{Launch, Origin, Restarts, Spec},
};
use crate::hex;

/// How much of a log goes into a hint.
const HINT_LINES: usize = 5;
const HINT_LENGTH: usize = 1000;

pub struct Upstream {
    spec: Spec,
    services: Services,
    /// A std lock, held for a few instructions and never across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    slot: Slot,
    /// Starts that failed in a row.
    failures: u32,
    /// What the server shows since it was started here.
    live: Option<Arc<Face>>,
}

#[derive(Default)]
enum Slot {
    #[default]
    Idle,
    /// A task of its own starts it, so that a caller that gives up does not take the start away from others. It ends by
    /// itself within the time to start.
    Starting(watch::Receiver<Option<Started>>),
    Ready(Arc<Connection>, Instant),
    Cooling {
        until: Instant,
        error: Arc<StartError>,
    },
}

type Started = Result<Arc<Connection>, Arc<StartError>>;

enum Next {
    Settled(Started),
    Wait(watch::Receiver<Option<Started>>),
}

/// What a look at a server found.
#[derive(Debug)]
pub struct Contact {
    pub facts: Facts,
    pub record: Record,
    /// What it printed to standard error.
    pub log: String,
}

/// Why a server could not be looked at.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct UpstreamError {
    pub message: String,
    pub log: String,
}

/// Whether a tool may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Accepted,
    /// It is not what was accepted.
    Changed,
    /// It came after the others were accepted.
    Added,
}

impl Upstream {
    pub fn new(spec: Spec, services: Services) -> Self {
        Self { spec, services, state: Mutex::default() }
    }

    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The file with what was seen of it.
    pub fn file(&self) -> PathBuf {
        let name = &self.spec.name;
        self.services.directory.join(match &self.spec.origin {
            Origin::User => format!("{name}.json"),
            // What was accepted in one project says nothing about another.
            Origin::Project(path) => {
                let key = hex(&Sha256::digest(path.as_os_str().as_encoded_bytes()));
                format!("project-{}-{name}.json", &key[..16])
            }
        })
    }

    /// What was seen of it. Reads a file.
    pub fn record(&self) -> Result<Option<Record>, String> {
        let record = Record::read(&self.file())?;
        // A project that starts something else than what was accepted is as good as new.
        Ok(record.map(|record| match self.is_same_launch(&record) {
            true => record,
            false => Record { seen: None, accepted: None, looked: None, ..record },
        }))
    }

    /// What is started, for comparing.
    pub fn launch_key(&self) -> String {
        match &self.spec.launch {
            Launch::Command { argv, env, directory } => {
                serde_json::json!({ "command": argv, "env": env, "directory": directory }).to_string()
            }
            Launch::Http { url, headers, .. } => {
                serde_json::json!({ "url": url, "headers": headers }).to_string()
            }
        }
    }

    /// Whether nothing of it may be started before a person has said so.
    pub fn is_held(&self) -> bool {
        self.spec.origin != Origin::User
            && !self.record().is_ok_and(|record| record.is_some_and(|record| record.accepted.is_some()))
    }

    /// Starts it, lists its tools, and writes down what was seen.
    pub async fn contact(self: &Arc<Self>) -> Result<Contact, UpstreamError> {
        let connection = self
            .connection()
            .await
            .map_err(|error| UpstreamError { message: error.message.clone(), log: error.log.clone() })?;
        if let Some(process) = &connection.process {
            process.settle().await;
        }
        let failed = |message: String| UpstreamError { message, log: connection.log() };
        let record = self.record().map_err(failed)?.unwrap_or_default();
        Ok(Contact { facts: connection.facts.clone(), record, log: connection.log() })
    }

    /// Remembers that a person was shown this.
    pub fn note_looked(&self, shown: &Record) -> Result<(), String> {
        // The server may have been seen again meanwhile; that stays.
        let Some(mut record) = self.record()? else { return Ok(()) };
        let looked = Some(shown.digest());
        if record.looked == looked {
            return Ok(());
        }
        record.looked = looked;
        record.write(&self.file())
    }

    /// Accepts what a person was shown, and what is started with it; nothing if the server showed something else since.
    pub fn accept(&self, shown: &Record) -> Result<Record, String> {
        let mut record = self.record()?.unwrap_or_default();
        if record.seen != shown.seen {
            let name = &self.spec.name;
            return Err(format!("{name} changed again meanwhile; look at it with: pinza mcp diff {name}"));
        }
        record.accept(self.launch_key());
        record.write(&self.file())?;
        Ok(record)
    }

    /// Forgets what was seen of it, and its tokens.
    pub fn forget(&self) -> Result<(), String> {
        TokenStore::forget(&self.spec.name, &self.services)?;
        match std::fs::remove_file(self.file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}", self.file().display()))
            }
            _ => Ok(()),
        }
    }

    /// Calls one of its tools, which was accepted as `accepted`.
    pub(crate) async fn call(
        self: &Arc<Self>,
        accepted: &SeenTool,
        arguments: &Arguments,
        context: &CallContext<'_>,
    ) -> ToolResult {
        if self.is_held() {
            return Err(self.refusal());
        }
        let connection = self.connection().await.map_err(|error| self.not_started(&error))?;
        self.check(accepted)?;
        let call = Call { server: &self.spec.name, tool: &accepted.name, connection: &connection, context };
        let result = call.run(arguments).await;
        if !connection.is_alive() {
            self.buried(&connection);
        }
        result
    }

    /// Whether the tool is still what was accepted.
    fn check(&self, accepted: &SeenTool) -> Result<(), ToolError> {
        let live = self.state().live.clone();
        let Some(now) = live.as_ref().and_then(|face| face.tool(&accepted.name)) else {
            let message = format!("The server {} has no tool '{}' any more", self.spec.name, accepted.name);
            return Err(ToolError::new(ErrorKind::ToolNotAvailable, message));
        };
        let is_accepted = now == accepted || {
            // Somebody may have accepted it since.
            let record = self.record().ok().flatten();
            record.and_then(|record| record.accepted).is_some_and(|face| face.tool(&now.name) == Some(now))
        };
        match is_accepted {
            true => Ok(()),
            false => Err(self.held(&format!("changed its tool '{}' since it was accepted", accepted.name))),
        }
    }

    /// What is said of a server that may not be started yet.
    pub fn refusal(&self) -> ToolError {
        self.held("is new, and nothing of it was started yet")
    }

    pub(crate) fn held(&self, why: &str) -> ToolError {
        let name = &self.spec.name;
        ToolError::new(ErrorKind::ToolNotAvailable, format!("The server {name} {why}, so it is held")).hint(format!(
            "A person looks at it with: pinza mcp diff {name}, and accepts it with: pinza mcp accept {name}"
        ))
    }

    fn not_started(&self, error: &StartError) -> ToolError {
        let name = &self.spec.name;
        let kind = match self.spec.launch {
            Launch::Command { .. } => ErrorKind::ExecutionError,
            Launch::Http { .. } => ErrorKind::NetworkError,
        };
        let tail = tail(&error.log);
        let hint = match tail.is_empty() {
            true => format!("See more with: pinza mcp test {name}"),
            false => format!("It printed: {tail}"),
        };
        ToolError::new(kind, format!("The server {name} cannot be used: {}", error.message)).hint(hint)
    }

    /// The connection, once there is one.
    async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, Arc<StartError>> {
        let mut starting = match self.next() {
            Next::Settled(started) => return started,
            Next::Wait(starting) => starting,
        };
        let started = starting.wait_for(Option::is_some).await.ok().and_then(|started| started.clone());
        started.unwrap_or_else(|| Err(Arc::new(StartError::new("its start was given up"))))
    }

    /// What there is to do for a connection; begins a start where there is none.
    fn next(self: &Arc<Self>) -> Next {
        let mut state = self.state();
        if let Slot::Ready(connection, since) = &state.slot {
            if connection.is_alive() {
                return Next::Settled(Ok(Arc::clone(connection)));
            }
            let since = *since;
            state.lost(since, &self.spec.restarts);
        }
        match &state.slot {
            Slot::Cooling { until, error } if *until > Instant::now() => {
                let left = (*until - Instant::now()).as_secs() + 1;
                let message = format!("{}; it is tried again in {left} s", error.message);
                return Next::Settled(Err(Arc::new(StartError { message, ..(**error).clone() })));
            }
            Slot::Starting(starting) => return Next::Wait(starting.clone()),
            _ => {}
        }
        let (tell, starting) = watch::channel(None);
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let started = this.start().await;
            this.settle(&started);
            let _ = tell.send(Some(started));
        });
        state.slot = Slot::Starting(starting.clone());
        Next::Wait(starting)
    }

    async fn start(self: &Arc<Self>) -> Started {
        let record = self.record().map_err(|error| Arc::new(StartError::new(error)))?;
        let last = record.as_ref().and_then(|record| record.revision.as_deref());
        let connection = Connection::open(&self.spec, &self.services, last).await?;
        let listed = within(self.spec.start_timeout, &connection.people, connection.face()).await;
        let face = match listed {
            Ok(Ok(face)) => face,
            Ok(Err(message)) => {
                let message = format!("it does not list its tools: {message}");
                return Err(Arc::new(StartError { log: connection.log(), ..StartError::new(message) }));
            }
            Err(late) => return Err(Arc::new(StartError { log: connection.log(), ..late })),
        };
        self.see(face, Some(&connection.facts.revision)).map_err(|error| Arc::new(StartError::new(error)))?;
        let connection = Arc::new(connection);
        tokio::spawn(follow(Arc::downgrade(self), Arc::downgrade(&connection)));
        tokio::spawn(connection.listen());
        Ok(connection)
    }

    /// Writes down what the server shows now, and remembers it.
    fn see(&self, face: Face, revision: Option<&str>) -> Result<(), String> {
        let before = self.record()?;
        let is_first = before.is_none();
        let mut record = before.clone().unwrap_or_default();
        record.see(face.clone());
        if let Some(revision) = revision {
            record.revision = Some(revision.to_owned());
        }
        if record.accepted.is_none() {
            record.launch = self.launch_key();
        }
        // Trusted by being configured. What comes later is looked at.
        if is_first && self.spec.origin == Origin::User {
            record.accept(self.launch_key());
        }
        if before.as_ref() != Some(&record) {
            record.write(&self.file())?;
        }
        self.state().live = Some(Arc::new(face));
        Ok(())
    }

    fn settle(&self, started: &Started) {
        let mut state = self.state();
        match started {
            Ok(connection) => state.slot = Slot::Ready(Arc::clone(connection), Instant::now()),
            Err(error) => {
                let pause = self.spec.restarts.pause(state.failures);
                state.failures = state.failures.saturating_add(1);
                state.slot = Slot::Cooling { until: Instant::now() + pause, error: Arc::clone(error) };
            }
        }
    }

    /// A connection that is no more makes room for the next.
    fn buried(&self, dead: &Arc<Connection>) {
        let mut state = self.state();
        if let Slot::Ready(current, since) = &state.slot
            && Arc::ptr_eq(current, dead)
        {
            let since = *since;
            state.lost(since, &self.spec.restarts);
        }
    }

    fn is_same_launch(&self, record: &Record) -> bool {
        self.spec.origin == Origin::User || record.launch == self.launch_key()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The server is gone. One that lived is started again at once, one that did not waits.
    fn lost(&mut self, since: Instant, restarts: &Restarts) {
        if since.elapsed() >= restarts.short_life {
            self.failures = 0;
            self.slot = Slot::Idle;
            return;
        }
        let error = Arc::new(StartError::new("it ended soon after its start"));
        // The first time may be chance.
        self.slot = match self.failures {
            0 => Slot::Idle,
            failures => Slot::Cooling { until: Instant::now() + restarts.pause(failures - 1), error },
        };
        self.failures = self.failures.saturating_add(1);
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// Looks again whenever the server says that its tools changed, as long as both are there.
async fn follow(upstream: std::sync::Weak<Upstream>, connection: std::sync::Weak<Connection>) {
    let Some(changed) = connection.upgrade().map(|connection| Arc::clone(&connection.changed)) else {
        return;
    };
    loop {
        // Without a bound, a connection that is gone would be waited for.
        let told = tokio::time::timeout(Duration::from_secs(5), changed.notified()).await;
        let (Some(upstream), Some(connection)) = (upstream.upgrade(), connection.upgrade()) else { return };
        if !connection.is_alive() {
            return;
        }
        if told.is_err() {
            continue;
        }
        let limit = upstream.spec.start_timeout;
        if let Ok(Ok(face)) = tokio::time::timeout(limit, connection.face()).await {
            // What cannot be written is seen again at the next start.
            let _ = upstream.see(face, None);
        }
    }
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(HINT_LINES)..].join(" | ");
    let start = last.char_indices().rev().nth(HINT_LENGTH).map_or(0, |(start, _)| start);
    pinza_core::visible(&last[start..])
}
