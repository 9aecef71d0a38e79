//! OpenAI's Chat Completions, as OpenAI and everybody else serves them.
//!
//! Compatible servers agree on the outline and differ in the details: this adapter sends no more
//! than it needs and takes an answer as it comes.

mod decode;
mod encode;

use serde_json::Value;

use super::{Adapter, Asked, Decoder, Encoded, ProviderError, ProviderKind, Request};

#[derive(Debug)]
pub(crate) struct OpenAi;

impl Adapter for OpenAi {
    fn kind(&self) -> ProviderKind {
        ProviderKind::OpenAi
    }

    fn encode(&self, request: &Request<'_>) -> Result<Encoded, ProviderError> {
        let body = encode::body(request)?;
        Ok(Encoded { path: "/chat/completions".into(), query: None, headers: Vec::new(), body })
    }

    fn decoder(&self, asked: &Asked) -> Box<dyn Decoder> {
        Box::new(decode::ChatDecoder::new(asked))
    }

    fn authorization(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn relax(&self, body: &mut Value, complaint: &str) -> bool {
        let Some(body) = body.as_object_mut() else { return false };
        if complaint.contains("max_completion_tokens")
            && let Some(limit) = body.remove("max_tokens")
        {
            // OpenAI's newer models know the limit by this name only, others by the old one only.
            body.insert("max_completion_tokens".into(), limit);
            return true;
        }
        let refused =
            ["stream_options", "reasoning_effort"].into_iter().find(|name| complaint.contains(name));
        refused.is_some_and(|name| body.shift_remove(name).is_some())
    }
}
