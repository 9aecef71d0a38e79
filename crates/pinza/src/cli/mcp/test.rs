//! `pinza mcp test`: one look at a server, with everything that it says.

use pinza::{
    core::visible,
    mcp::client::{Contact, Face, SeenTool, UpstreamError},
};
use serde_json::{Value, json};

use super::{Done, Global, Result, known, open_with_browser, runtime};
use crate::terminal::{Out, Printer};

/// How much of what a server printed is shown.
const LOG_LINES: usize = 20;

pub(super) fn run(global: &Global, printer: &Printer, name: &str) -> Result {
    let session = open_with_browser(global)?;
    printer.problems(&session.problems);
    let upstream = known(&session, name)?;
    if upstream.is_held() {
        return Err(upstream.refusal().into());
    }
    let runtime = runtime()?;
    let contact = runtime.block_on(upstream.contact());
    runtime.shutdown_background();
    match contact {
        Ok(contact) => {
            printer.json_or(|| as_json(name, &contact), |out| print(out, name, &contact));
            Ok(Done::Well)
        }
        Err(error) => {
            failed(printer, name, &error);
            Ok(Done::Answered)
        }
    }
}

pub(super) fn failed(printer: &Printer, name: &str, error: &UpstreamError) {
    let message = format!("The server {name} cannot be used: {}", error.message);
    printer.json_or(
        || json!({ "status": "error", "error_type": "execution_error", "message": message, "stderr": error.log }),
        |_| {
            printer.error(&message, None);
            let log = log_lines(&error.log);
            if !log.is_empty() {
                crate::terminal::write_stderr(&format!("It printed:\n  {}\n", log.join("\n  ")));
            }
        },
    );
}

pub(super) fn as_json(name: &str, contact: &Contact) -> Value {
    let facts = &contact.facts;
    let face = contact.record.shown();
    json!({
        "status": "success",
        "name": name,
        "server": { "name": facts.name, "title": facts.title, "version": facts.version },
        "revision": facts.revision,
        "summary": face.and_then(|face| face.summary.clone()),
        "tools": face.map(|face| face.tools.iter().map(|tool| json!({
            "name": format!("{name}__{}", tool.name),
            "description": tool.description,
            "readOnly": tool.is_read_only(),
        })).collect::<Vec<_>>()),
        "held": contact.record.changes().len(),
        "stderr": contact.log,
    })
}

pub(super) fn print(out: &mut Out, name: &str, contact: &Contact) {
    let facts = &contact.facts;
    let title = facts.title.as_ref().or(facts.name.as_ref());
    let title = title.map_or_else(|| name.to_owned(), |title| visible(title));
    let version = facts.version.as_ref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
    out.line(&format!("{title}{version}, MCP {}", visible(&facts.revision)));
    if let Some(face) = contact.record.shown() {
        if let Some(summary) = &face.summary {
            out.line(&visible(summary));
        }
        print_tools(out, name, face);
    }
    let held = contact.record.changes().len();
    if held > 0 {
        out.line(&format!("{held} changes are held. See them with: pinza mcp diff {name}"));
    }
    let log = log_lines(&contact.log);
    if !log.is_empty() {
        out.line("It printed:");
        log.iter().for_each(|line| out.line(&format!("  {line}")));
    }
}

fn print_tools(out: &mut Out, name: &str, face: &Face) {
    out.line(&format!("{} tools:", face.tools.len()));
    out.columns(face.tools.iter().map(|tool| [visible(&format!("{name}__{}", tool.name)), first_line(tool)]));
}

fn first_line(tool: &SeenTool) -> String {
    let text = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let line = visible(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default());
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn log_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| visible(line)).collect()
}
