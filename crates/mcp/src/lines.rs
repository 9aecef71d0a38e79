//! Messages as lines: read without losing anything when whoever reads is given up, and without holding more than a line
//! may have; and what to say to a line that is no message.

use std::borrow::Cow;

use pinza_core::visible;
use rmcp::{ErrorData, model::RequestId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::object::Object;

/// The room that is kept for lines to come.
const ROOM: usize = 64 << 10;
/// Some editors begin every text with it.
pub(crate) const MARK: &[u8] = b"\xEF\xBB\xBF";
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

    /// Reads on until a line is whole; the last one needs no end of its own. Nothing is lost if this is dropped at its
    /// await: what was taken is in `line`, and what was not is still in the buffer.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return if self.line.is_empty() { Line::End } else { Line::Whole };
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
        self.line.strip_prefix(MARK).unwrap_or(&self.line).trim_ascii()
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
struct Envelope<'a> {
    id: Option<Value>,
    jsonrpc: Option<Value>,
    method: Option<Value>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Envelope<'_> {
    fn refusal(self) -> Refusal {
        // The id of an answer is one of our own: sent back, it could answer a request of theirs.
        let asks = self.method.is_some() && self.result.is_none() && self.error.is_none();
        let id = self.id.filter(|_| asks).and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let is_request = self.jsonrpc.is_some_and(|version| version == "2.0")
            && self.method.as_ref().is_some_and(Value::is_string);
        match (is_request, id) {
            (true, Some(id)) => (invalid_params(&unread(self.params)), Some(id)),
            (_, id) => (ErrorData::invalid_request("Invalid request", None), id),
        }
    }
}

/// An error, and the id of the request that it answers, if that is known.
pub(crate) type Refusal = (ErrorData, Option<RequestId>);

/// The answer to a line that is no message; none to what is no JSON, which may be the banner of some
/// program, or an answer to our own refusal.
pub(crate) fn refusal(line: &[u8]) -> Option<Refusal> {
    // Whoever sends other bytes than UTF-8 waits for an answer all the same.
    let text = String::from_utf8_lossy(line);
    serde_json::from_str::<IgnoredAny>(&text).ok()?;
    let (error, id) = match serde_json::from_str::<Object<Envelope<'_>>>(&text) {
        Ok(Object(envelope)) => envelope.refusal(),
        Err(_) => (ErrorData::invalid_request("Invalid request", None), None),
    };
    Some(match text {
        Cow::Borrowed(_) => (error, id),
        Cow::Owned(_) => (parse_error("it is not UTF-8"), id),
    })
}

/// As [`refusal`], where every message has to be answered.
pub(crate) fn certain_refusal(text: &[u8]) -> Refusal {
    refusal(text).unwrap_or_else(|| {
        let reason = serde_json::from_slice::<IgnoredAny>(text).err().map(|error| error.to_string());
        (parse_error(&reason.unwrap_or_default()), None)
    })
}

/// Why the params of a request could not be read at all.
fn unread(params: Option<&RawValue>) -> String {
    match params.map(|params| serde_json::from_str::<Value>(params.get())) {
        Some(Err(error)) => error.to_string(),
        Some(Ok(params)) if !params.is_object() => "they must be an object".into(),
        Some(Ok(params)) if params.get("_meta").is_some_and(|meta| !meta.is_object()) => {
            "_meta must be an object".into()
        }
        _ => "they could not be read".into(),
    }
}

fn parse_error(reason: &str) -> ErrorData {
    ErrorData::parse_error(format!("Parse error: {reason}"), None)
}

pub(crate) fn invalid_params(reason: &str) -> ErrorData {
    let reason = visible(&reason[..reason.floor_char_boundary(REASON)]);
    ErrorData::invalid_params(format!("Invalid params: {reason}"), None)
}
