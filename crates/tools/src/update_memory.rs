//! `update_memory`: a remembered fact is corrected.

use pinza_core::{CallContext, NativeTool, ToolDefinition, ToolName, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    save_memory::check,
    state::{State, explain},
};

pub(crate) const DESCRIPTION: &str = "Replace a remembered fact.";

pub(crate) struct UpdateMemory {
    pub(crate) state: State,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    id: i64,
    text: String,
}

impl NativeTool for UpdateMemory {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("update_memory"), DESCRIPTION).title("Update memory")
    }

    async fn call(&self, parameters: Parameters, _: &CallContext<'_>) -> ToolResult {
        let text = check(&parameters.text)?;
        let updated = self.state.open()?.update_memory(parameters.id, text).await;
        let memory = updated.map_err(|error| explain(&error))?;
        Ok(ToolOutput::text(format!("Memory {} is changed", memory.id)).details(json!(memory)))
    }
}
