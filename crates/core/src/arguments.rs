//! Hop 5 of a call: from what a model wrote to what a tool may rely on.
//!
//! Models put numbers in strings, send null for "nothing" and invent extra parameters. What
//! can be repaired without guessing is repaired; the rest is answered in words that let the
//! model correct itself.

use std::sync::OnceLock;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Number, Value};

use crate::{
    definition::{Parameters, ToolDefinition, json_type},
    error::ToolError,
    tool::Arguments,
    visible::visible,
};

/// References followed while repairing; deeper schemas are validated but not repaired.
const REF_DEPTH: u8 = 16;

/// A tool's validator, compiled at its first use and kept with the snapshot's entry.
#[derive(Debug, Default)]
pub(crate) struct Checker(OnceLock<Result<Validator, String>>);

impl Checker {
    /// Repairs, completes and validates the arguments of one call.
    pub(crate) fn check(&self, tool: &ToolDefinition, arguments: Value) -> Result<Arguments, ToolError> {
        let mut arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => Arguments::new(),
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(arguments)) => arguments,
                _ => return Err(not_an_object("string")),
            },
            other => return Err(not_an_object(json_type(&other))),
        };
        rename_aliases(tool, &mut arguments);
        let schema = tool.parameters.schema();
        repair_object(schema, schema, &mut arguments, 0);
        // A required parameter is checked here as well, so that the message comes in the
        // schema's order and a null is called what it is: missing.
        if let Some(name) = tool.parameters.required().find(|name| is_missing(schema, &arguments, name)) {
            return Err(match strangers(schema, &arguments) {
                Some(hint) => missing(name).hint(hint),
                None => missing(name),
            });
        }
        if keyword(schema, "additionalProperties") == Some(&Value::Bool(false)) {
            drop_extras(schema, &mut arguments);
        }
        let instance = Value::Object(arguments);
        let validator = self.validator(schema)?;
        if !validator.is_valid(&instance)
            && let Some(error) = validator.iter_errors(&instance).next()
        {
            return Err(explain(&error));
        }
        match instance {
            Value::Object(arguments) => Ok(arguments),
            _ => Err(not_an_object("value")),
        }
    }

    fn validator(&self, schema: &Value) -> Result<&Validator, ToolError> {
        self.0.get_or_init(|| compile(schema)).as_ref().map_err(|reason| {
            ToolError::execution(format!("The tool's parameter schema cannot be used: {reason}"))
                .hint("This is a fault of the tool; its author has to mend the schema.")
        })
    }
}

/// Why a schema cannot check arguments, if it cannot. For authors: a call finds out by itself.
pub fn schema_fault(parameters: &Parameters) -> Option<String> {
    compile(parameters.schema()).err()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let mut schema = schema.clone();
    if let Some(root) = schema.as_object_mut() {
        // Extra parameters are never an error.
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if root.get(keyword) == Some(&Value::Bool(false)) {
                root.shift_remove(keyword);
            }
        }
        // A dialect that nobody here knows must not make a tool unusable.
        root.shift_remove("$schema");
    }
    jsonschema::options().offline().build(&schema).map_err(|error| error.to_string())
}

fn rename_aliases(tool: &ToolDefinition, arguments: &mut Arguments) {
    for (alias, parameter) in &tool.aliases {
        if arguments.get(parameter).is_none_or(Value::is_null)
            && let Some(value) = arguments.shift_remove(alias)
        {
            arguments.insert(parameter.clone(), value);
        }
    }
}

fn drop_extras(schema: &Value, arguments: &mut Arguments) {
    if schema.get("patternProperties").is_some() {
        return;
    }
    let declared = schema.get("properties").and_then(Value::as_object);
    arguments.retain(|name, _| declared.is_some_and(|declared| declared.contains_key(name)));
}

fn is_missing(schema: &Value, arguments: &Arguments, name: &str) -> bool {
    match arguments.get(name) {
        None => true,
        Some(Value::Null) => {
            !schema["properties"].get(name).is_none_or(|property| admits_null(schema, property))
        }
        Some(_) => false,
    }
}

fn repair(root: &Value, schema: &Value, value: &mut Value, depth: u8) {
    let Some(schema) = follow(root, schema) else { return };
    if depth >= REF_DEPTH {
        return;
    }
    if let Some(repaired) = repaired(schema, value) {
        *value = repaired;
    }
    match value {
        Value::Object(object) => repair_object(root, schema, object, depth + 1),
        Value::Array(items) => {
            if let Some(item_schema) = keyword(schema, "items") {
                items.iter_mut().for_each(|item| repair(root, item_schema, item, depth + 1));
            }
        }
        _ => {}
    }
}

/// Inside one object: nulls of optional parameters vanish, values are repaired, defaults
/// fill what is absent.
fn repair_object(root: &Value, schema: &Value, object: &mut Arguments, depth: u8) {
    let Some(properties) = keyword(schema, "properties").and_then(Value::as_object) else { return };
    let required = keyword(schema, "required").and_then(Value::as_array);
    for (name, property) in properties {
        let is_required = || required.is_some_and(|list| list.iter().any(|entry| entry == name.as_str()));
        let absent = match object.get_mut(name) {
            Some(Value::Null) if !is_required() && !admits_null(root, property) => {
                object.shift_remove(name).is_some()
            }
            Some(value) => {
                repair(root, property, value, depth);
                false
            }
            None => true,
        };
        if absent
            && let Some(default) = keyword(property, "default")
            && !default.is_null()
        {
            object.insert(name.clone(), default.clone());
        }
    }
}

/// The safe repairs: JSON text where a string is not due, and 5.0 for 5.
fn repaired(schema: &Value, value: &Value) -> Option<Value> {
    let types = keyword(schema, "type")?;
    match value {
        Value::String(text) if !allows(types, "string") => {
            let parsed: Value = serde_json::from_str(text.trim()).ok()?;
            if allows(types, json_type(&parsed)) {
                return Some(parsed);
            }
            let whole = whole_number(&parsed)?;
            allows(types, "integer").then_some(whole)
        }
        Value::Number(_) if allows(types, "integer") && !allows(types, "number") => whole_number(value),
        _ => None,
    }
}

fn whole_number(value: &Value) -> Option<Value> {
    let float = value.as_number().filter(|number| number.is_f64())?.as_f64()?;
    // Beyond 2^53 a float no longer says which integer was meant.
    let exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    exact.then(|| Value::Number(Number::from(float as i64)))
}

/// Whether a `type` keyword admits a value's type; an integer is a number too.
fn allows(types: &Value, name: &str) -> bool {
    let fits = |kind: &Value| kind == name || (kind == "number" && name == "integer");
    match types {
        Value::Array(list) => list.iter().any(fits),
        single => fits(single),
    }
}

fn admits_null(root: &Value, schema: &Value) -> bool {
    let Some(schema) = follow(root, schema) else { return false };
    let lists = |keyword: &str| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    let constrained =
        ["type", "enum", "const", "anyOf", "oneOf", "allOf"].iter().any(|k| schema.get(k).is_some());
    !constrained && schema.get("nullable").is_some_and(|nullable| nullable == true)
        || schema.get("type").is_some_and(|types| allows(types, "null"))
        || lists("enum").any(Value::is_null)
        || lists("anyOf")
            .chain(lists("oneOf"))
            .any(|variant| variant.get("type").is_some_and(|t| t == "null"))
}

/// Follows local references, so that schemas of Rust types and MCP servers are repaired too.
fn follow<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..REF_DEPTH {
        match keyword(schema, "$ref").and_then(Value::as_str) {
            None => return Some(schema),
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
        }
    }
    None
}

/// A keyword of a schema. Schemas have few, so looking at each is quicker than hashing, and
/// this is done many times a call.
fn keyword<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.as_object()?.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| value)
}

fn not_an_object(got: &str) -> ToolError {
    ToolError::validation(format!("Arguments must be a JSON object but got {got}"))
}

/// Extra parameters are no error, but beside a missing one they are likely to be it under another name.
fn strangers(schema: &Value, arguments: &Arguments) -> Option<String> {
    // A model may write names of any length.
    const SHOWN: usize = 20;
    const LENGTH: usize = 64;
    let declared = schema.get("properties").and_then(Value::as_object)?;
    let stranger = arguments.keys().find(|name| name.len() <= LENGTH && !declared.contains_key(*name))?;
    let known: Vec<String> = declared.keys().take(SHOWN).map(|name| visible(name)).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Some(format!("There is no parameter '{}'; there are: {known}", visible(stranger)))
}

fn missing(path: &str) -> ToolError {
    ToolError::validation(format!("Missing required parameter: '{path}'"))
}

/// RFC-004's words for the common faults; deeper faults name the path.
fn explain(error: &ValidationError<'_>) -> ToolError {
    let path = dotted(error.instance_path().as_str());
    let message = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            return missing(&if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") });
        }
        ValidationErrorKind::Type { kind } => {
            format!(
                "Parameter '{path}' expected type '{}' but got {}",
                expected(kind),
                json_type(error.instance())
            )
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(plain).collect();
            format!("Parameter '{path}' must be one of: {}", options.join(", "))
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!("Parameter '{path}' must be one of: {}", plain(expected_value))
        }
        _ if path.is_empty() => format!("Invalid arguments: {}", error.masked_with("the value")),
        _ => format!("Parameter '{path}' is invalid: {}", error.masked_with("the value")),
    };
    ToolError::validation(message)
}

fn expected(kind: &jsonschema::error::TypeKind) -> String {
    match kind {
        jsonschema::error::TypeKind::Single(kind) => kind.to_string(),
        jsonschema::error::TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// `/filter/0/name` → `filter[0].name`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{definition::Parameters, names::ToolName};

    fn tool(schema: Value) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("t"), "").parameters(Parameters::from_schema(schema).unwrap())
    }

    fn five() -> ToolDefinition {
        tool(json!({
            "properties": {
                "path": {"type": "string"},
                "mode": {"type": "string", "enum": ["overwrite", "append"], "default": "overwrite"},
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "deep": {"type": "object", "properties": {
                    "list": {"type": "array", "items": {"type": "integer"}},
                    "note": {"type": "string"}
                }, "required": ["list"]},
                "flag": {"type": "boolean"}
            },
            "required": ["path"]
        }))
        .alias("file_path", "path")
    }

    #[test]
    fn faults_are_worded_as_rfc_004_words_them() {
        let cases = [
            (json!({}), "Missing required parameter: 'path'"),
            (json!({"path": null}), "Missing required parameter: 'path'"),
            (json!({"path": 5}), "Parameter 'path' expected type 'string' but got integer"),
            (json!({"path": 5.5}), "Parameter 'path' expected type 'string' but got number"),
            (json!({"path": "a", "mode": "x"}), "Parameter 'mode' must be one of: overwrite, append"),
            (
                json!({"path": "a", "count": "five"}),
                "Parameter 'count' expected type 'integer' but got string",
            ),
            (json!({"path": "a", "count": 5.5}), "Parameter 'count' expected type 'integer' but got number"),
            (json!({"path": "a", "deep": {}}), "Missing required parameter: 'deep.list'"),
            (
                json!({"path": "a", "deep": {"list": [1, "x"]}}),
                "Parameter 'deep.list[1]' expected type 'integer' but got string",
            ),
            (json!([1]), "Arguments must be a JSON object but got array"),
        ];
        let (tool, checker) = (five(), Checker::default());
        for (arguments, message) in cases {
            let error = checker.check(&tool, arguments.clone()).unwrap_err();
            assert_eq!(error.message, message, "{arguments}");
            assert_eq!(error.kind, crate::ErrorKind::ValidationError);
        }
    }

    #[test]
    fn safe_repairs_and_defaults() {
        let cases = [
            (json!({"path": "a"}), json!({"path": "a", "mode": "overwrite"})),
            (json!({"path": "5"}), json!({"path": "5", "mode": "overwrite"})),
            (json!({"path": "a", "mode": null, "count": null}), json!({"path": "a", "mode": "overwrite"})),
            (
                json!({"path": "a", "mode": "append", "count": "7"}),
                json!({"path": "a", "mode": "append", "count": 7}),
            ),
            (
                json!({"path": "a", "mode": "append", "count": 7.0}),
                json!({"path": "a", "mode": "append", "count": 7}),
            ),
            (
                json!({"path": "a", "mode": "append", "flag": "true", "ratio": "0.5"}),
                json!({"path": "a", "mode": "append", "flag": true, "ratio": 0.5}),
            ),
            (
                json!({"path": "a", "mode": "append", "deep": "{\"list\": [\"1\", 2.0], \"note\": null}"}),
                json!({"path": "a", "mode": "append", "deep": {"list": [1, 2]}}),
            ),
            (
                json!({"path": "a", "mode": "append", "extra": 1}),
                json!({"path": "a", "mode": "append", "extra": 1}),
            ),
            (json!({"file_path": "a", "mode": "append"}), json!({"path": "a", "mode": "append"})),
        ];
        let (tool, checker) = (five(), Checker::default());
        for (arguments, expected) in cases {
            let checked = checker.check(&tool, arguments.clone()).unwrap();
            assert_eq!(Value::Object(checked), expected, "{arguments}");
        }
    }

    #[test]
    fn extra_parameters_are_never_an_error() {
        let strict = tool(json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false}));
        let checked = Checker::default().check(&strict, json!({"a": "x", "b": 1})).unwrap();
        assert_eq!(Value::Object(checked), json!({"a": "x"}), "and what the schema forbids is left out");
    }

    #[test]
    fn null_stays_where_the_schema_has_it() {
        let nullable = tool(json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}));
        assert!(Checker::default().check(&nullable, json!({"a": null})).is_ok());
    }

    #[test]
    fn local_references_are_repaired_and_remote_ones_explained() {
        let local = tool(json!({
            "properties": {"p": {"$ref": "#/$defs/point"}},
            "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}}}
        }));
        let checked = Checker::default().check(&local, json!({"p": "{\"x\": \"3\"}"})).unwrap();
        assert_eq!(Value::Object(checked), json!({"p": {"x": 3}}));
        let remote = tool(json!({"properties": {"p": {"$ref": "https://example.com/s.json"}}}));
        let error = Checker::default().check(&remote, json!({"p": 1})).unwrap_err();
        assert!(error.message.starts_with("The tool's parameter schema cannot be used"), "{}", error.message);
    }

    proptest::proptest! {
        /// Checking what was checked changes nothing.
        #[test]
        fn checking_is_idempotent(path in ".*", count in proptest::option::of(proptest::prelude::any::<i32>()), text in ".*") {
            let (tool, checker) = (five(), Checker::default());
            let arguments = json!({"path": path, "count": count.map(|c| c.to_string()), "extra": text});
            let once = Value::Object(checker.check(&tool, arguments).unwrap());
            let twice = Value::Object(checker.check(&tool, once.clone()).unwrap());
            proptest::prop_assert_eq!(once, twice);
        }
    }
}
