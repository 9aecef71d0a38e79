//! `pinza mcp add`: a server is looked at once, and then written down.

use anyhow::{Context, anyhow};
use pinza::{
    Pinza, ToolError,
    core::visible,
    mcp::client::{Origin, Upstream, UpstreamName},
};
use serde_json::json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::{Done, Global, Result, home, open_with_browser, runtime, session, test};
use crate::{
    cli::args::AddServer,
    config::{ConfigFile, table},
    terminal::Printer,
    upstreams::ServerTable,
};

pub(super) fn run(global: &Global, printer: &Printer, wanted: AddServer) -> Result {
    let name = UpstreamName::new(&wanted.name).map_err(|error| anyhow!(error))?;
    let home = home(global)?;
    let entry = entry(&wanted)?;
    let config = ConfigFile::read(home.config_file())?.config;
    if config.mcp.servers.contains_key(name.as_str()) {
        let message = format!("There is a server '{name}' already");
        let hint = format!("Remove it first with: pinza mcp remove {name}");
        return Err(ToolError::validation(message).hint(hint).into());
    }
    let (workspace, _) = session::workspace(global, &home)?;
    let server: ServerTable = toml_edit::de::from_str(&entry.to_string()).context("that is no server")?;
    let spec = server.spec(name.as_str(), &workspace, Origin::User)?;
    let contact = if wanted.no_start {
        None
    } else {
        let session = open_with_browser(global)?;
        refuse_taken(&session.pinza, name.as_str())?;
        // What was seen of another server under this name is not about this one.
        let upstream = session.pinza.upstreams().beside(spec).context("this runtime has no servers")?;
        forget(&upstream)?;
        let runtime = runtime()?;
        let contact = runtime.block_on(upstream.contact());
        runtime.shutdown_background();
        match contact {
            Ok(contact) => Some(contact),
            Err(error) => {
                test::failed(printer, name.as_str(), &error);
                printer.warning("nothing was written; with --no-start it would be");
                return Ok(Done::Answered);
            }
        }
    };
    ConfigFile::edit(home.config_file(), |document| insert(document, name.as_str(), entry))?;
    printer.json_or(
        || match &contact {
            Some(contact) => test::as_json(name.as_str(), contact),
            None => json!({ "status": "success", "name": name.as_str() }),
        },
        |out| {
            if let Some(contact) = &contact {
                test::print(out, name.as_str(), contact);
            }
            out.line(&format!("Added: {name}"));
        },
    );
    Ok(Done::Well)
}

fn refuse_taken(pinza: &Pinza, name: &str) -> Result<()> {
    if pinza.snapshot().group(name).is_none() {
        return Ok(());
    }
    let message = format!("There is a group '{name}' already");
    Err(ToolError::validation(message).hint("Give the server another name.").into())
}

fn forget(upstream: &Upstream) -> Result<()> {
    upstream.forget().map_err(|error| anyhow!(error))
}

/// The table of one server, as it is written.
fn entry(wanted: &AddServer) -> Result<Table> {
    let mut entry = Table::new();
    match &wanted.url {
        Some(url) => {
            anyhow::ensure!(wanted.variable.is_empty(), "--variable is for a command; a URL takes --header");
            entry.insert("url", url.as_str().into());
            let headers = wanted.header.iter().cloned();
            insert_pairs(&mut entry, "headers", headers);
        }
        None => {
            anyhow::ensure!(wanted.header.is_empty(), "--header is for a URL; a command takes --variable");
            entry.insert("command", Item::Value(Value::Array(wanted.command.iter().collect::<Array>())));
            let variables = wanted.variable.iter().map(|text| match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (text.clone(), format!("${{env.{text}}}")),
            });
            insert_pairs(&mut entry, "env", variables);
        }
    }
    if let Some(summary) = &wanted.summary {
        entry.insert("summary", summary.as_str().into());
    }
    Ok(entry)
}

pub(super) fn insert_pairs(entry: &mut Table, key: &str, pairs: impl Iterator<Item = (String, String)>) {
    let table: InlineTable = pairs.map(|(name, value)| (name, Value::from(value))).collect();
    if !table.is_empty() {
        entry.insert(key, Item::Value(Value::InlineTable(table)));
    }
}

/// Adds a server to a configuration, behind the others.
pub(super) fn insert(document: &mut DocumentMut, name: &str, entry: Table) -> Result<()> {
    let mcp = table(document, "mcp")?;
    let servers = mcp.entry("servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_mut().ok_or_else(|| {
        anyhow!("'mcp.servers' is written inline; write it as [mcp.servers.{}] tables", visible(name))
    })?;
    servers.insert(name, Item::Table(entry));
    Ok(())
}
