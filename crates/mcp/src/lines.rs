//! Messages as lines: read without losing anything when whoever reads is given up, and without holding more than a line
//! may have; and what to say to a line that is no message.

use pinza_core::visible;
use rmcp::{
    ErrorData,
    model::{ErrorCode, RequestId},
};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The room that is kept for lines to come.
const ROOM: usize = 64 << 10;
/// Of what is wrong about a message so much is told: serde's reasons repeat what they found.
const REASON: usize = 300;

pub(crate) struct LineReader<R> {
    read: BufReader<R>,
    /// The line so far: reading may be given up at any await and taken up again.
    line: Vec<u8>,
    longest: usize,
    /// Whether the rest of a line that is too long is being dropped.
    is_dropping: bool,
}

pub(crate) enum Line {
    Whole,
    /// Dropped as it comes, and never held.
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(read: R, longest: usize) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), longest, is_dropping: false }
    }

    /// Reads on until a line is whole. Nothing is lost if this is dropped at its await: what was taken is in
    /// `line`, and what was not is still in the buffer.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return Line::End;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = !self.is_dropping && self.line.len() + taken <= self.longest;
            if fits {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            match (fits, end.is_some()) {
                (true, true) => return Line::Whole,
                (true, false) => {}
                (false, is_end) => {
                    let is_first = !self.is_dropping;
                    self.is_dropping = !is_end;
                    if is_first {
                        self.line = Vec::new();
                        return Line::TooLong;
                    }
                }
            }
        }
    }

    /// The line that is whole.
    pub(crate) fn line(&self) -> &[u8] {
        self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii()
    }

    /// Makes place for the next one.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
        // One long message is no reason to hold its room for ever.
        self.line.shrink_to(ROOM);
    }
}

/// What a line that is no message says of itself. The same field twice is read by nobody.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    jsonrpc: Option<Value>,
    method: Option<Value>,
    #[serde(rename = "params")]
    _params: Option<serde::de::IgnoredAny>,
}

/// The answer to a line that is no message; none to what is no JSON, which may be the banner of some
/// program, or an answer to our own refusal.
pub(crate) fn refusal(line: &[u8]) -> Option<(ErrorData, Option<RequestId>)> {
    if line.is_empty() || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        return None;
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope>(line) else {
        return Some((ErrorData::invalid_request("Invalid request", None), None));
    };
    let id = envelope.id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    let is_request = envelope.jsonrpc.is_some_and(|version| version == "2.0")
        && envelope.method.as_ref().is_some_and(Value::is_string);
    match (is_request, id) {
        (true, Some(id)) => {
            Some((ErrorData::new(ErrorCode::INVALID_PARAMS, "Invalid params", None), Some(id)))
        }
        (_, id) => Some((ErrorData::invalid_request("Invalid request", None), id)),
    }
}

pub(crate) fn invalid_params(reason: &str) -> ErrorData {
    let reason = visible(&reason[..reason.floor_char_boundary(REASON)]);
    ErrorData::invalid_params(format!("Invalid params: {reason}"), None)
}
