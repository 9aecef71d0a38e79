//! `pinza agents`: prompts, models and tool sets that were given a name.

use std::{path::PathBuf, sync::Arc};

use anyhow::ensure;
use pinza::{
    Agents as Keeper, NewAgent, ToolError,
    core::{ErrorKind, visible},
};
use serde_json::json;
use toml_edit::{Array, Item, Table, value};

use super::{Done, Global, Result, args::Agents};
use crate::{
    config::{AgentTable, ConfigFile, table},
    home::Home,
    terminal::Printer,
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Agents) -> Result {
    let home = Home::find(global.home.as_deref())?;
    let agents = ConfigFile::read(home.config_file())?.config.agents;
    match command {
        Agents::List => {
            let named = |(name, agent): (&String, &AgentTable)| {
                let mut shown = json!(agent);
                shown["name"] = name.as_str().into();
                shown
            };
            printer.json_or(
                || json!({ "agents": agents.iter().map(named).collect::<Vec<_>>() }),
                |out| {
                    out.columns(agents.iter().map(|(name, agent)| {
                        let model = agent.model.as_deref().or(agent.provider.as_deref()).unwrap_or_default();
                        let prompt = agent.system_prompt.as_deref().unwrap_or_default();
                        let line: String =
                            prompt.lines().next().unwrap_or_default().chars().take(60).collect();
                        [visible(name), visible(model), visible(&line)]
                    }));
                },
            );
        }
        Agents::Show { name } => {
            let agent = agents.get(&name).ok_or_else(|| unknown(&name))?;
            printer.json_or(
                || json!(agent),
                |out| {
                    let text =
                        |value: &Option<String>| value.clone().unwrap_or_else(|| "as usual".to_owned());
                    let tools =
                        agent.tools.as_ref().map_or_else(|| "all".to_owned(), |tools| tools.join(", "));
                    out.columns([
                        ["provider".to_owned(), text(&agent.provider)],
                        ["model".to_owned(), text(&agent.model)],
                        ["tools".to_owned(), tools],
                    ]);
                    if let Some(prompt) = &agent.system_prompt {
                        out.line("");
                        out.text(prompt);
                    }
                },
            );
        }
        Agents::Rm { names } => {
            if let Some(name) = names.iter().find(|name| !agents.contains_key(*name)) {
                return Err(unknown(name).into());
            }
            ConfigFile::edit(home.config_file(), |document| {
                let agents = table(document, "agents")?;
                names.iter().for_each(|name| drop(agents.remove(name)));
                Ok(())
            })?;
            printer.json_or(
                || json!({ "status": "success", "removed": names }),
                |out| out.line(&format!("Removed: {}", names.join(", "))),
            );
        }
    }
    Ok(Done::Well)
}

fn unknown(name: &str) -> ToolError {
    let error = ToolError::new(ErrorKind::NotFound, format!("There is no agent '{}'", visible(name)));
    error.hint("See what there is: pinza agents list")
}

/// Keeps agents that models create in this home's configuration.
pub(crate) fn keeper(home: &Home) -> Arc<dyn Keeper> {
    Arc::new(InConfig { file: home.config_file() })
}

struct InConfig {
    file: PathBuf,
}

impl Keeper for InConfig {
    fn create(&self, agent: &NewAgent) -> std::result::Result<(), ToolError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if agent.name.is_empty() || agent.name.len() > 64 || !agent.name.chars().all(fits) {
            let message = "Parameter 'name' must have letters, digits, - and _, and at most 64 of them";
            return Err(ToolError::validation(message));
        }
        let written = ConfigFile::edit(self.file.clone(), |document| {
            let agents = table(document, "agents")?;
            ensure!(!agents.contains_key(&agent.name), "There is an agent '{}' already", agent.name);
            agents.insert(&agent.name, Item::Table(written(agent)));
            Ok(())
        });
        written.map(drop).map_err(|error| ToolError::execution(format!("{error:#}")))
    }
}

fn written(agent: &NewAgent) -> Table {
    let mut written = Table::new();
    for (key, text) in [("provider", &agent.provider), ("model", &agent.model)] {
        if let Some(text) = text {
            written.insert(key, value(text));
        }
    }
    written.insert("system_prompt", value(&agent.system_prompt));
    if let Some(tools) = &agent.tools {
        written.insert("tools", value(tools.iter().collect::<Array>()));
    }
    written
}
