//! The stream of Responses: items that are added, grow and are done, by their index.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::{
    Asked, Decoder, ProviderError, ProviderKind, answered,
    assembly::{Assembly, SlotId, index, parse},
    wire::{count, object},
};
use crate::event::{StopReason, StreamEvent, Usage};

pub(super) struct ResponsesDecoder {
    assembly: Assembly,
    /// The tool that `tool_search` stands for.
    loader: Option<String>,
    items: HashMap<u64, SlotId>,
    refused: bool,
    finished: bool,
}

type Events = Vec<StreamEvent>;

impl ResponsesDecoder {
    pub(super) fn new(asked: &Asked) -> Self {
        Self {
            loader: asked.loader().map(str::to_owned),
            assembly: Assembly::new(ProviderKind::OpenAiResponses, asked),
            items: HashMap::new(),
            refused: false,
            finished: false,
        }
    }

    fn added(&mut self, index: u64, item: &Value, events: &mut Events) -> Option<SlotId> {
        if let Some(slot) = self.items.get(&index) {
            return Some(*slot);
        }
        let id = item["call_id"].as_str();
        let slot = match item["type"].as_str() {
            Some("message") => self.assembly.new_text(),
            Some("reasoning") => self.assembly.new_thinking(),
            Some("function_call") => {
                self.assembly.call(id, item["name"].as_str().unwrap_or_default(), events)
            }
            Some("tool_search_call") => {
                let loader = self.loader.clone()?;
                self.assembly.call_tool(id, loader, events)
            }
            // What tools of the provider do is not asked for and not kept.
            _ => return None,
        };
        self.items.insert(index, slot);
        Some(slot)
    }

    fn say(&mut self, index: u64, event: &Value, events: &mut Events) {
        if let Some(slot) = self.items.get(&index) {
            self.assembly.say(*slot, event["delta"].as_str().unwrap_or_default(), events);
        }
    }

    fn done(&mut self, index: u64, item: &Value, events: &mut Events) {
        let Some(slot) = self.added(index, item, events) else { return };
        let whole = item["status"].as_str().is_none_or(|status| status == "completed");
        match item["type"].as_str() {
            Some("message") => {
                if self.assembly.is_empty(slot) {
                    self.assembly.say(slot, &texts(&item["content"]), events);
                }
                if item["phase"].is_string() {
                    self.assembly.seal(slot, json!({ "phase": item["phase"] }));
                }
            }
            Some("reasoning") => {
                if self.assembly.is_empty(slot) {
                    self.assembly.say(slot, &texts(&item["summary"]), events);
                }
                if let Some(seal) = reasoning(item) {
                    self.assembly.seal(slot, seal);
                }
            }
            Some("function_call") => {
                self.assembly.settle(slot, item["arguments"].as_str().unwrap_or_default(), events);
                if item["namespace"].is_string() {
                    self.assembly.seal(slot, json!({ "namespace": item["namespace"] }));
                }
                if whole {
                    self.assembly.close(slot, events);
                }
            }
            Some("tool_search_call") => {
                let arguments = match &item["arguments"] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                self.assembly.settle(slot, &arguments, events);
                if whole {
                    self.assembly.close(slot, events);
                }
            }
            _ => {}
        }
    }

    fn completed(&mut self, response: &Value, events: &mut Events) {
        // Some servers send the items only here.
        if !self.assembly.has_parts() {
            for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
                self.done(index as u64, item, events);
            }
        }
        if response["usage"].is_object() {
            self.assembly.usage(usage(&response["usage"]));
        }
        let reason = response["incomplete_details"]["reason"].as_str();
        let (stop, detail) = match (response["status"].as_str(), reason) {
            (Some("incomplete"), Some("max_output_tokens")) => (StopReason::MaxTokens, None),
            (Some("incomplete"), Some(filter @ "content_filter")) => {
                (StopReason::Refused, Some(filter.to_owned()))
            }
            (Some("incomplete"), other) => (StopReason::Other, other.map(pinza_core::visible)),
            _ if self.refused => (StopReason::Refused, None),
            _ => (StopReason::EndTurn, None),
        };
        self.finished = true;
        self.assembly.finish(stop, detail, events);
    }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        // Compatible servers end with what Chat Completions end with.
        if self.finished || data.trim() == "[DONE]" {
            return Ok(events);
        }
        let event = parse(data)?;
        let index = || index(&event, "output_index");
        let Some(kind) = event["type"].as_str() else {
            return Err(match event.get("error") {
                Some(_) => answered(0, &event),
                None => ProviderError::malformed("an event without a type"),
            });
        };
        if kind != "error" {
            self.assembly.start(event["response"]["model"].as_str(), &mut events);
        }
        match kind {
            "error" => return Err(answered(0, &event)),
            "response.failed" => return Err(answered(0, &event["response"])),
            "response.output_item.added" => {
                self.added(index()?, &event["item"], &mut events);
            }
            "response.output_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta" => self.say(index()?, &event, &mut events),
            "response.refusal.delta" => {
                self.refused = true;
                self.say(index()?, &event, &mut events);
            }
            "response.reasoning_summary_part.added" => {
                // Parts of a summary are paragraphs.
                let later = event["summary_index"].as_u64().is_some_and(|index| index > 0);
                if let Some(slot) = self.items.get(&index()?).filter(|_| later) {
                    self.assembly.say(*slot, "\n\n", &mut events);
                }
            }
            "response.function_call_arguments.delta" => {
                if let Some(slot) = self.items.get(&index()?) {
                    self.assembly.argue(*slot, event["delta"].as_str().unwrap_or_default(), &mut events);
                }
            }
            "response.output_item.done" => self.done(index()?, &event["item"], &mut events),
            "response.completed" | "response.incomplete" => self.completed(&event["response"], &mut events),
            _ => {}
        }
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        if self.finished { Ok(Vec::new()) } else { Err(ProviderError::truncated()) }
    }
}

/// All texts of a list of parts.
fn texts(parts: &Value) -> String {
    let text = |part: &Value| part["text"].as_str().or(part["refusal"].as_str()).map(str::to_owned);
    parts.as_array().into_iter().flatten().filter_map(text).collect()
}

/// A reasoning item as it goes back. Without its encrypted content the server, which keeps
/// nothing for us, would not know it.
fn reasoning(item: &Value) -> Option<Value> {
    let given = |name: &str| item.get(name).filter(|value| !value.is_null()).cloned();
    let seal = object([
        ("type", Some("reasoning".into())),
        ("id", Some(given("id")?)),
        ("summary", Some(given("summary").unwrap_or_else(|| json!([])))),
        ("encrypted_content", Some(given("encrypted_content")?)),
    ]);
    Some(seal.into())
}

fn usage(usage: &Value) -> Usage {
    Usage {
        input_tokens: count(usage, "/input_tokens"),
        cache_read_tokens: count(usage, "/input_tokens_details/cached_tokens"),
        cache_write_tokens: count(usage, "/input_tokens_details/cache_write_tokens"),
        output_tokens: count(usage, "/output_tokens"),
        reasoning_tokens: count(usage, "/output_tokens_details/reasoning_tokens"),
    }
}
