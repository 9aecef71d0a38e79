//! Requests as each API takes them, and the pieces of them that a model reads.
//!
//! [`request`] has a request written by the provider's own adapter and then takes it apart ([`Read`]), so that
//! what is counted is what is sent.

use std::sync::Arc;

use pinza::{
    Policy, Selection,
    agent::{Call, CallResult, Message, Offer, Part, ProviderKind, Read, Reveal, adapter, as_read},
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
    let (pieces, bytes) = (Read::of(kind, &body).texts(), body.to_string().len());
    let answer = match next {
        None => vec![played.answer.to_owned()],
        // What an API calls a message is found by writing one more.
        Some(turn) => {
            messages.push(asked(turn));
            let body = self::body(kind, reveal, played, tools, &messages)?;
            Read::of(kind, &body).texts().split_off(pieces.len())
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
