//! What requests to models had in them.
//!
//! A conversation is sent again and again, each time a little longer. So a request is kept as the numbers
//! of its pieces, and each piece once for a session: what is kept grows with what is new.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{OptionalExtension as _, Transaction};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    error::StateError,
    store::{Store, now},
};

/// A request as it was sent, to be kept.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// The agent's own form.
    pub body: Value,
    /// Its pieces in their order, under the name of the part that they are in.
    pub parts: Vec<(&'static str, Vec<NewPiece>)>,
}

#[derive(Clone, Debug)]
pub struct NewPiece {
    /// What kind of piece it is, in the agent's own form.
    pub about: Value,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub created: i64,
    pub body: Value,
    /// The numbers of the pieces of each part, in their order.
    pub parts: BTreeMap<String, Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub number: i64,
    pub about: Value,
    pub text: String,
}

type Runs = BTreeMap<String, Vec<(i64, i64)>>;

impl Store {
    /// Keeps what a request had in it; when this comes back, it is on disk.
    pub async fn keep_request(&self, session: &str, request: NewRequest) -> Result<(), StateError> {
        let id = session.to_owned();
        self.durable(move |transaction| {
            let known = "SELECT 1 FROM sessions WHERE id = ?1";
            if transaction.query_row(known, [&id], |_| Ok(())).optional()?.is_none() {
                return Err(StateError::NoSession(id));
            }
            let mut parts = Runs::new();
            for (part, pieces) in request.parts {
                parts.insert(part.to_owned(), runs(numbers(transaction, &id, pieces)?));
            }
            transaction.execute(
                "INSERT INTO requests (session, created, body, parts) VALUES (?1, ?2, ?3, ?4)",
                (&id, now(), request.body.to_string(), serde_json::to_string(&parts)?),
            )?;
            Ok(())
        })
        .await
    }

    /// The requests of a session in their order, and all pieces that they are made of.
    pub async fn requests(&self, session: &str) -> Result<(Vec<Request>, Vec<Piece>), StateError> {
        let id = session.to_owned();
        self.read(move |connection| {
            let mut statement = connection
                .prepare_cached("SELECT created, body, parts FROM requests WHERE session = ?1 ORDER BY id")?;
            let rows = statement.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let request = |row: rusqlite::Result<(i64, String, String)>| {
                let (created, body, parts) = row?;
                let parts = serde_json::from_str::<Runs>(&parts)?.into_iter();
                let parts = parts.map(|(part, runs)| (part, unrolled(&runs))).collect();
                Ok(Request { created, body: serde_json::from_str(&body)?, parts })
            };
            let requests = rows.map(request).collect::<Result<_, StateError>>()?;
            let mut statement = connection.prepare_cached(
                "SELECT number, about, text FROM pieces WHERE session = ?1 ORDER BY number",
            )?;
            let rows = statement.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let piece = |row: rusqlite::Result<(i64, String, String)>| {
                let (number, about, text) = row?;
                Ok(Piece { number, about: serde_json::from_str(&about)?, text })
            };
            Ok((requests, rows.map(piece).collect::<Result<_, StateError>>()?))
        })
        .await
    }
}

/// The numbers of these pieces, those that the session has not seen yet being kept now.
fn numbers(
    transaction: &Transaction<'_>,
    session: &str,
    pieces: Vec<NewPiece>,
) -> Result<Vec<i64>, StateError> {
    let mut find =
        transaction.prepare_cached("SELECT number FROM pieces WHERE session = ?1 AND digest = ?2")?;
    let mut add = transaction.prepare_cached(
        "INSERT INTO pieces (session, number, digest, about, text)
         VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM pieces WHERE session = ?1), ?2, ?3, ?4)
         RETURNING number",
    )?;
    let mut seen = HashMap::new();
    let mut numbers = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let about = piece.about.to_string();
        let plain = digest(&about, &piece.text, 0);
        // What is said twice is there twice.
        let times = seen.entry(plain).and_modify(|times| *times += 1).or_insert(0_u32);
        let digest = if *times == 0 { plain } else { digest(&about, &piece.text, *times) };
        let known = find.query_row((session, digest), |row| row.get(0)).optional()?;
        numbers.push(match known {
            Some(number) => number,
            None => add.query_row((session, digest, about, piece.text), |row| row.get(0))?,
        });
    }
    Ok(numbers)
}

fn digest(about: &str, text: &str, times: u32) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(times.to_le_bytes());
    digest.update((about.len() as u64).to_le_bytes());
    digest.update(about);
    digest.update(text);
    digest.finalize().into()
}

/// Numbers that follow each other, as first and last.
fn runs(numbers: Vec<i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

fn unrolled(runs: &[(i64, i64)]) -> Vec<i64> {
    runs.iter().flat_map(|(first, last)| *first..=*last).collect()
}
