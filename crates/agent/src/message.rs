//! A conversation as plain data, the same for every provider.
//!
//! What only one provider understands (signatures of its thinking, ids of its items) travels
//! with the part that it belongs to and goes back to that provider alone; every other one gets
//! the conversation without it. So a session can be kept, resumed and moved.

use pinza_core::{CallId, Content, ToolCall, ToolOutput, ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::providers::ProviderKind;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    User {
        content: Vec<Content>,
    },
    Assistant {
        parts: Vec<Part>,
    },
    /// The answers to all calls of the assistant's message before it.
    Results {
        results: Vec<CallResult>,
    },
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { content: vec![Content::text(text)] }
    }

    /// What the assistant wants to be called; none in any other message.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let parts: &[Part] = match self {
            Self::Assistant { parts } => parts,
            Self::User { .. } | Self::Results { .. } => &[],
        };
        parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. } | Part::Thinking { .. } => None,
        })
    }

    /// The text that a person reads: without thinking, calls and results.
    pub fn text(&self) -> String {
        match self {
            Self::User { content } => ToolOutput { content: content.clone(), ..Default::default() }.as_text(),
            Self::Assistant { parts } => parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text { text, .. } => Some(text.as_str()),
                    Part::Thinking { .. } | Part::ToolCall(_) => None,
                })
                .collect(),
            Self::Results { .. } => String::new(),
        }
    }
}

/// A piece of an assistant's message, in the order in which it was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    Thinking {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    ToolCall(Call),
}

/// A call that a model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's own id, or ours where it gave none; no other call of the conversation has it.
    pub id: CallId,
    /// The tool's own name, not the one it has on the wire.
    pub name: String,
    /// Empty where they are malformed.
    pub arguments: Value,
    /// What the model wrote in place of JSON. Such a call is answered, never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl Call {
    /// The call as the engine takes it; the text that is no JSON for one that must not be run.
    pub fn to_tool_call(&self) -> Result<ToolCall, &str> {
        match &self.malformed {
            Some(text) => Err(text),
            None => Ok(ToolCall::new(self.id.as_str(), self.name.as_str(), self.arguments.clone())),
        }
    }

    /// The arguments as providers take them back: an object, whatever the model wrote.
    pub(crate) fn object(&self) -> Map<String, Value> {
        match (&self.malformed, &self.arguments) {
            (Some(text), _) => Map::from_iter([("INVALID_JSON".to_owned(), text.as_str().into())]),
            (None, Value::Object(object)) => object.clone(),
            (None, other) => Map::from_iter([("value".to_owned(), other.clone())]),
        }
    }
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    pub id: CallId,
    /// The tool's name as the call had it.
    pub name: String,
    #[serde(with = "answer")]
    pub result: ToolResult,
}

/// What one provider wants back word for word, and no other one understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    pub kind: ProviderKind,
    pub value: Value,
}

impl Opaque {
    /// The value, for the provider that it came from.
    pub(crate) fn of(opaque: &Option<Self>, kind: ProviderKind) -> Option<&Value> {
        opaque.as_ref().filter(|opaque| opaque.kind == kind).map(|opaque| &opaque.value)
    }
}

/// A result is `{"output": …}` or `{"error": …}` wherever it is kept.
mod answer {
    use pinza_core::{ToolError, ToolOutput, ToolResult};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Borrowed<'a> {
        Output(&'a ToolOutput),
        Error(&'a ToolError),
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Owned {
        Output(ToolOutput),
        Error(ToolError),
    }

    pub(super) fn serialize<S: Serializer>(result: &ToolResult, serializer: S) -> Result<S::Ok, S::Error> {
        match result {
            Ok(output) => Borrowed::Output(output),
            Err(error) => Borrowed::Error(error),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolResult, D::Error> {
        Ok(match Owned::deserialize(deserializer)? {
            Owned::Output(output) => Ok(output),
            Owned::Error(error) => Err(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use pinza_core::{ErrorKind, ToolError};
    use serde_json::json;

    use super::*;

    fn call(arguments: Value, malformed: Option<&str>) -> Call {
        let malformed = malformed.map(str::to_owned);
        Call { id: CallId::new("c1"), name: "read_file".into(), arguments, malformed, opaque: None }
    }

    #[test]
    fn messages_come_back_from_json_as_they_were() {
        let signature = Opaque { kind: ProviderKind::OpenAiResponses, value: json!({"id": "rs_1"}) };
        let results = [Ok("hi".into()), Err(ToolError::new(ErrorKind::FileNotFound, "no").hint("look"))];
        let results = results.map(|result| CallResult { id: CallId::new("c"), name: "t".into(), result });
        let messages = [
            Message::user("Hello"),
            Message::Assistant {
                parts: vec![
                    Part::Thinking { text: "hm".into(), opaque: Some(signature) },
                    Part::Text { text: "Hi".into(), opaque: None },
                    Part::ToolCall(call(json!({"path": "a"}), None)),
                    Part::ToolCall(call(json!({}), Some("{\"path\": "))),
                ],
            },
            Message::Results { results: results.into() },
        ];
        let text = serde_json::to_string(&messages).unwrap();
        let back: [Message; 3] = serde_json::from_str(&text).unwrap();
        assert_eq!(back, messages);
        assert!(text.contains(r#"{"role":"user","content":[{"type":"text","text":"Hello"}]}"#), "{text}");
        assert!(text.contains(r#"{"type":"tool_call","id":"c1","name":"read_file""#), "{text}");
        assert!(text.contains(r#""kind":"openai-responses""#), "{text}");
        assert!(text.contains(r#""result":{"error":{"error_type":"file_not_found""#), "{text}");
        assert_eq!(messages[1].calls().count(), 2);
        assert_eq!(messages[1].text(), "Hi");
    }

    #[test]
    fn a_malformed_call_is_not_run_and_goes_back_as_an_object() {
        let broken = call(json!({}), Some("{\"path\": "));
        assert_eq!(broken.to_tool_call(), Err("{\"path\": "));
        assert_eq!(Value::from(broken.object()), json!({"INVALID_JSON": "{\"path\": "}));
        let odd = call(json!([1]), None);
        assert_eq!(Value::from(odd.object()), json!({"value": [1]}));
        assert_eq!(call(json!({"a": 1}), None).to_tool_call().unwrap().arguments, json!({"a": 1}));
    }
}
