//! Other MCP servers as groups of tools: a small server in `fixtures/mcp` behaves, and misbehaves in every way it knows.

mod agents;
mod commands;
mod held;
mod http;
mod runtime;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use pinza_testkit::{Program, Run};

use crate::support::{fine, pinza};

/// What takes longer than this never comes; nothing is judged by how long it took.
const PATIENCE: Duration = Duration::from_secs(60);

/// The fixture's script.
fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mcp/server.mjs").canonicalize().unwrap()
}

/// The command that starts the fixture.
fn command(options: &[&str]) -> Vec<String> {
    let script = script().display().to_string();
    ["node", &script].into_iter().chain(options.iter().copied()).map(String::from).collect()
}

fn add(pinza: &Program, name: &str, options: &[&str]) -> Run {
    let command = command(options);
    let mut arguments = vec!["mcp", "add", name, "--"];
    arguments.extend(command.iter().map(String::as_str));
    fine(pinza, &arguments)
}

/// A program with the fixture as the server `fix`.
pub(crate) fn with_fixture(options: &[&str]) -> Program {
    let pinza = pinza();
    add(&pinza, "fix", options);
    pinza
}

/// A configuration that names the fixture, without a look at it.
fn configured(pinza: &Program, name: &str, options: &[&str], more: &str) {
    let words = serde_json::to_string(&command(options)).unwrap();
    let before = std::fs::read_to_string(pinza.config_file()).unwrap_or_default();
    let text = format!("{before}[mcp.servers.{name}]\ncommand = {words}\n{more}\n");
    std::fs::write(pinza.config_file(), text).unwrap();
}
