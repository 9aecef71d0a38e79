//! `pinza mcp install`: an agent comes to know Pinza.

use std::path::PathBuf;

use anyhow::Context;
use serde_json::{Value, json};

use super::{Done, Global, Result, agents, confirmed, splice};
use crate::{cli::args::Agent, config::write_whole, terminal::Printer};

pub(super) fn run(global: &Global, printer: &Printer, agent: Agent, file: Option<PathBuf>) -> Result {
    let path = match file {
        Some(path) => path,
        None => agent.file()?,
    };
    // A link is followed, so that the file behind it is the one that changes.
    let path = path.canonicalize().unwrap_or(path);
    let before = agents::read(&path)?;
    let server = server(global)?;
    let after = splice::with_server(&before, "pinza", &server).with_context(|| {
        format!(
            "{} was not changed; add this yourself, below mcpServers: \"pinza\": {server}",
            path.display()
        )
    })?;
    let shown = splice::shown(&before, &after);
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

/// What the agent starts: this program, with the home and workspace that were named here.
fn server(global: &Global) -> Result<Value> {
    let program = std::env::current_exe().context("this program cannot be found again")?;
    let mut arguments = Vec::new();
    for (flag, path) in [("--home", &global.home), ("--workspace", &global.workspace)] {
        if let Some(path) = path {
            let path = std::path::absolute(path)?;
            arguments.extend([flag.to_owned(), path.display().to_string()]);
        }
    }
    arguments.extend(["serve".to_owned(), "--stdio".to_owned()]);
    Ok(json!({ "command": program.display().to_string(), "args": arguments }))
}
