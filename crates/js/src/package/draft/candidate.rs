//! What could become a tool: functions and classes that a package exports.

use serde_json::{Map, Value};

use super::doc::{Doc, ParamDoc};

/// The name of the library itself, where that is what is called.
pub(super) const ROOT: &str = "root";

/// A function, or a method of an object.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Its path on the library or the object: `chunk`, `utils.format`, [`ROOT`].
    pub(super) path: String,
    pub(super) description: Option<String>,
    pub(super) params: Vec<Param>,
    /// Its author advises against it.
    pub(super) avoid: bool,
    /// Why it can be no tool.
    pub(super) refusal: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) schema: Map<String, Value>,
    pub(super) required: bool,
    /// It takes all arguments that follow.
    pub(super) rest: bool,
}

/// Objects whose methods could become tools.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Its name for people, and for `--pick`.
    pub(super) name: String,
    pub(super) made: Made,
    pub(super) methods: Vec<Candidate>,
    /// Why no object of it can be made.
    pub(super) refusal: Option<String>,
}

/// How an object comes to be.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// `new` on this export; on the library itself where it is `None`.
    New { export: Option<String>, config: Option<Param> },
    /// The library is called.
    Called,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub(super) functions: Vec<Candidate>,
    pub(super) classes: Vec<Class>,
}

impl Candidate {
    /// The library's own before those of its parts, documented ones first, those to be avoided last; the order of the text decides among equals.
    pub(super) fn rank(&self) -> (bool, bool, bool, bool) {
        let described = self.params.iter().any(|param| param.schema.contains_key("description"));
        (self.avoid, self.path.contains('.'), self.description.is_none(), !described)
    }

    /// `chunk(array, size?)`.
    pub(super) fn signature(&self) -> String {
        let shown = |param: &Param| {
            let (dots, mark) = (if param.rest { "..." } else { "" }, if param.required { "" } else { "?" });
            format!("{dots}{}{mark}", param.name)
        };
        let params: Vec<String> = self.params.iter().map(shown).collect();
        format!("{}({})", self.path, params.join(", "))
    }
}

/// Adds what a comment says of the parameters.
pub(super) fn document(params: &mut [Param], doc: &Doc) {
    for param in params {
        if let Some(said) = doc.param(&param.name) {
            describe(&mut param.schema, said);
            let required = param.required && !said.optional && said.default.is_none();
            param.required = required;
        }
        let prefix = format!("{}.", param.name);
        let Some(Value::Object(properties)) = param.schema.get_mut("properties") else { continue };
        for said in &doc.params {
            let property = said.name.strip_prefix(&prefix).and_then(|name| properties.get_mut(name));
            if let Some(Value::Object(schema)) = property {
                describe(schema, said);
            }
        }
    }
}

fn describe(schema: &mut Map<String, Value>, said: &ParamDoc) {
    if let Some(text) = &said.text {
        schema.insert("description".into(), text.clone().into());
    }
    // A default that is no plain value of the right type is a remark, not a default.
    let default = said.default.as_deref().map(|text| text.replace('\'', "\""));
    let default = default.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let fits = |value: &Value| {
        let kind = schema.get("type").and_then(Value::as_str);
        matches!(
            (kind, value),
            (Some("number"), Value::Number(_))
                | (Some("string"), Value::String(_))
                | (Some("boolean"), Value::Bool(_))
        )
    };
    let known =
        |value: &Value| schema.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(value));
    if let Some(default) = default.filter(fits).filter(known) {
        schema.insert("default".into(), default);
    }
}
