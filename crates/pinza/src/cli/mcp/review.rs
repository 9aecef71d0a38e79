//! `pinza mcp diff` and `pinza mcp accept`: what servers show that nobody has looked at yet.

use pinza::{
    ToolError,
    core::visible,
    mcp::client::{Change, Origin, Record, SeenTool, Upstream},
};
use serde_json::{Value, json};

use super::{Done, Global, Result, Session, confirmed, known, open_with_browser, runtime, test};
use crate::terminal::{Out, Printer, is_interactive};

pub(super) fn diff(global: &Global, printer: &Printer, name: Option<&str>) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let upstreams: Vec<_> = match name {
        Some(name) => vec![known(&session, name)?],
        None => session.pinza.upstreams().iter().collect(),
    };
    let mut found = Vec::new();
    for upstream in upstreams {
        let record = upstream.record().map_err(|error| anyhow::anyhow!(error))?;
        let changes = record.as_ref().map(Record::changes).unwrap_or_default();
        if let Some(record) = record.filter(|_| !changes.is_empty()) {
            upstream.note_looked(&record).map_err(|error| anyhow::anyhow!(error))?;
        }
        let is_new = upstream.is_held();
        if is_new || !changes.is_empty() {
            found.push((upstream, is_new, changes));
        }
    }
    printer.json_or(
        || {
            let server = |(upstream, is_new, changes): &(&std::sync::Arc<Upstream>, bool, Vec<Change>)| {
                json!({
                    "name": upstream.spec().name.as_str(),
                    "new": is_new,
                    "launch": upstream.spec().launch.shown(),
                    "directory": upstream.spec().launch.directory().map(|path| path.display().to_string()),
                    "changes": changes.iter().map(as_json).collect::<Vec<_>>(),
                })
            };
            json!({ "servers": found.iter().map(server).collect::<Vec<_>>() })
        },
        |out| {
            if found.is_empty() {
                out.line("Nothing is held.");
            }
            for (upstream, is_new, changes) in &found {
                print(out, upstream, *is_new, changes);
            }
        },
    );
    Ok(Done::Well)
}

fn print(out: &mut Out, upstream: &Upstream, is_new: bool, changes: &[Change]) {
    let name = &upstream.spec().name;
    out.heading(&format!("{name}:"));
    if is_new {
        out.line(&format!("  new in this project; it would start: {}", upstream.spec().launch.shown()));
        print_directory(out, upstream);
    }
    for change in changes {
        print_change(out, change);
    }
    out.line(&format!("  Accept it with: pinza mcp accept {name}"));
}

/// Where a project's server is started is the project's choice, so a person sees it.
fn print_directory(out: &mut Out, upstream: &Upstream) {
    if let (Origin::Project(_), Some(directory)) =
        (&upstream.spec().origin, upstream.spec().launch.directory())
    {
        out.line(&format!("  in: {}", visible(&directory.display().to_string())));
    }
}

fn print_change(out: &mut Out, change: &Change) {
    match change {
        Change::Added(tool) => {
            out.line(&format!("  added: {}", visible(&tool.name)));
            print_tool(out, '+', tool);
        }
        Change::Removed(tool) => out.line(&format!("  removed: {}", visible(&tool.name))),
        Change::Changed { old, new } => {
            out.line(&format!("  changed: {}", visible(&new.name)));
            print_difference(out, old, new);
        }
        Change::Summary { old, new } => print_texts(out, "summary", old.as_deref(), new.as_deref()),
        Change::Title { old, new } => print_texts(out, "title", old.as_deref(), new.as_deref()),
    }
}

fn print_texts(out: &mut Out, what: &str, old: Option<&str>, new: Option<&str>) {
    out.line(&format!("  {what}:"));
    old.into_iter().for_each(|text| marked(out, '-', text));
    new.into_iter().for_each(|text| marked(out, '+', text));
}

/// Each part that differs, old and new.
fn print_difference(out: &mut Out, old: &SeenTool, new: &SeenTool) {
    for ((label, before), (_, after)) in parts(old).into_iter().zip(parts(new)) {
        if before != after {
            out.line(&format!("    {label}:"));
            before.into_iter().for_each(|text| marked(out, '-', &text));
            after.into_iter().for_each(|text| marked(out, '+', &text));
        }
    }
}

fn print_tool(out: &mut Out, mark: char, tool: &SeenTool) {
    for (label, text) in parts(tool) {
        if let Some(text) = text {
            out.line(&format!("    {label}:"));
            marked(out, mark, &text);
        }
    }
}

fn parts(tool: &SeenTool) -> [(&'static str, Option<String>); 5] {
    let spaced = |value: &Value| format!("{value:#}");
    [
        ("title", tool.title.clone()),
        ("description", tool.description.clone()),
        ("parameters", Some(spaced(&tool.input_schema))),
        ("result", tool.output_schema.as_ref().map(spaced)),
        ("annotations", tool.annotations.as_ref().map(spaced)),
    ]
}

/// Foreign text: every line is marked, so that none can pass for Pinza's own.
fn marked(out: &mut Out, mark: char, text: &str) {
    text.lines().for_each(|line| out.line(&format!("      {mark} {}", visible(line))));
}

fn as_json(change: &Change) -> Value {
    match change {
        Change::Added(tool) => json!({ "change": "added", "tool": tool.name, "new": tool }),
        Change::Removed(tool) => json!({ "change": "removed", "tool": tool.name, "old": tool }),
        Change::Changed { old, new } => {
            json!({ "change": "changed", "tool": new.name, "old": old, "new": new })
        }
        Change::Summary { old, new } => json!({ "change": "summary", "old": old, "new": new }),
        Change::Title { old, new } => json!({ "change": "title", "old": old, "new": new }),
    }
}

/// Accepts what a person was shown. A project's new server is started for the first time, once somebody has said yes.
///
/// Somebody at the terminal sees the change here and is asked. A script, or whoever said yes beforehand, has looked with
/// `diff`: if the server shows something else since then, nothing is accepted.
pub(super) fn accept(global: &Global, printer: &Printer, name: &str) -> Result {
    let session = open_with_browser(global)?;
    let upstream = known(&session, name)?;
    if upstream.is_held() {
        printer.text(|out| {
            out.line(&format!("{name} would start: {}", upstream.spec().launch.shown()));
            print_directory(out, upstream);
        });
        confirmed(global, "Start it, to see its tools?")?;
        let runtime = runtime()?;
        let contact = runtime.block_on(upstream.contact());
        runtime.shutdown_background();
        match contact {
            Ok(contact) => printer.text(|out| test::print(out, name, &contact)),
            Err(error) => {
                test::failed(printer, name, &error);
                return Ok(Done::Answered);
            }
        }
    }
    let shown = upstream.record().map_err(|error| anyhow::anyhow!(error))?.unwrap_or_default();
    let changes = shown.changes();
    let asks = !global.yes && !printer.is_json() && is_interactive();
    if !asks && shown.changed_since_looked() {
        let message = format!("{name} changed again since you looked; nothing was accepted");
        let hint = format!("Look at it with: pinza mcp diff {name}");
        return Err(ToolError::validation(message).hint(hint).into());
    }
    if !changes.is_empty() {
        printer.text(|out| {
            out.heading(&format!("{name}:"));
            changes.iter().for_each(|change| print_change(out, change));
        });
        if asks {
            confirmed(global, "Accept this?")?;
        }
    }
    let record = upstream.accept(&shown).map_err(|error| anyhow::anyhow!(error))?;
    let tools = record.accepted.as_ref().map_or(0, |face| face.tools.len());
    printer.json_or(
        || {
            json!({
                "status": "success",
                "name": name,
                "accepted": changes.len(),
                "changes": changes.iter().map(as_json).collect::<Vec<_>>(),
                "tools": tools,
            })
        },
        |out| match changes.len() {
            0 => out.line(&format!("Nothing of {name} was held.")),
            _ => out.line(&format!("Accepted: {name}, {tools} tools")),
        },
    );
    Ok(Done::Well)
}
