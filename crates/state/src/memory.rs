//! What an agent was told to remember, across sessions.

use rusqlite::Row;
use serde::Serialize;

use crate::{
    error::StateError,
    store::{Store, now},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub id: i64,
    pub text: String,
    pub created: i64,
    pub updated: i64,
}

impl Store {
    /// Remembers a text; when this comes back, it is on disk.
    pub async fn save_memory(&self, text: &str) -> Result<Memory, StateError> {
        let text = text.to_owned();
        self.durable(move |transaction| {
            let sql = "INSERT INTO memory (text, created, updated) VALUES (?1, ?2, ?2) RETURNING id, text, created, updated";
            Ok(transaction.query_row(sql, (text, now()), memory)?)
        })
        .await
    }

    /// Puts another text in the place of one.
    pub async fn update_memory(&self, id: i64, text: &str) -> Result<Memory, StateError> {
        let text = text.to_owned();
        self.durable(move |transaction| {
            let sql = "UPDATE memory SET text = ?2, updated = ?3 WHERE id = ?1 RETURNING id, text, created, updated";
            match transaction.query_row(sql, (id, text, now()), memory) {
                Err(rusqlite::Error::QueryReturnedNoRows) => Err(StateError::NoMemory(id)),
                other => Ok(other?),
            }
        })
        .await
    }

    /// Forgets one; tells whether it was there.
    pub async fn remove_memory(&self, id: i64) -> Result<bool, StateError> {
        self.durable(
            move |transaction| Ok(transaction.execute("DELETE FROM memory WHERE id = ?1", [id])? > 0),
        )
        .await
    }

    /// All that is remembered, the oldest first.
    pub async fn memories(&self) -> Result<Vec<Memory>, StateError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, text, created, updated FROM memory ORDER BY id")?;
            let rows = statement.query_map([], memory)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory { id: row.get(0)?, text: row.get(1)?, created: row.get(2)?, updated: row.get(3)? })
}
