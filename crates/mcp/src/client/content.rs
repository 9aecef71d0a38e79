//! A server's results as Pinza's.

use pinza_core::{Content, ToolError, ToolOutput, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize as _;
use serde_json::{Value, json};

/// What of an error's text is kept.
const ERROR_LIMIT: usize = 64 << 10;

const UNKNOWN: &str = "[a kind of content that Pinza does not know]";

pub(crate) fn outcome(result: CallToolResult) -> ToolResult {
    let is_error = result.is_error == Some(true);
    let mut content: Vec<Content> = result.content.into_iter().map(block).collect();
    if content.is_empty()
        && let Some(details) = &result.structured_content
    {
        // Models read text; a server that sends nothing else is still to be read.
        content.push(Content::text(details.to_string()));
    }
    let output = ToolOutput { content, details: result.structured_content, ..ToolOutput::default() };
    match is_error {
        true => {
            let error = ToolError::execution(error_text(&output));
            let is_more =
                |output: &ToolOutput| output.details.is_some() || output.content.iter().any(is_no_text);
            Err(ToolError { output: Some(Box::new(output)).filter(|output| is_more(output)), ..error })
        }
        false => Ok(output),
    }
}

fn is_no_text(block: &Content) -> bool {
    !matches!(block, Content::Text { .. })
}

/// A result of a call of which some blocks are of kinds that nobody knows here: those are named, the others kept.
pub(crate) fn mended(mut result: Value) -> Option<CallToolResult> {
    for block in result.get_mut("content")?.as_array_mut()? {
        if ContentBlock::deserialize(&*block).is_err() {
            *block = json!({ "type": "text", "text": UNKNOWN });
        }
    }
    serde_json::from_value(result).ok()
}

fn error_text(output: &ToolOutput) -> String {
    let mut text = output.as_text();
    if text.trim().is_empty() {
        return "The server reported an error without words".into();
    }
    if text.len() > ERROR_LIMIT {
        let end = (0..=ERROR_LIMIT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str(" …");
    }
    text
}

fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::text(text.text),
        ContentBlock::Image(image) => Content::Image { data: image.data, mime_type: image.mime_type },
        ContentBlock::Audio(audio) => Content::Audio { data: audio.data, mime_type: audio.mime_type },
        ContentBlock::ResourceLink(link) => {
            Content::ResourceLink { uri: link.uri, name: link.name, mime_type: link.mime_type }
        }
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        _ => Content::text(UNKNOWN),
    }
}

fn resource(resource: ResourceContents) -> Content {
    match resource {
        ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            Content::Resource { uri, mime_type, text }
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            Content::Blob { uri, mime_type, data: blob }
        }
        _ => Content::text("[a kind of resource that Pinza does not know]"),
    }
}
