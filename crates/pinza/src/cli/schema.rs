//! `pinza schema`: tool definitions as a provider's API takes them.

use pinza::{
    SchemaOptions, Selection, ToolError,
    core::{Entry, ErrorKind, View},
    tool_schemas,
};
use serde_json::json;

use super::{Done, Global, Result, args::Schema, session::Session};
use crate::terminal::Printer;

pub(crate) fn run(global: &Global, printer: &Printer, arguments: Schema) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let view = session.pinza.view();
    let entries = chosen(&view, &arguments)?;
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

/// The usable tools that the flags choose; where they choose nothing, what a conversation begins with.
fn chosen<'a>(view: &'a View, arguments: &Schema) -> Result<Vec<&'a Entry>> {
    let snapshot = &*view.snapshot;
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
    let chooses = arguments.all || arguments.profile.is_some() || !arguments.include.is_empty();
    let entries: Vec<&Entry> = match &arguments.group {
        Some(group) => view.group_tools(group).collect(),
        None if chooses => view.tools().collect(),
        None => view.core().collect(),
    };
    Ok(entries.into_iter().filter(|entry| selection.contains(entry.meta())).collect())
}
