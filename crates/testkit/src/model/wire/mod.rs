//! Answers in each provider's wire format, event by event as the real servers send them.

mod anthropic;
mod gemini;
mod openai;
mod responses;

use std::fmt;

use serde_json::{Value, json};

use super::script::{Call, Turn};
use crate::wire::RecordedRequest;

/// How many characters a delta has.
const DELTA: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    OpenAi,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

/// One turn on its way out.
pub(super) struct Answer<'a> {
    pub(super) turn: &'a Turn,
    pub(super) request: &'a Value,
    /// Which answer of this server it is: ids are made of it.
    pub(super) number: usize,
}

impl Provider {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    pub(super) fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/chat/completions") => Some(Self::OpenAi),
            _ if path.ends_with("/v1/responses") => Some(Self::OpenAiResponses),
            _ if path.ends_with("/v1/messages") => Some(Self::Anthropic),
            _ if path.ends_with(":streamGenerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// Whether the request has this key where the provider looks for it.
    pub(super) fn has_key(self, request: &RecordedRequest, key: Option<&str>) -> bool {
        let Some(key) = key else { return true };
        let given = match self {
            Self::OpenAi | Self::OpenAiResponses => {
                request.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
            }
            Self::Anthropic => request.header("x-api-key"),
            Self::Gemini => request.header("x-goog-api-key"),
        };
        given == Some(key)
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

/// The whole stream.
pub(super) fn stream(provider: Provider, answer: &Answer<'_>) -> String {
    match provider {
        Provider::OpenAi => openai::stream(answer),
        Provider::OpenAiResponses => responses::stream(answer),
        Provider::Anthropic => anthropic::stream(answer),
        Provider::Gemini => gemini::stream(answer),
    }
}

/// An error in the provider's own frame.
pub(super) fn error(provider: Provider, status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    match provider {
        Provider::OpenAi | Provider::OpenAiResponses => {
            json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
        }
        Provider::Anthropic => json!({ "type": "error", "error": { "type": kind, "message": message } }),
        Provider::Gemini => {
            let status_name = match status {
                401 => "UNAUTHENTICATED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                500.. => "INTERNAL",
                _ => "INVALID_ARGUMENT",
            };
            json!({ "error": { "code": status, "message": message, "status": status_name } })
        }
    }
}

impl Answer<'_> {
    /// The id of a call; the script's own, or one that no other answer has.
    fn call_id(&self, prefix: &str, index: usize) -> String {
        let given = self.turn.calls.get(index).and_then(|call| call.id.clone());
        given.unwrap_or_else(|| format!("{prefix}_{:04}{index:02}", self.number))
    }
}

impl Call {
    /// The arguments as text: JSON, or whatever the script wants to pass for it.
    fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            other => other.to_string(),
        }
    }

    /// The arguments as an object, for providers that have no other way.
    fn object(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_else(|_| json!({}))
    }
}

/// A text in small pieces.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(DELTA).map(|piece| piece.iter().collect()).collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event with its name, which is also its type.
fn named(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}
