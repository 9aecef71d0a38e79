//! Frames between Pinza and a worker: a length, a kind, JSON and raw bytes.
//!
//! The worker runs hostile code, so nothing it sends is trusted: lengths are bounded before
//! anything is allocated, and a frame that cannot be read ends the worker.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

/// No frame is larger: the output limit and room for its envelope.
pub(crate) const LIMIT: usize = (16 << 20) + (1 << 20);

/// Requests of one call that wait for an answer at the same time.
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
    /// The first frame. Its bytes are the prelude as a worker of this build compiled it, or none.
    Start { engine: EngineKind, build: u64 },
    /// Keep a script under a number; its code is the frame's bytes. Or, by its name, a package: then the bytes are
    /// what is known of its units, and whoever compiles some is to hand them out, if `keep` says so.
    Load { script: u64, file: String, package: Option<String>, keep: bool },
    /// A call; its parameters, as JSON, are the frame's bytes.
    Call(CallFrame),
    /// The answer to a request; its bytes are the frame's.
    Reply { id: u32, ok: bool, json: Option<String>, has_bytes: bool },
    /// Nobody wants the call's answer any more. A signal says the same to a script that does not
    /// wait for anything.
    Stop,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallFrame {
    pub(crate) script: u64,
    pub(crate) entry: Entry,
    /// Bytes above what the loaded script takes.
    pub(crate) heap: usize,
    pub(crate) stack: usize,
    /// Another call may follow at once: stay awake for a moment.
    pub(crate) alert: bool,
    /// The worker is the script's own: what the call leaves behind is there for its next one.
    pub(crate) keep: bool,
}

/// How a worker makes the state for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EngineKind {
    /// By copying back the image of one, where the system lends the address space for it.
    #[default]
    Imaged,
    /// By making a new one.
    Fresh,
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
    /// The worker has started and waits for a call. The sandbox is closed behind it; what held,
    /// in words. Its bytes are the prelude, if it had to compile it.
    Ready {
        sandbox: Vec<String>,
        #[serde(default)]
        build: u64,
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
    /// The units of the package that was called, as its bytes: some are new. Before the call's end.
    Units,
    /// The call's end, and how many microseconds it took. The text, of the result or of the
    /// error, is the frame's bytes.
    Result {
        end: End,
        #[serde(default)]
        took: u64,
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
    /// Pinza asked for it.
    Stopped,
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
    Ok((parse(&body)?, bytes))
}

fn parse<T: for<'de> Deserialize<'de>>(json: &[u8]) -> io::Result<T> {
    serde_json::from_slice(json).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The worker's side reads and writes blocking.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(mut source: impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut head = [0; HEAD];
    source.read_exact(&mut head)?;
    let (body, json) = lengths(head)?;
    // Apart, because the bytes may be many, and would be copied once more.
    let (mut text, mut bytes) = (vec![0; json], vec![0; body - json]);
    source.read_exact(&mut text)?;
    source.read_exact(&mut bytes)?;
    Ok((parse(&text)?, bytes))
}

pub(crate) fn write(mut sink: impl Write, json: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    sink.write_all(&encode(json, bytes))
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: for<'de> Deserialize<'de> + std::fmt::Debug>(bytes: &[u8]) -> io::ErrorKind {
        read::<T>(bytes).unwrap_err().kind()
    }

    #[test]
    fn a_frame_comes_back_as_it_was_sent() {
        let log = FromWorker::Log { level: "log".into(), text: "a\u{2028}\0\"".into() };
        let mut sent = Vec::new();
        write(&mut sent, &log, b"\0\xffrest").unwrap();
        sent.extend(encode(&FromWorker::Cancel { id: u32::MAX }, &[]));
        let mut source = sent.as_slice();
        let (first, bytes) = read::<FromWorker>(&mut source).unwrap();
        assert!(matches!(first, FromWorker::Log { text, .. } if text == "a\u{2028}\0\""));
        assert_eq!(bytes, b"\0\xffrest");
        let (second, bytes) = read::<FromWorker>(&mut source).unwrap();
        assert!(matches!(second, FromWorker::Cancel { id: u32::MAX }) && bytes.is_empty());
        assert_eq!(read::<FromWorker>(source).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn impossible_lengths_are_refused_before_anything_is_allocated() {
        let head = |rest: u32, json: u32| -> [u8; HEAD] {
            [rest.to_le_bytes(), json.to_le_bytes()].concat().try_into().unwrap()
        };
        let most = LIMIT as u32;
        for (rest, json) in [
            (0, 0),
            (3, 0),
            (4, 1),
            (10, 7),
            (most + 5, 0),
            (u32::MAX, 0),
            (u32::MAX, u32::MAX),
            (4, u32::MAX),
        ] {
            assert_eq!(
                lengths(head(rest, json)).unwrap_err().kind(),
                io::ErrorKind::InvalidData,
                "{rest} {json}"
            );
        }
        for (rest, json) in [(4, 0), (10, 6), (most + 4, 0), (most + 4, most)] {
            assert_eq!(lengths(head(rest, json)).unwrap(), (rest as usize - 4, json as usize));
        }
    }

    #[test]
    fn every_cut_of_a_frame_is_an_end_and_not_a_wait() {
        let whole = encode(&FromWorker::Result { end: End::Ok, took: 7 }, b"text");
        for length in 0..whole.len() {
            assert_eq!(error::<FromWorker>(&whole[..length]), io::ErrorKind::UnexpectedEof, "{length}");
        }
    }

    #[test]
    fn garbage_is_no_message() {
        let deep = "[".repeat(100_000);
        let texts = [
            "",
            "{",
            "null",
            "[]",
            "\"ready\"",
            r#"{"type":"root"}"#,
            r#"{"type":"result"}"#,
            r#"{"type":"result","end":"fine"}"#,
            r#"{"type":"cancel","id":-1}"#,
            r#"{"type":"cancel","id":4294967296}"#,
            r#"{"type":"log","level":"log","text":"\ud800"}"#,
            &deep,
        ];
        for text in texts {
            let mut frame = Vec::new();
            frame.extend(length(4 + text.len()));
            frame.extend(length(text.len()));
            frame.extend(text.as_bytes());
            let shown: String = text.chars().take(40).collect();
            assert_eq!(error::<FromWorker>(&frame), io::ErrorKind::InvalidData, "{shown}");
        }
        let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
        for start in 0..256 {
            assert!(read::<FromWorker>(&bytes[start..]).is_err(), "{start}");
        }
    }
}
