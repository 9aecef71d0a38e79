//! `pinza mcp import`: the servers of another program become Pinza's, their secrets encrypted.
//!
//! Two passes: first every server is read, then variables get their names. Only then it is known which names servers ask
//! for by themselves, and no server may come to another one's secret by its name.

mod convert;
mod secrets;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use pinza::{
    Pinza, ToolError,
    core::{ErrorKind, visible},
    host::secrets::VariableStore,
};
use serde_json::{Value, json};
use toml_edit::{Item, Table};

use self::{
    convert::{Converted, convert},
    secrets::{Names, masked},
};
use super::{Done, Global, Result, Session, add, agents, confirmed, home};
use crate::{
    cli::{args::Agent, env},
    config::{Config, ConfigFile},
    terminal::Printer,
};

/// What is taken over, and what is not.
#[derive(Default)]
struct Plan {
    servers: Vec<Converted>,
    /// To be kept encrypted: name, value.
    secrets: Vec<(String, String)>,
    /// Variables that the other program takes from its environment.
    wanted: Vec<String>,
    left_out: Vec<String>,
    /// What is different from how it was.
    notes: Vec<String>,
}

pub(super) fn run(global: &Global, printer: &Printer, agent: Agent, file: Option<PathBuf>) -> Result {
    let home = home(global)?;
    let config = ConfigFile::read(home.config_file())?.config;
    let session = Session::open(global)?;
    let mut plan = Plan::default();
    let mut read = Vec::new();
    for path in files(agent, file)? {
        let text = agents::read(&path)?;
        if text.is_empty() {
            continue;
        }
        for (name, server) in agents::servers(&path, &text)? {
            plan.take(&name, &server, &config, &session.pinza);
        }
        plan.notes.extend(of_projects(&path, &text));
        read.push(path.display().to_string());
    }
    if read.is_empty() {
        let message = format!("{} has no configuration here", agent.name());
        return Err(ToolError::new(ErrorKind::NotFound, message).hint("Name the file with --file.").into());
    }
    let store = env::open(&home)?;
    plan.name_secrets(global, &config, &store)?;
    printer.text(|out| {
        plan.toml().lines().for_each(|line| out.line(&format!("+ {line}")));
        plan.secrets
            .iter()
            .for_each(|(name, _)| out.line(&format!("{name} is kept encrypted, as with `pinza env set`")));
        plan.left_out.iter().for_each(|text| out.line(&format!("Left out: {text}")));
        plan.notes.iter().for_each(|text| out.line(&format!("Note: {text}")));
    });
    if !plan.servers.is_empty() {
        confirmed(global, &format!("Write this to {}?", home.config_file().display()))?;
        plan.write(&store, &home.config_file())?;
    }
    let names: Vec<&str> = plan.servers.iter().map(|server| server.name.as_str()).collect();
    printer.json_or(
        || {
            json!({
                "status": "success",
                "files": read,
                "added": names,
                "kept": plan.secrets.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "wanted": plan.wanted,
                "leftOut": plan.left_out,
                "notes": plan.notes,
            })
        },
        |out| {
            match names.as_slice() {
                [] => out.line("Nothing to take over."),
                names => {
                    out.line(&format!("Added: {}. Look at each with: pinza mcp test NAME", names.join(", ")))
                }
            }
            for name in &plan.wanted {
                out.line(&format!("It needs the variable {name}: pinza env set {name}"));
            }
        },
    );
    Ok(Done::Well)
}

fn files(agent: Agent, file: Option<PathBuf>) -> Result<Vec<PathBuf>> {
    Ok(match file {
        Some(file) => {
            anyhow::ensure!(file.is_file(), "{} is no file", file.display());
            vec![file]
        }
        None => std::iter::once(agent.file()?).chain(agent.project_file().map(Path::to_owned)).collect(),
    })
}

/// Claude Code keeps servers for single projects in the same file. They are for those directories and no others, so
/// they are told and not taken.
fn of_projects(path: &Path, text: &str) -> Vec<String> {
    let Ok(whole) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(projects) = whole.get("projects").and_then(Value::as_object) else { return Vec::new() };
    let told = |(directory, project): (&String, &Value)| {
        let servers = project.get("mcpServers")?.as_object().filter(|servers| !servers.is_empty())?;
        let names: Vec<String> = servers.keys().map(|name| visible(name)).collect();
        Some(format!(
            "not taken over, as {} has them for {} only: {}",
            path.display(),
            visible(directory),
            names.join(", ")
        ))
    };
    projects.iter().filter_map(told).collect()
}

impl Plan {
    fn take(&mut self, written: &str, server: &Value, config: &Config, pinza: &Pinza) {
        let shown = visible(written);
        let converted = convert(written, server).and_then(|converted| {
            let name = &converted.name;
            let is_known = self.servers.iter().any(|known| known.name == *name);
            if is_known || config.mcp.servers.contains_key(name) {
                return Err(format!("there is a server '{name}' already"));
            }
            // As `mcp add` refuses it.
            if pinza.snapshot().group(name).is_some() {
                return Err(format!("there is a group '{name}' already"));
            }
            Ok(converted)
        });
        match converted {
            Err(reason) => self.left_out.push(format!("{shown}: {reason}")),
            Ok(converted) => {
                self.wanted.extend(converted.wanted.iter().cloned());
                self.notes.extend(converted.notes.iter().map(|note| format!("{}: {note}", converted.name)));
                self.servers.push(converted);
            }
        }
    }

    /// Values become references to variables that are kept from now on.
    fn name_secrets(&mut self, global: &Global, config: &Config, store: &VariableStore) -> Result<()> {
        let mut names = Names::default();
        for (name, value) in store.all().map_err(|error| anyhow!("{error}"))? {
            names.known(&name, value.expose());
        }
        // These are looked up first.
        for (name, value) in config.env.iter().chain(global.env.iter().map(|(name, value)| (name, value))) {
            names.known(name, value);
        }
        self.wanted.sort();
        self.wanted.dedup();
        self.wanted.retain(|name| !names.is_known(name));
        self.wanted.iter().for_each(|name| names.reserve(name));
        for server in &mut self.servers {
            for (table, key, value) in &server.values {
                let name = names.keep(&server.name, key, value);
                let entry = server.entry.get_mut(table).and_then(Item::as_inline_table_mut);
                if let Some(place) = entry.and_then(|entry| entry.get_mut(key)) {
                    *place = format!("${{env.{name}}}").into();
                }
            }
        }
        self.secrets = names.into_new();
        Ok(())
    }

    /// For people to see: what looks like a secret is not in it.
    fn toml(&self) -> String {
        let mut document = toml_edit::DocumentMut::new();
        for server in &self.servers {
            // An empty document takes every table.
            let _ = add::insert(&mut document, &server.name, masked(&server.entry));
        }
        document.to_string()
    }

    fn write(&self, store: &VariableStore, config: &Path) -> Result<()> {
        for (name, value) in &self.secrets {
            store.set(name, value).map_err(|error| anyhow!("{error}"))?;
        }
        ConfigFile::edit(config.to_owned(), |document| {
            let insert = |server: &Converted| {
                let entry: Table = server.entry.clone();
                add::insert(document, &server.name, entry)
            };
            self.servers.iter().try_for_each(insert)
        })?;
        Ok(())
    }
}
