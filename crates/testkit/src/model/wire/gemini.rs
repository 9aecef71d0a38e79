//! streamGenerateContent, as server-sent events.

use serde_json::{Value, json};

use super::{Answer, data, pieces};

pub(super) fn stream(answer: &Answer<'_>) -> String {
    let turn = answer.turn;
    let mut parts: Vec<Value> = Vec::new();
    parts.extend(pieces(&turn.thinking).into_iter().map(|piece| json!({ "text": piece, "thought": true })));
    parts.extend(pieces(&turn.text).into_iter().map(|piece| json!({ "text": piece })));
    // The calls of one turn come in one chunk each, and the first one is signed.
    parts.extend(turn.calls.iter().enumerate().map(|(index, call)| {
        let mut part = json!({ "functionCall": { "name": call.name, "args": call.object() } });
        if let Some(id) = &call.id {
            part["functionCall"]["id"] = id.as_str().into();
        }
        if index == 0 {
            part["thoughtSignature"] = format!("Cig{:05}", answer.number).into();
        }
        part
    }));
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    let last = parts.len() - 1;
    let chunk = |(index, part): (usize, Value)| {
        let mut candidate = json!({ "content": { "parts": [part], "role": "model" }, "index": 0 });
        if index == last {
            candidate["finishReason"] = turn.stop.as_deref().unwrap_or("STOP").into();
        }
        let mut chunk = json!({
            "candidates": [candidate],
            "modelVersion": "gemini-scripted",
            "responseId": format!("resp{:04}", answer.number),
        });
        if !turn.usage.absent {
            chunk["usageMetadata"] = usage(answer);
        }
        data(&chunk)
    };
    parts.into_iter().enumerate().map(chunk).collect()
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = &answer.turn.usage;
    json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
        "cachedContentTokenCount": usage.cache_read,
    })
}
