//! Two schemas as one: both of them, or either.

use serde_json::{Map, Value, json};

use super::keywords::is_annotation;

/// Adds one more keyword to a schema that must hold at the same time. False if the two
/// cannot be said at once; what was there stays.
pub(super) fn both(own: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
    let Some(known) = own.get_mut(keyword) else {
        own.insert(keyword.into(), value.clone());
        return true;
    };
    if known == value {
        return true;
    }
    match (keyword, known, value) {
        ("required", Value::Array(names), Value::Array(more)) => {
            add_new(names, more);
            true
        }
        (
            "properties" | "patternProperties" | "dependentSchemas",
            Value::Object(named),
            Value::Object(more),
        ) => {
            for (name, schema) in more {
                let merged = match named.get_mut(name) {
                    Some(known) => all_of(known.take(), schema),
                    None => schema.clone(),
                };
                named.insert(name.clone(), merged);
            }
            true
        }
        ("additionalProperties", known, Value::Bool(false)) => {
            *known = false.into();
            true
        }
        ("additionalProperties", Value::Bool(false), _) => true,
        ("items" | "additionalProperties", known, _) => {
            *known = all_of(known.take(), value);
            true
        }
        ("type", known, _) => narrow(known, common_types(known, value)),
        ("enum", Value::Array(known), Value::Array(values)) => {
            let common: Vec<Value> = known.iter().filter(|value| values.contains(value)).cloned().collect();
            let is_possible = !common.is_empty();
            if is_possible {
                *known = common;
            }
            is_possible
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", known, _) => {
            keep(known, value, |known, value| value > known)
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", known, _) => {
            keep(known, value, |known, value| value < known)
        }
        ("uniqueItems", known, _) => {
            *known = true.into();
            true
        }
        // The outermost words are about this very use.
        _ => is_annotation(keyword),
    }
}

/// A schema for a value that fits at least one of two.
pub(super) fn either(one: Value, other: &Value) -> Value {
    if one == *other {
        return one;
    }
    if let (Some((frame, mut values)), Some((other_frame, others))) = (literals(&one), literals(other))
        && frame == other_frame
    {
        add_new(&mut values, &others);
        let mut merged = Map::new();
        for (keyword, value) in one.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "const" | "enum" => merged.insert("enum".into(), values.clone().into()),
                _ => merged.insert(keyword.clone(), value.clone()),
            };
        }
        return merged.into();
    }
    joined("anyOf", one, other)
}

/// The literal values that a schema admits, and what else it says that restricts.
fn literals(schema: &Value) -> Option<(Map<String, Value>, Vec<Value>)> {
    let schema = schema.as_object()?;
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return None,
    };
    let frame = schema.iter().filter(|(keyword, _)| {
        !is_annotation(keyword) && keyword.as_str() != "const" && keyword.as_str() != "enum"
    });
    Some((frame.map(|(keyword, value)| (keyword.clone(), value.clone())).collect(), values))
}

fn all_of(one: Value, other: &Value) -> Value {
    if one == *other || says_nothing(other) {
        one
    } else if says_nothing(&one) {
        other.clone()
    } else {
        joined("allOf", one, other)
    }
}

fn joined(keyword: &str, mut one: Value, other: &Value) -> Value {
    if let Value::Object(map) = &mut one
        && map.len() == 1
        && let Some(Value::Array(list)) = map.get_mut(keyword)
    {
        add_new(list, std::slice::from_ref(other));
        return one;
    }
    let mut map = Map::new();
    map.insert(keyword.into(), vec![one, other.clone()].into());
    map.into()
}

fn says_nothing(schema: &Value) -> bool {
    *schema == json!(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn add_new(list: &mut Vec<Value>, more: &[Value]) {
    for value in more {
        if !list.contains(value) {
            list.push(value.clone());
        }
    }
}

fn keep(known: &mut Value, value: &Value, is_narrower: impl Fn(f64, f64) -> bool) -> bool {
    if let (Some(old), Some(new)) = (known.as_f64(), value.as_f64())
        && is_narrower(old, new)
    {
        *known = value.clone();
    }
    true
}

fn common_types(one: &Value, other: &Value) -> Vec<Value> {
    let list = |value: &Value| match value {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let (one, other) = (list(one), list(other));
    let mut common = Vec::new();
    for kind in &one {
        if other.contains(kind) {
            common.push(kind.clone());
        } else if (kind == "number" && other.contains(&json!("integer")))
            || (kind == "integer" && other.contains(&json!("number")))
        {
            common.push("integer".into());
        }
    }
    common.dedup();
    common
}

fn narrow(known: &mut Value, mut common: Vec<Value>) -> bool {
    match common.len() {
        0 => return false,
        1 => *known = common.remove(0),
        _ => *known = common.into(),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_both(own: Value, more: Value, expected: Value, is_exact: bool) {
        let Value::Object(mut own) = own else { panic!("{own}") };
        let mut exact = true;
        for (keyword, value) in more.as_object().unwrap() {
            exact &= both(&mut own, keyword, value);
        }
        assert_eq!(Value::from(own), expected);
        assert_eq!(exact, is_exact);
    }

    #[test]
    fn both_narrows() {
        check_both(
            json!({ "type": ["number", "null"], "minimum": 1, "maximum": 9, "required": ["a"] }),
            json!({ "type": "integer", "minimum": 2, "maximum": 10, "required": ["b", "a"] }),
            json!({ "type": "integer", "minimum": 2, "maximum": 9, "required": ["a", "b"] }),
            true,
        );
        check_both(
            json!({ "enum": [1, 2], "description": "here", "additionalProperties": {} }),
            json!({ "enum": [2, 3], "description": "there", "additionalProperties": false }),
            json!({ "enum": [2], "description": "here", "additionalProperties": false }),
            true,
        );
        check_both(
            json!({ "properties": { "a": { "minLength": 1 }, "b": true } }),
            json!({ "properties": { "a": { "pattern": "x" }, "b": { "type": "string" }, "c": {} } }),
            json!({ "properties": {
                "a": { "allOf": [{ "minLength": 1 }, { "pattern": "x" }] }, "b": { "type": "string" }, "c": {}
            } }),
            true,
        );
    }

    #[test]
    fn what_cannot_be_said_at_once_is_noticed() {
        check_both(
            json!({ "type": "string", "enum": ["a"], "pattern": "a" }),
            json!({ "type": "object", "enum": ["b"], "pattern": "b" }),
            json!({ "type": "string", "enum": ["a"], "pattern": "a" }),
            false,
        );
    }

    #[test]
    fn either_joins_literals_and_lists_the_rest() {
        let kind =
            either(json!({ "type": "string", "const": "a" }), &json!({ "type": "string", "enum": ["b"] }));
        assert_eq!(kind, json!({ "type": "string", "enum": ["a", "b"] }));
        let number = json!({ "type": "number" });
        let mixed = either(either(json!({ "const": "a" }), &number), &json!(true));
        assert_eq!(mixed, json!({ "anyOf": [{ "const": "a" }, number, true] }));
    }
}
