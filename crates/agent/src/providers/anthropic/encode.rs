//! A conversation as Messages take it.
//!
//! Anthropic caches only up to the marks that a request sets, at most four: after the tools,
//! after the system prompt, and after the last two messages of the user, so that the second to
//! last finds what the request before has written.

use pinza_core::{Content, Effect};
use serde_json::{Value, json};

use super::super::{ProviderError, ProviderKind, Request, wire};
use crate::{
    message::{CallResult, Message, Opaque, Part},
    provider::Provider,
    results::{image_block, tool_result},
    reveal::Lineup,
};

const KIND: ProviderKind = ProviderKind::Anthropic;

/// What is allowed where nobody says otherwise: this API wants a number, and models that allow
/// less say so.
const MAX_TOKENS: u32 = 32_000;

/// How many of the last messages of the user are marked.
const MARKED: usize = 2;

pub(super) fn body(request: &Request<'_>) -> Result<Value, ProviderError> {
    wire::check(KIND, request)?;
    let lineup = Lineup::new(&request.tools, request.reveal);
    let tools = tools(&lineup);
    let mut messages: Vec<Value> =
        request.messages.iter().filter_map(|message| encode(message, &lineup)).collect();
    let users = messages.iter_mut().rev().filter(|message| message["role"] == "user");
    users.take(MARKED).for_each(|message| mark(message["content"].as_array_mut().and_then(|c| c.last_mut())));
    let system = (!request.system.is_empty()).then(|| {
        let mut block = text_block(request.system);
        mark(Some(&mut block));
        json!([block])
    });
    let effort = request.effort.map(|effort| json!({ "effort": effort.name() }));
    let body = wire::object([
        ("model", Some(request.model.into())),
        ("max_tokens", Some(request.max_tokens.unwrap_or(MAX_TOKENS).into())),
        ("system", system),
        ("messages", Some(messages.into())),
        ("tools", (!tools.is_empty()).then(|| tools.into())),
        ("stream", Some(true.into())),
        ("thinking", effort.is_some().then(|| json!({ "type": "adaptive" }))),
        ("output_config", effort),
    ]);
    Ok(body.into())
}

/// How many tokens a model that must be told may think for.
pub(super) fn budget(effort: Option<&str>) -> u64 {
    match effort {
        Some("low") => 4_096,
        Some("high") => 24_576,
        _ => 12_288,
    }
}

fn tools(lineup: &Lineup<'_>) -> Vec<Value> {
    let write = |tool| wire::tool(KIND, &lineup.names, tool);
    let mut tools: Vec<Value> = lineup.plain.iter().map(|tool| write(tool)).collect();
    // A deferred tool is no part of the prompt and takes no mark.
    mark(tools.last_mut());
    for tool in lineup.deferred.iter().flat_map(|group| &group.tools) {
        let mut tool = write(tool);
        tool["defer_loading"] = true.into();
        tools.push(tool);
    }
    tools.extend(lineup.late.iter().map(|tool| write(tool)));
    tools
}

fn mark(block: Option<&mut Value>) {
    if let Some(block) = block {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

/// `None` for a message without a block that can be sent: an empty one is refused.
fn encode(message: &Message, lineup: &Lineup<'_>) -> Option<Value> {
    let (role, content): (&str, Vec<Value>) = match message {
        Message::User { content } => ("user", content.iter().filter_map(user_block).collect()),
        Message::Assistant { parts } => {
            ("assistant", parts.iter().filter_map(|part| assistant_block(part, lineup)).collect())
        }
        Message::Results { results } => {
            ("user", results.iter().map(|answer| result_block(answer, lineup)).collect())
        }
    };
    (!content.is_empty()).then(|| json!({ "role": role, "content": content }))
}

fn user_block(content: &Content) -> Option<Value> {
    image_block(content).or_else(|| said(&wire::as_text(content)))
}

fn assistant_block(part: &Part, lineup: &Lineup<'_>) -> Option<Value> {
    match part {
        Part::Text { text, .. } => said(text),
        Part::Thinking { text, opaque } => {
            let opaque = Opaque::of(opaque, KIND)?;
            match (opaque["redacted"].as_str(), opaque["signature"].as_str()) {
                (Some(data), _) => Some(json!({ "type": "redacted_thinking", "data": data })),
                (None, Some(signature)) => {
                    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
                }
                (None, None) => None,
            }
        }
        Part::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": wire::call_id(call.id.as_str()),
            "name": lineup.names.safe(&call.name),
            "input": call.object(),
        })),
    }
}

/// A text block; the API refuses one that is blank.
fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| text_block(text))
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn result_block(answer: &CallResult, lineup: &Lineup<'_>) -> Value {
    let id = wire::call_id(answer.id.as_str());
    let mut block = tool_result(Provider::Anthropic, &id, &answer.name, &answer.result);
    let references = references(answer, lineup);
    if !references.is_empty() {
        // The API puts the definitions in their place, and takes nothing else beside them.
        block["content"] = references.into();
    }
    block
}

/// The tools that this result makes known, where they were kept out of the prompt so far.
fn references(answer: &CallResult, lineup: &Lineup<'_>) -> Vec<Value> {
    let effects = answer.result.iter().flat_map(|output| &output.effects);
    let groups = effects.filter_map(|Effect::ActivateGroup { group }| lineup.group(group));
    let tools = groups.flat_map(|group| &group.tools);
    let reference = |name: &str| json!({ "type": "tool_reference", "tool_name": lineup.names.to_wire(name) });
    tools.map(|tool| reference(tool.name.as_str())).collect()
}
