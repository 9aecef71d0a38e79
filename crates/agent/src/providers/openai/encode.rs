//! A conversation as Chat Completions take it.

use pinza_core::{Content, ShownTool};
use serde_json::{Map, Value, json};

use super::super::{ProviderError, ProviderKind, Request, wire};
use crate::{
    image::Image,
    message::{CallResult, Message, Opaque, Part},
    names::NameMap,
    provider::Provider,
    results::{COMMON_IMAGES, tool_result},
    reveal::Lineup,
};

const KIND: ProviderKind = ProviderKind::OpenAi;

pub(super) fn body(request: &Request<'_>) -> Result<Value, ProviderError> {
    wire::check(KIND, request)?;
    let lineup = Lineup::new(&request.tools, request.reveal);
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    messages.extend(request.messages.iter().flat_map(|message| encode(message, &lineup.names)));
    let tools = tools(&lineup.plain, &lineup.names);
    let body = wire::object([
        ("model", Some(request.model.into())),
        ("messages", Some(messages.into())),
        ("tools", (!tools.is_empty()).then(|| tools.into())),
        ("stream", Some(true.into())),
        ("stream_options", Some(json!({ "include_usage": true }))),
        ("max_tokens", request.max_tokens.map(Value::from)),
        ("reasoning_effort", request.effort.map(|effort| effort.name().into())),
    ]);
    Ok(body.into())
}

fn tools(tools: &[&ShownTool], names: &NameMap) -> Vec<Value> {
    tools.iter().map(|tool| wire::tool(KIND, names, tool)).collect()
}

fn encode(message: &Message, names: &NameMap) -> Vec<Value> {
    match message {
        Message::User { content } => vec![json!({ "role": "user", "content": user(content) })],
        Message::Assistant { parts } => assistant(parts, names).into_iter().collect(),
        Message::Results { results } => results.iter().map(|result| tool_message(result, names)).collect(),
    }
}

/// A plain text where it is one: the form that every server takes.
fn user(content: &[Content]) -> Value {
    if let [Content::Text { text }] = content {
        return text.as_str().into();
    }
    let part = |content: &Content| match Image::of(content, &COMMON_IMAGES) {
        Some(image) => json!({ "type": "image_url", "image_url": { "url": image.data_url() } }),
        None => json!({ "type": "text", "text": wire::as_text(content) }),
    };
    content.iter().map(part).collect()
}

/// `None` for a message in which nothing was said that can be sent.
fn assistant(parts: &[Part], names: &NameMap) -> Option<Value> {
    let mut text = String::new();
    let mut thinking = Map::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text { text: more, .. } => text.push_str(more),
            // Goes back under the name under which it came; servers that never sent it do not get it.
            Part::Thinking { text, opaque } => {
                if let Some(field) = Opaque::of(opaque, KIND).and_then(|value| value["field"].as_str()) {
                    let before = thinking.get(field).and_then(Value::as_str).unwrap_or_default();
                    thinking.insert(field.to_owned(), format!("{before}{text}").into());
                }
            }
            Part::ToolCall(call) => calls.push(json!({
                "id": wire::call_id(call.id.as_str()),
                "type": "function",
                "function": {
                    "name": names.safe(&call.name),
                    "arguments": Value::from(call.object()).to_string(),
                },
            })),
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = wire::object([
        ("role", Some("assistant".into())),
        ("content", Some(content)),
        ("tool_calls", (!calls.is_empty()).then(|| calls.into())),
    ]);
    message.extend(thinking);
    Some(message.into())
}

fn tool_message(answer: &CallResult, names: &NameMap) -> Value {
    let id = wire::call_id(answer.id.as_str());
    tool_result(Provider::OpenAi, &id, &names.safe(&answer.name), &answer.result)
}
