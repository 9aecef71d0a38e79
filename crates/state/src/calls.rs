//! The journal of calls, as it is read.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, Row, Transaction};
use serde::Serialize;
use serde_json::Value;

use crate::{
    error::StateError,
    store::{Store, now},
};

/// How a call stands: `running`, `success`, or an error's code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CallStatus(pub String);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    pub id: i64,
    /// The caller's own id of it.
    pub call: String,
    pub session: Option<String>,
    pub caller: String,
    pub tool: String,
    pub arguments: Option<Value>,
    pub decisions: Value,
    pub started: i64,
    pub ended: Option<i64>,
    pub status: CallStatus,
    pub bytes: i64,
    /// The head of its result, or all of it, as `[journal] results` says.
    pub result: Option<String>,
}

/// Which calls.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    pub session: Option<String>,
    pub tool: Option<String>,
    pub status: Option<String>,
    /// Only those after this one.
    pub after: i64,
}

impl Store {
    /// The newest calls, the newest last.
    pub async fn calls(&self, filter: CallFilter, limit: usize) -> Result<Vec<Call>, StateError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "{CALL} WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR tool = ?2)
                 AND (?3 IS NULL OR status = ?3) AND id > ?4 ORDER BY id DESC LIMIT ?5"
            ))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement
                .query_map((filter.session, filter.tool, filter.status, filter.after, limit), call)?;
            let mut calls = rows.map(|row| row?).collect::<Result<Vec<_>, StateError>>()?;
            calls.reverse();
            Ok(calls)
        })
        .await
    }

    pub async fn call(&self, id: i64) -> Result<Option<Call>, StateError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{CALL} WHERE id = ?1"))?;
            statement.query_row([id], call).optional()?.transpose()
        })
        .await
    }

    /// Forgets calls that began longer ago than this; nobody waits for it.
    pub fn forget_calls_soon(&self, older_than: Duration) {
        self.note(None, move |transaction| forget(transaction, older_than).map(|_| ()));
    }

    /// Forgets calls that began longer ago than this; tells how many.
    pub async fn forget_calls(&self, older_than: Duration) -> Result<usize, StateError> {
        self.durable(move |transaction| forget(transaction, older_than)).await
    }
}

fn forget(transaction: &Transaction<'_>, older_than: Duration) -> Result<usize, StateError> {
    let before = now().saturating_sub(i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX));
    Ok(transaction.execute("DELETE FROM calls WHERE started < ?1 AND status <> 'running'", [before])?)
}

const CALL: &str =
    "SELECT id, call, session, caller, tool, arguments, decisions, started, ended, status, bytes, result
                    FROM calls";

fn call(row: &Row<'_>) -> rusqlite::Result<Result<Call, StateError>> {
    let arguments: Option<String> = row.get(5)?;
    let decisions: String = row.get(6)?;
    let call = Call {
        id: row.get(0)?,
        call: row.get(1)?,
        session: row.get(2)?,
        caller: row.get(3)?,
        tool: row.get(4)?,
        arguments: None,
        decisions: Value::Null,
        started: row.get(7)?,
        ended: row.get(8)?,
        status: CallStatus(row.get(9)?),
        bytes: row.get(10)?,
        result: row.get(11)?,
    };
    let parse = || -> Result<Call, StateError> {
        let arguments = arguments.map(|text| serde_json::from_str(&text)).transpose()?;
        Ok(Call { arguments, decisions: serde_json::from_str(&decisions)?, ..call })
    };
    Ok(parse())
}
