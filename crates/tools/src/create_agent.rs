//! `create_agent`: an agent with a prompt, a model and a tool set of its own, kept in the configuration.

use std::sync::Arc;

use pinza_core::{
    CallContext, Capability, NativeTool, ToolDefinition, ToolError, ToolName, ToolOutput, ToolResult,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const DESCRIPTION: &str = "Create an agent.";

/// It writes to the configuration, which is the user's.
const CAPABILITY: &str = "agents";

/// Whoever keeps agents.
pub trait Agents: Send + Sync {
    /// Keeps a new one. Blocking.
    fn create(&self, agent: &NewAgent) -> Result<(), ToolError>;
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewAgent {
    pub name: String,
    pub system_prompt: String,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// Names, or sets such as group:fs
    pub tools: Option<Vec<String>>,
}

pub(crate) struct CreateAgent {
    pub(crate) agents: Arc<dyn Agents>,
}

impl NativeTool for CreateAgent {
    type Parameters = NewAgent;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("create_agent"), DESCRIPTION)
            .title("Create agent")
            .needs(Capability::known(CAPABILITY))
            .subject("name")
    }

    async fn call(&self, agent: NewAgent, _: &CallContext<'_>) -> ToolResult {
        let (agents, name) = (Arc::clone(&self.agents), agent.name.clone());
        let created = tokio::task::spawn_blocking(move || agents.create(&agent)).await;
        created.map_err(|error| ToolError::execution(error.to_string()))??;
        Ok(ToolOutput::text(format!(
            "Created the agent '{name}'. Talk to it with: pinza chat --agent {name}"
        )))
    }
}
