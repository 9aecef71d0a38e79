//! The journal of calls, as it is written: an observer of the engine.
//!
//! A call with effects by an agent or a schedule is on disk before it runs, so that after a crash it
//! is known to have begun and is not begun again. All else is noted and never waited for.

use std::{sync::Arc, time::Duration};

use pinza_core::{BoxFuture, CallObserver, Caller, Finished, Of, Started, ToolResult};

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
/// Arguments beyond this are cut: the journal is to look through, not to run from.
const ARGUMENTS: usize = 64 * 1024;

pub struct Journal {
    store: Store,
    keep: Keep,
    redact: Redact,
}

impl Journal {
    pub fn new(store: Store, keep: Keep, redact: Redact) -> Self {
        Self { store, keep, redact }
    }

    fn row(&self, of: &Of<'_>, arguments: Option<String>) -> Row {
        Row {
            instance: self.store.instance().to_owned(),
            serial: i64::try_from(of.serial).unwrap_or(i64::MAX),
            call: of.id.to_string(),
            session: of.session.map(str::to_owned),
            caller: of.caller.to_string(),
            tool: of.tool.to_owned(),
            arguments,
            redact: Arc::clone(&self.redact),
        }
    }

    fn arguments(&self, arguments: &pinza_core::Arguments) -> String {
        let text = serde_json::to_string(arguments).unwrap_or_default();
        if text.len() > ARGUMENTS {
            let note = format!("{} bytes, not kept", text.len());
            return serde_json::json!({ "…": note }).to_string();
        }
        text
    }

    fn result(&self, result: &ToolResult) -> (String, i64, Option<String>) {
        let (status, bytes, text) = match result {
            Ok(output) => ("success".to_owned(), output.size(), output.as_text()),
            Err(error) => (error.kind.code().to_owned(), error.message.len(), error.to_string()),
        };
        let text = match self.keep {
            Keep::Nothing => None,
            Keep::Head => Some(head(&text).to_owned()),
            Keep::All => Some(text),
        };
        (status, i64::try_from(bytes).unwrap_or(i64::MAX), text)
    }
}

impl CallObserver for Journal {
    fn before_run<'a>(&'a self, call: &Started<'a>) -> Option<BoxFuture<'a, Result<(), String>>> {
        let must_be_known =
            matches!(call.of.caller, Caller::Agent { .. } | Caller::Schedule { .. }) && !call.read_only;
        let row = self.row(&call.of, Some(self.arguments(call.arguments)));
        let started = now();
        if !must_be_known {
            self.store.note(move |transaction| row.start(transaction, started));
            return None;
        }
        Some(Box::pin(async move {
            let written = self.store.durable(move |transaction| row.start(transaction, started)).await;
            written.map_err(|error| error.to_string())
        }))
    }

    fn finished(&self, call: &Finished<'_>) {
        let row = self.row(&call.of, call.arguments.map(|arguments| self.arguments(arguments)));
        let decisions = serde_json::to_string(call.decisions).unwrap_or_else(|_| "[]".to_owned());
        let (status, bytes, result) = self.result(call.result);
        let end = End { ended: now(), took: call.duration, decisions, status, bytes, result };
        self.store.note(move |transaction| row.end(transaction, &end));
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("keep", &self.keep).finish_non_exhaustive()
    }
}

struct Row {
    instance: String,
    serial: i64,
    call: String,
    session: Option<String>,
    caller: String,
    tool: String,
    arguments: Option<String>,
    /// Applied by the writer, on whose time it may take a while.
    redact: Redact,
}

struct End {
    ended: i64,
    took: Duration,
    decisions: String,
    status: String,
    bytes: i64,
    result: Option<String>,
}

type Written = Result<(), crate::error::StateError>;

impl Row {
    fn start(self, transaction: &rusqlite::Transaction<'_>, started: i64) -> Written {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO calls (instance, serial, call, session, caller, tool, arguments, started, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'running')",
        )?;
        insert.execute((
            self.instance,
            self.serial,
            self.call,
            self.session,
            self.caller,
            self.tool,
            self.arguments.map(|text| (self.redact)(&text)),
            started,
        ))?;
        Ok(())
    }

    /// Ends the row that the start made; a call that never came so far gets one now.
    fn end(self, transaction: &rusqlite::Transaction<'_>, end: &End) -> Written {
        let took = i64::try_from(end.took.as_millis()).unwrap_or(i64::MAX);
        let mut upsert = transaction.prepare_cached(
            "INSERT INTO calls (instance, serial, call, session, caller, tool, arguments, decisions, started, ended,
                                status, bytes, result)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 - ?10, ?9, ?11, ?12, ?13)
             ON CONFLICT (instance, serial) DO UPDATE SET decisions = excluded.decisions, ended = excluded.ended,
               status = excluded.status, bytes = excluded.bytes, result = excluded.result",
        )?;
        upsert.execute((
            self.instance,
            self.serial,
            self.call,
            self.session,
            self.caller,
            self.tool,
            self.arguments.map(|text| (self.redact)(&text)),
            &end.decisions,
            end.ended,
            took,
            &end.status,
            end.bytes,
            end.result.as_deref().map(|text| (self.redact)(text)),
        ))?;
        Ok(())
    }
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}
