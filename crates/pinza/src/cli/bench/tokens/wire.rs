//! Requests as each API takes them, and the pieces of them that a model reads.
//!
//! [`request`] writes a request whole and then takes it apart, so that what is counted is what is sent: each
//! tool, the system prompt, each message, in the order in which providers put them before a model (and cache
//! them). Two things are sent and not read: definitions with `defer_loading`, and so the functions of a
//! namespace. Two are read where a load names them: the tools behind a `tool_reference`, and those in a
//! `tool_search_output`. Escapes of the JSON around a text are the transport's: a model reads the text.

use std::sync::Arc;

use pinza::{
    Policy, Provider, SchemaOptions,
    agent::{envelope, tool_result, tool_results_message},
    core::{
        CallScope, Caller, Conversation, Engine, GroupName, Loading, Selection, ShownTool, Snapshot,
        ToolCall, ToolDefinition, ToolResult,
    },
    tool_schemas,
};
use serde_json::{Value, json};

use super::{
    play::{Played, Turn},
    scenario::SYSTEM,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    OpenAi,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reveal {
    Append,
    Native,
    Stable,
}

impl Api {
    const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// Every API with every way to reveal that it has.
    pub(super) fn ways() -> impl Iterator<Item = (Self, Reveal)> {
        let has = |api: Self, reveal| {
            reveal != Reveal::Native || matches!(api, Self::OpenAiResponses | Self::Anthropic)
        };
        let reveals = [Reveal::Append, Reveal::Native, Reveal::Stable];
        Self::ALL
            .into_iter()
            .flat_map(move |api| reveals.into_iter().map(move |reveal| (api, reveal)))
            .filter(move |(api, reveal)| has(*api, *reveal))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    pub(super) fn default_reveal(self) -> Reveal {
        match self {
            Self::OpenAi => Reveal::Append,
            Self::OpenAiResponses | Self::Anthropic => Reveal::Native,
            Self::Gemini => Reveal::Stable,
        }
    }

    fn provider(self) -> Provider {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Provider::OpenAi,
            Self::Anthropic => Provider::Anthropic,
            Self::Gemini => Provider::Gemini,
        }
    }
}

impl Reveal {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Native => "native",
            Self::Stable => "stable",
        }
    }
}

/// A request, taken apart.
pub(super) struct Request {
    /// What the model reads, in its order.
    pub(super) pieces: Vec<String>,
    /// What it writes then.
    pub(super) answer: String,
    pub(super) bytes: usize,
}

/// The request before the turn of this number; the last one is before the answer.
pub(super) fn request(
    api: Api,
    reveal: Reveal,
    snapshot: &Snapshot,
    played: &Played,
    number: usize,
) -> Request {
    let writer = Writer { api, reveal, snapshot };
    let system = writer.system(played);
    let (said, next) = (&played.rounds[..number], played.rounds.get(number));
    let tools = next.map_or(played.tools.len(), |turn| turn.tools);
    let tools = writer.tools(&played.tools[..tools], played.first_tools);
    let mut messages = vec![writer.user(played.request)];
    for turn in said {
        messages.extend(writer.calls(turn));
        messages.extend(writer.results(turn));
    }
    let answer = next.map_or_else(|| played.answer.to_owned(), |turn| text_of(&writer.calls(turn)));
    let bytes = json!({ "system": system, "tools": tools, "messages": messages }).to_string().len();
    let mut pieces: Vec<String> = tools.into_iter().filter_map(read_tool).collect();
    pieces.push(system);
    for message in &messages {
        pieces.push(as_read(message));
        pieces.extend(writer.referenced(message));
    }
    Request { pieces, answer, bytes }
}

fn text_of(messages: &[Value]) -> String {
    messages.iter().map(as_read).collect()
}

/// JSON whose texts stand as they are.
fn as_read(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(items) => format!("[{}]", items.iter().map(as_read).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("\"{name}\":{}", as_read(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// What a model reads of a tool that was sent.
fn read_tool(mut tool: Value) -> Option<String> {
    if tool["defer_loading"] == true {
        return None;
    }
    if tool["type"] == "namespace"
        && let Some(fields) = tool.as_object_mut()
    {
        fields.shift_remove("tools");
    }
    // With what separates it from the next one.
    Some(format!("{},", as_read(&tool)))
}

struct Writer<'a> {
    api: Api,
    reveal: Reveal,
    snapshot: &'a Snapshot,
}

impl Writer<'_> {
    fn system(&self, played: &Played) -> String {
        // Namespaces say what the listing would say of groups.
        let is_said = self.api == Api::OpenAiResponses && self.reveal == Reveal::Native;
        let listing = if is_said { &played.skills_listing } else { &played.listing };
        if listing.is_empty() { SYSTEM.to_owned() } else { format!("{SYSTEM}\n\n---\n\n{listing}") }
    }

    /// `shown` grew from `first`, with what loads have shown.
    fn tools(&self, shown: &[ShownTool], first: usize) -> Vec<Value> {
        if self.reveal != Reveal::Native {
            return shown.iter().map(|tool| self.tool(&tool.definition())).collect();
        }
        let mut tools: Vec<Value> = shown[..first].iter().map(|tool| self.tool(&tool.definition())).collect();
        for group in self.snapshot.groups() {
            let deferred = self.deferred(&group.name);
            match self.api {
                Api::OpenAiResponses => tools.push(self.namespace(&group.name, deferred)),
                _ => tools.extend(deferred),
            }
        }
        tools
    }

    fn tool(&self, definition: &ToolDefinition) -> Value {
        let mut written = tool_schemas(self.api.provider(), [definition], SchemaOptions::default()).value;
        match self.api {
            Api::OpenAi | Api::Anthropic => written[0].take(),
            Api::Gemini => written["function_declarations"][0].take(),
            Api::OpenAiResponses => {
                let function = &written[0]["function"];
                if self.is_search(definition.name.as_str()) {
                    let (description, parameters) = (&function["description"], &function["parameters"]);
                    return json!({ "type": "tool_search", "execution": "client", "description": description, "parameters": parameters });
                }
                let mut flat = json!({ "type": "function" });
                for (name, value) in function.as_object().into_iter().flatten() {
                    flat[name] = value.clone();
                }
                flat["strict"] = false.into();
                flat
            }
        }
    }

    /// The API's own loading takes the loader's place.
    fn is_search(&self, tool: &str) -> bool {
        self.api == Api::OpenAiResponses && self.reveal == Reveal::Native && tool == "load_tool_group"
    }

    fn deferred(&self, group: &GroupName) -> Vec<Value> {
        let defer = |entry: &pinza::core::Entry| {
            let mut tool = self.tool(entry.definition());
            tool["defer_loading"] = true.into();
            tool
        };
        self.snapshot.group_tools(group.as_str()).map(defer).collect()
    }

    fn namespace(&self, group: &GroupName, tools: Vec<Value>) -> Value {
        let description = self.snapshot.group(group.as_str()).map(|group| group.description.as_str());
        json!({ "type": "namespace", "name": group, "description": description, "tools": tools })
    }

    fn user(&self, text: &str) -> Value {
        match self.api {
            Api::OpenAi => json!({ "role": "user", "content": text }),
            Api::OpenAiResponses => {
                json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
            }
            Api::Anthropic => json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            Api::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
        }
    }

    fn calls(&self, turn: &Turn) -> Vec<Value> {
        let calls = turn.calls.iter().map(|(call, _)| self.call(call));
        match self.api {
            Api::OpenAi => {
                vec![json!({ "role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>() })]
            }
            Api::OpenAiResponses => calls.collect(),
            Api::Anthropic => vec![json!({ "role": "assistant", "content": calls.collect::<Vec<_>>() })],
            Api::Gemini => vec![json!({ "role": "model", "parts": calls.collect::<Vec<_>>() })],
        }
    }

    fn call(&self, call: &ToolCall) -> Value {
        let ToolCall { id, name, arguments } = call;
        match self.api {
            Api::OpenAi => {
                json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } })
            }
            Api::OpenAiResponses if self.is_search(name) => {
                json!({ "type": "tool_search_call", "call_id": id, "execution": "client", "status": "completed", "arguments": arguments })
            }
            Api::OpenAiResponses => {
                json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string() })
            }
            Api::Anthropic => json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }),
            Api::Gemini => json!({ "functionCall": { "name": name, "args": arguments } }),
        }
    }

    fn results(&self, turn: &Turn) -> Vec<Value> {
        let results = turn.calls.iter().map(|(call, result)| self.result(call, result)).collect();
        match self.api {
            Api::OpenAiResponses => results,
            _ => tool_results_message(self.api.provider(), results),
        }
    }

    fn result(&self, call: &ToolCall, result: &ToolResult) -> Value {
        let ToolCall { id, name, .. } = call;
        match self.api {
            Api::OpenAiResponses if self.is_search(name) => {
                let found: Vec<Value> =
                    groups_of(result).map(|group| self.namespace(group, self.deferred(group))).collect();
                json!({ "type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed", "tools": found })
            }
            Api::OpenAiResponses => {
                json!({ "type": "function_call_output", "call_id": id, "output": envelope(result).to_string() })
            }
            Api::Anthropic if self.reveal == Reveal::Native && groups_of(result).next().is_some() => {
                let tools = groups_of(result).flat_map(|group| self.snapshot.group_tools(group.as_str()));
                let references: Vec<Value> = tools
                    .map(|entry| json!({ "type": "tool_reference", "tool_name": entry.definition().name }))
                    .collect();
                json!({ "type": "tool_result", "tool_use_id": id, "content": references })
            }
            _ => tool_result(self.api.provider(), id.as_str(), name, result),
        }
    }

    /// The definitions that an API puts where a message refers to them.
    fn referenced(&self, message: &Value) -> Vec<String> {
        let blocks = message["content"].as_array().into_iter().flatten();
        let references = blocks.flat_map(|block| block["content"].as_array().into_iter().flatten());
        let names = references.filter_map(|reference| reference["tool_name"].as_str());
        let entries = names.filter_map(|name| self.snapshot.get(name));
        entries.map(|entry| format!("{},", as_read(&self.tool(entry.definition())))).collect()
    }
}

/// The groups that a result loads.
fn groups_of(result: &ToolResult) -> impl Iterator<Item = &GroupName> {
    let effects = result.iter().flat_map(|output| &output.effects);
    effects.map(|pinza::core::Effect::ActivateGroup { group }| group)
}

/// What `serve --expose` gives a client before anything is asked: the listing, where there is one, and tools as
/// clients hand them to their models.
pub(super) fn exposures(snapshot: &Arc<Snapshot>) -> Vec<(&'static str, Vec<String>)> {
    let engine = Engine::new(Policy::default());
    let scope = |toolset: Selection| CallScope {
        loading: Loading::Describes,
        toolset: Arc::new(toolset),
        ..CallScope::new(Caller::Mcp { client: "bench".into() }, Arc::clone(snapshot))
    };
    let view = scope(Selection::default()).view(engine.policy());
    let conversation = Conversation::start(&view);
    let written = |definition: &ToolDefinition| {
        let tool = json!({ "name": definition.name, "description": definition.description, "inputSchema": definition.parameters.schema() });
        format!("{},", as_read(&tool))
    };
    let groups = conversation.tools().iter().map(|tool| written(&tool.definition()));
    let groups = std::iter::once(conversation.listing().to_owned()).chain(groups).collect();
    let only =
        |name: &&pinza::core::Entry| matches!(name.definition().name.as_str(), "search_tools" | "call_tool");
    let search = view.tools().filter(only).map(|entry| written(entry.definition())).collect();
    let without_meta = |entry: &&pinza::core::Entry| entry.meta().meta_tool.is_none();
    let full = view.tools().filter(without_meta).map(|entry| written(entry.definition())).collect();
    vec![("groups", groups), ("search", search), ("full", full)]
}
