//! A script: what requests should look like, and what the model answers.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Provider, check};
use crate::wire::RecordedRequest;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The only key that is accepted; any, and none, without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub turns: Vec<Turn>,
}

/// One answer. What is said comes in this order: thinking, text, calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// The turn is passed over by requests that are not like this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expect>,
    /// A request that takes the turn and is not like this is refused, and counts as a failure.
    pub expect: Expect,
    pub thinking: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub usage: Usage,
    /// The provider's own word for why the model stops; without it, what fits the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// An answer that is no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The stream itself, in place of all that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    pub chunks: Chunks,
    /// The connection breaks after so many bytes of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
    /// After its last byte the stream stays open for ever.
    pub stall: bool,
    /// There is no answer at all.
    pub hang: bool,
    /// The turn can be taken again and again.
    pub keep: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// As it is on the wire.
    pub name: String,
    /// Sent as they are written; a text is sent as that text, JSON or not.
    #[serde(default)]
    pub arguments: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// All of the prompt, cached or not.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
    /// The server counts nothing.
    pub absent: bool,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cache_read: 0, cache_write: 0, reasoning: 0, absent: false }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// In the provider's own frame.
    #[serde(default)]
    pub message: String,
    /// In place of the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Chunks {
    /// How many bytes at a time; all at once without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The pause before each.
    pub delay_ms: u64,
}

/// What a request should be like. Everything that is said must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Texts somewhere in the body, read as JSON: quotes and line breaks are themselves.
    pub contains: Vec<String>,
    pub lacks: Vec<String>,
    /// The same, only in the last message or item.
    pub last_contains: Vec<String>,
    /// Tools by their wire name, deferred or not.
    pub tools: Vec<String>,
    pub no_tools: Vec<String>,
    /// Tools that are sent, but kept out of the prompt.
    pub deferred: Vec<String>,
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Script {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { key: None, turns: turns.into_iter().collect() }
    }

    /// Reads a script. The error says what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    }
}

impl Turn {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Several calls side by side: (name, arguments).
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let call = |(name, arguments): (&str, Value)| Call { name: name.into(), arguments, id: None };
        Self { calls: calls.into_iter().map(call).collect(), ..Self::default() }
    }

    pub fn error(status: u16, message: &str) -> Self {
        let error = Failure { status, message: message.into(), ..Failure::default() };
        Self { error: Some(error), ..Self::default() }
    }

    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }
}

impl Expect {
    /// These texts somewhere in the body.
    pub fn contains<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self { contains: texts.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// What does not hold.
    pub(super) fn check(&self, provider: Provider, request: &RecordedRequest) -> Result<(), String> {
        let body = request.json();
        let tools = check::tools(provider, &body);
        let named = |name: &String| tools.iter().find(|tool| &tool.name == name);
        let said = texts(&body);
        let last = check::messages(provider, &body).last().map(texts).unwrap_or_default();
        let model = check::model(provider, request, &body);
        let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
        let all = |list: &[String], holds: &dyn Fn(&String) -> bool, what: &str| match list
            .iter()
            .find(|x| !holds(x))
        {
            Some(not) => Err(format!("{what} '{not}'")),
            None => Ok(()),
        };
        all(&self.contains, &|text| said.contains(text), "the request lacks")?;
        all(&self.lacks, &|text| !said.contains(text), "the request contains")?;
        all(&self.last_contains, &|text| last.contains(text), "the last message lacks")?;
        all(&self.tools, &|name| named(name).is_some(), "there is no tool")?;
        all(&self.no_tools, &|name| named(name).is_none(), "there is a tool")?;
        all(
            &self.deferred,
            &|name| named(name).is_some_and(|tool| tool.deferred),
            "there is no deferred tool",
        )?;
        for (name, value) in &self.headers {
            if header(name) != *value {
                return Err(format!("the header {name} is '{}', not '{value}'", header(name)));
            }
        }
        match (&self.provider, &self.model) {
            (Some(wanted), _) if *wanted != provider.to_string() => {
                Err(format!("{provider} is spoken, not {wanted}"))
            }
            (_, Some(wanted)) if *wanted != model => Err(format!("the model is '{model}', not '{wanted}'")),
            _ => Ok(()),
        }
    }
}

/// All texts of a value, and of JSON within its texts, one a line.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => format!("{text}\n{}", texts(&inner)),
            _ => text.clone(),
        },
        Value::Array(values) => values.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, value)| format!("{name}\n{}", texts(value)));
            lines.collect::<Vec<_>>().join("\n")
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null => String::new(),
    }
}
