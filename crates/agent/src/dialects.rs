//! What each provider understands of JSON Schema.
//!
//! Every dialect starts from the same tidy schema, so that oddities of older drafts and of
//! broken servers are met once. Two rules hold in all of them. A schema is walked by
//! *position*: `properties` holds names, and a parameter called `format` or `$ref` is a
//! parameter; `enum`, `const`, `default` and examples hold data, which is never rewritten.
//! And what cannot be said is reported, not silently left out.

mod flat;
mod gemini;
mod json_schema;
mod keywords;
mod merge;
mod references;
mod strict;
mod tidy;

use serde_json::Value;

use crate::loss::Losses;

/// How deep a schema may nest, in steps of its path. A tree this deep is no tool's
/// parameters, and every level costs stack.
const MAX_DEPTH: usize = 128;

/// OpenAI's and Anthropic's dialect: nearly all of JSON Schema, below a plain object.
pub(crate) fn json_schema(schema: &Value, losses: &mut Losses) -> Value {
    let tidy = tidy::tidy(schema, losses);
    json_schema::convert(&tidy, losses)
}

/// OpenAI's structured outputs. `None`, with the reason among the losses, for a schema that
/// they cannot express.
pub(crate) fn strict(schema: &Value, losses: &mut Losses) -> Option<Value> {
    let mut attempt = losses.fresh();
    let tidy = tidy::tidy(schema, &mut attempt);
    match strict::convert(&tidy, &mut attempt) {
        Ok(strict) => {
            losses.extend(attempt.into_iter());
            Some(strict)
        }
        Err(obstacle) => {
            losses.extend([obstacle]);
            None
        }
    }
}

/// Gemini's `Schema` type.
pub(crate) fn gemini(schema: &Value, losses: &mut Losses) -> Value {
    let tidy = tidy::tidy(schema, losses);
    gemini::convert(&tidy, losses)
}
