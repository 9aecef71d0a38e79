//! What the real servers refuse, where an agent could get it wrong.

use std::collections::HashSet;

use serde_json::Value;

use super::Provider;
use crate::wire::RecordedRequest;

pub(super) struct SentTool {
    pub(super) name: String,
    pub(super) deferred: bool,
    pub(super) namespace: Option<String>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The messages, items or contents of a request.
pub(super) fn messages(provider: Provider, body: &Value) -> &[Value] {
    match provider {
        Provider::OpenAi | Provider::Anthropic => list(&body["messages"]),
        Provider::OpenAiResponses => list(&body["input"]),
        Provider::Gemini => list(&body["contents"]),
    }
}

pub(super) fn model(provider: Provider, request: &RecordedRequest, body: &Value) -> String {
    let path = request.path();
    match provider {
        Provider::Gemini => {
            path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap_or_default().into()
        }
        _ => text(&body["model"]),
    }
}

/// The tools of a request, flat.
pub(super) fn tools(provider: Provider, body: &Value) -> Vec<SentTool> {
    let tool = |value: &Value, namespace: Option<&str>| SentTool {
        name: text(&value["name"]),
        deferred: value["defer_loading"] == true,
        namespace: namespace.map(str::to_owned),
    };
    let all = list(&body["tools"]).iter();
    match provider {
        Provider::OpenAi => all.map(|entry| tool(&entry["function"], None)).collect(),
        Provider::Anthropic => all.map(|entry| tool(entry, None)).collect(),
        Provider::OpenAiResponses => all
            .flat_map(|entry| match entry["type"].as_str() {
                Some("namespace") => {
                    list(&entry["tools"]).iter().map(|inner| tool(inner, entry["name"].as_str())).collect()
                }
                Some("function") => vec![tool(entry, None)],
                _ => Vec::new(),
            })
            .collect(),
        Provider::Gemini => all
            .flat_map(|entry| list(&entry["functionDeclarations"]))
            .map(|entry| tool(entry, None))
            .collect(),
    }
}

/// Whether these arguments are meant for the provider's own way to load tools, which the client
/// executes: the request has one, and it requires no others.
pub(super) fn is_tool_search(body: &Value, arguments: &Value) -> bool {
    let mut tools = list(&body["tools"]).iter();
    let search = tools.find(|tool| tool["type"] == "tool_search" && tool["execution"] == "client");
    let has = |name: &Value| name.as_str().is_some_and(|name| arguments.get(name).is_some());
    search.is_some_and(|search| list(&search["parameters"]["required"]).iter().all(has))
}

/// Refuses a request as the provider would.
pub(super) fn conversation(provider: Provider, body: &Value) -> Result<(), String> {
    if !body.is_object() {
        return Err("the body is no JSON object".into());
    }
    if messages(provider, body).is_empty() {
        return Err("there are no messages".into());
    }
    let sent = tools(provider, body);
    let mut names = HashSet::new();
    if let Some(twice) = sent.iter().find(|tool| !names.insert(tool.name.as_str())) {
        return Err(format!("tool names must be unique: '{}'", twice.name));
    }
    if let Some(odd) = sent.iter().find(|tool| !is_name(&tool.name)) {
        return Err(format!("a tool's name is not allowed: '{}'", odd.name));
    }
    match provider {
        Provider::OpenAi => chat(body),
        Provider::OpenAiResponses => responses(body),
        Provider::Anthropic => anthropic(body, &sent),
        Provider::Gemini => gemini(body),
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Every call is answered right after its message, in any order, once.
fn chat(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for message in list(&body["messages"]) {
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"]);
            let Some(at) = open.iter().position(|call| *call == id) else {
                return Err(format!("a tool message answers no call: '{id}'"));
            };
            open.remove(at);
            continue;
        }
        unanswered(&open)?;
        open = list(&message["tool_calls"]).iter().map(|call| text(&call["id"])).collect();
        distinct(&open)?;
        for call in list(&message["tool_calls"]) {
            if serde_json::from_str::<Value>(&text(&call["function"]["arguments"])).is_err() {
                return Err("arguments are no JSON".into());
            }
        }
    }
    unanswered(&open)
}

fn responses(body: &Value) -> Result<(), String> {
    let mut open: Vec<(String, &str)> = Vec::new();
    let mut known = HashSet::new();
    for item in list(&body["input"]) {
        let id = text(&item["call_id"]);
        let kind = item["type"].as_str().unwrap_or_default();
        match kind {
            "function_call" | "tool_search_call" => {
                if !known.insert(id.clone()) {
                    return Err(format!("two calls have the id '{id}'"));
                }
                open.push((id, kind));
            }
            "function_call_output" | "tool_search_output" => {
                let of = if kind == "function_call_output" { "function_call" } else { "tool_search_call" };
                let Some(at) = open.iter().position(|call| call.0 == id && call.1 == of) else {
                    return Err(format!("No tool call found for {kind} with call_id '{id}'"));
                };
                open.remove(at);
            }
            "reasoning" if !item["encrypted_content"].is_string() => {
                return Err("a reasoning item without encrypted content is not known here".into());
            }
            _ => {}
        }
    }
    unanswered(&open.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
}

/// The results stand at the beginning of the very next message, all of them.
fn anthropic(body: &Value, sent: &[SentTool]) -> Result<(), String> {
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: Field required".into());
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    if marks > 4 {
        return Err(format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."));
    }
    if sent.iter().all(|tool| tool.deferred) && !sent.is_empty() {
        return Err("At least one tool must have defer_loading=false".into());
    }
    let mut open: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for message in list(&body["messages"]) {
        let blocks = list(&message["content"]);
        if blocks.is_empty() && !message["content"].is_string() {
            return Err("messages must have non-empty content".into());
        }
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_result") => {
                    let id = text(&block["tool_use_id"]);
                    let Some(at) = open.iter().position(|call| *call == id) else {
                        return Err(format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}"));
                    };
                    open.remove(at);
                    references(&block["content"], sent)?;
                }
                Some("text") if text(&block["text"]).trim().is_empty() => {
                    return Err("text content blocks must be non-empty".into());
                }
                Some("thinking") if !block["signature"].is_string() => {
                    return Err("thinking blocks must have a signature".into());
                }
                _ => {}
            }
        }
        unanswered(&open)?;
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        open = calls.map(|block| text(&block["id"])).collect();
        if let Some(twice) = open.iter().find(|id| !known.insert((*id).clone())) {
            return Err(format!("`tool_use` ids must be unique: {twice}"));
        }
    }
    unanswered(&open)
}

fn references(content: &Value, sent: &[SentTool]) -> Result<(), String> {
    let blocks = list(content);
    let references: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "tool_reference").collect();
    if !references.is_empty() && references.len() != blocks.len() {
        return Err("tool_reference blocks stand alone in a result".into());
    }
    for reference in references {
        let name = text(&reference["tool_name"]);
        if !sent.iter().any(|tool| tool.name == name && tool.deferred) {
            return Err(format!("Tool reference '{name}' not found in available tools"));
        }
    }
    Ok(())
}

/// As many answers as calls, by name, in the very next turn.
fn gemini(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for content in list(&body["contents"]) {
        let parts = list(&content["parts"]);
        if parts.is_empty() {
            return Err("contents.parts must not be empty.".into());
        }
        for part in parts.iter().filter(|part| part["functionResponse"].is_object()) {
            let name = text(&part["functionResponse"]["name"]);
            let Some(at) = open.iter().position(|call| *call == name) else {
                return Err(format!("a function response answers no function call: '{name}'"));
            };
            open.remove(at);
        }
        unanswered(&open)?;
        let calls: Vec<&Value> = parts.iter().filter(|part| part["functionCall"].is_object()).collect();
        if calls.first().is_some_and(|first| !first["thoughtSignature"].is_string()) {
            return Err("Function call is missing a thought_signature".into());
        }
        open = calls.iter().map(|part| text(&part["functionCall"]["name"])).collect();
    }
    unanswered(&open)
}

fn unanswered(open: &[String]) -> Result<(), String> {
    match open.first() {
        Some(id) => Err(format!("the call '{id}' has no result")),
        None => Ok(()),
    }
}

fn distinct(ids: &[String]) -> Result<(), String> {
    let mut known = HashSet::new();
    match ids.iter().find(|id| !known.insert(id.as_str())) {
        Some(twice) => Err(format!("two calls have the id '{twice}'")),
        None => Ok(()),
    }
}
