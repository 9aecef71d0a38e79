//! Messages.

use serde_json::{Value, json};

use super::{Answer, named, pieces};

pub(super) fn stream(answer: &Answer<'_>) -> String {
    let turn = answer.turn;
    let counted = &turn.usage;
    let usage = |output: u64| {
        json!({
            "input_tokens": counted.input.saturating_sub(counted.cache_read + counted.cache_write),
            "cache_creation_input_tokens": counted.cache_write,
            "cache_read_input_tokens": counted.cache_read,
            "output_tokens": output,
        })
    };
    let message = json!({
        "id": format!("msg_{:04}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.request["model"],
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(1),
    });
    let mut stream = named(&json!({ "type": "message_start", "message": message }));
    stream += &named(&json!({ "type": "ping" }));
    let mut index = 0;
    if !turn.thinking.is_empty() {
        let start = json!({ "type": "thinking", "thinking": "", "signature": "" });
        let mut deltas: Vec<Value> = pieces(&turn.thinking)
            .into_iter()
            .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
            .collect();
        deltas.push(json!({ "type": "signature_delta", "signature": format!("EqQB{:04}==", answer.number) }));
        stream += &block(&mut index, &start, deltas);
    }
    if !turn.text.is_empty() {
        let deltas =
            pieces(&turn.text).into_iter().map(|piece| json!({ "type": "text_delta", "text": piece }));
        stream += &block(&mut index, &json!({ "type": "text", "text": "" }), deltas);
    }
    for (number, call) in turn.calls.iter().enumerate() {
        let id = answer.call_id("toolu", number);
        let start = json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} });
        let deltas = std::iter::once(String::new()).chain(pieces(&call.text()));
        let deltas = deltas.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        stream += &block(&mut index, &start, deltas);
    }
    let natural = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    let stop = turn.stop.as_deref().unwrap_or(natural);
    stream += &named(&json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop, "stop_sequence": null },
        "usage": usage(counted.output),
    }));
    stream + &named(&json!({ "type": "message_stop" }))
}

fn block(index: &mut usize, start: &Value, deltas: impl IntoIterator<Item = Value>) -> String {
    let mut stream = named(&json!({ "type": "content_block_start", "index": index, "content_block": start }));
    for delta in deltas {
        stream += &named(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }
    stream += &named(&json!({ "type": "content_block_stop", "index": index }));
    *index += 1;
    stream
}
