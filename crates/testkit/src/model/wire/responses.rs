//! Responses.

use serde_json::{Value, json};

use super::{super::check, Answer, named, pieces};
use crate::model::{Provider, script::Call};

pub(super) fn stream(answer: &Answer<'_>) -> String {
    let mut stream = Stream { answer, text: String::new(), sequence: 0, output: Vec::new() };
    let started = stream.response("in_progress", Value::Null);
    stream.send(json!({ "type": "response.created", "response": started }));
    stream.send(json!({ "type": "response.in_progress", "response": started }));
    let turn = answer.turn;
    if !turn.thinking.is_empty() {
        stream.reasoning(&turn.thinking);
    }
    if !turn.text.is_empty() {
        stream.message(&turn.text);
    }
    for (index, call) in turn.calls.iter().enumerate() {
        stream.call(index, call);
    }
    let usage = if turn.usage.absent { Value::Null } else { usage(answer) };
    let (kind, status) = match turn.stop {
        Some(_) => ("response.incomplete", "incomplete"),
        None => ("response.completed", "completed"),
    };
    let response = stream.response(status, usage);
    stream.send(json!({ "type": kind, "response": response }));
    stream.text
}

struct Stream<'a> {
    answer: &'a Answer<'a>,
    text: String,
    sequence: u64,
    output: Vec<Value>,
}

impl Stream<'_> {
    fn send(&mut self, mut event: Value) {
        event["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        self.text += &named(&event);
    }

    fn response(&self, status: &str, usage: Value) -> Value {
        let reason = self.answer.turn.stop.as_ref().filter(|_| status == "incomplete");
        json!({
            "id": format!("resp_{:04}", self.answer.number),
            "object": "response",
            "created_at": 1_790_000_000,
            "status": status,
            "error": null,
            "incomplete_details": reason.map(|reason| json!({ "reason": reason })),
            "model": self.answer.request["model"],
            "parallel_tool_calls": true,
            "tool_choice": "auto",
            "tools": self.answer.request.get("tools").unwrap_or(&Value::Array(Vec::new())),
            "output": if usage.is_null() { json!([]) } else { Value::from(self.output.clone()) },
            "usage": usage,
        })
    }

    fn index(&self) -> usize {
        self.output.len()
    }

    fn added(&mut self, item: Value) {
        let index = self.index();
        self.send(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
    }

    fn done(&mut self, item: Value) {
        let index = self.index();
        self.send(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
        self.output.push(item);
    }

    /// Deltas of one item, each with the fields that say where it belongs.
    fn deltas(&mut self, kind: &str, place: &Value, text: &str) {
        for piece in pieces(text) {
            let mut event = place.clone();
            event["type"] = kind.into();
            event["output_index"] = self.index().into();
            event["delta"] = piece.into();
            self.send(event);
        }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:04}{:02}", self.answer.number, self.index())
    }

    fn reasoning(&mut self, text: &str) {
        let id = self.id("rs");
        self.added(json!({ "id": id, "type": "reasoning", "summary": [] }));
        let index = self.index();
        self.send(json!({
            "type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
            "summary_index": 0, "part": { "type": "summary_text", "text": "" },
        }));
        let place = json!({ "item_id": id, "summary_index": 0 });
        self.deltas("response.reasoning_summary_text.delta", &place, text);
        let summary = json!([{ "type": "summary_text", "text": text }]);
        let sealed = format!("gAAAA{:04}", self.answer.number);
        self.done(json!({ "id": id, "type": "reasoning", "summary": summary, "encrypted_content": sealed }));
    }

    fn message(&mut self, text: &str) {
        let id = self.id("msg");
        let message = |status: &str, content: Value| json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content });
        self.added(message("in_progress", json!([])));
        let place = json!({ "item_id": id, "content_index": 0, "logprobs": [] });
        self.deltas("response.output_text.delta", &place, text);
        let content = json!([{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }]);
        self.done(message("completed", content));
    }

    /// A function call, with its namespace if it has one; or the API's own search, where the
    /// request has that in place of a function.
    fn call(&mut self, index: usize, call: &Call) {
        let call_id = self.answer.call_id("call", index);
        let tools = check::tools(Provider::OpenAiResponses, self.answer.request);
        let tool = tools.iter().find(|tool| tool.name == call.name);
        if tool.is_none() && check::is_tool_search(self.answer.request, &call.object()) {
            let id = self.id("tsc");
            let item = |status: &str, arguments: Value| {
                json!({
                    "id": id, "type": "tool_search_call", "status": status, "execution": "client",
                    "call_id": call_id, "arguments": arguments,
                })
            };
            self.added(item("in_progress", json!({})));
            self.done(item("completed", call.object()));
            return;
        }
        let id = self.id("fc");
        let item = |status: &str, arguments: &str| {
            let mut item = json!({
                "id": id, "type": "function_call", "status": status,
                "arguments": arguments, "call_id": call_id, "name": call.name,
            });
            if let Some(namespace) = tool.and_then(|tool| tool.namespace.as_deref()) {
                item["namespace"] = namespace.into();
            }
            item
        };
        let arguments = call.text();
        self.added(item("in_progress", ""));
        self.deltas("response.function_call_arguments.delta", &json!({ "item_id": id }), &arguments);
        let at = self.index();
        self.send(json!({
            "type": "response.function_call_arguments.done", "item_id": id, "output_index": at, "arguments": arguments,
        }));
        self.done(item("completed", &arguments));
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = &answer.turn.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.input + usage.output,
    })
}
