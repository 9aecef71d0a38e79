//! OpenAI's Responses, without state on the server: the whole conversation goes with every
//! request, and the model's reasoning comes along encrypted.

mod decode;
mod encode;

use serde_json::Value;

use super::{Adapter, Asked, Decoder, Encoded, ProviderError, ProviderKind, Request};

#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl Adapter for OpenAiResponses {
    fn kind(&self) -> ProviderKind {
        ProviderKind::OpenAiResponses
    }

    fn encode(&self, request: &Request<'_>) -> Result<Encoded, ProviderError> {
        let body = encode::body(request)?;
        Ok(Encoded { path: "/responses".into(), query: None, headers: Vec::new(), body })
    }

    fn decoder(&self, asked: &Asked) -> Box<dyn Decoder> {
        Box::new(decode::ResponsesDecoder::new(asked))
    }

    fn authorization(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn relax(&self, body: &mut Value, complaint: &str) -> bool {
        let Some(body) = body.as_object_mut() else { return false };
        // Models that do not reason have nothing to encrypt, and compatible servers no cache to route to.
        if complaint.to_ascii_lowercase().contains("encrypted") && body.shift_remove("include").is_some() {
            return true;
        }
        let refused =
            ["reasoning", "prompt_cache_key", "include"].into_iter().find(|name| complaint.contains(name));
        refused.is_some_and(|name| body.shift_remove(name).is_some())
    }
}
