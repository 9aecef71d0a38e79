//! Anthropic's Messages.

mod decode;
mod encode;

use serde_json::{Value, json};

use super::{Adapter, Asked, Decoder, Encoded, ProviderError, ProviderKind, Request};

const VERSION: &str = "2023-06-01";

#[derive(Debug)]
pub(crate) struct Anthropic;

impl Adapter for Anthropic {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Anthropic
    }

    fn encode(&self, request: &Request<'_>) -> Result<Encoded, ProviderError> {
        let headers = vec![("anthropic-version", VERSION)];
        Ok(Encoded { path: "/v1/messages".into(), query: None, headers, body: encode::body(request)? })
    }

    fn decoder(&self, asked: &Asked) -> Box<dyn Decoder> {
        Box::new(decode::MessagesDecoder::new(asked))
    }

    fn authorization(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn models(&self) -> Encoded {
        let headers = vec![("anthropic-version", VERSION)];
        Encoded { path: "/v1/models".into(), query: Some("limit=1000"), headers, body: Value::Null }
    }

    fn relax(&self, body: &mut Value, complaint: &str) -> bool {
        if complaint.contains("max_tokens")
            && let Some(limit) = allowed_tokens(complaint)
            && body["max_tokens"].as_u64().is_some_and(|asked| asked > limit)
        {
            // A limit is required, and every model has its own.
            body["max_tokens"] = limit.into();
            return true;
        }
        let adaptive = body["thinking"]["type"] == "adaptive";
        if adaptive && ["adaptive", "effort", "output_config"].iter().any(|word| complaint.contains(word)) {
            // Older models are told how many tokens to think for.
            let most = body["max_tokens"].as_u64().unwrap_or_default().saturating_sub(1);
            let budget = encode::budget(body["output_config"]["effort"].as_str()).min(most);
            body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
            body.as_object_mut().and_then(|body| body.shift_remove("output_config"));
            return true;
        }
        false
    }
}

/// The number in "max_tokens: 32000 > 8192, which is the maximum allowed …".
fn allowed_tokens(complaint: &str) -> Option<u64> {
    let (_, after) = complaint.split_once("> ")?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
