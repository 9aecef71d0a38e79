//! What goes on in a talk, for whoever watches: the events of `pinza --json chat`.

use std::sync::Arc;

use pinza_core::{CallId, Content, GroupName, Outcome, ToolOutput};
use serde::Serialize;
use serde_json::Value;

use super::TalkError;
use crate::{
    event::{StopReason, StreamEvent, Usage},
    reveal::Reveal,
};

/// Hears of every event, in order. Must return at once.
pub type Events = Arc<dyn Fn(Event) + Send + Sync>;

/// `Start` comes first, exactly one of `Done` and `Error` last.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    Start {
        provider: String,
        model: String,
        reveal: Reveal,
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
    ToolcallDelta {
        id: CallId,
        delta: String,
    },
    ToolcallEnd {
        id: CallId,
        name: String,
        arguments: Value,
        /// What the model wrote in place of JSON: such a call is answered and never started.
        #[serde(skip_serializing_if = "Option::is_none")]
        malformed: Option<String>,
    },
    ToolStarted {
        id: CallId,
        name: String,
    },
    ToolProgress {
        id: CallId,
        content: Vec<Content>,
    },
    ToolFinished {
        id: CallId,
        name: String,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// What of the result is no text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Content>,
        #[serde(rename = "error_type", skip_serializing_if = "Option::is_none")]
        error_type: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        duration_ms: u64,
    },
    GroupLoaded {
        group: GroupName,
    },
    /// A message that came while the agent was at work is part of the talk now.
    UserMessage {
        text: String,
    },
    /// Older messages gave way to a summary.
    Compacted {
        messages: usize,
    },
    /// Of one request.
    Usage {
        usage: Usage,
    },
    Done(Finish),
    Error {
        #[serde(rename = "error_type")]
        error_type: &'static str,
        message: String,
        hint: Option<String>,
    },
}

/// How a message of the user was answered.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finish {
    /// The model's last words.
    pub text: String,
    pub stop: StopReason,
    /// All requests for this message.
    pub usage: Usage,
    pub rounds: u32,
}

impl Event {
    pub fn error(error: &TalkError) -> Self {
        Self::Error { error_type: error.code(), message: error.to_string(), hint: error.hint() }
    }

    pub(super) fn finished(outcome: &Outcome) -> Self {
        let (status, output, error) = match &outcome.result {
            Ok(output) => ("success", Some(output), None),
            Err(error) => ("error", None, Some(error)),
        };
        let is_text = |content: &Content| matches!(content, Content::Text { .. });
        let content = output.iter().flat_map(|output| &output.content);
        Self::ToolFinished {
            id: outcome.id.clone(),
            name: outcome.tool.clone(),
            status,
            result: output.map(ToolOutput::as_text),
            content: content.filter(|content| !is_text(content)).cloned().collect(),
            error_type: error.map(|error| error.kind.code()),
            message: error.map(|error| error.message.clone()),
            hint: error.and_then(|error| error.hint.clone()),
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// What of a provider's stream is to be told; its beginning and end are our own.
    pub(super) fn of_stream(event: &StreamEvent) -> Option<Self> {
        Some(match event {
            StreamEvent::TextDelta { text } => Self::TextDelta { text: text.clone() },
            StreamEvent::ThinkingDelta { text } => Self::ThinkingDelta { text: text.clone() },
            StreamEvent::ToolcallStart { id, name } => {
                Self::ToolcallStart { id: id.clone(), name: name.clone() }
            }
            StreamEvent::ToolcallDelta { id, delta } => {
                Self::ToolcallDelta { id: id.clone(), delta: delta.clone() }
            }
            StreamEvent::ToolcallEnd { call } => Self::ToolcallEnd {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                malformed: call.malformed.clone(),
            },
            StreamEvent::Start { .. } | StreamEvent::Usage { .. } | StreamEvent::Done { .. } => return None,
        })
    }
}
