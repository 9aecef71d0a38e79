//! A conversation as streamGenerateContent takes it.

use std::collections::HashMap;

use pinza_core::Content;
use serde_json::{Map, Value, json};

use super::super::{Effort, ProviderError, ProviderKind, Request, wire};
use crate::{
    image::Image,
    message::{Call, CallResult, Message, Opaque, Part},
    names::NameMap,
    provider::Provider,
    results::{tool_result, tool_results_message},
    reveal::Lineup,
};

const KIND: ProviderKind = ProviderKind::Gemini;

const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// What Google documents for calls that another model made, which have no signature.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &Request<'_>) -> Result<Value, ProviderError> {
    wire::check(KIND, request)?;
    let lineup = Lineup::new(&request.tools, request.reveal);
    let tools: Vec<Value> = lineup.plain.iter().map(|tool| wire::tool(KIND, &lineup.names, tool)).collect();
    let ids = given_ids(request.messages);
    let contents: Vec<Value> =
        request.messages.iter().flat_map(|message| encode(message, &lineup.names, &ids)).collect();
    let config = wire::object([
        ("maxOutputTokens", request.max_tokens.map(Value::from)),
        ("thinkingConfig", request.effort.map(|effort| thinking(request.model, effort))),
    ]);
    let system = (!request.system.is_empty()).then(|| json!({ "parts": [{ "text": request.system }] }));
    let body = wire::object([
        ("systemInstruction", system),
        ("contents", Some(contents.into())),
        ("tools", (!tools.is_empty()).then(|| json!([{ "functionDeclarations": tools }]))),
        ("generationConfig", (!config.is_empty()).then(|| config.into())),
    ]);
    Ok(body.into())
}

/// Models before the third generation are told a number of tokens.
fn thinking(model: &str, effort: Effort) -> Value {
    let budget = match effort {
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
    };
    match model.rsplit('/').next().unwrap_or(model) {
        old if old.starts_with("gemini-2") => json!({ "includeThoughts": true, "thinkingBudget": budget }),
        _ => json!({ "includeThoughts": true, "thinkingLevel": effort.name() }),
    }
}

/// The ids that Gemini itself gave to calls: an answer names the id only if its call did.
fn given_ids(messages: &[Message]) -> HashMap<&str, &str> {
    let calls = messages.iter().flat_map(Message::calls);
    calls.filter_map(|call| Some((call.id.as_str(), given_id(call)?))).collect()
}

fn given_id(call: &Call) -> Option<&str> {
    Opaque::of(&call.opaque, KIND)?["id"].as_str()
}

fn encode(message: &Message, names: &NameMap, ids: &HashMap<&str, &str>) -> Vec<Value> {
    match message {
        Message::User { content } => {
            let parts: Vec<Value> = content.iter().map(user_part).collect();
            turn("user", parts)
        }
        Message::Assistant { parts } => turn("model", model_parts(parts, names)),
        Message::Results { results } => {
            let mut parts: Vec<Value> = results.iter().map(|answer| response(answer, names, ids)).collect();
            parts.extend(results.iter().flat_map(images));
            tool_results_message(Provider::Gemini, parts)
        }
    }
}

/// A turn, unless it is empty: the API refuses one without parts.
fn turn(role: &str, parts: Vec<Value>) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({ "role": role, "parts": parts })] }
}

fn user_part(content: &Content) -> Value {
    image_part(content).unwrap_or_else(|| json!({ "text": wire::as_text(content) }))
}

fn image_part(content: &Content) -> Option<Value> {
    let image = Image::of(content, &IMAGES)?;
    Some(json!({ "inlineData": { "mimeType": image.mime_type, "data": image.data } }))
}

fn model_parts(parts: &[Part], names: &NameMap) -> Vec<Value> {
    let mut first_call = true;
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, opaque } => {
                let signature = signature(Opaque::of(opaque, KIND));
                (!text.is_empty() || signature.is_some())
                    .then(|| signed(wire::object([("text", Some(text.as_str().into()))]), signature))
            }
            // A thought is sent for the sake of its signature, else it is only weight.
            Part::Thinking { text, opaque } => {
                let signature = signature(Opaque::of(opaque, KIND))?;
                let part =
                    wire::object([("text", Some(text.as_str().into())), ("thought", Some(true.into()))]);
                Some(signed(part, Some(signature)))
            }
            Part::ToolCall(call) => {
                let is_first = std::mem::replace(&mut first_call, false);
                Some(call_part(call, is_first, names))
            }
        })
        .collect()
}

fn call_part(call: &Call, is_first: bool, names: &NameMap) -> Value {
    let own = Opaque::of(&call.opaque, KIND);
    let function = wire::object([
        ("id", given_id(call).map(Value::from)),
        ("name", Some(names.safe(&call.name).into())),
        ("args", Some(call.object().into())),
    ]);
    let part = wire::object([("functionCall", Some(function.into()))]);
    // Newer models want a signature on the first call of a turn.
    let foreign = (own.is_none() && is_first).then_some(FOREIGN_CALL);
    signed(part, signature(own).or(foreign))
}

fn signature(opaque: Option<&Value>) -> Option<&str> {
    opaque?["thoughtSignature"].as_str()
}

fn signed(mut part: Map<String, Value>, signature: Option<&str>) -> Value {
    if let Some(signature) = signature {
        part.insert("thoughtSignature".into(), signature.into());
    }
    part.into()
}

fn response(answer: &CallResult, names: &NameMap, ids: &HashMap<&str, &str>) -> Value {
    let id = answer.id.as_str();
    let mut part = tool_result(Provider::Gemini, id, &names.safe(&answer.name), &answer.result);
    if let Some(given) = ids.get(id) {
        part["functionResponse"]["id"] = (*given).into();
    }
    part
}

/// Images stand beside the answers: in them only the newest models look.
fn images(answer: &CallResult) -> Vec<Value> {
    let content = answer.result.iter().flat_map(|output| &output.content);
    content.filter_map(image_part).collect()
}
