//! `read`: a text file by lines, or an image as an image.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pinza_core::{
    CallContext, Capability, Content, FsBridge, FsVerb, NativeTool, ToolDefinition, ToolError, ToolName,
    ToolOutput, ToolResult, capability,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::text::{decode, image_type};

/// Larger than `read_file`'s, because only the wanted lines are returned.
const MAX_FILE_SIZE: u64 = 8 << 20;
const DEFAULT_LINES: usize = 2000;

#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) bridge: Arc<dyn FsBridge>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Path of the file, relative to the workspace
    path: String,
    /// The first line to read, counted from 1
    #[schemars(range(min = 1))]
    offset: Option<usize>,
    /// How many lines to read. Defaults to 2000.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl NativeTool for Read {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Read a file: text by lines, images (PNG, JPEG, GIF, WebP) as images.";
        ToolDefinition::new(ToolName::known("read"), description)
            .title("Read a file")
            .needs(Capability::known(capability::FS_READ))
            .subject("path")
            .alias("file_path", "path")
            .timeout(Duration::from_secs(10))
            .read_only()
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        let Parameters { path, offset, limit } = parameters;
        let bytes = self
            .bridge
            .read(&path, MAX_FILE_SIZE)
            .await
            .map_err(|error| error.answer(FsVerb::Read, &path))?;
        if let Some(mime_type) = image_type(&bytes) {
            let image = Content::Image { data: STANDARD.encode(&bytes), mime_type: mime_type.into() };
            return Ok(ToolOutput { content: vec![image], ..ToolOutput::default() });
        }
        let text = decode(&bytes, "UTF-8", &path)?;
        lines(&text, offset.unwrap_or(1), limit.unwrap_or(DEFAULT_LINES))
    }
}

/// Lines `first..` of a text, at most `limit`, with a note about what follows.
fn lines(text: &str, first: usize, limit: usize) -> ToolResult {
    let total = text.split_inclusive('\n').count();
    if first > total && first > 1 {
        return Err(ToolError::validation(format!(
            "Line {first} is past the end: the file has {total} lines"
        )));
    }
    let mut shown: String = text.split_inclusive('\n').skip(first - 1).take(limit).collect();
    let last = (first - 1).saturating_add(limit).min(total);
    let truncated = last < total;
    if truncated {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&format!("\n[lines {first} to {last} of {total}; go on with offset {}]", last + 1));
    }
    Ok(ToolOutput::text(shown).details(json!({ "firstLine": first, "lastLine": last, "totalLines": total })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_lines() {
        let cases = [
            ("a\nb\nc\n", 1, 9, Ok("a\nb\nc\n")),
            ("a\nb\nc", 2, 9, Ok("b\nc")),
            ("a\r\nb\r\nc", 1, 1, Ok("a\r\n\n[lines 1 to 1 of 3; go on with offset 2]")),
            ("a\nb\nc", 2, 1, Ok("b\n\n[lines 2 to 2 of 3; go on with offset 3]")),
            ("", 1, 5, Ok("")),
            ("a\n", 2, 5, Err("Line 2 is past the end: the file has 1 lines")),
            ("a", 1, usize::MAX, Ok("a")),
        ];
        for (text, first, limit, expected) in cases {
            let read = lines(text, first, limit).map(|output| output.as_text());
            let read = read.as_deref().map_err(|error| error.message.as_str());
            assert_eq!(read, expected, "{text:?} {first} {limit}");
        }
    }
}
