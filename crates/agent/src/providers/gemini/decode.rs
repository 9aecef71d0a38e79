//! The stream of streamGenerateContent: chunks of parts, a call always whole.

use serde_json::{Value, json};

use super::super::{
    Asked, Decoder, ProviderError, ProviderKind, answered,
    assembly::{Assembly, parse},
    wire::{count, object},
};
use crate::event::{StopReason, StreamEvent, Usage};

pub(super) struct ContentDecoder {
    assembly: Assembly,
    finish: Option<(StopReason, Option<String>)>,
    finished: bool,
}

impl ContentDecoder {
    pub(super) fn new(asked: &Asked) -> Self {
        let assembly = Assembly::new(ProviderKind::Gemini, asked);
        Self { assembly, finish: None, finished: false }
    }

    fn part(&mut self, part: &Value, events: &mut Vec<StreamEvent>) {
        let signature = part["thoughtSignature"].as_str();
        if part["functionCall"].is_object() {
            self.call(&part["functionCall"], signature, events);
            return;
        }
        let Some(text) = part["text"].as_str() else { return };
        let thought = part["thought"].as_bool().unwrap_or(false);
        // A signed part goes back exactly as it came, never joined with another.
        let slot = match (thought, signature.is_some()) {
            (false, false) => self.assembly.open_text(),
            (false, true) => self.assembly.new_text(),
            (true, false) => self.assembly.open_thinking(),
            (true, true) => self.assembly.new_thinking(),
        };
        self.assembly.say(slot, text, events);
        if let Some(signature) = signature {
            self.assembly.seal(slot, json!({ "thoughtSignature": signature }));
        }
    }

    fn call(&mut self, call: &Value, signature: Option<&str>, events: &mut Vec<StreamEvent>) {
        let id = call["id"].as_str();
        let name = call["name"].as_str().unwrap_or_default();
        let slot = self.assembly.call(id, name, events);
        let arguments = if call["args"].is_object() { call["args"].to_string() } else { "{}".to_owned() };
        self.assembly.argue(slot, &arguments, events);
        // Also when both are absent: it says that the call is Gemini's own.
        let seal = object([("id", id.map(Value::from)), ("thoughtSignature", signature.map(Value::from))]);
        self.assembly.seal(slot, seal.into());
        self.assembly.close(slot, events);
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> bool {
        let Some((stop, detail)) = self.finish.take() else { return false };
        self.finished = true;
        self.assembly.finish(stop, detail, events);
        true
    }
}

impl Decoder for ContentDecoder {
    fn event(&mut self, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let chunk = parse(data)?;
        if chunk.get("error").or_else(|| chunk.get(0)?.get("error")).is_some() {
            return Err(answered(0, &chunk));
        }
        if !chunk.is_object() {
            return Err(ProviderError::malformed("a chunk that is no object"));
        }
        let mut events = Vec::new();
        self.assembly.start(chunk["modelVersion"].as_str(), &mut events);
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, &mut events);
        }
        if chunk["usageMetadata"].is_object() {
            self.assembly.usage(usage(&chunk["usageMetadata"]));
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            let said = candidate["finishMessage"].as_str();
            self.finish = Some(stop(reason, said));
        } else if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.finish = Some((StopReason::Refused, Some(pinza_core::visible(reason))));
        }
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        // Counts and empty parts may follow the reason to stop, so the end is the end of the stream.
        let mut events = Vec::new();
        if self.finished || self.finish(&mut events) {
            return Ok(events);
        }
        Err(ProviderError::truncated())
    }
}

fn stop(reason: &str, said: Option<&str>) -> (StopReason, Option<String>) {
    let detail = || Some(pinza_core::visible(said.unwrap_or(reason)));
    match reason {
        "STOP" => (StopReason::EndTurn, None),
        "MAX_TOKENS" => (StopReason::MaxTokens, None),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            (StopReason::Refused, detail())
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
            (StopReason::MalformedCall, detail())
        }
        _ => (StopReason::Other, detail()),
    }
}

fn usage(usage: &Value) -> Usage {
    let thoughts = count(usage, "/thoughtsTokenCount");
    Usage {
        input_tokens: count(usage, "/promptTokenCount") + count(usage, "/toolUsePromptTokenCount"),
        cache_read_tokens: count(usage, "/cachedContentTokenCount"),
        cache_write_tokens: 0,
        output_tokens: count(usage, "/candidatesTokenCount") + thoughts,
        reasoning_tokens: thoughts,
    }
}
