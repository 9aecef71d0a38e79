//! The numbered steps from an empty file to today's tables. A step that was released is never
//! changed; the file's `user_version` says how many it has been through.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StateError;

const STEPS: [&str; 2] =
    [include_str!("migrations/0001_start.sql"), include_str!("migrations/0002_requests.sql")];

pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StateError> {
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    let found = version(connection)?;
    if found > known {
        return Err(StateError::Newer { path: path.to_owned(), found, known });
    }
    if found == known {
        return Ok(());
    }
    // Another Pinza may be at it: whoever has the lock looks again.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", known.max(i64::try_from(done).unwrap_or(0)))?;
    Ok(transaction.commit()?)
}

fn version(connection: &Connection) -> Result<i64, StateError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
