//! `write_file`: overwrite or append, as RFC-004 has it. Also the way `write` and `edit` write.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    CallContext, Capability, FsBridge, FsVerb, NativeTool, ToolDefinition, ToolError, ToolName, ToolResult,
    WriteMode, capability, write_with_parents,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const DESCRIPTION: &str = "Write contents to a file on local storage";

use crate::Turns;

#[derive(Debug)]
pub(crate) struct WriteFile {
    pub(crate) bridge: Arc<dyn FsBridge>,
    pub(crate) turns: Turns,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The file path to write (confined to the workspace)
    path: String,
    /// The content to write to the file
    content: String,
    /// Write mode: 'overwrite' (replace file) or 'append' (add to end). Defaults to 'overwrite'.
    mode: Option<Mode>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Mode {
    #[default]
    Overwrite,
    Append,
}

impl NativeTool for WriteFile {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("write_file"), DESCRIPTION)
            .title("Write a file")
            .needs(Capability::known(capability::FS_WRITE))
            .subject("path")
            .alias("file_path", "path")
            .timeout(Duration::from_secs(10))
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        let Parameters { path, content, mode } = parameters;
        let (mode, word) = match mode.unwrap_or_default() {
            Mode::Overwrite => (WriteMode::Replace, "overwrite"),
            Mode::Append => (WriteMode::Append, "append"),
        };
        let _turn = self.turns.lock().await;
        write(self.bridge.as_ref(), &path, content.as_bytes(), mode).await?;
        Ok(format!("Successfully wrote {} bytes to {path} (mode: {word})", content.len()).into())
    }
}

/// Writes a file and the directories above it.
pub(crate) async fn write(
    bridge: &dyn FsBridge,
    path: &str,
    data: &[u8],
    mode: WriteMode,
) -> Result<(), ToolError> {
    write_with_parents(bridge, path, data, mode).await.map_err(|error| error.answer(FsVerb::Write, path))
}
