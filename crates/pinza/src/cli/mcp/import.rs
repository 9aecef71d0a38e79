//! `pinza mcp import`: the servers of another program become Pinza's, their secrets encrypted.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use pinza::{
    ToolError,
    core::{ErrorKind, visible},
    host::secrets::VariableStore,
    mcp::client::{Origin, UpstreamName},
};
use serde_json::{Map, Value, json};
use toml_edit::{Array, Item, Table};

use super::{Done, Global, Result, add, agents, confirmed, home};
use crate::{
    cli::{args::Agent, env},
    config::ConfigFile,
    terminal::Printer,
    upstreams::ServerTable,
};

/// What is taken over, and what is not.
#[derive(Default)]
struct Plan {
    servers: Vec<(String, Table)>,
    /// To be kept encrypted: name, value.
    secrets: Vec<(String, String)>,
    /// Variables that the other program takes from its environment.
    wanted: Vec<String>,
    left_out: Vec<String>,
}

pub(super) fn run(global: &Global, printer: &Printer, agent: Agent, file: Option<PathBuf>) -> Result {
    let home = home(global)?;
    let config = ConfigFile::read(home.config_file())?.config;
    let mut plan = Plan::default();
    let mut read = Vec::new();
    for path in files(agent, file)? {
        let text = agents::read(&path)?;
        if text.is_empty() {
            continue;
        }
        for (name, server) in agents::servers(&path, &text)? {
            plan.take(&name, &server, |known| config.mcp.servers.contains_key(known));
        }
        read.push(path.display().to_string());
    }
    if read.is_empty() {
        let message = format!("{} has no configuration here", agent.name());
        return Err(ToolError::new(ErrorKind::NotFound, message).hint("Name the file with --file.").into());
    }
    printer.text(|out| {
        plan.toml().lines().for_each(|line| out.line(&format!("+ {line}")));
        plan.secrets
            .iter()
            .for_each(|(name, _)| out.line(&format!("{name} is kept encrypted, as with `pinza env set`")));
        plan.left_out.iter().for_each(|text| out.line(&format!("Left out: {text}")));
    });
    if !plan.servers.is_empty() {
        confirmed(global, &format!("Write this to {}?", home.config_file().display()))?;
        plan.write(&env::open(&home)?, &home.config_file())?;
    }
    let names: Vec<&str> = plan.servers.iter().map(|(name, _)| name.as_str()).collect();
    printer.json_or(
        || {
            json!({
                "status": "success",
                "files": read,
                "added": names,
                "kept": plan.secrets.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "wanted": plan.wanted,
                "leftOut": plan.left_out,
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

impl Plan {
    fn take(&mut self, written: &str, server: &Value, is_taken: impl Fn(&str) -> bool) {
        let shown = visible(written);
        match self.convert(written, server) {
            Err(reason) => self.left_out.push(format!("{shown}: {reason}")),
            Ok((name, _)) if is_taken(&name) || self.servers.iter().any(|(known, _)| *known == name) => {
                self.left_out.push(format!("{shown}: there is a server '{name}' already"));
            }
            Ok((name, entry)) => {
                let entry = self.resolve(&name, entry);
                self.servers.push((name, entry));
            }
        }
    }

    /// The name and the entry, with values as the other program has them.
    fn convert(&self, written: &str, server: &Value) -> std::result::Result<(String, Table), String> {
        let name: String = written
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
            .collect();
        let name = name.trim_matches(['-', '_']).to_owned();
        UpstreamName::new(&name)?;
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let mut entry = Table::new();
        match (text("command"), text("url")) {
            (Some(command), _) => {
                let arguments: Vec<&str> =
                    server["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let is_pinza = Path::new(command).file_name().is_some_and(|file| file == "pinza");
                if is_pinza && arguments.contains(&"serve") {
                    return Err("it is Pinza itself".into());
                }
                let words = std::iter::once(command).chain(arguments);
                entry.insert("command", Item::Value(words.collect::<Array>().into()));
                add::insert_pairs(&mut entry, "env", pairs(&server["env"]));
            }
            (None, Some(_)) if text("type") == Some("sse") => {
                return Err("it speaks the old HTTP+SSE transport, which has no successor here".into());
            }
            (None, Some(url)) => {
                entry.insert("url", url.into());
                add::insert_pairs(&mut entry, "headers", pairs(&server["headers"]));
            }
            (None, None) => return Err("it has neither command nor url".into()),
        }
        let checked: ServerTable =
            toml_edit::de::from_str(&entry.to_string()).map_err(|error| error.to_string())?;
        checked.spec(&name, Path::new("/"), Origin::User).map_err(|error| format!("{error:#}"))?;
        Ok((name, entry))
    }

    /// Values become references: to a variable that is kept now, or to one that somebody has to set.
    fn resolve(&mut self, server: &str, mut entry: Table) -> Table {
        for table in ["env", "headers"] {
            let Some(values) = entry.get_mut(table).and_then(Item::as_inline_table_mut) else { continue };
            for (key, value) in values.iter_mut() {
                let Some(text) = value.as_str() else { continue };
                let reference = match environment_references(text) {
                    Some((reference, names)) => {
                        self.wanted.extend(names);
                        reference
                    }
                    None => {
                        let name = variable_name(server, key.get());
                        self.secrets.push((name.clone(), text.to_owned()));
                        format!("${{env.{name}}}")
                    }
                };
                *value = reference.into();
            }
        }
        entry
    }

    fn toml(&self) -> String {
        let mut document = toml_edit::DocumentMut::new();
        for (name, entry) in &self.servers {
            // An empty document takes every table.
            let _ = add::insert(&mut document, name, entry.clone());
        }
        document.to_string()
    }

    fn write(&self, store: &VariableStore, config: &Path) -> Result<()> {
        for (name, value) in &self.secrets {
            store.set(name, value).map_err(|error| anyhow!("{error}"))?;
        }
        ConfigFile::edit(config.to_owned(), |document| {
            self.servers.iter().try_for_each(|(name, entry)| add::insert(document, name, entry.clone()))
        })?;
        Ok(())
    }
}

fn pairs(value: &Value) -> impl Iterator<Item = (String, String)> {
    let none = Map::new();
    let object = value.as_object().unwrap_or(&none).clone();
    object.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, text),
        other => (name, other.to_string()),
    })
}

/// `${NAME}`, `${NAME:-default}` and `${env:NAME}` as ours, and the names; none where the text has none of them.
fn environment_references(text: &str) -> Option<(String, Vec<String>)> {
    let (mut written, mut names) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, behind) = after.split_once('}')?;
        let name = inner.strip_prefix("env:").unwrap_or(inner);
        let name = name.split_once(":-").map_or(name, |(name, _)| name);
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        written.push_str(&format!("{before}${{env.{name}}}"));
        names.push(name.to_owned());
        rest = behind;
    }
    written.push_str(rest);
    (!names.is_empty()).then_some((written, names))
}

fn variable_name(server: &str, key: &str) -> String {
    let plain = |text: &str| -> String {
        text.to_uppercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    };
    let (server, key) = (plain(server), plain(key));
    if key.starts_with(&server) { key } else { format!("{server}_{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_the_environment_stay_references() {
        let ours = |text: &str| environment_references(text).map(|(text, _)| text);
        assert_eq!(ours("Bearer ${TOKEN}").as_deref(), Some("Bearer ${env.TOKEN}"));
        assert_eq!(ours("${env:A}${B:-x}").as_deref(), Some("${env.A}${env.B}"));
        assert_eq!(ours("sk-123"), None);
        assert_eq!(ours("${input:key}"), None);
        assert_eq!(variable_name("my-db", "url"), "MY_DB_URL");
        assert_eq!(variable_name("github", "GITHUB_TOKEN"), "GITHUB_TOKEN");
    }
}
