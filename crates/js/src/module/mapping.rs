//! From what a library returned to what the caller gets: `resultMapping` and `output`.
//!
//! A mapping is a JSON value whose strings may be JSONPaths (RFC 9535). An `output` schema promises nothing to
//! the caller: a result that does not keep it comes with a warning.

use std::fmt;

use jsonpath_rust::{
    parser::{model::JpQuery, parse_json_path},
    query::js_path_process,
};
use pinza_core::visible;
use serde_json::{Map, Value, json};

use super::{manifest::Spot, output::Output};

/// Longer JSONPaths are a mistake.
const PATH_LIMIT: usize = 512;

/// What is done with a result as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The object stays alive in the session; the caller gets a handle to it.
    Instance,
    /// As it is, unmapped.
    Raw,
    /// As text.
    Stringify,
    /// As a list, if it is none.
    Array,
}

/// A result, shaped, and what is not as its schema says.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    pub value: Value,
    pub warnings: Vec<String>,
}

/// What a tool does with results.
#[derive(Debug, Default)]
pub(crate) struct ResultMapping {
    pub(crate) success: Option<Shape>,
    pub(crate) failure: Option<Shape>,
    pub(crate) transform: Option<Transform>,
}

/// A mapping's value.
pub(crate) enum Shape {
    Path(JpQuery),
    Object(Vec<(String, Shape)>),
    List(Vec<Shape>),
    Literal(Value),
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{path}"),
            Self::Object(fields) => {
                f.debug_map().entries(fields.iter().map(|(key, shape)| (key, shape))).finish()
            }
            Self::List(shapes) => f.debug_list().entries(shapes).finish(),
            Self::Literal(value) => write!(f, "{value}"),
        }
    }
}

impl Shape {
    /// A string with a `$` in front is a JSONPath; `$$` is a `$`.
    pub(crate) fn parse(value: &Value, spot: &Spot<'_>) -> Self {
        match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(rest) if rest.starts_with('$') => Self::Literal(rest.into()),
                Some(_) => path(text).map_or_else(
                    || {
                        let shown = visible(text);
                        spot.error(format!(
                            "'{shown}' is no JSONPath; write '$$' for a text that begins with '$'"
                        ));
                        Self::Literal(Value::Null)
                    },
                    Self::Path,
                ),
                None => Self::Literal(value.clone()),
            },
            Value::Object(fields) => {
                let fields =
                    fields.iter().map(|(key, value)| (key.clone(), Self::parse(value, &spot.key(key))));
                Self::Object(fields.collect())
            }
            Value::Array(values) => {
                let values = values.iter().enumerate();
                Self::List(values.map(|(index, value)| Self::parse(value, &spot.index(index))).collect())
            }
            other => Self::Literal(other.clone()),
        }
    }

    fn apply(&self, value: &Value) -> Value {
        match self {
            Self::Path(path) => query(path, value),
            Self::Object(fields) => fields
                .iter()
                .map(|(key, shape)| (key.clone(), shape.apply(value)))
                .collect::<Map<_, _>>()
                .into(),
            Self::List(shapes) => shapes.iter().map(|shape| shape.apply(value)).collect(),
            Self::Literal(literal) => literal.clone(),
        }
    }
}

fn path(text: &str) -> Option<JpQuery> {
    if text.len() > PATH_LIMIT {
        return None;
    }
    parse_json_path(text).ok()
}

/// One node is its value, several are a list, none is null.
fn query(path: &JpQuery, value: &Value) -> Value {
    let mut nodes = js_path_process(path, value).unwrap_or_default();
    match nodes.len() {
        0 => Value::Null,
        1 => nodes.swap_remove(0).val.clone(),
        _ => nodes.into_iter().map(|node| node.val.clone()).collect(),
    }
}

impl ResultMapping {
    /// A result; `None` is `undefined`. With a `handle`, it is what the kept object looks like.
    pub(crate) fn succeed(&self, output: &Output, value: Option<Value>, handle: Option<&str>) -> Mapped {
        let shape = self.success.as_ref().filter(|_| self.transform != Some(Transform::Raw));
        let is_undefined = value.is_none();
        let value = value.unwrap_or_default();
        let value = shape.map(|shape| shape.apply(&value)).unwrap_or(value);
        let value = match (self.transform, value) {
            (Some(Transform::Stringify), Value::String(text)) => text.into(),
            (Some(Transform::Stringify), Value::Null) if is_undefined && shape.is_none() => "".into(),
            (Some(Transform::Stringify), value) => value.to_string().into(),
            (Some(Transform::Array), Value::Array(values)) => values.into(),
            (Some(Transform::Array), Value::Null) => json!([]),
            (Some(Transform::Array), value) => json!([value]),
            (Some(Transform::Instance | Transform::Raw) | None, value) => value,
        };
        let warnings = output.success.as_ref().map(|schema| schema.check(&value)).unwrap_or_default();
        let value = match handle {
            Some(handle) => json!({ "handle": handle, "value": value }),
            None => value,
        };
        Mapped { value, warnings }
    }

    /// An error's details; `None` where the manifest says nothing about them. JSONPaths see the error's own
    /// properties with `name`, `message`, `code`, `status` and `stack` beside them.
    pub(crate) fn fail(&self, output: &Output, error: &Value) -> Option<Mapped> {
        if self.failure.is_none() && output.failure.is_none() {
            return None;
        }
        let seen = flattened(error);
        let value = match &self.failure {
            Some(shape) => shape.apply(&seen),
            None => declared(without_stack(seen), output),
        };
        let warnings = output.failure.as_ref().map(|schema| schema.check(&value)).unwrap_or_default();
        Some(Mapped { value, warnings })
    }
}

/// Of an error that nobody shapes, what its schema names: libraries hang whole requests on theirs.
fn declared(mut error: Value, output: &Output) -> Value {
    let schema = output.failure.as_ref().map(|failure| &failure.schema()["properties"]);
    if let (Some(properties), Some(error)) = (schema.and_then(Value::as_object), error.as_object_mut()) {
        error.retain(|name, value| properties.contains_key(name) && !value.is_null());
    }
    error
}

/// The stack is for authors; they ask for it.
fn without_stack(mut error: Value) -> Value {
    if let Some(error) = error.as_object_mut() {
        error.shift_remove("stack");
    }
    error
}

fn flattened(error: &Value) -> Value {
    let mut seen = error.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, value) in error.as_object().into_iter().flatten() {
        if name != "data" || !seen.contains_key(name) {
            seen.insert(name.clone(), value.clone());
        }
    }
    seen.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{Mode, ModuleManifest, ToolEntry};

    fn tool(fields: &Value) -> ToolEntry {
        let mut module = json!({
            "name": "m", "version": "1.0.0", "description": "d", "package": "p", "type": "static",
            "tools": [{ "name": "t", "description": "d", "function": "f" }]
        });
        for (field, value) in fields.as_object().unwrap() {
            module["tools"][0][field] = value.clone();
        }
        let parsed = ModuleManifest::parse(&module.to_string(), Mode::Strict);
        parsed.manifest.unwrap_or_else(|| panic!("{:?}", parsed.faults)).tools.remove(0)
    }

    #[test]
    fn results_are_shaped() {
        let response = json!({
            "data": {"items": [{"id": 1, "tag": "a"}, {"id": 2}], "a b": true}, "status": 200, "list": [5]
        });
        let cases = [
            (json!({}), response.clone()),
            (json!({"success": {}}), json!({})),
            (json!({"success": {"d": "$.data['a b']", "s": "$.status"}}), json!({"d": true, "s": 200})),
            (json!({"success": "$.data.items[0]"}), json!({"id": 1, "tag": "a"})),
            (json!({"success": "$.data.items[*].id"}), json!([1, 2])),
            (json!({"success": "$.data.items[*].tag"}), json!("a")),
            (json!({"success": "$.data.items[?@.id > 1]"}), json!({"id": 2})),
            (json!({"success": "$..id"}), json!([1, 2])),
            (json!({"success": "$.list"}), json!([5])),
            (json!({"success": "$.list[-1]"}), json!(5)),
            (json!({"success": "$.nothing"}), json!(null)),
            (
                json!({"success": {"all": "$", "price": "$$5", "fix": 1, "no": null}}),
                json!({"all": response, "price": "$5", "fix": 1, "no": null}),
            ),
            (
                json!({"success": {"deep": {"er": ["$.status", "text", {"x": "$.list[0]"}]}}}),
                json!({"deep": {"er": [200, "text", {"x": 5}]}}),
            ),
            (json!({"transform": "raw"}), response.clone()),
            (json!({"transform": "array"}), json!([response])),
            (json!({"transform": "array", "success": "$.list"}), json!([5])),
            (json!({"transform": "stringify"}), json!(response.to_string())),
            (json!({"transform": "stringify", "success": "$.status"}), json!("200")),
            (json!({"transform": "stringify", "success": "$.data.items[0].tag"}), json!("a")),
            (json!({"transform": "instance"}), response.clone()),
        ];
        for (mapping, expected) in cases {
            let mapped = tool(&json!({ "resultMapping": mapping })).succeeded(Some(response.clone()), None);
            assert_eq!(mapped, Mapped { value: expected, warnings: vec![] }, "{mapping}");
        }
    }

    #[test]
    fn primitives_and_undefined_are_results_too() {
        let cases = [
            (json!({}), None, json!(null)),
            (json!({}), Some(json!("text")), json!("text")),
            (json!({"success": {"v": "$"}}), Some(json!(5)), json!({"v": 5})),
            (json!({"success": {"v": "$.a"}}), Some(json!("text")), json!({"v": null})),
            (json!({"success": {"v": "$"}}), None, json!({"v": null})),
            (json!({"transform": "stringify"}), None, json!("")),
            (json!({"transform": "stringify"}), Some(json!(null)), json!("null")),
            (json!({"transform": "stringify"}), Some(json!("text")), json!("text")),
            (json!({"transform": "array"}), None, json!([])),
            (json!({"transform": "array"}), Some(json!(0)), json!([0])),
        ];
        for (mapping, value, expected) in cases {
            let mapped = tool(&json!({ "resultMapping": mapping })).succeeded(value.clone(), None);
            assert_eq!(mapped.value, expected, "{mapping} {value:?}");
        }
    }

    #[test]
    fn a_kept_object_comes_with_its_handle() {
        let keep = tool(&json!({
            "resultMapping": {"transform": "instance", "success": {"at": "$"}},
            "output": {"success": {"properties": {"at": {"type": "number"}}}}
        }));
        let mapped = keep.succeeded(Some(json!("2020-01-01")), Some("m-1"));
        assert_eq!(mapped.value, json!({"handle": "m-1", "value": {"at": "2020-01-01"}}));
        let warning = "'at' of the result is of type 'string', but its schema says 'number'";
        assert_eq!(mapped.warnings, [warning]);
    }

    #[test]
    fn errors_are_shaped() {
        let error = json!({
            "name": "AxiosError", "message": "Request failed", "code": "ERR_BAD_REQUEST", "status": 404,
            "stack": "at x", "data": {"response": {"status": 404}, "message": "hidden", "config": {}}
        });
        let failed = |fields: Value| tool(&fields).failed(&error);
        assert_eq!(failed(json!({})), None);
        assert_eq!(failed(json!({"resultMapping": {"success": "$"}})), None);
        let mapping = json!({"success": "$", "failure": {
            "m": "$.message", "s": "$.response.status", "n": "$.name", "stack": "$.stack", "c": "$.data.config"
        }});
        let mapped = failed(json!({ "resultMapping": mapping })).unwrap();
        let expected = json!({"m": "Request failed", "s": 404, "n": "AxiosError", "stack": "at x", "c": {}});
        assert_eq!(mapped.value, expected);
        let output =
            json!({"failure": {"properties": {"message": {"type": "string"}, "code": {"type": "number"}}}});
        let mapped = failed(json!({ "output": output })).unwrap();
        assert_eq!(mapped.value, json!({"message": "Request failed", "code": "ERR_BAD_REQUEST"}));
        assert_eq!(
            mapped.warnings,
            ["'code' of the result is of type 'string', but its schema says 'number'"]
        );
        let bare = tool(&json!({ "output": output })).failed(&json!({"name": "E", "message": "m"})).unwrap();
        assert_eq!(bare.value, json!({"message": "m"}));
    }

    proptest::proptest! {
        #[test]
        fn any_path_is_read_or_refused(text in "\\$[a-z.*\\[\\]?@'\"0-9()<>=!&|,: -]{0,24}") {
            if let Some(path) = path(&text) {
                query(&path, &json!({"a": [{"b": 1}, 2, "x"], "b": {"a": null}}));
            }
        }
    }

    #[test]
    fn a_path_that_nests_without_end_is_refused() {
        for text in
            [format!("$[?{}@.a{}]", "(".repeat(240), ")".repeat(240)), format!("${}", ".a".repeat(1000))]
        {
            assert!(path(&text).is_none());
        }
    }
}
