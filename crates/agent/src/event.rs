//! What a model says, as it says it: the same events from every provider.

use pinza_core::CallId;
use serde::{Deserialize, Serialize};

use crate::message::{Call, Message};

/// One event of a stream. `Start` comes first, `Done` last; a stream that fails ends with an
/// error in place of `Done`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    Start {
        /// As the provider names it; more exact than what was asked for.
        model: Option<String>,
    },
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        text: String,
    },
    ToolcallStart {
        id: CallId,
        name: String,
    },
    /// More of a call's arguments: a piece of JSON text.
    ToolcallDelta {
        id: CallId,
        delta: String,
    },
    /// The call is whole. It may be run only after `Done`: what a stream that fails has said is
    /// not part of the conversation.
    ToolcallEnd {
        call: Call,
    },
    Usage {
        usage: Usage,
    },
    Done {
        stop: StopReason,
        /// The provider's own word for it, where ours says less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// What joins the conversation.
        message: Message,
    },
}

impl StreamEvent {
    /// Whether this is something that the model said: from here on a request is not repeated.
    pub(crate) fn is_content(&self) -> bool {
        !matches!(self, Self::Start { .. } | Self::Usage { .. })
    }
}

/// Tokens of one request. The parts are included in their whole, whatever the provider counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All of the prompt, cached or not.
    pub input_tokens: u64,
    /// How much of the prompt came from the cache.
    pub cache_read_tokens: u64,
    /// How much of the prompt was written to the cache.
    pub cache_write_tokens: u64,
    /// All that was generated, thinking included.
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cache_read_tokens, other.cache_read_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It has said what it had to say.
    EndTurn,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The answer was cut at its allowed length. A call that was cut with it is left out.
    MaxTokens,
    /// The model, or a filter before or after it, declined.
    Refused,
    /// The conversation fills the model's window.
    ContextFull,
    /// The provider wants the same conversation sent again, to go on.
    Paused,
    /// The model tried to call a tool and wrote nothing that can be read as a call.
    MalformedCall,
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_have_the_names_that_are_promised() {
        let id = CallId::new("c1");
        let call =
            Call { id: id.clone(), name: "t".into(), arguments: json!({}), malformed: None, opaque: None };
        let message = Message::Assistant { parts: Vec::new() };
        let events = [
            (StreamEvent::Start { model: None }, "start"),
            (StreamEvent::TextDelta { text: String::new() }, "text_delta"),
            (StreamEvent::ThinkingDelta { text: String::new() }, "thinking_delta"),
            (StreamEvent::ToolcallStart { id: id.clone(), name: "t".into() }, "toolcall_start"),
            (StreamEvent::ToolcallDelta { id, delta: String::new() }, "toolcall_delta"),
            (StreamEvent::ToolcallEnd { call }, "toolcall_end"),
            (StreamEvent::Usage { usage: Usage::default() }, "usage"),
            (StreamEvent::Done { stop: StopReason::EndTurn, detail: None, message }, "done"),
        ];
        for (event, name) in events {
            assert_eq!(serde_json::to_value(&event).unwrap()["type"], name);
        }
    }
}
