//! Schemas of results. A result that does not keep its schema is still a result, with a warning.

use std::{fmt, sync::OnceLock};

use jsonschema::{ValidationError, Validator, error::TypeKind, error::ValidationErrorKind};
use pinza_core::{json_type, visible};
use serde_json::Value;

use super::manifest::{push_index, push_key};

/// Warnings about one result.
const WARNINGS: usize = 5;

/// What a tool's results look like.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) success: Option<OutputSchema>,
    pub(crate) failure: Option<OutputSchema>,
}

/// The schema of a result, compiled when the first result comes.
pub(crate) struct OutputSchema {
    schema: Value,
    validator: OnceLock<Result<Validator, String>>,
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.schema)
    }
}

impl OutputSchema {
    pub(crate) fn new(schema: Value) -> Self {
        Self { schema, validator: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    /// What is not as the schema says.
    pub(crate) fn check(&self, value: &Value) -> Vec<String> {
        let compile =
            || jsonschema::options().offline().build(&self.schema).map_err(|error| error.to_string());
        match self.validator.get_or_init(compile) {
            Err(reason) => vec![format!("The output schema cannot be used: {}", visible(reason))],
            Ok(validator) if validator.is_valid(value) => Vec::new(),
            Ok(validator) => {
                validator.iter_errors(value).take(WARNINGS).map(|error| explain(&error)).collect()
            }
        }
    }
}

fn explain(error: &ValidationError<'_>) -> String {
    let path = dotted(error.instance_path().as_str());
    let place =
        if path.is_empty() { "The result".into() } else { format!("'{}' of the result", visible(&path)) };
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let got = json_type(error.instance());
            format!("{place} is of type '{got}', but its schema says '{}'", expected(kind))
        }
        ValidationErrorKind::Required { property } => {
            format!(
                "{place} has no '{}', but its schema requires it",
                visible(property.as_str().unwrap_or_default())
            )
        }
        _ => format!("{place} is not as its schema says: {}", visible(&error.masked_with("it").to_string())),
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// `/items/0/name` → `items[0].name`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse() {
            Ok(index) => push_index(&mut path, index),
            Err(_) => push_key(&mut path, &part),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_does_not_keep_its_schema_is_told_of() {
        let schema = json!({
            "type": "object",
            "properties": {
                "status": {"type": "number"},
                "items": {"type": "array", "items": {"type": ["string", "null"]}},
                "mode": {"enum": ["a", "b"]}
            },
            "required": ["status"]
        });
        let cases = [
            (json!({"status": 200}), vec![]),
            (json!({"status": 1, "items": ["a", null], "more": 1}), vec![]),
            (json!([]), vec!["The result is of type 'array', but its schema says 'object'"]),
            (json!({}), vec!["The result has no 'status', but its schema requires it"]),
            (
                json!({"status": "200"}),
                vec!["'status' of the result is of type 'string', but its schema says 'number'"],
            ),
            (
                json!({"status": 1, "items": ["a", 2]}),
                vec!["'items[1]' of the result is of type 'integer', but its schema says 'null or string'"],
            ),
            (
                json!({"status": 1, "mode": "c"}),
                vec!["'mode' of the result is not as its schema says: it is not one of \"a\" or \"b\""],
            ),
        ];
        let schema = OutputSchema::new(schema);
        for (value, warnings) in cases {
            assert_eq!(schema.check(&value), warnings, "{value}");
        }
        let many = OutputSchema::new(json!({"items": {"type": "string"}}));
        assert_eq!(many.check(&json!([1, 2, 3, 4, 5, 6, 7, 8])).len(), WARNINGS);
        let bad = OutputSchema::new(json!({"pattern": "("}));
        assert!(bad.check(&json!("x"))[0].starts_with("The output schema cannot be used: "));
    }
}
