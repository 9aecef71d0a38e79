//! `pinza mcp`: other MCP servers as groups of tools, and Pinza as a server of agents.

mod add;
mod agents;
mod import;
mod install;
mod review;
mod splice;
mod test;

use std::sync::Arc;

use pinza::{
    ToolError,
    core::{BoxFuture, ErrorKind, visible},
    mcp::client::{Browser, Launch, Origin, Record, Upstream},
};
use serde_json::{Value, json};

use super::{
    Done, Global, Result,
    args::Mcp,
    session::{self, Session},
};
use crate::{
    config::ConfigFile,
    home::Home,
    terminal::{Printer, write_stderr},
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Mcp) -> Result {
    match command {
        Mcp::Add(server) => add::run(global, printer, server),
        Mcp::List => list(global, printer),
        Mcp::Test { name } => test::run(global, printer, &name),
        Mcp::Remove { name } => remove(global, printer, &name),
        Mcp::Diff { name } => review::diff(global, printer, name.as_deref()),
        Mcp::Accept { name } => review::accept(global, printer, &name),
        Mcp::Import { agent, file } => import::run(global, printer, agent, file),
        Mcp::Install { agent, file } => install::run(global, printer, agent, file),
    }
}

fn list(global: &Global, printer: &Printer) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let servers: Vec<Value> = session.pinza.upstreams().iter().map(|upstream| described(upstream)).collect();
    printer.json_or(
        || json!({ "servers": servers }),
        |out| {
            if servers.is_empty() {
                out.line(
                    "No servers yet. Add one: pinza mcp add NAME -- COMMAND, or: pinza mcp add NAME URL",
                );
            }
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            out.columns(
                servers
                    .iter()
                    .map(|server| [text(&server["name"]), text(&server["state"]), text(&server["launch"])]),
            );
        },
    );
    Ok(Done::Well)
}

fn described(upstream: &Upstream) -> Value {
    let spec = upstream.spec();
    let record = upstream.record();
    let (tools, held) = match &record {
        Ok(Some(record)) => (record.accepted.as_ref().map(|face| face.tools.len()), record.changes().len()),
        _ => (None, 0),
    };
    let state = match &record {
        Err(error) => error.clone(),
        Ok(_) if upstream.is_held() => "held, as it is new in this project".into(),
        Ok(None) => "not looked at yet".into(),
        Ok(Some(record)) => state(record),
    };
    json!({
        "name": spec.name.as_str(),
        "launch": spec.launch.shown(),
        "transport": match spec.launch { Launch::Command { .. } => "stdio", Launch::Http { .. } => "http" },
        "source": match spec.origin { Origin::User => "user", Origin::Project(_) => "project" },
        "state": state,
        "tools": tools,
        "held": held,
    })
}

fn state(record: &Record) -> String {
    let tools = record.accepted.as_ref().map_or(0, |face| face.tools.len());
    let tools = match tools {
        1 => "1 tool".to_owned(),
        tools => format!("{tools} tools"),
    };
    match record.changes().len() {
        0 => tools,
        1 => format!("{tools}, 1 change held"),
        held => format!("{tools}, {held} changes held"),
    }
}

fn remove(global: &Global, printer: &Printer, name: &str) -> Result {
    let session = Session::open(global)?;
    let Some(upstream) = session.pinza.upstreams().get(name) else {
        return Err(unknown(&session, name).into());
    };
    if let Origin::Project(path) = &upstream.spec().origin {
        let message =
            format!("The server {name} stands in {}, not in your own configuration", path.display());
        return Err(ToolError::validation(message).hint("Remove it there.").into());
    }
    ConfigFile::edit(session.home.config_file(), |document| {
        let servers = document.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers"));
        if let Some(servers) = servers.and_then(|servers| servers.as_table_like_mut()) {
            servers.remove(name);
        }
        Ok(())
    })?;
    upstream.forget().map_err(|error| anyhow::anyhow!(error))?;
    printer.json_or(
        || json!({ "status": "success", "removed": name }),
        |out| out.line(&format!("Removed: {name}")),
    );
    Ok(Done::Well)
}

/// The server of a name.
fn known<'a>(session: &'a Session, name: &str) -> Result<&'a Arc<Upstream>> {
    session.pinza.upstreams().get(name).ok_or_else(|| unknown(session, name).into())
}

fn unknown(session: &Session, name: &str) -> ToolError {
    let names: Vec<&str> =
        session.pinza.upstreams().iter().map(|upstream| upstream.spec().name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => "There are no servers yet. Add one with: pinza mcp add".to_owned(),
        names => format!("There are: {}", names.join(", ")),
    };
    ToolError::new(ErrorKind::NotFound, format!("There is no server '{}'", visible(name))).hint(hint)
}

/// A session in which somebody can be sent to a sign-in page.
fn open_with_browser(global: &Global) -> Result<Session> {
    Session::open_with(global, |builder| builder.browser(Arc::new(PrintedPage)))
}

/// No browser is started: a person sees where they are sent, and goes there.
struct PrintedPage;

impl Browser for PrintedPage {
    fn open<'a>(&'a self, server: &'a str, url: &'a str) -> BoxFuture<'a, std::result::Result<(), String>> {
        write_stderr(&format!("{server} wants you to sign in. Open this page:\n\n  {}\n\n", visible(url)));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// The home, and a session's project and workspace, without building anything.
fn home(global: &Global) -> Result<Home> {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    // A wrong workspace is told before anything is changed.
    session::workspace(global, &home)?;
    Ok(home)
}

/// Somebody has seen the change and wants it.
fn confirmed(global: &Global, what: &str) -> Result<()> {
    if global.yes {
        return Ok(());
    }
    if crate::terminal::is_interactive() {
        let answer = crate::terminal::ask(&format!("\n{what} [y] yes   [n] no: "));
        if matches!(answer.as_str(), "y" | "yes") {
            return Ok(());
        }
        return Err(ToolError::new(ErrorKind::Cancelled, "Nothing was changed").into());
    }
    let message = "Nothing was changed, because nobody is here to be asked";
    Err(ToolError::new(ErrorKind::PermissionDenied, message).hint("Say yes with --yes.").into())
}
