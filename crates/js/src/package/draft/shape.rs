//! What a type means for somebody who has only JSON, and how several such meanings become one.

use oxc_ast::ast::{Expression, TSEnumDeclaration, TSLiteral};
use serde_json::{Map, Value, json};

use super::types::MOST_PARTS;

/// What a type means for somebody who has only JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Json(Map<String, Value>),
    /// Anything, or not known.
    Any,
    /// `undefined`, `null`, `void`.
    Nothing,
    /// JSON cannot be this: what it is.
    Foreign(String),
    /// A function.
    Callback,
}

impl Shape {
    pub(super) fn kind(name: &str) -> Self {
        Self::Json(Map::from_iter([("type".to_owned(), name.into())]))
    }

    pub(super) fn array(items: Self) -> Self {
        match items {
            Self::Json(items) => Self::Json(object(json!({ "type": "array", "items": items }))),
            Self::Any | Self::Nothing => Self::kind("array"),
            Self::Foreign(what) => Self::Foreign(format!("a list of {what}")),
            Self::Callback => Self::Foreign("a list of functions".into()),
        }
    }

    fn literals(values: Vec<Value>) -> Self {
        let kinds: Vec<&str> = values.iter().map(kind_of).collect();
        let first = kinds.first().copied().unwrap_or("string");
        let mut schema = Map::new();
        if kinds.iter().all(|kind| *kind == first) {
            schema.insert("type".into(), first.into());
        }
        schema.insert("enum".into(), values.into());
        Self::Json(schema)
    }
}

pub(super) fn literal(it: &TSLiteral<'_>) -> Shape {
    match it {
        TSLiteral::StringLiteral(it) => Shape::literals(vec![it.value.as_str().into()]),
        TSLiteral::NumericLiteral(it) => Shape::literals(vec![number(it.value)]),
        TSLiteral::BooleanLiteral(it) => Shape::literals(vec![it.value.into()]),
        TSLiteral::UnaryExpression(it) => match &it.argument {
            Expression::NumericLiteral(it) => Shape::literals(vec![number(-it.value)]),
            _ => Shape::Any,
        },
        TSLiteral::TemplateLiteral(_) => Shape::kind("string"),
        TSLiteral::BigIntLiteral(_) => Shape::Foreign("a bigint".into()),
    }
}

/// Whole numbers are written without a point.
pub(super) fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

pub(super) fn enumeration(it: &TSEnumDeclaration<'_>) -> Shape {
    let mut next = Some(0.0);
    let mut values = Vec::new();
    for member in &it.body.members {
        let value = match &member.initializer {
            Some(Expression::StringLiteral(text)) => {
                next = None;
                text.value.as_str().into()
            }
            Some(Expression::NumericLiteral(it)) => {
                next = Some(it.value + 1.0);
                number(it.value)
            }
            None => {
                let Some(value) = next else { return Shape::Any };
                next = Some(value + 1.0);
                number(value)
            }
            Some(_) => return Shape::Any,
        };
        values.push(value);
    }
    if values.is_empty() { Shape::Any } else { Shape::literals(values) }
}

/// What fits one of several; parts that JSON cannot be are left to code.
pub(super) fn union(shapes: Vec<Shape>) -> Shape {
    let mut schemas = Vec::new();
    let mut reason = None;
    let mut nothing = false;
    for shape in shapes {
        match shape {
            Shape::Json(schema) => schemas.push(schema),
            Shape::Any => return Shape::Any,
            Shape::Nothing => nothing = true,
            other => reason = reason.or(Some(other)),
        }
    }
    if schemas.is_empty() {
        return reason.unwrap_or(if nothing { Shape::Nothing } else { Shape::Any });
    }
    Shape::Json(merged(schemas))
}

fn merged(schemas: Vec<Map<String, Value>>) -> Map<String, Value> {
    if let [one] = &schemas[..] {
        return one.clone();
    }
    let literals: Vec<&Vec<Value>> = schemas.iter().filter_map(|one| one.get("enum")?.as_array()).collect();
    if literals.len() == schemas.len() {
        let mut values: Vec<Value> = Vec::new();
        for value in literals.into_iter().flatten().take(MOST_PARTS) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        // `true | false` is any boolean.
        if values.len() == 2 && values.iter().all(Value::is_boolean) {
            return object(json!({ "type": "boolean" }));
        }
        let Shape::Json(schema) = Shape::literals(values) else { return Map::new() };
        return schema;
    }
    let mut kinds: Vec<Value> = Vec::new();
    let mut result = Map::new();
    for mut schema in schemas {
        schema.remove("enum");
        let Some(kind) = schema.remove("type") else { return Map::new() };
        let several = if let Value::Array(several) = kind { several } else { vec![kind] };
        for kind in several {
            if !kinds.contains(&kind) {
                kinds.push(kind);
                // Keywords speak of one type each, so they do not disturb each other.
                result.extend(schema.clone());
            } else if kind == "array" || kind == "object" {
                // Two kinds of lists or objects: neither description holds for both.
                for key in ["items", "properties", "required", "additionalProperties"] {
                    result.remove(key);
                }
            }
        }
    }
    let kind = if kinds.len() == 1 { kinds.remove(0) } else { kinds.into() };
    result.shift_insert(0, "type".into(), kind);
    result
}

pub(super) fn intersection(shapes: Vec<Shape>) -> Shape {
    let mut result: Option<Map<String, Value>> = None;
    for shape in shapes {
        match shape {
            Shape::Json(schema) => match &mut result {
                None => result = Some(schema),
                Some(known) => join(known, schema),
            },
            Shape::Any | Shape::Nothing => {}
            other => return other,
        }
    }
    result.map_or(Shape::Any, Shape::Json)
}

/// Adds the properties of one object to another; `X & {}` is X.
fn join(known: &mut Map<String, Value>, more: Map<String, Value>) {
    if known.get("type") != Some(&json!("object")) {
        return;
    }
    if more.get("type") != Some(&json!("object")) {
        *known = more;
        return;
    }
    for key in ["properties", "required"] {
        let Some(added) = more.get(key) else { continue };
        match (known.get_mut(key), added) {
            (Some(Value::Object(own)), Value::Object(added)) => own.extend(added.clone()),
            (Some(Value::Array(own)), Value::Array(added)) => own.extend(added.clone()),
            _ => drop(known.insert(key.into(), added.clone())),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        _ => "object",
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}
