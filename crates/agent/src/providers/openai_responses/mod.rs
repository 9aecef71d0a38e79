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
        // Summaries are only for organisations that OpenAI has verified.
        if complaint.contains("reasoning.summary")
            && let Some(reasoning) = body.get_mut("reasoning").and_then(Value::as_object_mut)
        {
            return reasoning.shift_remove("summary").is_some();
        }
        // Models that do not reason have nothing to encrypt, and compatible servers no cache to route to.
        let complaint = complaint.to_ascii_lowercase();
        let about = [
            ("include", "encrypted"),
            ("reasoning", "reasoning.effort"),
            ("prompt_cache_key", "prompt_cache_key"),
        ];
        let mut about = about.into_iter().filter(|(_, word)| complaint.contains(word));
        about.any(|(field, _)| body.shift_remove(field).is_some())
    }
}
