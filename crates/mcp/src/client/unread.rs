//! Answers that are no messages of the protocol. Whoever waits for one is told at once what is wrong with it: there will be
//! no other.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ErrorCode, NumberOrString, RequestId, ServerResult},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::object::Object;

/// What a line says that answers something. Some servers write numbers as texts, leave out `jsonrpc`, or write an
/// `error` of null beside the result; all of that can be understood.
#[derive(Deserialize)]
pub(super) struct Answer<'a> {
    pub(super) id: RequestId,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    pub(super) method: Option<IgnoredAny>,
}

/// A call's result is told from others of its kind by these.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "resultType", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// What tells an answer, also to nobody.
#[derive(Deserialize)]
struct Shape {
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
}

/// The part of an error that is for people.
#[derive(Deserialize)]
struct Words {
    message: String,
}

/// The one that an id names. Ids of ours are numbers.
pub(super) fn number(id: &RequestId) -> Option<i64> {
    match id {
        NumberOrString::Number(number) => Some(*number),
        NumberOrString::String(text) => text.parse().ok(),
    }
}

impl Answer<'_> {
    pub(super) fn read(&self) -> Result<ServerResult, ErrorData> {
        match (self.result, self.error) {
            (Some(result), None) => result_of(result.get()),
            (None, Some(error)) => Err(error_of(error.get())),
            (Some(_), Some(_)) => Err(unreadable("it has a result and an error")),
            (None, None) => Err(unreadable("it has neither a result nor an error")),
        }
    }
}

/// What a line answers that could not be read as a message, and with what; `None` for what is no answer.
pub(super) fn answer(line: &[u8]) -> Option<(RequestId, Result<ServerResult, ErrorData>)> {
    let reason = match serde_json::from_slice::<Object<Answer<'_>>>(line) {
        Ok(Object(answer)) if answer.method.is_some() => return None,
        Ok(Object(answer)) => return Some((answer.id.clone(), answer.read())),
        Err(error) => error.to_string(),
    };
    let id = scan(line)?;
    Some((id, Err(unreadable(&reason))))
}

/// Whether a line answers anything, even if nobody can say what. Two sides that answer answers would never end.
pub(super) fn is_answer(line: &[u8]) -> bool {
    let shape = serde_json::from_slice::<Object<Shape>>(line);
    shape.is_ok_and(|Object(shape)| {
        shape.method.is_none() && (shape.result.is_some() || shape.error.is_some())
    })
}

/// A result of a call, in any of its kinds, or of something else.
fn result_of(result: &str) -> Result<ServerResult, ErrorData> {
    let is_complete = serde_json::from_str::<Kind<'_>>(result).is_ok_and(|found| {
        found.content.is_some() && found.kind.is_none_or(|kind| kind.get() == "\"complete\"")
    });
    if is_complete && let Ok(read) = serde_json::from_str::<CallToolResult>(result) {
        return Ok(ServerResult::CallToolResult(read));
    }
    serde_json::from_str::<ServerResult>(result).map_err(|_| {
        // The union's own words name no reason.
        let reason = serde_json::from_str::<serde_json::Value>(result).err();
        unreadable(&reason.map_or_else(|| "no result has this form".to_owned(), |reason| reason.to_string()))
    })
}

fn error_of(error: &str) -> ErrorData {
    if let Ok(error) = serde_json::from_str::<ErrorData>(error) {
        return error;
    }
    match serde_json::from_str::<Object<Words>>(error) {
        // Its code is none, and its words are still what it has to say.
        Ok(Object(words)) => ErrorData::new(ErrorCode::INTERNAL_ERROR, words.message, None),
        Err(_) => unreadable("its error has no message"),
    }
}

fn unreadable(reason: &str) -> ErrorData {
    let message = format!("it answered with something that is no JSON of the protocol: {reason}");
    ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None)
}

/// The id of an answer that is no JSON (`NaN`, bytes that are no UTF-8, an end in the middle): one pass over the line, which
/// only knows strings and depths.
fn scan(line: &[u8]) -> Option<RequestId> {
    let mut rest = line.strip_prefix(b"{")?;
    let (mut depth, mut is_key, mut id) = (1_usize, true, None);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => is_key = depth == 1,
            b'"' => {
                let (text, after) = string(rest)?;
                rest = after;
                if is_key && depth == 1 {
                    is_key = false;
                    let value = after.trim_ascii_start().strip_prefix(b":");
                    match (text, value) {
                        (b"method", Some(_)) => return None,
                        (b"id", Some(value)) => id = Some(id_at(value.trim_ascii_start())?),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    id
}

fn id_at(value: &[u8]) -> Option<RequestId> {
    if let Some(text) = value.strip_prefix(b"\"") {
        let text = std::str::from_utf8(string(text)?.0).ok()?;
        return Some(NumberOrString::String(text.into()));
    }
    let end = value.iter().position(|byte| !(byte.is_ascii_digit() || *byte == b'-'))?;
    std::str::from_utf8(&value[..end]).ok()?.parse().ok().map(NumberOrString::Number)
}

/// A string's bytes as they stand, and what comes behind it.
fn string(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut is_escaped = false;
    let end = rest.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((&rest[..end], &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id that a line answers, and with which words if it is an error.
    fn check(line: impl AsRef<[u8]>, expected: Option<(i64, Option<&str>)>) {
        let line = line.as_ref();
        let found =
            answer(line).map(|(id, read)| (number(&id).unwrap(), read.err().map(|error| error.message)));
        let shown = String::from_utf8_lossy(line);
        assert_eq!(found.as_ref().map(|(id, _)| *id), expected.map(|(id, _)| id), "{shown}");
        let (Some((_, found)), Some((_, expected))) = (found, expected) else { return };
        match (&found, expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => assert!(found.contains(expected), "{shown}: {found}"),
            _ => panic!("{shown}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_says_why() {
        let told = |reason| Some((7, Some(reason)));
        let result = |inner: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{inner}}}"#);
        check(result(r#"{"content":[{"type":"text","text":"\ud83d"}]}"#), told("no JSON of the protocol"));
        let deep = format!(r#"{{"content":[],"structuredContent":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        check(result(&deep), told("recursion limit"));
        check(result(r#"{"content":[],"structuredContent":1e999}"#), told("number out of range"));
        check(result(r#"{"content":[],"structuredContent":NaN}"#), told("expected value"));
        check(result(r#"{"content":[{"id":9,"method":"x"},"#), told("expected"));
        check(
            b"{\"id\":7,\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"text\":\"\xff\"}]}}",
            told("no JSON of the protocol"),
        );
        check(r#"{"id":"7","result":NaN}"#, told("expected value"));
        check(r#"{"id":7,"result":1,"error":{}}"#, told("a result and an error"));
        check(r#"{"id":7}"#, told("neither"));
        check(r#"{"id":7,"error":{"code":"E_X","message":"too late"}}"#, told("too late"));
    }

    #[test]
    fn what_can_be_understood_is_a_result() {
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]},"error":null}"#, Some((7, None)));
        check(r#"{"id":7,"result":{"content":[]}}"#, Some((7, None)));
    }

    #[test]
    fn what_is_no_answer_answers_nothing() {
        for line in [
            "listening on 8080",
            "[]",
            r#"{"id":7,"method":5}"#,
            r#"{"id":7,"params":NaN,"method":"x"}"#,
            r#"{"result":NaN}"#,
            r#"{"a":{"id":7},"b":NaN}"#,
            r#"{"id"#,
        ] {
            check(line, None);
        }
        assert!(is_answer(br#"{"id":null,"error":{"code":"x"}}"#) && !is_answer(br#"{"id":1,"method":5}"#));
    }
}
