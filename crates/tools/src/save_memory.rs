//! `save_memory`: a fact for later sessions.

use pinza_core::{CallContext, NativeTool, ToolDefinition, ToolError, ToolName, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::state::{State, explain};

pub(crate) const DESCRIPTION: &str = "Remember a fact for later sessions, in one sentence.";

/// A memory stands in the prompt of every later session.
const LONGEST: usize = 2000;

pub(crate) struct SaveMemory {
    pub(crate) state: State,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    text: String,
}

impl NativeTool for SaveMemory {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("save_memory"), DESCRIPTION).title("Save memory")
    }

    async fn call(&self, parameters: Parameters, _: &CallContext<'_>) -> ToolResult {
        let text = check(&parameters.text)?;
        let memory = self.state.open()?.save_memory(text).await.map_err(|error| explain(&error))?;
        Ok(ToolOutput::text(format!("Remembered as {}", memory.id)).details(json!(memory)))
    }
}

/// A text that is worth keeping.
pub(crate) fn check(text: &str) -> Result<&str, ToolError> {
    match text.trim() {
        "" => Err(ToolError::validation("Parameter 'text' is empty")),
        text if text.len() > LONGEST => {
            let message = format!(
                "Parameter 'text' is longer than {LONGEST} bytes: keep it in a file, and remember where"
            );
            Err(ToolError::validation(message))
        }
        text => Ok(text),
    }
}
