//! Requests as each API takes them, and the pieces of them that a model reads.
//!
//! [`request`] has a request written by the provider's own adapter and then takes it apart, so that what is
//! counted is what is sent: each tool, the system prompt, each message, in the order in which providers put
//! them before a model (and cache them). Two things are sent and not read: definitions with `defer_loading`,
//! and so the functions of a namespace. Two are read where a load names them: the tools behind a
//! `tool_reference`, and those in a `tool_search_output`. Escapes of the JSON around a text are the
//! transport's: a model reads the text.

use std::sync::Arc;

use pinza::{
    Policy, Selection,
    agent::{Call, CallResult, Message, Offer, Part, ProviderKind, Reveal, adapter},
    core::{CallScope, Caller, Conversation, Engine, Loading, Snapshot, ToolDefinition},
};
use serde_json::{Value, json};

use super::{
    play::{Played, Turn},
    scenario::SYSTEM,
};
use crate::cli::Result;

/// Every API with every way to reveal that it has.
pub(super) fn ways() -> impl Iterator<Item = (ProviderKind, Reveal)> {
    let of = |kind: ProviderKind| Reveal::ALL.into_iter().map(move |reveal| (kind, reveal));
    ProviderKind::ALL.into_iter().flat_map(of).filter(|(kind, reveal)| reveal.works_with(*kind))
}

/// A request, taken apart.
pub(super) struct Request {
    /// What the model reads, in its order.
    pub(super) pieces: Vec<String>,
    /// What it writes then.
    pub(super) answer: Vec<String>,
    pub(super) bytes: usize,
}

/// The request before the turn of this number; the last one is before the answer.
pub(super) fn request(kind: ProviderKind, reveal: Reveal, played: &Played, number: usize) -> Result<Request> {
    let next = played.rounds.get(number);
    let mut messages = vec![Message::user(played.request)];
    messages.extend(played.rounds[..number].iter().flat_map(|turn| [asked(turn), answered(turn)]));
    let tools = next.map_or(played.tools.len(), |turn| turn.tools);
    let body = body(kind, reveal, played, tools, &messages)?;
    let (pieces, bytes) = (pieces(kind, reveal, played, &body), body.to_string().len());
    let answer = match next {
        None => vec![played.answer.to_owned()],
        // What an API calls a message is found by writing one more.
        Some(turn) => {
            messages.push(asked(turn));
            let body = self::body(kind, reveal, played, tools, &messages)?;
            self::pieces(kind, reveal, played, &body).split_off(pieces.len())
        }
    };
    Ok(Request { pieces, answer, bytes })
}

fn body(
    kind: ProviderKind,
    reveal: Reveal,
    played: &Played,
    tools: usize,
    messages: &[Message],
) -> Result<Value> {
    let (core, loaded) = played.tools[..tools].split_at(played.first_tools);
    let request = pinza::agent::Request {
        model: "model",
        system: &system(kind, reveal, played),
        messages,
        tools: Offer { core, groups: &played.groups, loaded, loader: Some("load_tool_group") },
        reveal,
        max_tokens: None,
        effort: None,
        cache_key: None,
    };
    Ok(adapter(kind).encode(&request)?.body)
}

fn system(kind: ProviderKind, reveal: Reveal, played: &Played) -> String {
    let listing = reveal.listing(kind, &played.conversation);
    if listing.is_empty() { SYSTEM.to_owned() } else { format!("{SYSTEM}\n\n---\n\n{listing}") }
}

fn asked(turn: &Turn) -> Message {
    let part = |call: &pinza::core::ToolCall| {
        let (id, name, arguments) = (call.id.clone(), call.name.clone(), call.arguments.clone());
        Part::ToolCall(Call { id, name, arguments, malformed: None, opaque: None })
    };
    Message::Assistant { parts: turn.calls.iter().map(|(call, _)| part(call)).collect() }
}

fn answered(turn: &Turn) -> Message {
    let results = turn.calls.iter().map(|(call, result)| {
        let (id, name) = (call.id.clone(), call.name.clone());
        CallResult { id, name, result: result.clone() }
    });
    Message::Results { results: results.collect() }
}

/// What a model reads of a request: tools, system prompt, messages.
fn pieces(kind: ProviderKind, reveal: Reveal, played: &Played, body: &Value) -> Vec<String> {
    let mut body = body.clone();
    strip(&mut body);
    let tools = match kind {
        ProviderKind::Gemini => body["tools"][0]["functionDeclarations"].take(),
        _ => body["tools"].take(),
    };
    let messages = match kind {
        ProviderKind::OpenAi | ProviderKind::Anthropic => body["messages"].take(),
        ProviderKind::OpenAiResponses => body["input"].take(),
        ProviderKind::Gemini => body["contents"].take(),
    };
    let (tools, messages) = (list(&tools), list(&messages));
    let mut pieces: Vec<String> = tools.iter().filter_map(read_tool).collect();
    pieces.push(system(kind, reveal, played));
    for message in messages.iter().filter(|message| message["role"] != "system") {
        pieces.push(as_read(message));
        pieces.extend(referenced(message, tools));
    }
    pieces
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Takes away what is said to the API and not to the model: where its cache should begin and end, and
/// signatures of thoughts.
fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            fields.retain(|name, _| name != "cache_control" && name != "thoughtSignature");
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}

/// What a model reads of a tool that was sent.
fn read_tool(tool: &Value) -> Option<String> {
    if tool["defer_loading"] == true {
        return None;
    }
    let mut tool = tool.clone();
    if tool["type"] == "namespace"
        && let Some(fields) = tool.as_object_mut()
    {
        fields.shift_remove("tools");
    }
    // With what separates it from the next one.
    Some(format!("{},", as_read(&tool)))
}

/// The definitions that an API puts where a message refers to them.
fn referenced(message: &Value, tools: &[Value]) -> Vec<String> {
    let blocks = list(&message["content"]).iter().flat_map(|block| list(&block["content"]));
    let names = blocks.filter_map(|reference| reference["tool_name"].as_str());
    let named = names.filter_map(|name| tools.iter().find(|tool| tool["name"] == name));
    let shown = named.cloned().map(|mut tool| {
        tool.as_object_mut().map(|fields| fields.shift_remove("defer_loading"));
        tool
    });
    shown.filter_map(|tool| read_tool(&tool)).collect()
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
