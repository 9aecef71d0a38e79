//! Sessions and their messages.

use rusqlite::{OptionalExtension as _, Row, Transaction};
use serde::Serialize;
use serde_json::Value;

use crate::{
    error::StateError,
    store::{Store, now},
};

/// One session, without its messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    pub id: String,
    pub title: String,
    pub agent: Option<String>,
    pub created: i64,
    pub updated: i64,
    pub messages: i64,
    /// What the agent keeps of it beside its messages.
    #[serde(skip)]
    pub state: Value,
}

/// A message to be kept. `body` is the agent's own form; `text` is what can be searched.
#[derive(Clone, Debug)]
pub struct NewMessage {
    pub role: &'static str,
    pub body: Value,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// Its place in the session, counted from 1.
    pub seq: i64,
    pub role: String,
    pub body: Value,
    /// What can be searched, and read by people.
    pub text: String,
    pub created: i64,
}

/// What changes a session at once, or not at all.
#[derive(Clone, Debug, Default)]
pub struct SessionChange {
    /// Messages from this place on are taken away first; their calls stay in the journal.
    pub without: Option<i64>,
    pub messages: Vec<NewMessage>,
    pub state: Option<Value>,
    pub title: Option<String>,
}

impl Store {
    /// Makes a session, unless there is one with this id.
    pub async fn begin_session(&self, id: &str, agent: Option<&str>) -> Result<Session, StateError> {
        let (id, agent) = (id.to_owned(), agent.map(str::to_owned));
        self.durable(move |transaction| {
            transaction.execute(
                "INSERT INTO sessions (id, title, agent, created, updated, state) VALUES (?1, '', ?2, ?3, ?3, 'null')
                 ON CONFLICT (id) DO NOTHING",
                (&id, &agent, now()),
            )?;
            find(transaction, &id)?.ok_or(StateError::NoSession(id))
        })
        .await
    }

    /// Changes a session; when this comes back, it is on disk. Tells the last message's place.
    pub async fn change_session(&self, id: &str, change: SessionChange) -> Result<i64, StateError> {
        let id = id.to_owned();
        self.durable(move |transaction| apply(transaction, id, change)).await
    }

    pub async fn session(&self, id: &str) -> Result<Option<Session>, StateError> {
        let id = id.to_owned();
        self.read(move |connection| find(connection, &id)).await
    }

    /// All sessions, the last used first.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<Session>, StateError> {
        self.read(move |connection| {
            let sql = format!("{SESSION} ORDER BY updated DESC, id LIMIT ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], session)?;
            rows.map(|row| row?).collect()
        })
        .await
    }

    /// The messages of a session, after a place in it.
    pub async fn messages(&self, session: &str, after: i64) -> Result<Vec<Message>, StateError> {
        let id = session.to_owned();
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT seq, role, body, created, text FROM messages WHERE session = ?1 AND seq > ?2 ORDER BY seq",
            )?;
            let rows = statement.query_map((&id, after), message)?;
            rows.map(|row| row?).collect()
        })
        .await
    }

    /// Removes a session in which nothing was ever said or loaded. Tells whether it was one.
    pub async fn remove_unused_session(&self, id: &str) -> Result<bool, StateError> {
        let id = id.to_owned();
        self.durable(move |transaction| {
            let unused = "DELETE FROM sessions WHERE id = ?1 AND state = 'null'
                          AND NOT EXISTS (SELECT 1 FROM messages WHERE session = ?1)";
            Ok(transaction.execute(unused, [id])? > 0)
        })
        .await
    }

    /// Removes a session with its messages; its calls stay in the journal. Tells whether it was there.
    pub async fn remove_session(&self, id: &str) -> Result<bool, StateError> {
        let id = id.to_owned();
        self.durable(move |transaction| {
            Ok(transaction.execute("DELETE FROM sessions WHERE id = ?1", [id])? > 0)
        })
        .await
    }
}

const SESSION: &str = "SELECT id, title, agent, created, updated, state,
                       (SELECT count(*) FROM messages WHERE session = sessions.id) FROM sessions";

fn find(connection: &rusqlite::Connection, id: &str) -> Result<Option<Session>, StateError> {
    let mut statement = connection.prepare_cached(&format!("{SESSION} WHERE id = ?1"))?;
    statement.query_row([id], session).optional()?.transpose()
}

fn apply(transaction: &Transaction<'_>, id: String, change: SessionChange) -> Result<i64, StateError> {
    let time = now();
    let known = transaction.execute(
        "UPDATE sessions SET updated = ?2, state = coalesce(?3, state), title = coalesce(?4, title) WHERE id = ?1",
        (&id, time, change.state.map(|state| state.to_string()), change.title),
    )?;
    if known == 0 {
        return Err(StateError::NoSession(id));
    }
    if let Some(place) = change.without {
        transaction.execute("DELETE FROM messages WHERE session = ?1 AND seq >= ?2", (&id, place))?;
    }
    let mut last: i64 = transaction.query_row(
        "SELECT coalesce(max(seq), 0) FROM messages WHERE session = ?1",
        [&id],
        |row| row.get(0),
    )?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO messages (session, seq, role, body, text, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for message in change.messages {
        last += 1;
        insert.execute((&id, last, message.role, message.body.to_string(), message.text, time))?;
    }
    Ok(last)
}

type Parsed<T> = rusqlite::Result<Result<T, StateError>>;

fn session(row: &Row<'_>) -> Parsed<Session> {
    let state: String = row.get(5)?;
    let session = Session {
        id: row.get(0)?,
        title: row.get(1)?,
        agent: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
        messages: row.get(6)?,
        state: Value::Null,
    };
    Ok(serde_json::from_str(&state).map(|state| Session { state, ..session }).map_err(StateError::from))
}

fn message(row: &Row<'_>) -> Parsed<Message> {
    let body: String = row.get(2)?;
    let message = Message {
        seq: row.get(0)?,
        role: row.get(1)?,
        body: Value::Null,
        created: row.get(3)?,
        text: row.get(4)?,
    };
    Ok(serde_json::from_str(&body).map(|body| Message { body, ..message }).map_err(StateError::from))
}
