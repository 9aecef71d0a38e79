//! Questions of a server to the person (elicitation), as far as they are a yes or a no.
//!
//! An approver can show a text and take a yes. So a form is put to it if a yes says it all: every field has a default, or
//! may be left out, or is the one box to tick. Anything else is declined, as is a page to visit.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) message: String,
    /// What a yes sends.
    pub(crate) yes: Map<String, Value>,
}

impl Question {
    /// None where more than a yes is wanted.
    pub(crate) fn of(params: &ElicitRequestParams) -> Option<Self> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
            return None;
        };
        let schema = serde_json::to_value(requested_schema).ok()?;
        Some(Self { message: message.clone(), yes: answer_of_yes(&schema)? })
    }

    pub(crate) fn answer(self, is_yes: bool) -> ElicitResult {
        match is_yes {
            true => ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(self.yes)),
            false => declined(),
        }
    }

    /// For the person: the message, and what would be sent.
    pub(crate) fn shown(&self, server: &str) -> String {
        let message = &self.message;
        if self.yes.is_empty() {
            return format!("{server} asks: {message}");
        }
        format!("{server} asks: {message} (yes sends {})", Value::Object(self.yes.clone()))
    }
}

pub(crate) fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

fn answer_of_yes(schema: &Value) -> Option<Map<String, Value>> {
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let is_open_box =
        |field: &Value| field.get("default").is_none() && field.get("type") == Some(&"boolean".into());
    let boxes = fields.values().filter(|field| is_open_box(field)).count();
    let mut yes = Map::new();
    for (name, field) in fields {
        if let Some(default) = field.get("default") {
            yes.insert(name.clone(), default.clone());
        } else if is_open_box(field) && boxes == 1 {
            yes.insert(name.clone(), true.into());
        } else if is_required(name) {
            return None;
        }
    }
    Some(yes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_yes_answers_what_has_one_answer() {
        let yes = |properties: Value, required: Value| {
            answer_of_yes(&json!({"properties": properties, "required": required})).map(Value::Object)
        };
        assert_eq!(yes(json!({}), json!([])), Some(json!({})));
        let one_box = json!({"sure": {"type": "boolean"}});
        assert_eq!(yes(one_box, json!(["sure"])), Some(json!({"sure": true})));
        let filled = json!({"name": {"type": "string", "default": "A"}, "age": {"type": "integer"}});
        assert_eq!(yes(filled.clone(), json!(["name"])), Some(json!({"name": "A"})));
        assert_eq!(yes(filled, json!(["age"])), None);
        let two = json!({"a": {"type": "boolean"}, "b": {"type": "boolean"}});
        assert_eq!(yes(two.clone(), json!(["a"])), None);
        assert_eq!(yes(two, json!([])), Some(json!({})));
    }
}
