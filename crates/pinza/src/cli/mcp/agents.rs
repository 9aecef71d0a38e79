//! The agents that Pinza knows: where they keep their MCP servers. All of them write `{"mcpServers": {NAME: {…}}}`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cli::args::Agent;

/// Larger files are no configuration of servers.
const FILE_LIMIT: u64 = 32 << 20;

impl Agent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
        }
    }

    /// The file for all projects of this person.
    pub(super) fn file(self) -> Result<PathBuf> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = home.context("there is no home directory; name the file with --file")?;
        Ok(match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop if cfg!(target_os = "macos") => {
                home.join("Library/Application Support/Claude/claude_desktop_config.json")
            }
            Self::ClaudeDesktop => {
                let config =
                    std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                config.unwrap_or_else(|| home.join(".config")).join("Claude/claude_desktop_config.json")
            }
            Self::Cursor => home.join(".cursor/mcp.json"),
        })
    }

    /// The file of the project in this directory, for those that have one.
    pub(super) fn project_file(self) -> Option<&'static Path> {
        match self {
            Self::ClaudeCode => Some(Path::new(".mcp.json")),
            Self::ClaudeDesktop => None,
            Self::Cursor => Some(Path::new(".cursor/mcp.json")),
        }
    }
}

/// The text of a configuration; empty where there is none.
pub(super) fn read(path: &Path) -> Result<String> {
    let context = || format!("cannot read {}", path.display());
    match std::fs::metadata(path) {
        Ok(meta) => {
            anyhow::ensure!(meta.len() <= FILE_LIMIT, "{} is too large for a configuration", path.display());
            std::fs::read_to_string(path).with_context(context)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(context),
    }
}

/// Its servers, by name.
pub(super) fn servers(path: &Path, text: &str) -> Result<serde_json::Map<String, Value>> {
    if text.trim().is_empty() {
        return Ok(serde_json::Map::new());
    }
    let whole: Value =
        serde_json::from_str(text).with_context(|| format!("{} is not JSON", path.display()))?;
    Ok(whole.get("mcpServers").and_then(Value::as_object).cloned().unwrap_or_default())
}
