//! `call_tool`: reaches every tool that the caller may use, whether it was shown or not.
//!
//! It runs nothing itself. The engine goes on with the inner tool in its place, so that
//! arguments, policy, approval, admission and timeout are the inner tool's own.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::{
    definition::{Parameters, ToolDefinition},
    error::ToolError,
    names::ToolName,
    tool::{Arguments, BoxFuture, CallContext, Forward, Tool, ToolResult},
};

pub(super) struct CallTool {
    definition: ToolDefinition,
}

/// Only its schema is used: the engine takes the fields from the arguments as they are.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
struct Shape {
    name: String,
    arguments: Option<Map<String, Value>>,
}

impl CallTool {
    pub(super) fn new() -> Self {
        let name = ToolName::known("call_tool");
        let definition = ToolDefinition::new(name, "Call a tool by name, with arguments as its schema says.")
            .title("Call tool")
            .parameters(Parameters::of::<Shape>());
        Self { definition }
    }
}

impl Tool for CallTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn forwards(&self, arguments: &Arguments) -> Option<Forward> {
        let name = arguments.get("name")?.as_str()?.to_owned();
        let inner = arguments.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        Some(Forward { name, arguments: inner })
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        // Its arguments have a name, or they would not have been valid.
        Box::pin(std::future::ready(Err(ToolError::execution("There is no tool to call"))))
    }
}
