//! The stream of Messages: blocks that open, grow and close, by index.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::{
    Asked, Decoder, ProviderError, ProviderKind, answered,
    assembly::{Assembly, SlotId, index, parse},
    wire::count,
};
use crate::event::{StopReason, StreamEvent, Usage};

pub(super) struct MessagesDecoder {
    assembly: Assembly,
    blocks: HashMap<u64, Block>,
    usage: Usage,
    counted: bool,
    stop: Option<String>,
    explanation: Option<String>,
    finished: bool,
}

struct Block {
    slot: SlotId,
    kind: BlockKind,
}

enum BlockKind {
    Text,
    Thinking {
        signature: String,
    },
    /// The input that came with the start, which deltas replace.
    Call {
        whole: String,
    },
}

impl MessagesDecoder {
    pub(super) fn new(asked: &Asked) -> Self {
        Self {
            assembly: Assembly::new(ProviderKind::Anthropic, asked),
            blocks: HashMap::new(),
            usage: Usage::default(),
            counted: false,
            stop: None,
            explanation: None,
            finished: false,
        }
    }

    fn open(&mut self, index: u64, start: &Value, events: &mut Vec<StreamEvent>) {
        let (slot, kind) = match start["type"].as_str() {
            Some("text") => {
                let slot = self.assembly.new_text();
                self.assembly.say(slot, start["text"].as_str().unwrap_or_default(), events);
                (slot, BlockKind::Text)
            }
            Some("thinking") => {
                let slot = self.assembly.new_thinking();
                self.assembly.say(slot, start["thinking"].as_str().unwrap_or_default(), events);
                let signature = start["signature"].as_str().unwrap_or_default().to_owned();
                (slot, BlockKind::Thinking { signature })
            }
            Some("redacted_thinking") => {
                let slot = self.assembly.new_thinking();
                self.assembly.seal(slot, json!({ "redacted": start["data"] }));
                (slot, BlockKind::Text)
            }
            Some("tool_use") => {
                let name = start["name"].as_str().unwrap_or_default();
                let slot = self.assembly.call(start["id"].as_str(), name, events);
                let given = start["input"].as_object().filter(|input| !input.is_empty());
                let whole = given.map(|_| start["input"].to_string()).unwrap_or_default();
                (slot, BlockKind::Call { whole })
            }
            // What tools of the provider do is not asked for and not kept.
            _ => return,
        };
        self.blocks.insert(index, Block { slot, kind });
    }

    fn grow(&mut self, index: u64, delta: &Value, events: &mut Vec<StreamEvent>) {
        let Some(block) = self.blocks.get_mut(&index) else { return };
        let text = |field: &str| delta[field].as_str().unwrap_or_default();
        match (delta["type"].as_str(), &mut block.kind) {
            (Some("text_delta"), BlockKind::Text) => self.assembly.say(block.slot, text("text"), events),
            (Some("thinking_delta"), BlockKind::Thinking { .. }) => {
                self.assembly.say(block.slot, text("thinking"), events);
            }
            (Some("signature_delta"), BlockKind::Thinking { signature }) => {
                signature.push_str(text("signature"));
            }
            (Some("input_json_delta"), BlockKind::Call { .. }) => {
                self.assembly.argue(block.slot, text("partial_json"), events);
            }
            _ => {}
        }
    }

    fn close(&mut self, index: u64, events: &mut Vec<StreamEvent>) {
        let Some(block) = self.blocks.remove(&index) else { return };
        match block.kind {
            BlockKind::Text => {}
            BlockKind::Thinking { signature } if signature.is_empty() => {}
            BlockKind::Thinking { signature } => {
                self.assembly.seal(block.slot, json!({ "signature": signature }));
            }
            BlockKind::Call { whole } => {
                if self.assembly.is_empty(block.slot) {
                    self.assembly.argue(block.slot, &whole, events);
                }
                self.assembly.close(block.slot, events);
            }
        }
    }

    /// Counts are cumulative, and the first ones may be all there are.
    fn count(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        self.counted = true;
        let read = count(usage, "/cache_read_input_tokens").max(self.usage.cache_read_tokens);
        let write = count(usage, "/cache_creation_input_tokens").max(self.usage.cache_write_tokens);
        let before = self.usage.cache_read_tokens + self.usage.cache_write_tokens;
        let fresh = count(usage, "/input_tokens").max(self.usage.input_tokens.saturating_sub(before));
        self.usage = Usage {
            input_tokens: fresh + read + write,
            cache_read_tokens: read,
            cache_write_tokens: write,
            output_tokens: count(usage, "/output_tokens").max(self.usage.output_tokens),
            reasoning_tokens: count(usage, "/output_tokens_details/thinking_tokens")
                .max(self.usage.reasoning_tokens),
        };
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) {
        self.finished = true;
        let mut open: Vec<u64> = self.blocks.keys().copied().collect();
        open.sort_unstable();
        open.into_iter().for_each(|index| self.close(index, events));
        if self.counted {
            self.assembly.usage(self.usage);
        }
        let (stop, detail) = match self.stop.as_deref() {
            Some("end_turn" | "stop_sequence") => (StopReason::EndTurn, None),
            Some("tool_use") => (StopReason::ToolCalls, None),
            Some("max_tokens") => (StopReason::MaxTokens, None),
            Some("refusal") => (StopReason::Refused, self.explanation.take()),
            Some("pause_turn") => (StopReason::Paused, None),
            Some("model_context_window_exceeded") => (StopReason::ContextFull, None),
            other => (StopReason::Other, other.map(pinza_core::visible)),
        };
        self.assembly.finish(stop, detail, events);
    }
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        if self.finished {
            return Ok(events);
        }
        let event = parse(data)?;
        let index = || index(&event, "index");
        match event["type"].as_str() {
            Some("error") => return Err(answered(0, &event)),
            Some("message_start") => {
                self.assembly.start(event["message"]["model"].as_str(), &mut events);
                self.count(&event["message"]["usage"]);
            }
            Some("content_block_start") => {
                self.assembly.start(None, &mut events);
                self.open(index()?, &event["content_block"], &mut events);
            }
            Some("content_block_delta") => self.grow(index()?, &event["delta"], &mut events),
            Some("content_block_stop") => self.close(index()?, &mut events),
            Some("message_delta") => {
                self.count(&event["usage"]);
                if let Some(stop) = event["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop.to_owned());
                    let explanation = event["delta"]["stop_details"]["explanation"].as_str();
                    self.explanation = explanation.map(pinza_core::visible);
                }
            }
            Some("message_stop") => self.finish(&mut events),
            // Pings, and what comes with later versions of the API.
            Some(_) => {}
            None => return Err(ProviderError::malformed("an event without a type")),
        }
        Ok(events)
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        if !self.finished {
            // The reason to stop comes after the last block: nothing is missing then.
            if self.stop.is_none() {
                return Err(ProviderError::truncated());
            }
            self.finish(&mut events);
        }
        Ok(events)
    }
}
