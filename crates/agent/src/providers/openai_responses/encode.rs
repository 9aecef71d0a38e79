//! A conversation as Responses take it.
//!
//! With `native`, groups are namespaces whose functions wait outside the prompt, and the loader
//! is the API's own `tool_search`, which the client executes: the model asks for a group with a
//! `tool_search_call`, and the `tool_search_output` brings its functions in.

use pinza_core::{Content, Effect, ShownTool};
use serde_json::{Value, json};

use super::super::{ProviderError, ProviderKind, Request, wire};
use crate::{
    image::Image,
    message::{Call, CallResult, Message, Opaque, Part},
    names::NameMap,
    results::{COMMON_IMAGES, envelope},
    reveal::{Deferred, Lineup},
};

const KIND: ProviderKind = ProviderKind::OpenAiResponses;

pub(super) fn body(request: &Request<'_>) -> Result<Value, ProviderError> {
    wire::check(KIND, request)?;
    let lineup = Lineup::new(&request.tools, request.reveal);
    let writer = Writer { namespaces: namespaces(&lineup), lineup };
    let tools = writer.tools();
    let input: Vec<Value> = request.messages.iter().flat_map(|message| writer.items(message)).collect();
    let effort = request.effort.map(|effort| json!({ "effort": effort.name(), "summary": "auto" }));
    let body = wire::object([
        ("model", Some(request.model.into())),
        ("instructions", (!request.system.is_empty()).then(|| request.system.into())),
        ("input", Some(input.into())),
        ("tools", (!tools.is_empty()).then(|| tools.into())),
        ("stream", Some(true.into())),
        ("store", Some(false.into())),
        ("include", Some(json!(["reasoning.encrypted_content"]))),
        ("reasoning", effort),
        ("max_output_tokens", request.max_tokens.map(Value::from)),
        ("prompt_cache_key", request.cache_key.map(Value::from)),
    ]);
    Ok(body.into())
}

/// Names of groups as this API takes them.
fn namespaces(lineup: &Lineup<'_>) -> NameMap {
    NameMap::new(lineup.deferred.iter().map(|deferred| deferred.group.name.as_str()))
}

struct Writer<'a> {
    lineup: Lineup<'a>,
    namespaces: NameMap,
}

impl Writer<'_> {
    fn tools(&self) -> Vec<Value> {
        let plain = self.lineup.plain.iter().map(|tool| {
            if self.is_loader(tool.name.as_str()) { self.tool_search(tool) } else { self.function(tool) }
        });
        let namespaces = self.lineup.deferred.iter().filter(|group| !group.tools.is_empty());
        let namespaces = namespaces.map(|group| self.namespace(group));
        let late = self.lineup.late.iter().map(|tool| self.function(tool));
        plain.chain(namespaces).chain(late).collect()
    }

    fn is_loader(&self, name: &str) -> bool {
        self.lineup.loader == Some(name)
    }

    fn function(&self, tool: &ShownTool) -> Value {
        let mut function = wire::tool(KIND, &self.lineup.names, tool)["function"].take();
        let fields = wire::object([
            ("type", Some("function".into())),
            ("name", Some(function["name"].take())),
            ("description", Some(function["description"].take())),
            ("parameters", Some(function["parameters"].take())),
            // Unsaid, the API would make the schema strict where it can, and optional parameters required.
            ("strict", Some(false.into())),
        ]);
        fields.into()
    }

    fn namespace(&self, deferred: &Deferred<'_>) -> Value {
        let functions = deferred.tools.iter().map(|tool| {
            let mut function = self.function(tool);
            function["defer_loading"] = true.into();
            function
        });
        let group = deferred.group;
        // A description is required, and not every group has one.
        let description = if group.description.is_empty() { group.name.as_str() } else { &group.description };
        json!({
            "type": "namespace",
            "name": self.namespaces.to_wire(group.name.as_str()),
            "description": description,
            "tools": functions.collect::<Vec<_>>(),
        })
    }

    fn tool_search(&self, loader: &ShownTool) -> Value {
        let function = self.function(loader);
        json!({
            "type": "tool_search",
            "execution": "client",
            "description": function["description"],
            "parameters": function["parameters"],
        })
    }

    fn items(&self, message: &Message) -> Vec<Value> {
        match message {
            Message::User { content } => {
                let content: Vec<Value> = content.iter().map(input).collect();
                vec![json!({ "type": "message", "role": "user", "content": content })]
            }
            Message::Assistant { parts } => parts.iter().filter_map(|part| self.part(part)).collect(),
            Message::Results { results } => {
                let outputs = results.iter().map(|answer| self.output(answer));
                outputs.chain(results.iter().filter_map(|answer| self.failed_search(answer))).collect()
            }
        }
    }

    fn part(&self, part: &Part) -> Option<Value> {
        match part {
            Part::Text { text, .. } if text.is_empty() => None,
            Part::Text { text, opaque } => {
                let phase = Opaque::of(opaque, KIND).map(|value| value["phase"].clone());
                let message = wire::object([
                    ("type", Some("message".into())),
                    ("role", Some("assistant".into())),
                    ("content", Some(text.as_str().into())),
                    ("phase", phase.filter(Value::is_string)),
                ]);
                Some(message.into())
            }
            Part::Thinking { opaque, .. } => Opaque::of(opaque, KIND).cloned(),
            Part::ToolCall(call) => Some(self.call(call)),
        }
    }

    fn call(&self, call: &Call) -> Value {
        let id = wire::call_id(call.id.as_str());
        if self.is_loader(&call.name) {
            return json!({
                "type": "tool_search_call",
                "call_id": id,
                "execution": "client",
                "status": "completed",
                "arguments": call.object(),
            });
        }
        let said = Opaque::of(&call.opaque, KIND).and_then(|value| value["namespace"].as_str());
        let call = wire::object([
            ("type", Some("function_call".into())),
            ("call_id", Some(id.into())),
            ("name", Some(self.lineup.names.safe(&call.name).into())),
            ("namespace", said.map(Value::from).or_else(|| self.namespace_of(&call.name))),
            ("arguments", Some(Value::from(call.object()).to_string().into())),
        ]);
        call.into()
    }

    /// The namespace of a tool that is in one, for calls that another provider made.
    fn namespace_of(&self, tool: &str) -> Option<Value> {
        let holds = |deferred: &&Deferred<'_>| deferred.tools.iter().any(|held| held.name.as_str() == tool);
        let deferred = self.lineup.deferred.iter().find(holds)?;
        Some(self.namespaces.to_wire(deferred.group.name.as_str()).into())
    }

    fn output(&self, answer: &CallResult) -> Value {
        let id = wire::call_id(answer.id.as_str());
        if self.is_loader(&answer.name) {
            return json!({
                "type": "tool_search_output",
                "call_id": id,
                "execution": "client",
                "status": "completed",
                "tools": self.found(answer),
            });
        }
        json!({ "type": "function_call_output", "call_id": id, "output": output(answer) })
    }

    /// The namespaces that a load brings in.
    fn found(&self, answer: &CallResult) -> Vec<Value> {
        let effects = answer.result.iter().flat_map(|output| &output.effects);
        let groups = effects.filter_map(|Effect::ActivateGroup { group }| self.lineup.group(group));
        groups.filter(|group| !group.tools.is_empty()).map(|group| self.namespace(group)).collect()
    }

    /// A `tool_search_output` has no room for words: why nothing was found is said beside it.
    fn failed_search(&self, answer: &CallResult) -> Option<Value> {
        let failed = self.is_loader(&answer.name) && self.found(answer).is_empty();
        let said = || format!("{}: {}", answer.name, envelope(&answer.result));
        failed.then(|| {
            let content = [json!({ "type": "input_text", "text": said() })];
            json!({ "type": "message", "role": "user", "content": content })
        })
    }
}

fn input(content: &Content) -> Value {
    image(content).unwrap_or_else(|| json!({ "type": "input_text", "text": wire::as_text(content) }))
}

fn image(content: &Content) -> Option<Value> {
    let image = Image::of(content, &COMMON_IMAGES)?;
    Some(json!({ "type": "input_image", "image_url": image.data_url(), "detail": "auto" }))
}

/// The envelope, and the images that came with it.
fn output(answer: &CallResult) -> Value {
    let text = envelope(&answer.result).to_string();
    let content = answer.result.iter().flat_map(|output| &output.content);
    let images: Vec<Value> = content.filter_map(image).collect();
    if images.is_empty() {
        return text.into();
    }
    std::iter::once(json!({ "type": "input_text", "text": text })).chain(images).collect()
}
