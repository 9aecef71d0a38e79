//! JSON Schemas inside a `module.json`: of parameters and of results.
//!
//! They are looked at when the module is loaded, so that a slip is reported with its place. This is not the
//! whole meta-schema: compiling hundreds of schemas would cost more than loading all the rest.

use pinza_core::{Parameters, ParametersError, json_type, visible};
use serde_json::{Map, Value};

use crate::manifest::fields::{TYPES, did_you_mean, misplaced};

use super::faults::Spot;

/// What a keyword holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Holds {
    Type,
    Schema,
    /// A schema, or a list of them as older drafts have it.
    SchemaOrList,
    List,
    Map,
    Names,
    Values,
    Text,
    Number,
    Count,
    Boolean,
    Reference,
}

pub(super) const KEYWORDS: [(&str, Holds); 44] = [
    ("type", Holds::Type),
    ("properties", Holds::Map),
    ("required", Holds::Names),
    ("items", Holds::SchemaOrList),
    ("description", Holds::Text),
    ("title", Holds::Text),
    ("enum", Holds::Values),
    ("examples", Holds::Values),
    ("format", Holds::Text),
    ("pattern", Holds::Text),
    ("additionalProperties", Holds::Schema),
    ("anyOf", Holds::List),
    ("oneOf", Holds::List),
    ("allOf", Holds::List),
    ("prefixItems", Holds::List),
    ("not", Holds::Schema),
    ("if", Holds::Schema),
    ("then", Holds::Schema),
    ("else", Holds::Schema),
    ("contains", Holds::Schema),
    ("propertyNames", Holds::Schema),
    ("additionalItems", Holds::Schema),
    ("unevaluatedItems", Holds::Schema),
    ("unevaluatedProperties", Holds::Schema),
    ("patternProperties", Holds::Map),
    ("dependentSchemas", Holds::Map),
    ("$defs", Holds::Map),
    ("definitions", Holds::Map),
    ("minimum", Holds::Number),
    ("maximum", Holds::Number),
    ("exclusiveMinimum", Holds::Number),
    ("exclusiveMaximum", Holds::Number),
    ("multipleOf", Holds::Number),
    ("minLength", Holds::Count),
    ("maxLength", Holds::Count),
    ("minItems", Holds::Count),
    ("maxItems", Holds::Count),
    ("minContains", Holds::Count),
    ("maxContains", Holds::Count),
    ("minProperties", Holds::Count),
    ("maxProperties", Holds::Count),
    ("uniqueItems", Holds::Boolean),
    ("deprecated", Holds::Boolean),
    ("$ref", Holds::Reference),
];

fn holds(keyword: &str) -> Option<Holds> {
    KEYWORDS.iter().find(|(name, _)| *name == keyword).map(|(_, holds)| *holds)
}

/// The parameters of a tool. Their `type` may be left out.
pub(super) fn parameters(schema: &Value, spot: &Spot<'_>) -> Option<Parameters> {
    let errors = spot.faults().errors();
    check(schema, schema, spot);
    if let Some(name) = misplaced(schema) {
        let name = visible(name);
        spot.warning(format!("'parameters' has '{name}' but no 'properties', where parameters stand"));
    }
    if spot.faults().errors() > errors {
        return None;
    }
    let mut schema = schema.clone();
    drop_any(&mut schema);
    match Parameters::from_schema(schema) {
        Ok(parameters) => {
            for name in parameters.required().filter(|name| parameters.property(name).is_none()) {
                let message = format!("Required parameter '{}' is not among the properties", visible(name));
                spot.key("required").warning(message);
            }
            Some(parameters)
        }
        Err(error @ ParametersError::WrongType(_)) => {
            spot.key("type").error(error.to_string());
            None
        }
        Err(error) => {
            spot.error(error.to_string());
            None
        }
    }
}

/// The schema of a result.
pub(super) fn output(schema: &Value, spot: &Spot<'_>) -> Option<Value> {
    let errors = spot.faults().errors();
    check(schema, schema, spot);
    let mut schema = schema.clone();
    drop_any(&mut schema);
    (spot.faults().errors() == errors).then_some(schema)
}

/// Whether a value that keeps `schema` may be of this type.
pub(crate) fn admits(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
    }
}

fn check(root: &Value, schema: &Value, spot: &Spot<'_>) {
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Bool(_) if !std::ptr::eq(root, schema) => return,
        other => return spot.error(format!("A schema must be an object, not {}", json_type(other))),
    };
    for (keyword, value) in fields {
        if let Some(holds) = holds(keyword) {
            check_keyword(root, keyword, holds, value, &spot.key(keyword));
        }
    }
}

fn check_keyword(root: &Value, keyword: &str, holds: Holds, value: &Value, spot: &Spot<'_>) {
    let must_be = |what: &str| spot.error(format!("'{keyword}' must be {what}, not {}", json_type(value)));
    match (holds, value) {
        (Holds::Type, Value::Array(kinds)) => {
            kinds.iter().enumerate().for_each(|(index, kind)| check_type(kind, &spot.index(index)));
        }
        (Holds::Type, kind) => check_type(kind, spot),
        (Holds::List, Value::Array(list)) if list.is_empty() => must_be("a list of at least one schema"),
        (Holds::List | Holds::SchemaOrList, Value::Array(list)) => {
            list.iter().enumerate().for_each(|(index, schema)| check(root, schema, &spot.index(index)));
        }
        (Holds::Schema | Holds::SchemaOrList, Value::Object(_) | Value::Bool(_)) => check(root, value, spot),
        (Holds::Map, Value::Object(schemas)) => {
            schemas.iter().for_each(|(name, schema)| check(root, schema, &spot.key(name)));
        }
        (Holds::Names, Value::Array(names)) if names.iter().all(Value::is_string) => {}
        (Holds::Values, Value::Array(_)) | (Holds::Text, Value::String(_)) => {}
        (Holds::Number, Value::Number(_)) | (Holds::Boolean, Value::Bool(_)) => {}
        (Holds::Count, Value::Number(number)) if number.is_u64() => {}
        (Holds::Reference, Value::String(reference)) => {
            let target = reference.strip_prefix('#').map(|pointer| root.pointer(pointer));
            match target {
                Some(Some(_)) => {}
                Some(None) => spot.error(format!("Nothing is at '{}'", visible(reference))),
                None => spot.error("A '$ref' must point into its own schema (#/…)"),
            }
        }
        (Holds::Schema | Holds::SchemaOrList, _) => must_be("a schema"),
        (Holds::List, _) => must_be("a list of schemas"),
        (Holds::Map, _) => must_be("an object"),
        (Holds::Names, Value::Array(_)) => spot.error(format!("'{keyword}' must be a list of names")),
        (Holds::Names, _) => must_be("a list of names"),
        (Holds::Values, _) => must_be("a list"),
        (Holds::Text | Holds::Reference, _) => must_be("a string"),
        (Holds::Number, _) => must_be("a number"),
        (Holds::Count, Value::Number(_)) => spot.error(format!("'{keyword}' must be a whole number from 0")),
        (Holds::Count, _) => must_be("a whole number"),
        (Holds::Boolean, _) => must_be("true or false"),
    }
}

fn check_type(kind: &Value, spot: &Spot<'_>) {
    let word = kind.as_str().unwrap_or_default();
    if word != ANY && !TYPES.contains(&word) {
        let near = did_you_mean(word, TYPES);
        spot.error(format!("Unknown type {}{near}", visible(&kind.to_string())));
    }
}

/// What the seed writes where a value may be of every type; JSON Schema says nothing there.
const ANY: &str = "any";

/// Removes `"type": "any"` wherever it is the keyword and not a parameter's name or an example.
fn drop_any(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    let is_any = |kind: &Value| match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == ANY),
        kind => kind == ANY,
    };
    if fields.get("type").is_some_and(is_any) {
        fields.shift_remove("type");
    }
    for (keyword, value) in fields {
        match (holds(keyword), value) {
            (Some(Holds::List | Holds::SchemaOrList), Value::Array(list)) => {
                list.iter_mut().for_each(drop_any)
            }
            (Some(Holds::Schema | Holds::SchemaOrList), value) => drop_any(value),
            (Some(Holds::Map), Value::Object(schemas)) => drop_in(schemas),
            _ => {}
        }
    }
}

fn drop_in(schemas: &mut Map<String, Value>) {
    schemas.values_mut().for_each(drop_any);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_is_no_type() {
        let cases = [
            (json!({"type": "any"}), json!({})),
            (json!({"type": ["any", "null"], "title": "t"}), json!({"title": "t"})),
            (
                json!({"properties": {"type": {"type": "any"}, "any": {"type": "string"}}}),
                json!({"properties": {"type": {}, "any": {"type": "string"}}}),
            ),
            (json!({"items": {"type": "any"}}), json!({"items": {}})),
            (json!({"items": [{"type": "any"}, true]}), json!({"items": [{}, true]})),
            (json!({"anyOf": [{"not": {"type": "any"}}]}), json!({"anyOf": [{"not": {}}]})),
            (
                json!({"$defs": {"a": {"additionalProperties": {"type": "any"}}}}),
                json!({"$defs": {"a": {"additionalProperties": {}}}}),
            ),
            (
                json!({"default": {"type": "any"}, "enum": [{"type": "any"}], "const": {"type": "any"}}),
                json!({"default": {"type": "any"}, "enum": [{"type": "any"}], "const": {"type": "any"}}),
            ),
        ];
        for (mut schema, expected) in cases {
            drop_any(&mut schema);
            assert_eq!(schema, expected);
        }
    }
}
