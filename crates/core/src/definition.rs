//! What a tool says about itself: name, description, the JSON Schema of its parameters,
//! capabilities, timeout and annotations.

use std::{sync::Arc, time::Duration};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::names::{Capability, ToolName};

/// How long a tool may run when its definition says nothing else.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct ToolDefinition {
    pub name: ToolName,
    /// For people; models see the name.
    pub title: Option<String>,
    pub description: String,
    pub parameters: Parameters,
    /// The JSON Schema of `details`, where a tool promises one.
    pub output_schema: Option<Value>,
    pub capabilities: Vec<Capability>,
    /// The most that a call may come to use on its way, other tools that it calls included;
    /// `None` where nothing is said. Policy decides below it.
    pub ceiling: Option<Arc<[Capability]>>,
    pub timeout: Duration,
    /// Changes nothing outside itself.
    pub read_only: bool,
    /// What else it says of itself, for clients that show it.
    pub hints: Hints,
    /// Runs only while no other tool runs.
    pub exclusive: bool,
    /// The argument that a permission is about (`command` of `exec`): prompts show it
    /// first, and "always" remembers it.
    pub subject: Option<String>,
    /// Other names that models use for a parameter: (alias, parameter).
    pub aliases: Vec<(String, String)>,
    /// Words to be found by, beyond those of the description.
    pub keywords: Vec<String>,
    /// What it is called with or for: arguments, or a request in words. To be found by.
    pub examples: Vec<Value>,
}

/// A tool's word on what it does, as its author gave it; `None` where nothing is said. Nothing is decided by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Another title than the definition's own.
    pub title: Option<String>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

impl ToolDefinition {
    pub fn new(name: ToolName, description: impl Into<String>) -> Self {
        Self {
            name,
            title: None,
            description: description.into(),
            parameters: Parameters::none(),
            output_schema: None,
            capabilities: Vec::new(),
            ceiling: None,
            timeout: DEFAULT_TIMEOUT,
            read_only: false,
            hints: Hints::default(),
            exclusive: false,
            subject: None,
            aliases: Vec::new(),
            keywords: Vec::new(),
            examples: Vec::new(),
        }
    }

    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a capability.
    #[must_use]
    pub fn needs(mut self, capability: Capability) -> Self {
        self.capabilities.push(capability);
        self
    }

    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.exclusive = true;
        self
    }

    #[must_use]
    pub fn subject(mut self, argument: impl Into<String>) -> Self {
        self.subject = Some(argument.into());
        self
    }

    /// Accepts `alias` where a model should have written `parameter`.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>, parameter: impl Into<String>) -> Self {
        self.aliases.push((alias.into(), parameter.into()));
        self
    }

    /// Adds words to be found by.
    #[must_use]
    pub fn keywords<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.keywords.extend(words.into_iter().map(Into::into));
        self
    }

    /// Adds arguments, or a request in words, to be found by.
    #[must_use]
    pub fn example(mut self, example: impl Into<Value>) -> Self {
        self.examples.push(example.into());
        self
    }
}

/// The JSON Schema of a tool's arguments: always an object schema, in its author's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Parameters(Arc<Value>);

impl TryFrom<Value> for Parameters {
    type Error = ParametersError;

    fn try_from(schema: Value) -> Result<Self, ParametersError> {
        Self::from_schema(schema)
    }
}

/// A schema that cannot describe arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParametersError {
    #[error("the parameters' schema must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    #[error("the parameters' schema must have \"type\": \"object\", not {0}")]
    WrongType(String),
}

impl Parameters {
    pub fn none() -> Self {
        Self::build().done()
    }

    /// RFC-004's simplified schema: flat parameters, one after the other.
    pub fn build() -> ParametersBuilder {
        ParametersBuilder { properties: Map::new(), required: Vec::new() }
    }

    /// A full JSON Schema from outside: a manifest, an MCP server. `type` may be absent.
    pub fn from_schema(schema: Value) -> Result<Self, ParametersError> {
        let Value::Object(mut schema) = schema else {
            return Err(ParametersError::NotAnObject(json_type(&schema)));
        };
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => {}
            Some(Value::Null) | None => {
                schema.shift_remove("type");
                schema.shift_insert(0, "type".into(), "object".into());
            }
            Some(other) => return Err(ParametersError::WrongType(other.to_string())),
        }
        if !schema.get("properties").is_some_and(Value::is_object) {
            schema.insert("properties".into(), json!({}));
        }
        Ok(Self(Arc::new(Value::Object(schema))))
    }

    /// The schema of a Rust type. Fields keep their order, doc comments become
    /// descriptions, and `Option<T>` is simply not required.
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = false;
        });
        let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
        let mut schema = schema.to_value();
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("title");
            object.shift_remove("description");
        }
        tidy(&mut schema);
        // A type that is no object has no parameters to name: it becomes the empty set.
        Self::from_schema(schema).unwrap_or_else(|_| Self::none())
    }

    pub fn schema(&self) -> &Value {
        &self.0
    }

    pub fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    pub fn property(&self, name: &str) -> Option<&Value> {
        self.0.get("properties")?.get(name)
    }

    pub fn required(&self) -> impl Iterator<Item = &str> {
        self.0.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub fn is_required(&self, name: &str) -> bool {
        self.required().any(|required| required == name)
    }
}

#[derive(Clone, Debug)]
pub struct ParametersBuilder {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl ParametersBuilder {
    #[must_use]
    pub fn required(mut self, name: &str, parameter: Parameter) -> Self {
        self.required.push(name.into());
        self.optional(name, parameter)
    }

    #[must_use]
    pub fn optional(mut self, name: &str, parameter: Parameter) -> Self {
        self.properties.insert(name.into(), parameter.into_schema());
        self
    }

    pub fn done(self) -> Parameters {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".into(), self.required.into());
        }
        Parameters(Arc::new(schema.into()))
    }
}

/// The simple types of RFC-004.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

impl ParameterType {
    fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}

/// One parameter of the simplified schema.
#[derive(Clone, Debug)]
pub struct Parameter {
    kind: ParameterType,
    description: String,
    allowed: Vec<String>,
    default: Option<Value>,
    items: Option<ParameterType>,
}

impl Parameter {
    pub fn new(kind: ParameterType, description: impl Into<String>) -> Self {
        Self { kind, description: description.into(), allowed: Vec::new(), default: None, items: None }
    }

    pub fn string(description: impl Into<String>) -> Self {
        Self::new(ParameterType::String, description)
    }

    pub fn integer(description: impl Into<String>) -> Self {
        Self::new(ParameterType::Integer, description)
    }

    pub fn object(description: impl Into<String>) -> Self {
        Self::new(ParameterType::Object, description)
    }

    pub fn array(items: ParameterType, description: impl Into<String>) -> Self {
        Self { items: Some(items), ..Self::new(ParameterType::Array, description) }
    }

    #[must_use]
    pub fn one_of<const N: usize>(mut self, allowed: [&str; N]) -> Self {
        self.allowed = allowed.map(String::from).to_vec();
        self
    }

    /// The engine fills this in where a call leaves the parameter out.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    fn into_schema(self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), self.kind.name().into());
        schema.insert("description".into(), self.description.into());
        if !self.allowed.is_empty() {
            schema.insert("enum".into(), self.allowed.into());
        }
        if self.kind == ParameterType::Array {
            // Gemini refuses an array without items; RFC-004 says string where nothing is said.
            let items = self.items.unwrap_or(ParameterType::String);
            schema.insert("items".into(), json!({ "type": items.name() }));
        }
        if let Some(default) = self.default {
            schema.insert("default".into(), default);
        }
        schema.into()
    }
}

/// The JSON Schema word for a value's type.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// schemars describes Rust; a model needs less. `Option<T>` becomes `T` (absent says the same
/// as null), machine integer formats and the default `additionalProperties` vanish.
fn tidy(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(kind) = object.shift_remove("type") {
        object.shift_insert(0, "type".into(), kind);
    }
    let is_machine_format = |format: &Value| {
        format.as_str().is_some_and(|name| {
            name.starts_with("uint") || name.starts_with("int") || name == "double" || name == "float"
        })
    };
    if object.get("format").is_some_and(is_machine_format) {
        object.shift_remove("format");
    }
    if object.get("additionalProperties") == Some(&Value::Bool(true)) {
        object.shift_remove("additionalProperties");
    }
    let required: Vec<Value> = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !required.iter().any(|entry| entry == name.as_str()) {
                drop_null(property);
            }
            tidy(property);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key) {
            tidy(inner);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(tidy);
    }
    if let Some(Value::Object(definitions)) = object.get_mut("$defs") {
        definitions.values_mut().for_each(tidy);
    }
}

fn drop_null(property: &mut Value) {
    let Some(object) = property.as_object_mut() else { return };
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(allowed)) = object.get_mut("enum") {
        allowed.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(variants)) = object.get_mut("anyOf") {
        variants.retain(|variant| variant.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = variants.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simplified_schema_is_rfc_004s() {
        let parameters = Parameters::build()
            .required("path", Parameter::string("The absolute file path to read"))
            .optional("tags", Parameter::array(ParameterType::String, "List of tags"))
            .optional("mode", Parameter::string("Mode").one_of(["a", "b"]))
            .done();
        let expected = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The absolute file path to read" },
                "tags": { "type": "array", "description": "List of tags", "items": { "type": "string" } },
                "mode": { "type": "string", "description": "Mode", "enum": ["a", "b"] }
            },
            "required": ["path"]
        });
        // As text, because the order of properties is part of the promise.
        assert_eq!(parameters.schema().to_string(), expected.to_string());
    }

    #[test]
    fn a_rust_type_becomes_a_clean_schema() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Greeting {
            /// Who to greet
            name: String,
            /// How often
            times: Option<u8>,
            style: Option<Style>,
        }
        #[derive(JsonSchema)]
        #[serde(rename_all = "lowercase")]
        #[schemars(inline)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        enum Style {
            Loud,
            Soft,
        }
        let schema = Parameters::of::<Greeting>();
        let names: Vec<_> = schema.properties().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["name", "times", "style"]);
        assert_eq!(schema.required().collect::<Vec<_>>(), ["name"]);
        assert_eq!(schema.property("name").unwrap()["description"], "Who to greet");
        assert_eq!(schema.property("times").unwrap()["type"], "integer");
        assert!(!schema.schema().to_string().contains("null"), "{}", schema.schema());
    }

    #[test]
    fn a_foreign_schema_may_leave_its_type_out() {
        let schema = Parameters::from_schema(json!({"properties": {"a": {}}})).unwrap();
        assert_eq!(schema.schema().to_string(), r#"{"type":"object","properties":{"a":{}}}"#);
        assert!(Parameters::from_schema(json!({"type": "array"})).is_err());
        assert!(Parameters::from_schema(json!([])).is_err());
    }
}
