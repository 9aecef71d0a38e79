//! What a model reads of a request.
//!
//! A request is written by the provider's adapter and then taken apart, so that what is counted is what is
//! sent: each tool, the system prompt, each message, in the order in which providers put them before a model
//! (and cache them). Two things are sent and not read: definitions with `defer_loading`, and so the functions
//! of a namespace. Two are read where a load names them: the tools behind a `tool_reference`, and those in a
//! `tool_search_output`. Escapes of the JSON around a text are the transport's: a model reads the text. Images,
//! signatures and encrypted thoughts are no text, and left out.

use serde_json::{Value, json};

use crate::providers::ProviderKind;

/// A request, taken apart.
#[derive(Clone, Debug)]
pub struct Read {
    pub tools: Vec<ReadTool>,
    pub system: String,
    pub messages: Vec<ReadMessage>,
}

/// What stands in the array of tools, or where a load brings it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTool {
    pub what: Listed,
    pub text: String,
}

/// Under its name on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    Tool(String),
    /// A namespace, without its functions.
    Group(String),
    /// The provider's own place for what loads groups.
    Loader,
}

#[derive(Clone, Debug)]
pub struct ReadMessage {
    kind: ProviderKind,
    value: Value,
    /// Definitions that the API puts where this message refers to them.
    referenced: Vec<ReadTool>,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub what: BlockKind,
    pub text: String,
    /// The definitions that it brings in.
    pub tools: Vec<ReadTool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Call,
    Result,
    /// What was said, in this or that way.
    Other,
    /// What stands around the other blocks of a message: whose it is.
    Frame,
}

impl Read {
    pub fn of(kind: ProviderKind, body: &Value) -> Self {
        let mut body = body.clone();
        strip(&mut body);
        let (tools, messages) = match kind {
            ProviderKind::OpenAi | ProviderKind::Anthropic => (&body["tools"], &body["messages"]),
            ProviderKind::OpenAiResponses => (&body["tools"], &body["input"]),
            ProviderKind::Gemini => (&body["tools"][0]["functionDeclarations"], &body["contents"]),
        };
        let tools = list(tools);
        let system = match kind {
            ProviderKind::OpenAi => {
                list(messages).iter().find(|message| is_system(message)).map(|message| &message["content"])
            }
            ProviderKind::Anthropic => Some(&body["system"][0]["text"]),
            ProviderKind::OpenAiResponses => Some(&body["instructions"]),
            ProviderKind::Gemini => Some(&body["systemInstruction"]["parts"][0]["text"]),
        };
        let message =
            |value: &Value| ReadMessage { kind, value: value.clone(), referenced: referenced(value, tools) };
        Self {
            tools: tools.iter().filter_map(read_tool).collect(),
            system: system.and_then(Value::as_str).unwrap_or_default().to_owned(),
            messages: list(messages).iter().filter(|value| !is_system(value)).map(message).collect(),
        }
    }

    /// All that is read, in its order.
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.tools.iter().map(|tool| tool.text.clone()).collect();
        texts.push(self.system.clone());
        for message in &self.messages {
            texts.push(as_read(&message.value));
            texts.extend(message.referenced.iter().map(|tool| tool.text.clone()));
        }
        texts
    }
}

impl ReadMessage {
    /// Its calls, results and words, each alone.
    pub fn blocks(&self) -> Vec<Block> {
        match self.kind {
            ProviderKind::OpenAi => self.chat_blocks(),
            ProviderKind::OpenAiResponses => vec![item_block(&self.value)],
            ProviderKind::Anthropic => self.framed("content", |block| {
                let tools = referenced_by(block, &self.referenced);
                let what = match block["type"].as_str() {
                    Some("tool_use") => BlockKind::Call,
                    Some("tool_result") => BlockKind::Result,
                    _ => BlockKind::Other,
                };
                Block { what, text: as_read(block), tools }
            }),
            ProviderKind::Gemini => self.framed("parts", |part| {
                let what = match (part.get("functionCall"), part.get("functionResponse")) {
                    (Some(_), _) => BlockKind::Call,
                    (None, Some(_)) => BlockKind::Result,
                    (None, None) => BlockKind::Other,
                };
                Block { what, text: as_read(part), tools: Vec::new() }
            }),
        }
    }

    /// The frame, and what stands in one of its fields.
    fn framed(&self, field: &str, block: impl Fn(&Value) -> Block) -> Vec<Block> {
        let mut frame = self.value.clone();
        let inner = frame.as_object_mut().and_then(|fields| fields.shift_remove(field)).unwrap_or_default();
        let frame = Block { what: BlockKind::Frame, text: as_read(&frame), tools: Vec::new() };
        std::iter::once(frame).chain(list(&inner).iter().map(block)).collect()
    }

    fn chat_blocks(&self) -> Vec<Block> {
        let plain = |what| Block { what, text: as_read(&self.value), tools: Vec::new() };
        if self.value["role"] == "tool" {
            return vec![plain(BlockKind::Result)];
        }
        if self.value["tool_calls"].is_null() {
            return vec![plain(BlockKind::Other)];
        }
        let call = |call: &Value| Block { what: BlockKind::Call, text: as_read(call), tools: Vec::new() };
        let mut blocks = self.framed("tool_calls", call);
        if !self.value["content"].is_null() {
            // It has words of its own.
            blocks[0].what = BlockKind::Other;
        }
        blocks
    }
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system"
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Takes away what is said to the API and not to the model, and what is no text.
fn strip(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
            let is_image = fields.contains_key("mimeType") || fields.contains_key("media_type");
            // Arguments and parameters of tools may have these names too, and then they are read.
            fields.retain(|name, value| match name.as_str() {
                "cache_control" => *value != json!({ "type": "ephemeral" }),
                "thoughtSignature" => !value.is_string(),
                "signature" => kind != "thinking",
                "encrypted_content" => kind != "reasoning",
                "data" => !is_image && kind != "redacted_thinking",
                _ => true,
            });
            fields.values_mut().for_each(strip);
        }
        Value::String(text) if text.starts_with("data:") && text.contains(";base64,") => {
            text.truncate(text.find(',').unwrap_or(0));
        }
        _ => {}
    }
}

/// What a model reads of a tool that was sent.
fn read_tool(tool: &Value) -> Option<ReadTool> {
    if tool["defer_loading"] == true {
        return None;
    }
    let mut tool = tool.clone();
    let name = || {
        let name = &tool["name"];
        let name = if name.is_null() { &tool["function"]["name"] } else { name };
        name.as_str().unwrap_or_default().to_owned()
    };
    let what = match tool["type"].as_str() {
        Some("namespace") => Listed::Group(name()),
        Some("tool_search") => Listed::Loader,
        _ => Listed::Tool(name()),
    };
    if let (Listed::Group(_), Some(fields)) = (&what, tool.as_object_mut()) {
        fields.shift_remove("tools");
    }
    // With what separates it from the next one.
    Some(ReadTool { what, text: format!("{},", as_read(&tool)) })
}

/// A deferred tool from the moment on that it is not.
fn revealed(tool: &Value) -> Option<ReadTool> {
    let mut tool = tool.clone();
    tool.as_object_mut().map(|fields| fields.shift_remove("defer_loading"));
    read_tool(&tool)
}

/// The definitions that an API puts where a message refers to them.
fn referenced(message: &Value, tools: &[Value]) -> Vec<ReadTool> {
    let blocks = list(&message["content"]).iter();
    let named = blocks.flat_map(references).filter_map(|name| tools.iter().find(|tool| tool["name"] == name));
    named.filter_map(revealed).collect()
}

fn references(block: &Value) -> impl Iterator<Item = &str> {
    list(&block["content"]).iter().filter_map(|reference| reference["tool_name"].as_str())
}

fn referenced_by(block: &Value, referenced: &[ReadTool]) -> Vec<ReadTool> {
    let is = |tool: &&ReadTool, name: &str| matches!(&tool.what, Listed::Tool(own) if own == name);
    references(block).filter_map(|name| referenced.iter().find(|tool| is(tool, name)).cloned()).collect()
}

/// An item of Responses; the functions that a search brings in stand beside its frame.
fn item_block(item: &Value) -> Block {
    let mut item = item.clone();
    let mut tools = Vec::new();
    let what = match item["type"].as_str() {
        Some("function_call" | "tool_search_call") => BlockKind::Call,
        Some("tool_search_output") => {
            for group in item["tools"].as_array_mut().into_iter().flatten() {
                tools.extend(
                    list(&std::mem::replace(&mut group["tools"], json!([]))).iter().filter_map(revealed),
                );
            }
            BlockKind::Result
        }
        Some("function_call_output") => BlockKind::Result,
        _ => BlockKind::Other,
    };
    Block { what, text: as_read(&item), tools }
}

/// JSON whose texts stand as they are.
pub fn as_read(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(items) => format!("[{}]", items.iter().map(as_read).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("\"{name}\":{}", as_read(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
