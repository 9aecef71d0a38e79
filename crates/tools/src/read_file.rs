//! `read_file`: a whole text file, as RFC-004 has it.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    CallContext, Capability, FsBridge, FsVerb, NativeTool, ToolDefinition, ToolName, ToolResult, capability,
};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const DESCRIPTION: &str = "Read the contents of a file from local storage";

use crate::text::decode;

const MAX_FILE_SIZE: u64 = 1 << 20;

#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) bridge: Arc<dyn FsBridge>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The file path to read (confined to the workspace)
    path: String,
    /// File encoding. Defaults to 'UTF-8'.
    encoding: Option<String>,
}

impl NativeTool for ReadFile {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("read_file"), DESCRIPTION)
            .title("Read a file")
            .needs(Capability::known(capability::FS_READ))
            .subject("path")
            .alias("file_path", "path")
            .timeout(Duration::from_secs(10))
            .read_only()
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        let Parameters { path, encoding } = parameters;
        let bytes = self
            .bridge
            .read(&path, MAX_FILE_SIZE)
            .await
            .map_err(|error| error.answer(FsVerb::Read, &path))?;
        decode(&bytes, encoding.as_deref().unwrap_or("UTF-8"), &path).map(Into::into)
    }
}
