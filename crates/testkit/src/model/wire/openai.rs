//! Chat Completions.

use serde_json::{Value, json};

use super::{Answer, data, pieces};

pub(super) fn stream(answer: &Answer<'_>) -> String {
    let turn = answer.turn;
    let chunk = |choices: Value, usage: Value| {
        data(&json!({
            "id": format!("chatcmpl-{:04}", answer.number),
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": answer.request["model"],
            "service_tier": "default",
            "choices": choices,
            "usage": usage,
        }))
    };
    let delta = |delta: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }]), Value::Null)
    };
    let mut stream = delta(json!({ "role": "assistant", "content": "", "refusal": null }));
    for piece in pieces(&turn.thinking) {
        stream += &delta(json!({ "reasoning_content": piece }));
    }
    for piece in pieces(&turn.text) {
        stream += &delta(json!({ "content": piece }));
    }
    for call in calls(answer) {
        stream += &delta(json!({ "tool_calls": [call] }));
    }
    let natural = if turn.calls.is_empty() { "stop" } else { "tool_calls" };
    let stop = turn.stop.as_deref().unwrap_or(natural);
    stream +=
        &chunk(json!([{ "index": 0, "delta": {}, "logprobs": null, "finish_reason": stop }]), Value::Null);
    if answer.request["stream_options"]["include_usage"] == true && !turn.usage.absent {
        stream += &chunk(json!([]), usage(answer));
    }
    stream + "data: [DONE]\n\n"
}

/// The calls with their arguments interleaved: a piece of each in turn.
fn calls(answer: &Answer<'_>) -> Vec<Value> {
    let calls = &answer.turn.calls;
    let mut deltas: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            json!({
                "index": index,
                "id": answer.call_id("call", index),
                "type": "function",
                "function": { "name": call.name, "arguments": "" },
            })
        })
        .collect();
    let arguments: Vec<Vec<String>> = calls.iter().map(|call| pieces(&call.text())).collect();
    let most = arguments.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..most {
        for (index, pieces) in arguments.iter().enumerate() {
            if let Some(piece) = pieces.get(round) {
                deltas.push(json!({ "index": index, "function": { "arguments": piece } }));
            }
        }
    }
    deltas
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = &answer.turn.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read, "audio_tokens": 0, "cache_write_tokens": usage.cache_write },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning, "audio_tokens": 0 },
    })
}
