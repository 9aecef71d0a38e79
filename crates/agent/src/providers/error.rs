//! What can go wrong between us and a model, in words for the person who can mend it.

use std::{fmt, time::Duration};

use serde_json::Value;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    pub message: String,
    /// The one thing to try next.
    pub hint: Option<String>,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
    /// The model had begun to speak. What it said is lost, and nobody may assume that asking again
    /// gives the same.
    pub content_began: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderErrorKind {
    /// The request cannot be written for this provider.
    Unsupported,
    /// The key is missing, wrong, or not allowed to do this.
    Unauthorized,
    ModelNotFound,
    ContextTooLong,
    RateLimited,
    /// Nothing is left to spend; waiting does not help.
    QuotaExceeded,
    Overloaded,
    /// The server found fault with the request.
    BadRequest,
    /// The server failed, as it says itself.
    Server,
    Unreachable,
    TimedOut,
    /// The stream ended before the answer did.
    Truncated,
    /// What came is not what this API speaks.
    Malformed,
}

impl ProviderErrorKind {
    /// Whether the same request may succeed a moment later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Server
                | Self::Unreachable
                | Self::TimedOut
                | Self::Truncated
        )
    }

    pub fn code(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Unauthorized => "unauthorized",
            Self::ModelNotFound => "model_not_found",
            Self::ContextTooLong => "context_too_long",
            Self::RateLimited => "rate_limited",
            Self::QuotaExceeded => "quota_exceeded",
            Self::Overloaded => "overloaded",
            Self::BadRequest => "bad_request",
            Self::Server => "server_error",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
        }
    }
}

impl ProviderError {
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, retry_after: None, content_began: false }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the same request may be sent again: only before the model has said anything.
    pub fn may_retry(&self) -> bool {
        self.kind.is_transient() && !self.content_began
    }

    pub(crate) fn malformed(what: impl fmt::Display) -> Self {
        let message = format!("the provider's stream makes no sense: {what}");
        Self::new(ProviderErrorKind::Malformed, message)
    }

    pub(crate) fn truncated() -> Self {
        let message = "the provider's stream ended before the answer did";
        Self::new(ProviderErrorKind::Truncated, message)
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}

/// What a provider said about a failure, in an answer or in the middle of a stream. `status` is 0
/// where only the words tell what kind it is. The words are not cut here: half of a key would not be
/// known for one.
pub(crate) fn answered(status: u16, body: &Value) -> ProviderError {
    let (codes, said) = words(body);
    let kind = classify(status, &codes, &said);
    let said = pinza_core::visible(said.trim());
    let message = match (status, said.is_empty()) {
        (0, false) => format!("the provider reports: {said}"),
        (0, true) => "the provider reports an error and does not say which".to_owned(),
        (_, false) => format!("the provider answered {status}: {said}"),
        (_, true) => format!("the provider answered {status}"),
    };
    ProviderError::new(kind, message)
}

/// Codes and message of an error, in any of the shapes that servers have for it.
fn words(body: &Value) -> (String, String) {
    // Gemini wraps an error in an array when it meant to stream one.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => String::new(),
        other => other.to_string(),
    };
    let field = |name: &str| error.get(name).map(&text).unwrap_or_default();
    let codes = [field("type"), field("code"), field("status")].join(" ");
    let said = match error {
        Value::Object(_) => {
            ["message", "detail", "error"].map(field).into_iter().find(|said| !said.is_empty())
        }
        other => Some(text(other)),
    };
    (codes, said.unwrap_or_default())
}

fn classify(status: u16, codes: &str, said: &str) -> ProviderErrorKind {
    use ProviderErrorKind as Kind;
    let has = |words: &[&str]| {
        let (codes, said) = (codes.to_ascii_lowercase(), said.to_ascii_lowercase());
        words.iter().any(|word| codes.contains(word) || said.contains(word))
    };
    // A window that is too small is answered with almost any status.
    let too_long = has(&[
        "context_length_exceeded",
        "context length",
        "context window",
        "context size",
        "prompt is too long",
        "maximum context",
        "exceeds the maximum number of tokens",
        "too many tokens in",
    ]);
    if too_long && status != 429 && status < 500 {
        return Kind::ContextTooLong;
    }
    match status {
        401 | 403 => Kind::Unauthorized,
        400 if has(&["api key not valid", "api_key_invalid", "invalid api key"]) => Kind::Unauthorized,
        404 => Kind::ModelNotFound,
        402 => Kind::QuotaExceeded,
        400 if has(&["credit balance"]) => Kind::QuotaExceeded,
        408 | 504 => Kind::TimedOut,
        413 => Kind::ContextTooLong,
        429 if has(&["insufficient_quota", "billing"]) => Kind::QuotaExceeded,
        429 => Kind::RateLimited,
        503 | 529 => Kind::Overloaded,
        500.. => Kind::Server,
        0 if has(&["overloaded", "unavailable"]) => Kind::Overloaded,
        0 if has(&["rate_limit", "resource_exhausted", "too many requests"]) => Kind::RateLimited,
        0 if has(&["authentication", "permission"]) => Kind::Unauthorized,
        0 if has(&["invalid_request", "invalid_argument", "invalid_prompt", "bad_request"]) => {
            Kind::BadRequest
        }
        0 => Kind::Server,
        _ if has(&["model_not_found", "model not found", "does not exist"]) && has(&["model"]) => {
            Kind::ModelNotFound
        }
        _ => Kind::BadRequest,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_makers_words_are_understood() {
        use ProviderErrorKind as Kind;
        let openai = |code: &str, message: &str| json!({"error": {"message": message, "type": "invalid_request_error", "code": code}});
        let anthropic =
            |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
        let gemini = |code: u16, status: &str, message: &str| json!([{"error": {"code": code, "message": message, "status": status}}]);
        let cases = [
            (401, openai("invalid_api_key", "Incorrect API key provided: sk-…"), Kind::Unauthorized),
            (404, openai("model_not_found", "The model `gpt-9` does not exist"), Kind::ModelNotFound),
            (400, openai("model_not_found", "The model `gpt-9` does not exist"), Kind::ModelNotFound),
            (
                400,
                openai("context_length_exceeded", "This model's maximum context length is 8192 tokens"),
                Kind::ContextTooLong,
            ),
            (429, openai("insufficient_quota", "You exceeded your current quota"), Kind::QuotaExceeded),
            (429, openai("rate_limit_exceeded", "Rate limit reached"), Kind::RateLimited),
            (
                400,
                anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
                Kind::ContextTooLong,
            ),
            (529, anthropic("overloaded_error", "Overloaded"), Kind::Overloaded),
            (0, anthropic("overloaded_error", "Overloaded"), Kind::Overloaded),
            (0, anthropic("api_error", "Internal server error"), Kind::Server),
            (0, anthropic("rate_limit_error", "slow down"), Kind::RateLimited),
            (413, anthropic("request_too_large", "Request exceeds the maximum size"), Kind::ContextTooLong),
            (
                400,
                gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
                Kind::Unauthorized,
            ),
            (
                400,
                gemini(
                    400,
                    "INVALID_ARGUMENT",
                    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                ),
                Kind::ContextTooLong,
            ),
            (
                400,
                anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
                Kind::QuotaExceeded,
            ),
            (429, gemini(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric"), Kind::RateLimited),
            (503, gemini(503, "UNAVAILABLE", "The model is overloaded."), Kind::Overloaded),
            (400, json!({"detail": "Extra inputs are not permitted"}), Kind::BadRequest),
            (404, json!({"error": "model 'llama9' not found"}), Kind::ModelNotFound),
            (500, json!("oops"), Kind::Server),
            (502, Value::Null, Kind::Server),
        ];
        for (status, body, kind) in cases {
            let error = answered(status, &body);
            assert_eq!(error.kind, kind, "{status} {body}: {error}");
        }
    }

    #[test]
    fn nothing_is_repeated_once_the_model_spoke() {
        let mut error = ProviderError::truncated();
        assert!(error.may_retry());
        error.content_began = true;
        assert!(!error.may_retry());
        assert!(!ProviderError::new(ProviderErrorKind::QuotaExceeded, "").may_retry());
        assert!(!ProviderError::malformed("x").may_retry());
    }
}
