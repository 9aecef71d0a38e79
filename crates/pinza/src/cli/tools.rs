//! `pinza tools`: which tools there are, and which are switched on.

use std::path::Path;

use pinza::{
    ToolError,
    core::{Entry, ErrorKind, SECTIONS, selects},
};
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, value};

use super::{
    Done, Global, Result,
    args::Tools,
    author, groups, search,
    session::{Problem, Session, is_known},
};
use crate::{
    config::{ConfigFile, table},
    terminal::{Out, Printer},
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Tools) -> Result {
    let session = || Session::open(global);
    match command {
        Tools::List => list(printer, &session()?),
        Tools::Show { name } => show(printer, &session()?, &name)?,
        Tools::Search(wanted) => return search::run(printer, &session()?, &wanted),
        Tools::Enable { names } => enable(printer, &session()?, &names)?,
        Tools::Disable { names } => disable(printer, &session()?, &names)?,
        // These look at directories of scripts, whether or not they load.
        Tools::Check { directories } => return author::check(global, printer, directories),
        Tools::New(wanted) => return author::new(global, printer, wanted),
        Tools::Test(wanted) => return author::test(global, printer, wanted),
    }
    Ok(Done::Well)
}

fn list(printer: &Printer, session: &Session) {
    let snapshot = &*session.pinza.snapshot();
    printer.json_or(
        || {
            json!({
                "tools": snapshot.tools().map(summary).collect::<Vec<_>>(),
                "groups": snapshot.groups().map(|group| groups::summary(snapshot, group)).collect::<Vec<_>>(),
                "problems": session.all_problems(),
            })
        },
        |out| {
            print_sections(out, snapshot.tools());
            printer.problems(&session.all_problems());
        },
    );
}

fn summary(entry: &Entry) -> Value {
    let (meta, definition) = (entry.meta(), entry.definition());
    json!({
        "name": definition.name,
        "description": definition.description,
        "group": meta.group,
        "section": meta.section,
        "profiles": meta.profiles,
        "source": meta.source,
        "readOnly": definition.read_only,
        "enabled": entry.is_enabled(),
    })
}

fn print_sections<'a>(out: &mut Out, entries: impl Iterator<Item = &'a Entry>) {
    let entries: Vec<&Entry> = entries.collect();
    let known = |id: &str| SECTIONS.iter().position(|section| section.id == id);
    let mut ids: Vec<&str> = Vec::new();
    for entry in &entries {
        if !ids.contains(&entry.meta().section.as_str()) {
            ids.push(&entry.meta().section);
        }
    }
    ids.sort_by_key(|id| known(id).unwrap_or(usize::MAX));
    for (index, id) in ids.into_iter().enumerate() {
        if index > 0 {
            out.line("");
        }
        out.heading(known(id).map_or(id, |place| SECTIONS[place].label));
        let rows = entries.iter().filter(|entry| entry.meta().section == id).map(|entry| {
            let group = entry.meta().group.as_ref().map_or_else(String::new, |group| format!("[{group}]"));
            let off = if entry.is_enabled() { "" } else { "(disabled) " };
            let description = pinza::core::visible(&entry.definition().description);
            [entry.definition().name.to_string(), group, format!("{off}{description}")]
        });
        out.columns(rows);
    }
}

fn show(printer: &Printer, session: &Session, name: &str) -> Result<()> {
    let snapshot = session.pinza.snapshot();
    let Some(entry) = snapshot.get(name) else {
        printer.problems(&session.faults);
        return Err(unknown(session, name).into());
    };
    let definition = entry.definition();
    let capabilities: Vec<&str> =
        definition.capabilities.iter().map(|capability| capability.as_str()).collect();
    printer.json_or(
        || {
            let mut shown = summary(entry);
            shown["title"] = json!(definition.title);
            shown["capabilities"] = json!(capabilities);
            shown["timeoutSeconds"] = json!(definition.timeout.as_secs_f64());
            shown["parameters"] = definition.parameters.schema().clone();
            shown["keywords"] = json!(definition.keywords);
            shown["examples"] = json!(definition.examples);
            shown
        },
        |out| {
            let state = if entry.is_enabled() { "" } else { " (disabled)" };
            out.heading(&format!("{name}{state}"));
            out.line(&pinza::core::visible(&definition.description));
            out.line("");
            let group = entry.meta().group.as_ref().map_or("none, a core tool", |group| group.as_str());
            let needs = if capabilities.is_empty() { "nothing".into() } else { capabilities.join(", ") };
            let mut rows = vec![
                ["group".into(), group.to_owned()],
                ["source".into(), entry.meta().source.to_string()],
                ["needs".into(), needs],
                ["timeout".into(), format!("{} s", definition.timeout.as_secs_f64())],
            ];
            if !definition.keywords.is_empty() {
                rows.push(["keywords".into(), pinza::core::visible(&definition.keywords.join(", "))]);
            }
            rows.extend(definition.examples.iter().map(|example| {
                let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
                ["example".to_owned(), pinza::core::visible(&text)]
            }));
            out.columns(rows);
            out.line("");
            print_parameters(out, entry);
        },
    );
    Ok(())
}

fn print_parameters(out: &mut Out, entry: &Entry) {
    let parameters = &entry.definition().parameters;
    if parameters.properties().next().is_none() {
        out.line("It takes no parameters.");
        return;
    }
    out.heading("Parameters");
    let rows = parameters.properties().map(|(name, schema)| {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(pinza::core::visible);
        let optional = if parameters.is_required(name) { "" } else { " (optional)" };
        let kind = text("type").unwrap_or_else(|| "any".into());
        [pinza::core::visible(name), format!("{kind}{optional}"), text("description").unwrap_or_default()]
    });
    out.columns(rows);
}

fn disable(printer: &Printer, session: &Session, names: &[String]) -> Result<()> {
    for name in names {
        if !is_known(&session.pinza, name) {
            return Err(unknown(session, name).into());
        }
    }
    change(printer, session, |disabled| {
        for name in names {
            if !disabled.iter().any(|entry| entry.as_str() == Some(name)) {
                disabled.push(name.as_str());
            }
        }
        Ok(())
    })
}

fn enable(printer: &Printer, session: &Session, names: &[String]) -> Result<()> {
    for name in names {
        let listed = session.config.tools.disabled.iter().any(|entry| entry == name);
        let means = |entry: &&Entry| selects(name, entry.meta());
        if !listed && !is_known(&session.pinza, name) {
            return Err(unknown(session, name).into());
        }
        // A tool that a set switches off stays off as long as the set is listed.
        let still_off = |entry: &Entry| {
            let left = session.config.tools.disabled.iter().filter(|listed| !names.contains(listed));
            left.into_iter().find(|listed| selects(listed, entry.meta())).cloned()
        };
        if let Some(set) = session.pinza.snapshot().tools().filter(means).find_map(still_off) {
            let message = format!("'{name}' is switched off by '{set}'");
            let hint = format!("Enable the whole set: pinza tools enable {set}");
            return Err(ToolError::validation(message).hint(hint).into());
        }
    }
    change(printer, session, |disabled| {
        disabled.retain(|entry| !names.iter().any(|name| entry.as_str() == Some(name)));
        Ok(())
    })
}

fn change(printer: &Printer, session: &Session, edit: impl FnOnce(&mut Array) -> Result<()>) -> Result<()> {
    let edited = ConfigFile::edit(session.home.config_file(), |document: &mut DocumentMut| {
        let list = table(document, "tools")?.entry("disabled").or_insert_with(|| value(Array::new()));
        edit(list.as_array_mut().ok_or_else(|| anyhow::anyhow!("'tools.disabled' is not a list"))?)
    })?;
    let disabled = edited.config.tools.disabled;
    printer.json_or(
        || json!({ "status": "success", "disabled": disabled }),
        |out| match disabled.as_slice() {
            [] => out.line("All tools are on."),
            disabled => out.line(&format!("Switched off: {}", disabled.join(", "))),
        },
    );
    Ok(())
}

fn unknown(session: &Session, name: &str) -> ToolError {
    let error =
        ToolError::new(ErrorKind::ToolNotFound, format!("Tool '{}' not found", pinza::core::visible(name)));
    if let Some(why) = why_missing(session, name) {
        return error.hint(not_loaded(&why));
    }
    match session.pinza.snapshot().near_names(name).as_slice() {
        [] => error.hint("See what there is: pinza tools list"),
        near => error.hint(format!("Did you mean {}?", near.join(", "))),
    }
}

/// What is wrong with the files that have this name.
pub(crate) fn why_missing(session: &Session, name: &str) -> Option<String> {
    let is_its = |problem: &&Problem| {
        let file = problem.file.as_deref().map(Path::new).and_then(Path::file_stem);
        file.is_some_and(|stem| stem == name)
    };
    session.faults.iter().find(is_its).map(problem_line)
}

/// The hint for whoever misses a tool that is there and broken.
pub(crate) fn not_loaded(why: &str) -> String {
    format!("It could not be loaded: {}", pinza::core::visible(why))
}

/// Problems as lines for people.
pub(crate) fn problem_line(problem: &Problem) -> String {
    match (&problem.file, problem.entry) {
        (Some(file), Some(entry)) => format!("{file}, entry {entry}: {}", problem.message),
        (Some(file), None) => format!("{file}: {}", problem.message),
        (None, _) => problem.message.clone(),
    }
}
