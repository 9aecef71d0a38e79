//! Looking for words in what was said and remembered: full text, and the newer the better.

use rusqlite::Connection;
use serde::Serialize;

use crate::{
    error::StateError,
    store::{Store, now},
};

/// An age at which a text counts half as much as a new one.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;
/// How many of the best by words are looked at for their age.
const CANDIDATES: i64 = 200;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum FoundIn {
    Session { session: String, seq: i64, role: String },
    Memory { id: i64 },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    #[serde(flatten)]
    pub place: FoundIn,
    /// A piece of the text around the words.
    pub excerpt: String,
    pub created: i64,
    #[serde(skip)]
    score: f64,
}

impl Store {
    /// Messages of all sessions and memories that have some of the words, the best first.
    pub async fn search_history(&self, query: &str, limit: usize) -> Result<Vec<Found>, StateError> {
        let Some(query) = any_of_its_words(query) else { return Ok(Vec::new()) };
        self.read(move |connection| {
            let mut found = messages(connection, &query)?;
            found.extend(memories(connection, &query)?);
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
            found.truncate(limit);
            Ok(found)
        })
        .await
    }
}

/// A text's words as FTS5 wants them: each quoted, so that no sign in it is an operator.
fn any_of_its_words(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let quoted: Vec<String> = words.take(32).map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

fn messages(connection: &Connection, query: &str) -> Result<Vec<Found>, StateError> {
    let mut statement = connection.prepare_cached(
        "SELECT m.session, m.seq, m.role, m.created, bm25(messages_text), snippet(messages_text, 0, '', '', '…', 24)
         FROM messages_text JOIN messages m ON m.id = messages_text.rowid
         WHERE messages_text MATCH ?1 ORDER BY bm25(messages_text) LIMIT ?2",
    )?;
    let rows = statement.query_map((query, CANDIDATES), |row| {
        let place = FoundIn::Session { session: row.get(0)?, seq: row.get(1)?, role: row.get(2)? };
        found(place, row.get(3)?, row.get(4)?, row.get(5)?)
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn memories(connection: &Connection, query: &str) -> Result<Vec<Found>, StateError> {
    let mut statement = connection.prepare_cached(
        "SELECT m.id, m.updated, bm25(memory_text), snippet(memory_text, 0, '', '', '…', 24)
         FROM memory_text JOIN memory m ON m.id = memory_text.rowid
         WHERE memory_text MATCH ?1 ORDER BY bm25(memory_text) LIMIT ?2",
    )?;
    let rows = statement.query_map((query, CANDIDATES), |row| {
        found(FoundIn::Memory { id: row.get(0)? }, row.get(1)?, row.get(2)?, row.get(3)?)
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// SQLite's rank is better the more negative it is.
fn found(place: FoundIn, created: i64, rank: f64, excerpt: String) -> rusqlite::Result<Found> {
    #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds needs no more than 52 bits")]
    let age = (now() - created).max(0) as f64;
    let score = -rank * (0.5 + 0.5 * (-age * std::f64::consts::LN_2 / HALF_LIFE_MS).exp());
    Ok(Found { place, excerpt, created, score })
}
