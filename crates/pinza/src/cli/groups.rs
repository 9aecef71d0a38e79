//! `pinza groups`: sets of tools that are loaded on demand.

use pinza::{
    ToolError,
    core::{ErrorKind, Group, Snapshot},
};
use serde_json::{Value, json};

use super::{Done, Global, Result, args::Groups, author::counted, session::Session};
use crate::terminal::Printer;

pub(crate) fn run(global: &Global, printer: &Printer, command: Groups) -> Result {
    let session = Session::open(global)?;
    let snapshot = &*session.pinza.snapshot();
    match command {
        Groups::List => printer.json_or(
            || json!({ "groups": snapshot.groups().map(|group| summary(snapshot, group)).collect::<Vec<_>>() }),
            |out| {
                out.columns(snapshot.groups().map(|group| {
                    let count = snapshot.group_tools(group.name.as_str()).count();
                    [group.name.to_string(), counted(count, "tool"), pinza::core::visible(&group.description)]
                }));
            },
        ),
        Groups::Show { name } => {
            let Some(group) = snapshot.group(&name) else {
                let known: Vec<&str> = snapshot.groups().map(|group| group.name.as_str()).collect();
                let message = format!(
                    "Tool group '{}' not found. Available groups: {}",
                    pinza::core::visible(&name),
                    known.join(", ")
                );
                return Err(ToolError::new(ErrorKind::NotFound, message).into());
            };
            let tools: Vec<_> = snapshot.group_tools(&name).map(|entry| entry.definition()).collect();
            printer.json_or(
                || {
                    let mut shown = summary(snapshot, group);
                    let tool = |tool: &&pinza::ToolDefinition| json!({ "name": tool.name, "description": tool.description });
                    shown["tools"] = tools.iter().map(tool).collect();
                    shown
                },
                |out| {
                    out.heading(&pinza::core::visible(&group.display_name));
                    out.line(&pinza::core::visible(&group.description));
                    out.line("");
                    let row = |tool: &&pinza::ToolDefinition| {
                        [tool.name.to_string(), pinza::core::visible(&tool.description)]
                    };
                    out.columns(tools.iter().map(row));
                },
            );
        }
    }
    Ok(Done::Well)
}

pub(crate) fn summary(snapshot: &Snapshot, group: &Group) -> Value {
    json!({
        "name": group.name,
        "displayName": group.display_name,
        "description": group.description,
        "toolCount": snapshot.group_tools(group.name.as_str()).count(),
    })
}
