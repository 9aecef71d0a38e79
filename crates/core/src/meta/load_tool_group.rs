//! `load_tool_group`: makes the tools of a group available.

use std::{fmt::Write as _, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    definition::ToolDefinition,
    error::{ErrorKind, ToolError},
    names::ToolName,
    output::{Effect, ToolOutput},
    registry::{Entry, Group},
    tool::{CallContext, ToolResult},
    typed::NativeTool,
    view::{Loading, View},
};

pub(super) struct LoadToolGroup;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// The name of the tool group to load
    group_name: String,
}

impl NativeTool for LoadToolGroup {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Load all tools in a tool group to make them available for use. You MUST load a tool group \
                           before you can use any tools in it. After loading, the tools will be available for the \
                           rest of this conversation.";
        ToolDefinition::new(ToolName::known("load_tool_group"), description)
            .title("Load tool group")
            .timeout(Duration::from_secs(5))
            .read_only()
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        load(&context.view(), &parameters.group_name)
    }
}

fn load(view: &View, name: &str) -> ToolResult {
    let group = view.group(name).ok_or_else(|| unknown_group(view, name))?;
    let tools: Vec<&Entry> = view.group_tools(name).collect();
    if tools.is_empty() {
        let message = format!("Tool group '{name}' has no available tools.");
        return Err(ToolError::new(ErrorKind::EmptyGroup, message));
    }
    let mut output = ToolOutput::text(describe(group, &tools, view.loading));
    output.effects.push(Effect::ActivateGroup { group: group.name.clone() });
    Ok(output)
}

/// The answer to a group that there is not, or not for this caller.
pub(super) fn unknown_group(view: &View, name: &str) -> ToolError {
    let known: Vec<&str> = view.groups().map(|group| group.name.as_str()).collect();
    let available = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let message = format!("Tool group '{}' not found. Available groups: {available}", crate::visible(name));
    ToolError::new(ErrorKind::NotFound, message)
}

pub(super) fn describe(group: &Group, tools: &[&Entry], loading: Loading) -> String {
    let mut text = format!("Loaded {} tools from group '{}':", tools.len(), group.display_name);
    for tool in tools.iter().map(|entry| entry.definition()) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n- {}: {}", tool.name, tool.description);
        if loading == Loading::Describes {
            let _ = write!(text, "\n  arguments: {}", tool.parameters.schema());
        }
    }
    if loading == Loading::Describes {
        text.push_str("\nCall them with call_tool {\"name\": …, \"arguments\": {…}}.");
    }
    text
}
