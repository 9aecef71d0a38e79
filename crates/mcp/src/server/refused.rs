//! What the SDK refuses in other words than a client could use.
//!
//! Of all bodies that are no message it says that their type is wrong. Here they are answered as a line on stdio would be, and their
//! type is looked at as HTTP has it.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};

use super::params;
use crate::lines::{MARK, Refusal, certain_refusal};

const JSON: &str = "application/json";

/// The body without a mark in front of it.
pub(super) fn unmarked(mut body: Bytes) -> Bytes {
    if body.starts_with(MARK) {
        return body.split_off(MARK.len());
    }
    body
}

/// Tells whether a request says that its body is JSON, and lets it say so in the SDK's spelling. The SDK looks at
/// nothing but the beginning of the type, and minds its case.
pub(super) fn name_json(headers: &mut HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
    let is_json = kind.trim().eq_ignore_ascii_case(JSON);
    if is_json {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    } else {
        headers.remove(header::CONTENT_TYPE);
    }
    is_json
}

/// What to say in the place of the SDK's answer to a body that is JSON by its type; `None` if that is fine.
pub(super) fn reword<B>(answer: &Response<B>, body: &[u8]) -> Option<Response<Bytes>> {
    let (error, id) = match answer.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => certain_refusal(body),
        // It says that there is no session, to somebody who wants one.
        StatusCode::BAD_REQUEST if !answer.headers().contains_key(header::CONTENT_TYPE) => greeting(body)?,
        _ => return None,
    };
    let text = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)).ok()?;
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    Some(response)
}

/// What the SDK says of a session that there is not, whoever asks for it; who ends it is told that it ended.
pub(super) fn no_session() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"Not Found: Session not found"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn greeting(body: &[u8]) -> Option<Refusal> {
    let message = serde_json::from_slice::<ClientJsonRpcMessage>(body).ok()?;
    params::broken_greeting(&message).map(|(error, id)| (error, Some(id)))
}
