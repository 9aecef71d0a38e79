//! Gemini's streamGenerateContent.

mod decode;
mod encode;

use serde_json::Value;

use super::{Adapter, Asked, Decoder, Encoded, ProviderError, ProviderKind, Request};

#[derive(Debug)]
pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Gemini
    }

    fn encode(&self, request: &Request<'_>) -> Result<Encoded, ProviderError> {
        // Tuned models are named with the collection that they are in.
        let model =
            if request.model.contains('/') { request.model } else { &format!("models/{}", request.model) };
        let path = format!("/v1beta/{model}:streamGenerateContent");
        Ok(Encoded { path, query: Some("alt=sse"), headers: Vec::new(), body: encode::body(request)? })
    }

    fn decoder(&self, asked: &Asked) -> Box<dyn Decoder> {
        Box::new(decode::ContentDecoder::new(asked))
    }

    fn authorization(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn models(&self) -> Encoded {
        let (path, query) = ("/v1beta/models".into(), Some("pageSize=1000"));
        Encoded { path, query, headers: Vec::new(), body: Value::Null }
    }

    fn relax(&self, body: &mut Value, complaint: &str) -> bool {
        // Which models think, and how they are told how hard, changes with every generation.
        let about_thinking =
            ["thinking", "Thinking", "includeThoughts"].iter().any(|word| complaint.contains(word));
        let config = body.get_mut("generationConfig").and_then(Value::as_object_mut);
        about_thinking && config.is_some_and(|config| config.shift_remove("thinkingConfig").is_some())
    }
}
