//! `pinza mcp install`: an agent comes to know Pinza.

use std::path::PathBuf;

use anyhow::Context;
use pinza::ToolError;
use serde_json::{Value, json};

use super::{Done, Global, Result, agents, confirmed, splice};
use crate::{
    cli::args::Agent,
    config::write_whole,
    home::{Home, Origin},
    terminal::Printer,
};

pub(super) fn run(global: &Global, printer: &Printer, agent: Agent, file: Option<PathBuf>) -> Result {
    let path = match file {
        Some(path) => path,
        None => agent.file()?,
    };
    // A link is followed, so that the file behind it is the one that changes.
    let path = path.canonicalize().unwrap_or(path);
    let before = agents::read(&path)?;
    let server = server(global, splice::server(&before, "pinza"))?;
    let after = splice::with_server(&before, "pinza", &server).with_context(|| {
        format!(
            "{} was not changed; add this yourself, below mcpServers: \"pinza\": {server}",
            path.display()
        )
    })?;
    let shown = splice::shown(&before, "pinza", &server);
    if before == after {
        printer.json_or(
            || json!({ "status": "success", "file": path.display().to_string(), "changed": false }),
            |out| out.line(&format!("{} knows Pinza already: {}", agent.name(), path.display())),
        );
        return Ok(Done::Well);
    }
    printer.text(|out| {
        out.line(&format!("{}:", path.display()));
        shown.iter().for_each(|line| out.line(&format!("  {line}")));
    });
    confirmed(global, "Write this?")?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    // Somebody may have written it while we asked.
    anyhow::ensure!(agents::read(&path)? == before, "{} was changed meanwhile; try again", path.display());
    write_whole(&path, &after)?;
    printer.json_or(
        || json!({ "status": "success", "file": path.display().to_string(), "changed": true, "change": shown }),
        |out| out.line(&format!("Written. Start {} again to see Pinza's tools.", agent.name())),
    );
    Ok(Done::Well)
}

/// What the agent starts: this program, with what was said here before the command. An entry that is there keeps
/// what else it has, such as variables.
fn server(global: &Global, old: Option<Value>) -> Result<Value> {
    if let Some((name, _)) = global.env.first() {
        let message =
            format!("--env {name} would stand in the agent's file in plain text; nothing was changed");
        let hint = format!("Keep it encrypted with: pinza env set {name}");
        return Err(ToolError::validation(message).hint(hint).into());
    }
    let program = std::env::current_exe().context("this program cannot be found again")?;
    let mut entry = match old {
        Some(Value::Object(entry)) => entry,
        _ => serde_json::Map::new(),
    };
    if entry.contains_key("url") {
        // It was reached over HTTP, and nothing of that is about a program.
        entry.clear();
    }
    entry.insert("command".into(), program.display().to_string().into());
    entry.insert("args".into(), arguments(global)?.into());
    Ok(Value::Object(entry))
}

/// The agent asks its own questions, so `--yes` is no part of them.
fn arguments(global: &Global) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    let home = Home::find(global.home.as_deref())?;
    // The agent does not have this environment.
    let home = matches!(home.origin, Origin::Flag | Origin::Environment).then_some(home.path);
    let places = [("--home", home.iter()), ("--workspace", global.workspace.iter())];
    for (flag, path) in places.into_iter().flat_map(|(flag, paths)| paths.map(move |path| (flag, path))) {
        arguments.extend([flag.to_owned(), std::path::absolute(path)?.display().to_string()]);
    }
    for path in &global.tools {
        arguments.extend(["--tools".to_owned(), std::path::absolute(path)?.display().to_string()]);
    }
    for (flag, capabilities) in [("--allow", &global.allow), ("--deny", &global.deny)] {
        if !capabilities.is_empty() {
            arguments.extend([flag.to_owned(), capabilities.join(",")]);
        }
    }
    if global.allow_override {
        arguments.push("--allow-override".to_owned());
    }
    arguments.extend(["serve".to_owned(), "--stdio".to_owned()]);
    Ok(arguments)
}
