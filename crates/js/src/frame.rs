//! Frames between Pinza and a worker: a length, a kind, JSON and raw bytes.
//!
//! The worker runs hostile code, so nothing it sends is trusted: lengths are bounded before
//! anything is allocated, and a frame that cannot be read ends the worker.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// No frame is larger: the output limit and room for its envelope.
pub(crate) const LIMIT: usize = (16 << 20) + (1 << 20);

/// Requests of one call that wait for an answer at the same time. The worker refuses more, and
/// Pinza ends a worker that does not: the same goes for the log.
pub(crate) const IN_FLIGHT: usize = 256;

/// Lines that one call may write to its log, and bytes of each; one more line says that some are left out.
pub(crate) const LOG_LINES: usize = 1000;
pub(crate) const LOG_LENGTH: usize = 16 << 10;

/// `length of the rest (4) | length of the JSON (4)`, little-endian.
pub(crate) const HEAD: usize = 8;

/// Pinza to worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToWorker {
    /// Keep a script under a number; its code is the frame's bytes.
    Load {
        script: u64,
        file: String,
    },
    Call(CallFrame),
    /// The answer to a request; its bytes are the frame's.
    Reply {
        id: u32,
        ok: bool,
        json: Option<String>,
        has_bytes: bool,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallFrame {
    pub(crate) script: u64,
    pub(crate) entry: Entry,
    pub(crate) params: String,
    /// Bytes above what the loaded script takes.
    pub(crate) heap: usize,
    pub(crate) stack: usize,
}

/// What of a script is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A function that the loader found among the script's own.
    Function(String),
    /// `main` if the script defines it, else the value of the script's last expression.
    Program,
}

/// Worker to Pinza.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromWorker {
    /// The worker waits for a call, with a new engine. The sandbox is closed behind it; what
    /// held, in words.
    Ready {
        sandbox: Vec<String>,
    },
    Request {
        id: u32,
        op: String,
        json: String,
        has_bytes: bool,
    },
    Cancel {
        id: u32,
    },
    Log {
        level: String,
        text: String,
    },
    /// The call's end. The text, of the result or of the error, is the frame's bytes.
    Result {
        end: End,
    },
}

/// How a call ended inside the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Ok,
    /// The script threw.
    Threw,
    /// Nothing could settle its promise any more.
    Stalled,
    Memory,
    Output,
}

pub(crate) fn encode(json: &impl Serialize, bytes: &[u8]) -> Vec<u8> {
    // These types have string keys and plain values: writing them cannot fail.
    let json = serde_json::to_vec(json).unwrap_or_default();
    let mut frame = Vec::with_capacity(HEAD + json.len() + bytes.len());
    frame.extend(length(4 + json.len() + bytes.len()));
    frame.extend(length(json.len()));
    frame.extend(json);
    frame.extend(bytes);
    frame
}

/// The two lengths of a head: what follows it, and how much of that is JSON.
pub(crate) fn lengths(head: [u8; HEAD]) -> io::Result<(usize, usize)> {
    let [a, b, c, d, e, f, g, h] = head;
    let rest = u32::from_le_bytes([a, b, c, d]) as usize;
    let json = u32::from_le_bytes([e, f, g, h]) as usize;
    match rest.checked_sub(4) {
        Some(body) if body <= LIMIT && json <= body => Ok((body, json)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of impossible length")),
    }
}

pub(crate) fn decode<T: for<'de> Deserialize<'de>>(
    mut body: Vec<u8>,
    json: usize,
) -> io::Result<(T, Vec<u8>)> {
    let bytes = body.split_off(json);
    Ok((serde_json::from_slice(&body).map_err(io::Error::other)?, bytes))
}

/// The worker's side reads and writes blocking.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(mut source: impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut head = [0; HEAD];
    source.read_exact(&mut head)?;
    let (body, json) = lengths(head)?;
    let mut bytes = vec![0; body];
    source.read_exact(&mut bytes)?;
    decode(bytes, json)
}

pub(crate) fn write(mut sink: impl Write, json: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    sink.write_all(&encode(json, bytes))
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}
