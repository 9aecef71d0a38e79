//! What a tool answers when it succeeds: content blocks for the model, structured details
//! for programs, and typed effects for the conversation.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::GroupName;

/// One block of a result. Binary data is base64, as every wire form wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    Text {
        text: String,
    },
    Image {
        data: String,
        mime_type: String,
    },
    Audio {
        data: String,
        mime_type: String,
    },
    ResourceLink {
        uri: String,
        name: String,
        mime_type: Option<String>,
    },
    Resource {
        uri: String,
        mime_type: Option<String>,
        text: String,
    },
    /// A resource that is bytes.
    Blob {
        uri: String,
        mime_type: Option<String>,
        data: String,
    },
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// How many bytes this block weighs in a result.
    pub fn size(&self) -> usize {
        match self {
            Self::Text { text } | Self::Resource { text, .. } => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } | Self::Blob { data, .. } => data.len(),
            Self::ResourceLink { uri, name, .. } => uri.len() + name.len(),
        }
    }
}

/// What a call changes beyond its answer. Applied as types by whoever runs the
/// conversation, never by watching for a tool's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Make the tools of this group visible from now on.
    ActivateGroup { group: GroupName },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub content: Vec<Content>,
    /// Structured data for programs; `null` where the text says it all.
    #[serde(default)]
    pub details: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The result as one text: text blocks joined by line breaks, other blocks named in brackets.
    pub fn as_text(&self) -> String {
        self.head(usize::MAX)
    }

    /// The first so many bytes of the result as one text, or a few less where that would cut a character.
    pub fn head(&self, bytes: usize) -> String {
        let mut head = String::new();
        for (index, block) in self.content.iter().enumerate() {
            if head.len() >= bytes {
                break;
            }
            if index > 0 {
                head.push('\n');
            }
            let text: Cow<'_, str> = match block {
                Content::Text { text } | Content::Resource { text, .. } => text.into(),
                Content::Image { data, mime_type } => binary_note("image", mime_type, data).into(),
                Content::Audio { data, mime_type } => binary_note("audio", mime_type, data).into(),
                Content::ResourceLink { uri, name, .. } => format!("[{name}: {uri}]").into(),
                // Bytes are nothing that a model reads; that they are there is.
                Content::Blob { uri, mime_type, data } => match mime_type {
                    Some(kind) => format!("[{uri}: {} bytes of {kind}]", decoded(data)).into(),
                    None => format!("[{uri}: {} bytes]", decoded(data)).into(),
                },
            };
            head.push_str(&text[..text.floor_char_boundary(bytes - head.len())]);
        }
        head
    }

    pub fn size(&self) -> usize {
        self.content.iter().map(Content::size).sum()
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

fn binary_note(what: &str, mime_type: &str, base64: &str) -> String {
    format!("[{what} {mime_type}, {} bytes]", decoded(base64))
}

/// How many bytes it is without its base64.
fn decoded(base64: &str) -> usize {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    (base64.len() / 4 * 3).saturating_sub(padding)
}
