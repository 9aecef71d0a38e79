//! What an index knows of one tool: its texts, by field.

use serde_json::Value;

use crate::registry::{Entry, Group};

/// The texts of a tool.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub name: String,
    /// The group's name; empty for a core tool.
    pub group: String,
    pub group_text: String,
    pub description: String,
    pub parameters: Vec<ParameterText>,
    pub keywords: Vec<String>,
    pub examples: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct ParameterText {
    pub name: String,
    pub description: String,
    /// What it may be, where that is a closed list.
    pub values: Vec<String>,
}

impl Document {
    pub(crate) fn of(entry: &Entry, group: Option<&Group>) -> Self {
        let definition = entry.definition();
        let mut examples = Vec::new();
        definition.examples.iter().for_each(|example| texts(example, &mut examples));
        Self {
            name: definition.name.to_string(),
            group: group.map(|group| group.name.to_string()).unwrap_or_default(),
            group_text: group
                .map(|group| format!("{} {}", group.display_name, group.description))
                .unwrap_or_default(),
            description: definition.description.clone(),
            parameters: definition.parameters.properties().map(parameter).collect(),
            keywords: definition.keywords.clone(),
            examples,
        }
    }
}

fn parameter((name, schema): (&String, &Value)) -> ParameterText {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut values = Vec::new();
    schema.get("enum").into_iter().for_each(|allowed| texts(allowed, &mut values));
    ParameterText { name: name.clone(), description: description.to_owned(), values }
}

/// The texts within a value; keys of objects are parameters' names and known already.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
