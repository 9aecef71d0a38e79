//! `pinza schema`: tool definitions as a provider's API takes them.

use pinza::{
    SchemaOptions, Selection, ToolError,
    core::{Entry, ErrorKind, Snapshot},
    tool_schemas,
};
use serde_json::json;

use super::{Done, Global, Result, args::Schema, session::Session};
use crate::terminal::Printer;

pub(crate) fn run(global: &Global, printer: &Printer, arguments: Schema) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let snapshot = session.pinza.snapshot();
    let entries = chosen(&snapshot, &arguments)?;
    let definitions = entries.iter().map(|entry| entry.definition());
    let schemas = tool_schemas(arguments.provider, definitions, SchemaOptions { strict: arguments.strict });
    if arguments.report {
        printer.json_or(
            || json!({ "losses": schemas.losses }),
            |out| match schemas.losses.as_slice() {
                [] => out.line("Nothing is lost."),
                losses => losses.iter().for_each(|loss| out.line(&loss.to_string())),
            },
        );
    } else {
        printer.data(&schemas.value);
    }
    Ok(Done::Well)
}

/// The enabled tools that the flags choose; the core tools where they choose nothing.
fn chosen<'a>(snapshot: &'a Snapshot, arguments: &Schema) -> Result<Vec<&'a Entry>> {
    let selection = Selection {
        profile: arguments.profile,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
    };
    if let Some(idle) = selection.idle(snapshot).next() {
        let message = format!("There is no tool or set '{}'", pinza::core::visible(idle));
        let hint = "See what there is: pinza tools list";
        return Err(ToolError::new(ErrorKind::ToolNotFound, message).hint(hint).into());
    }
    if let Some(group) = &arguments.group
        && snapshot.group(group).is_none()
    {
        let known: Vec<&str> = snapshot.groups().map(|group| group.name.as_str()).collect();
        let message = format!(
            "Tool group '{}' not found. Available groups: {}",
            pinza::core::visible(group),
            known.join(", ")
        );
        return Err(ToolError::new(ErrorKind::NotFound, message).into());
    }
    let everything = arguments.all || arguments.profile.is_some() || !arguments.include.is_empty();
    let wanted = |entry: &&Entry| match (&arguments.group, &entry.meta().group) {
        (Some(group), of) => of.as_ref().is_some_and(|name| name == group.as_str()),
        (None, of) => everything || of.is_none(),
    };
    let entries = selection.of(snapshot).filter(|entry| entry.is_enabled());
    Ok(entries.filter(wanted).collect())
}
