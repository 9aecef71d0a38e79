//! `pinza env`: variables for tools, encrypted at rest. Values go in and never come out.

use std::io::{IsTerminal, Read as _};

use anyhow::{Context, bail};
use pinza::{
    ToolError,
    core::ErrorKind,
    host::secrets::{KeySource, SecretsError, VariableStore},
};
use serde_json::json;

use super::{Done, Global, Result, args::Env};
use crate::{home::Home, terminal::Printer};

pub(crate) fn run(global: &Global, printer: &Printer, command: Env) -> Result {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let store = open(&home)?;
    match command {
        Env::Set { name, value } => {
            let (name, value) = name_and_value(name, value)?;
            store.set(&name, &value).map_err(explain)?;
            printer.json_or(
                || json!({ "status": "success", "name": name }),
                |out| out.line(&format!("{name} is kept, encrypted.")),
            );
        }
        Env::List => {
            let names = store.names().map_err(explain)?;
            printer.json_or(
                || json!({ "env": names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>() }),
                |out| names.iter().for_each(|name| out.line(name)),
            );
        }
        Env::Rm { names } => {
            let known = store.names().map_err(explain)?;
            if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
                let message = format!("There is no variable '{}'", pinza::core::visible(unknown));
                let hint = "See their names: pinza env list";
                return Err(ToolError::new(ErrorKind::NotFound, message).hint(hint).into());
            }
            for name in &names {
                store.remove(name).map_err(explain)?;
            }
            printer.json_or(
                || json!({ "status": "success", "removed": names }),
                |out| out.line(&format!("Forgotten: {}", names.join(", "))),
            );
        }
    }
    Ok(Done::Well)
}

/// The store of this home, with `PINZA_KEY` where it is set.
pub(crate) fn open(home: &Home) -> Result<VariableStore> {
    VariableStore::open(&home.path, key()).map_err(explain)
}

/// The store of what Pinza itself signs in with, under the same key.
pub(crate) fn open_tokens(home: &Home) -> Result<VariableStore> {
    VariableStore::tokens(&home.path, key()).map_err(explain)
}

fn key() -> KeySource {
    match std::env::var("PINZA_KEY") {
        Ok(key) if !key.is_empty() => KeySource::Given(key),
        _ => KeySource::File,
    }
}

fn name_and_value(name: String, value: Option<String>) -> Result<(String, String)> {
    match (name.split_once('='), value) {
        (Some((name, value)), None) => Ok((name.into(), value.into())),
        (Some((name, _)), Some(_)) => bail!("{name} has two values"),
        (None, Some(value)) => Ok((name, value)),
        (None, None) => {
            if std::io::stdin().is_terminal() {
                crate::terminal::write_stderr(&format!("Value of {name} (end with Ctrl-D): "));
            }
            let mut value = String::new();
            std::io::stdin().read_to_string(&mut value).context("cannot read the value from stdin")?;
            let value = value.strip_suffix('\n').unwrap_or(&value);
            Ok((name, value.strip_suffix('\r').unwrap_or(value).to_owned()))
        }
    }
}

fn explain(error: SecretsError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => anyhow::anyhow!("{error}\nhint: {hint}"),
        None => anyhow::anyhow!("{error}"),
    }
}
