//! `write`: create or overwrite a file.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    CallContext, Capability, FsBridge, NativeTool, ToolDefinition, ToolName, ToolResult, WriteMode,
    capability,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Turns, write_file::write};

#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) bridge: Arc<dyn FsBridge>,
    pub(crate) turns: Turns,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Path of the file, relative to the workspace
    path: String,
    /// The whole new content of the file
    content: String,
}

impl NativeTool for Write {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Create or overwrite a file. Creates the directories above it.";
        ToolDefinition::new(ToolName::known("write"), description)
            .title("Write a file")
            .needs(Capability::known(capability::FS_WRITE))
            .subject("path")
            .alias("file_path", "path")
            .timeout(Duration::from_secs(10))
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        let Parameters { path, content } = parameters;
        let _turn = self.turns.lock().await;
        write(self.bridge.as_ref(), &path, content.as_bytes(), WriteMode::Replace).await?;
        Ok(format!("Successfully wrote {} bytes to {path}", content.len()).into())
    }
}
