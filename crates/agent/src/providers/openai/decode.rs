//! The stream of Chat Completions.

use serde_json::Value;

use super::super::{
    Asked, Decoder, ProviderError, ProviderKind, answered,
    assembly::{Assembly, SlotId, parse},
    wire::count,
};
use crate::event::{StopReason, StreamEvent, Usage};

/// Where servers put what a model thinks.
const THINKING: [&str; 2] = ["reasoning_content", "reasoning"];

pub(super) struct ChatDecoder {
    assembly: Assembly,
    calls: Vec<OpenCall>,
    refused: bool,
    finish: Option<String>,
    /// `[DONE]` came: whatever is missing, the server has said everything.
    told_done: bool,
    finished: bool,
}

struct OpenCall {
    slot: SlotId,
    /// What the server counts with, if it does.
    index: Option<u64>,
    id: String,
}

impl ChatDecoder {
    pub(super) fn new(asked: &Asked) -> Self {
        Self {
            assembly: Assembly::new(ProviderKind::OpenAi, asked),
            calls: Vec::new(),
            refused: false,
            finish: None,
            told_done: false,
            finished: false,
        }
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<StreamEvent>) {
        // Some servers that do not stream put the whole message where deltas should be.
        let delta = choice.get("delta").filter(|delta| delta.is_object()).unwrap_or(&choice["message"]);
        for field in THINKING {
            if let Some(more) = delta[field].as_str().filter(|more| !more.is_empty()) {
                self.think(field, more, events);
                break;
            }
        }
        self.content(&delta["content"], events);
        if let Some(more) = delta["refusal"].as_str().filter(|more| !more.is_empty()) {
            self.refused = true;
            let slot = self.assembly.open_text();
            self.assembly.say(slot, more, events);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, events);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = Some(reason.to_owned());
        }
    }

    fn think(&mut self, field: &str, more: &str, events: &mut Vec<StreamEvent>) {
        let slot = self.assembly.open_sealed_thinking(serde_json::json!({ "field": field }));
        self.assembly.say(slot, more, events);
    }

    /// A text, or a list of parts with texts and thoughts.
    fn content(&mut self, content: &Value, events: &mut Vec<StreamEvent>) {
        match content {
            Value::String(text) if !text.is_empty() => {
                let slot = self.assembly.open_text();
                self.assembly.say(slot, text, events);
            }
            Value::Array(parts) => {
                for part in parts {
                    for thought in part["thinking"].as_array().into_iter().flatten() {
                        let slot = self.assembly.open_thinking();
                        self.assembly.say(slot, thought["text"].as_str().unwrap_or_default(), events);
                    }
                    self.content(&part["text"], events);
                }
            }
            _ => {}
        }
    }

    /// A call, or more of one. Servers leave out the index, the id, or both; some give every call
    /// of an answer the same index.
    fn call(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        let id = delta["id"].as_str().unwrap_or_default();
        let name = delta["function"]["name"].as_str().unwrap_or_default();
        let index = delta["index"].as_u64();
        let begun = self.calls.iter().rev().find(|call| index.is_none() || call.index == index);
        let goes_on = begun.filter(|call| match (id, index) {
            ("", None) => name.is_empty(),
            ("", Some(_)) => true,
            (id, _) => call.id.is_empty() || call.id == id,
        });
        let slot = match goes_on {
            Some(call) => call.slot,
            None => {
                let slot = self.assembly.call(Some(id).filter(|id| !id.is_empty()), name, events);
                self.calls.push(OpenCall { slot, index, id: id.to_owned() });
                slot
            }
        };
        match &delta["function"]["arguments"] {
            Value::String(more) => self.assembly.argue(slot, more, events),
            Value::Null => {}
            whole => self.assembly.argue(slot, &whole.to_string(), events),
        }
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) {
        self.finished = true;
        let (stop, detail) = match self.finish.as_deref() {
            None => (StopReason::EndTurn, None),
            Some("stop" | "eos") if self.refused => (StopReason::Refused, None),
            Some("stop" | "eos") => (StopReason::EndTurn, None),
            Some("tool_calls" | "function_call") => (StopReason::ToolCalls, None),
            Some("length" | "max_tokens") => (StopReason::MaxTokens, None),
            Some(filter @ "content_filter") => (StopReason::Refused, Some(filter.to_owned())),
            Some(other) => (StopReason::Other, Some(pinza_core::visible(other))),
        };
        self.assembly.finish(stop, detail, events);
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        if self.finished {
            return Ok(events);
        }
        if data.trim() == "[DONE]" {
            self.told_done = true;
            self.finish(&mut events);
            return Ok(events);
        }
        let chunk = parse(data)?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(answered(0, &chunk));
        }
        if !chunk.is_object() {
            return Err(ProviderError::malformed("a chunk that is no object"));
        }
        self.assembly.start(chunk["model"].as_str(), &mut events);
        if let Some(choice) = chunk["choices"].as_array().and_then(|choices| choices.first()) {
            self.choice(choice, &mut events);
        }
        if chunk["usage"].is_object() {
            self.assembly.usage(usage(&chunk["usage"]));
        }
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        if self.finished {
            return Ok(events);
        }
        // Not every server says goodbye; the reason to stop is the end of what the model says.
        if self.finish.is_none() && !self.told_done {
            return Err(ProviderError::truncated());
        }
        self.finish(&mut events);
        Ok(events)
    }
}

fn usage(usage: &Value) -> Usage {
    let cached = count(usage, "/prompt_tokens_details/cached_tokens");
    Usage {
        input_tokens: count(usage, "/prompt_tokens"),
        // DeepSeek has its own name for it.
        cache_read_tokens: cached.max(count(usage, "/prompt_cache_hit_tokens")),
        cache_write_tokens: count(usage, "/prompt_tokens_details/cache_write_tokens"),
        output_tokens: count(usage, "/completion_tokens"),
        reasoning_tokens: count(usage, "/completion_tokens_details/reasoning_tokens"),
    }
}
