//! Hop 9 of a call: no answer is larger than its reader can take.

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
    let size = output.size();
    if size > OUTPUT_LIMIT {
        let message = format!("The result has {size} bytes, more than {OUTPUT_LIMIT}");
        return Err(ToolError::new(ErrorKind::OutputLimit, message).hint("Ask for less at once."));
    }
    let texts = output.content.iter().filter(|block| matches!(block, Content::Text { .. }));
    if texts.map(Content::size).sum::<usize>() <= limit.0 {
        return Ok(output);
    }
    let mut whole = String::new();
    output.content.retain(|block| match block {
        Content::Text { text } => {
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

fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}
