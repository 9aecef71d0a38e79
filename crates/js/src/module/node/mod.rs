//! Libraries that need Node: native addons, sockets, servers. Each runs in a Node process of its own,
//! under a supervisor, with the same runner as in the embedded engine.
//!
//! Such a process has all the rights of its user, so every call asks for the capability `node`. By
//! default a process serves one call and is ended with its whole tree; one with a session serves that
//! session's calls one after the other, and keeps instances and handles in between, until nobody has
//! called it for a while. A call that is dropped half-way takes its process with it, because nobody knows what it was doing.

mod log;
mod process;

use std::{
    collections::HashMap,
    ffi::OsString,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use pinza_core::{CallContext, Capability, Content, Permission, Permits as _, ToolError, capability};
use pinza_host::process::Supervisor;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::outcome::Outcome;
use process::Process;

/// Processes of sessions that wait for their next call. One more ends the one that waits longest.
const MOST_KEPT: usize = 16;

/// A process that no call has wanted for so long ends, and all that it keeps with it.
const IDLE: Duration = Duration::from_secs(600);

/// What is to run, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct NodeModule {
    /// For messages.
    pub(crate) name: String,
    /// Where `module.json` is: the package is looked up from here, and the process starts here.
    pub(crate) directory: PathBuf,
    /// A package's name, or a path relative to the directory.
    pub(crate) package: String,
    /// Bytes for JavaScript objects.
    pub(crate) heap: usize,
    /// Whose process it is, where state lives on; `None` where each call begins anew.
    pub(crate) session: Option<String>,
}

#[derive(Debug)]
pub(crate) struct NodeHost {
    supervisor: Supervisor,
    program: OsString,
    kept: Mutex<HashMap<Key, Arc<Slot>>>,
    clock: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    session: String,
    directory: PathBuf,
    package: String,
}

/// The process of a session and a package; empty before its first call and after a failed one.
#[derive(Debug, Default)]
struct Slot {
    // Held while a call runs: the next one waits for its turn.
    process: tokio::sync::Mutex<Option<Process>>,
    used: AtomicU64,
    /// When its last call ended. A std lock, held for a look.
    rests: Mutex<Option<Instant>>,
    /// Whether somebody waits to end a process that has become idle.
    watched: AtomicBool,
}

/// Asks whether a package may run in Node.
pub(super) async fn permit(context: &CallContext<'_>, module: &NodeModule) -> Result<(), ToolError> {
    let detail = format!("runs the package '{}' in Node, with all your rights", module.package);
    context.permit(Permission::new(Capability::known(capability::NODE)).detail(detail)).await
}

impl NodeHost {
    pub(crate) fn new(supervisor: Supervisor) -> Self {
        Self { supervisor, program: "node".into(), kept: Mutex::default(), clock: AtomicU64::new(0) }
    }

    /// Runs a plan. What the library throws is in the outcome; an error means that there is none.
    pub(crate) async fn call(
        &self,
        context: &CallContext<'_>,
        module: &NodeModule,
        plan: &Value,
    ) -> Result<Outcome, ToolError> {
        permit(context, module).await?;
        let on_line = |line: &str| context.progress(&[Content::text(format!("{line}\n"))]);
        let frame = json!({ "plan": plan });
        let (text, log) = match &module.session {
            None => self.ask_once(module, &frame, on_line).await?,
            Some(session) => self.ask_kept(session, module, &frame, on_line).await?,
        };
        Ok(Outcome { log, ..Outcome::parse(&text)? })
    }

    /// What `invoke.describe` says about `{ init, functions }`. Loads and initialises the library, so whoever
    /// asks must have got the [permit].
    pub(crate) async fn describe(&self, module: &NodeModule, request: &Value) -> Result<Value, ToolError> {
        let (text, _) = self.ask_once(module, &json!({ "describe": request }), |_| {}).await?;
        serde_json::from_slice(&text)
            .map_err(|error| ToolError::execution(format!("The runner answered with no JSON: {error}")))
    }

    async fn ask_once(
        &self,
        module: &NodeModule,
        frame: &Value,
        on_line: impl FnMut(&str),
    ) -> Result<(Vec<u8>, Vec<Value>), ToolError> {
        let mut process = Process::start(&self.supervisor, &self.program, module)?;
        match process.ask(frame, on_line).await {
            Ok(answer) => {
                process.stop().await;
                Ok(answer)
            }
            Err(broken) => Err(process.died(broken, module).await),
        }
    }

    async fn ask_kept(
        &self,
        session: &str,
        module: &NodeModule,
        frame: &Value,
        on_line: impl FnMut(&str),
    ) -> Result<(Vec<u8>, Vec<Value>), ToolError> {
        let slot = self.slot(session, module);
        let mut place = slot.process.lock().await;
        // Taken out: if this call is dropped, its process goes with it.
        let mut process = match place.take().filter(Process::is_alive) {
            Some(process) => process,
            None => Process::start(&self.supervisor, &self.program, module)?,
        };
        match process.ask(frame, on_line).await {
            Ok(answer) => {
                *place = Some(process);
                *slot.rests() = Some(Instant::now());
                if !slot.watched.swap(true, Ordering::Relaxed) {
                    tokio::spawn(end_when_idle(Arc::downgrade(&slot)));
                }
                Ok(answer)
            }
            Err(broken) => Err(process.died(broken, module).await),
        }
    }

    fn slot(&self, session: &str, module: &NodeModule) -> Arc<Slot> {
        let key = Key {
            session: session.to_owned(),
            directory: module.directory.clone(),
            package: module.package.clone(),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains_key(&key) && kept.len() >= MOST_KEPT {
            // One that is at work is held by its call, too.
            let idle = kept.iter().filter(|(_, slot)| Arc::strong_count(slot) == 1);
            let longest = idle.min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed));
            if let Some(key) = longest.map(|(key, _)| key.clone()) {
                kept.remove(&key);
            }
        }
        let slot = kept.entry(key).or_default();
        slot.used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Arc::clone(slot)
    }
}

impl Slot {
    fn rests(&self) -> MutexGuard<'_, Option<Instant>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a slot's process has been idle for long, or is gone. What the slot keeps then is its place alone.
async fn end_when_idle(slot: Weak<Slot>) {
    let mut wait = IDLE;
    loop {
        tokio::time::sleep(wait).await;
        let Some(slot) = slot.upgrade() else { return };
        // One that is at work is not idle.
        let Ok(mut place) = slot.process.try_lock() else {
            wait = IDLE;
            continue;
        };
        let rested = slot.rests().map_or(IDLE, |since| since.elapsed());
        if rested < IDLE && place.is_some() {
            wait = IDLE - rested;
            continue;
        }
        let process = place.take();
        slot.watched.store(false, Ordering::Relaxed);
        drop(place);
        if let Some(process) = process {
            process.stop().await;
        }
        return;
    }
}

#[cfg(test)]
mod tests;
