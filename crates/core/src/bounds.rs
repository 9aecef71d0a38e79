//! Hop 9 of a call: no answer is larger than its reader can take.

use serde_json::Value;

use crate::{
    error::{ErrorKind, ToolError},
    output::{Content, ToolOutput},
    tool::{BoxFuture, CallId, ToolResult},
};

/// No result may be larger, whoever reads it.
pub const OUTPUT_LIMIT: usize = 16 << 20;

/// How much text a reader takes before it gets head, tail and a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimit(pub usize);

impl TextLimit {
    /// A model's context.
    pub const MODEL: Self = Self(64 << 10);
    /// A person's terminal or a script.
    pub const TERMINAL: Self = Self(1 << 20);
    /// Another program, such as a script's `tools.call`.
    pub const NONE: Self = Self(OUTPUT_LIMIT);
}

/// Keeps a text that was too long, and says where.
pub trait OutputStore: Send + Sync {
    fn keep<'a>(&'a self, call: &'a CallId, text: String) -> BoxFuture<'a, Result<String, String>>;
}

pub(crate) async fn bound(
    mut output: ToolOutput,
    call: &CallId,
    limit: TextLimit,
    store: Option<&dyn OutputStore>,
) -> ToolResult {
    let size = whole_size(&output);
    if size > OUTPUT_LIMIT {
        let message = format!("The result has {size} bytes, more than {OUTPUT_LIMIT}");
        return Err(ToolError::new(ErrorKind::OutputLimit, message).hint("Ask for less at once."));
    }
    let is_text = |block: &&Content| matches!(block, Content::Text { .. } | Content::Resource { .. });
    if output.content.iter().filter(is_text).map(Content::size).sum::<usize>() <= limit.0 {
        return Ok(output);
    }
    let mut whole = String::new();
    output.content.retain(|block| match block {
        Content::Text { text } | Content::Resource { text, .. } => {
            if !whole.is_empty() {
                whole.push('\n');
            }
            whole.push_str(text);
            false
        }
        _ => true,
    });
    let (head, tail) = (head(&whole, limit.0 / 4 * 3), tail(&whole, limit.0 / 8));
    let left_out = whole.len() - head.len() - tail.len();
    let (head, tail) = (head.to_owned(), tail.to_owned());
    let place = match store {
        Some(store) => match store.keep(call, whole).await {
            Ok(path) => format!("the whole text is in {path}"),
            Err(reason) => format!("the whole text could not be kept: {reason}"),
        },
        None => "ask for less at once".to_owned(),
    };
    let text = format!("{head}\n\n[… {left_out} bytes left out; {place} …]\n\n{tail}");
    output.content.insert(0, Content::Text { text });
    Ok(output)
}

/// An error's words can be a tool's own, and so be as long as any answer.
pub(crate) fn bound_error(mut error: ToolError, limit: TextLimit) -> ToolError {
    error.output = error.output.take().filter(|output| whole_size(output) <= OUTPUT_LIMIT);
    for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
        if text.len() > limit.0 {
            let start = head(text, limit.0 / 4 * 3);
            *text = format!("{start} [… {} bytes left out …]", text.len() - start.len());
        }
    }
    error
}

fn whole_size(output: &ToolOutput) -> usize {
    output.size() + output.details.as_ref().map_or(0, weight)
}

/// About as many bytes as a value has when it is written.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}

fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}
