//! A server's tool as one of Pinza's.

use std::sync::Arc;

use pinza_core::{Arguments, BoxFuture, CallContext, Parameters, Tool, ToolDefinition, ToolName, ToolResult};

use super::{
    record::SeenTool,
    upstream::{Standing, Upstream},
};

pub(crate) struct UpstreamTool {
    upstream: Arc<Upstream>,
    /// As accepted, or as added and not accepted yet.
    tool: SeenTool,
    standing: Standing,
    definition: ToolDefinition,
}

impl UpstreamTool {
    /// Why a tool cannot be offered, if it cannot. A name is taken as it is or not at all: what a model calls is what
    /// its server documents.
    pub(crate) fn new(upstream: &Arc<Upstream>, tool: &SeenTool, standing: Standing) -> Result<Self, String> {
        if tool.name.is_empty() {
            return Err("it has no name".into());
        }
        let name = ToolName::new(format!("{}__{}", upstream.spec().name, tool.name))
            .map_err(|error| error.to_string())?;
        let definition = match standing {
            // Nobody has read its words yet, so no model does.
            Standing::Added => {
                let server = &upstream.spec().name;
                ToolDefinition::new(
                    name,
                    format!("Held: {server} added this tool, and nobody accepted it yet"),
                )
            }
            Standing::Accepted | Standing::Changed => definition(name, tool, upstream)?,
        };
        Ok(Self { upstream: Arc::clone(upstream), tool: tool.clone(), standing, definition })
    }
}

impl Tool for UpstreamTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.standing {
                Standing::Added if !self.is_accepted_now() => {
                    Err(self.upstream.held(&format!("added its tool '{}'", self.tool.name)))
                }
                _ => self.upstream.call(&self.tool, arguments, context).await,
            }
        })
    }
}

impl UpstreamTool {
    /// Another process may have accepted it since.
    fn is_accepted_now(&self) -> bool {
        let accepted = self.upstream.record().ok().flatten().and_then(|record| record.accepted);
        accepted.is_some_and(|face| face.tool(&self.tool.name) == Some(&self.tool))
    }
}

fn definition(name: ToolName, tool: &SeenTool, upstream: &Upstream) -> Result<ToolDefinition, String> {
    let parameters = Parameters::from_schema(tool.input_schema.clone()).map_err(|error| error.to_string())?;
    let description = tool.description.clone().or_else(|| tool.title.clone()).unwrap_or_default();
    let mut definition =
        ToolDefinition::new(name, description).parameters(parameters).timeout(upstream.spec().call_timeout);
    definition.title.clone_from(&tool.title);
    definition.output_schema.clone_from(&tool.output_schema);
    definition.read_only = tool.is_read_only();
    definition.hints = tool.hints();
    Ok(definition)
}
