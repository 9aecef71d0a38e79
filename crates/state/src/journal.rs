//! The journal of calls, as it is written: an observer of the engine.
//!
//! A call with effects by an agent or a schedule is on disk before it runs, so that after a crash it
//! is known to have begun and is not begun again. All else is noted and never waited for.

use std::{sync::Arc, time::Duration};

use pinza_core::{Arguments, BoxFuture, CallId, CallObserver, Caller, DecisionRecord, Finished, Of, Started};

use crate::store::{Store, now};

/// How much of a result is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    /// Enough to recognise it.
    #[default]
    Head,
    All,
}

/// Replaces what must not be written down.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

const HEAD: usize = 1024;
/// Taken beyond the head until secrets are replaced: one that the cut went through would not be known for one.
const BEYOND: usize = 8 * 1024;
/// Arguments beyond this are cut: the journal is to look through, not to run from.
const ARGUMENTS: usize = 64 * 1024;

pub struct Journal {
    store: Store,
    ways: Arc<Ways>,
}

/// What all rows have in common.
struct Ways {
    instance: Arc<str>,
    keep: Keep,
    redact: Redact,
}

impl Journal {
    pub fn new(store: Store, keep: Keep, redact: Redact) -> Self {
        let instance = store.instance().into();
        Self { store, ways: Arc::new(Ways { instance, keep, redact }) }
    }

    /// On the call's own time: everything is shared, and becomes text on the writer's.
    fn row(&self, of: &Of<'_>, arguments: Option<&Arc<Arguments>>) -> Row {
        Row {
            ways: Arc::clone(&self.ways),
            serial: of.serial,
            call: of.id.clone(),
            session: of.session.cloned(),
            caller: of.caller.clone(),
            tool: of.tool.into(),
            arguments: arguments.cloned(),
        }
    }
}

impl CallObserver for Journal {
    fn before_run<'a>(&'a self, call: &Started<'a>) -> Option<BoxFuture<'a, Result<(), String>>> {
        let must_be_known =
            matches!(call.of.caller, Caller::Agent { .. } | Caller::Schedule { .. }) && !call.read_only;
        let row = self.row(&call.of, Some(call.arguments));
        let started = now();
        if !must_be_known {
            self.store.note(Some(call.of.serial), move |transaction| row.start(transaction, started));
            return None;
        }
        Some(Box::pin(async move {
            let written = self.store.durable(move |transaction| row.start(transaction, started)).await;
            written.map_err(|error| error.to_string())
        }))
    }

    fn finished(&self, call: &Finished<'_>) {
        let row = self.row(&call.of, call.arguments);
        let kept = match self.ways.keep {
            Keep::Nothing => 0,
            Keep::Head => HEAD + BEYOND,
            Keep::All => usize::MAX,
        };
        let (status, bytes, result) = match call.result {
            Ok(output) => ("success", output.size(), output.head(kept)),
            Err(error) => (error.kind.code(), error.message.len(), head(error.to_string(), kept)),
        };
        let decisions = call.decisions.to_vec();
        let end = End { ended: now(), took: call.duration, decisions, status, bytes, result };
        self.store.note(Some(call.of.serial), move |transaction| row.end(transaction, &end));
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("keep", &self.ways.keep).finish_non_exhaustive()
    }
}

struct Row {
    ways: Arc<Ways>,
    serial: u64,
    call: CallId,
    session: Option<Arc<str>>,
    caller: Caller,
    tool: Box<str>,
    arguments: Option<Arc<Arguments>>,
}

struct End {
    ended: i64,
    took: Duration,
    decisions: Vec<DecisionRecord>,
    status: &'static str,
    bytes: usize,
    result: String,
}

type Written = Result<(), crate::error::StateError>;

impl Row {
    fn start(self, transaction: &rusqlite::Transaction<'_>, started: i64) -> Written {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO calls (instance, serial, call, session, caller, tool, arguments, started, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running')",
        )?;
        insert.execute((
            &*self.ways.instance,
            whole(self.serial),
            self.call.as_str(),
            self.session.as_deref(),
            self.caller.to_string(),
            &*self.tool,
            self.arguments(),
            started,
        ))?;
        Ok(())
    }

    /// Ends the row that the start made; a call that never came so far, or was over before its start was
    /// written, gets one now.
    fn end(self, transaction: &rusqlite::Transaction<'_>, end: &End) -> Written {
        let mut upsert = transaction.prepare_cached(
            "INSERT INTO calls (instance, serial, call, session, caller, tool, arguments, decisions, started, ended,
                                status, bytes, result)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 - ?10, ?9, ?11, ?12, ?13)
             ON CONFLICT (instance, serial) DO UPDATE SET decisions = excluded.decisions, ended = excluded.ended,
               status = excluded.status, bytes = excluded.bytes, result = excluded.result",
        )?;
        upsert.execute((
            &*self.ways.instance,
            whole(self.serial),
            self.call.as_str(),
            self.session.as_deref(),
            self.caller.to_string(),
            &*self.tool,
            self.arguments(),
            serde_json::to_string(&end.decisions).unwrap_or_else(|_| "[]".to_owned()),
            end.ended,
            i64::try_from(end.took.as_millis()).unwrap_or(i64::MAX),
            end.status,
            whole(end.bytes),
            self.result(&end.result),
        ))?;
        Ok(())
    }

    fn arguments(&self) -> Option<String> {
        let text = serde_json::to_string(self.arguments.as_deref()?).unwrap_or_default();
        if text.len() > ARGUMENTS {
            let note = format!("{} bytes, not kept", text.len());
            return Some(serde_json::json!({ "…": note }).to_string());
        }
        Some((self.ways.redact)(&text))
    }

    fn result(&self, text: &str) -> Option<String> {
        match self.ways.keep {
            Keep::Nothing => None,
            Keep::Head => Some(head((self.ways.redact)(text), HEAD)),
            Keep::All => Some((self.ways.redact)(text)),
        }
    }
}

fn head(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
