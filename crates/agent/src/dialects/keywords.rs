//! What the keywords of JSON Schema hold: the one table that tells schemas from data.

use std::collections::HashSet;

use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Schema,
    Schemas,
    NamedSchemas,
    Text,
    Flag,
    Count,
    Number,
    PositiveNumber,
    Values,
    Names,
    NamedNames,
}

/// `None` for keywords that JSON Schema does not know, and for those that hold any value.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "items"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Holds::NamedSchemas,
        "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            Holds::Text
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Holds::Flag,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Holds::Count,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Holds::Number,
        "multipleOf" => Holds::PositiveNumber,
        "enum" | "examples" => Holds::Values,
        "required" => Holds::Names,
        "dependentRequired" => Holds::NamedNames,
        _ => return None,
    })
}

/// Whether a value that holds no schema is what its keyword asks for.
pub(super) fn fits(holds: Holds, value: &Value) -> bool {
    match holds {
        Holds::Schema => value.is_object() || value.is_boolean(),
        Holds::Schemas => value.as_array().is_some_and(|list| !list.is_empty()),
        Holds::NamedSchemas => value.is_object(),
        Holds::Text => value.is_string(),
        Holds::Flag => value.is_boolean(),
        Holds::Count => {
            value.is_u64() || value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
        }
        Holds::Number => value.is_number(),
        Holds::PositiveNumber => value.as_f64().is_some_and(|number| number > 0.0),
        Holds::Values => value.as_array().is_some_and(|values| !values.is_empty()),
        Holds::Names => value.as_array().is_some_and(|names| are_unique_names(names)),
        Holds::NamedNames => value.as_object().is_some_and(|lists| {
            lists.values().all(|names| names.as_array().is_some_and(|names| are_unique_names(names)))
        }),
    }
}

/// Says something about a value without restricting it.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "example"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
    ) || is_vendors(keyword)
}

/// Somebody's own extension.
pub(super) fn is_vendors(keyword: &str) -> bool {
    keyword.starts_with("x-")
}

/// The types that a schema admits, as it lists them; empty where it says nothing.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The texts of a list such as `required`.
pub(super) fn names<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Vec<&'a str> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(super) fn has_properties(schema: &Map<String, Value>) -> bool {
    schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty())
}

fn are_unique_names(names: &[Value]) -> bool {
    let mut seen = HashSet::new();
    names.iter().all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
}
