//! `pinza module`: npm packages as tools.

mod add;
mod check;
mod npm;
mod place;

use pinza::{
    ToolError,
    core::{ErrorKind, visible},
};
use serde_json::json;

use self::place::Place;
use super::{Done, Global, Result, args::Module, near::near};
use crate::{
    home::Home,
    terminal::{Printer, ask, is_interactive},
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Module) -> Result {
    let home = Home::find(global.home.as_deref())?;
    match command {
        Module::Add(wanted) => add::run(global, printer, &home, &wanted),
        Module::Check { module } => check::check(global, printer, &home, module.as_deref()),
        Module::List => check::list(printer, &home),
        Module::Remove { name } => remove(global, printer, &home, &name),
    }
}

fn remove(global: &Global, printer: &Printer, home: &Home, name: &str) -> Result {
    let Some(place) = Place::existing(home, name) else { return Err(unknown(home, name).into()) };
    let path = place.directory.display().to_string();
    if !global.yes && is_interactive() {
        let answer = ask(&format!("Remove the module '{}', {path}? [y/N] ", visible(name)));
        if !matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            return Err(ToolError::cancelled().into());
        }
    }
    place.remove()?;
    printer.json_or(
        || json!({ "status": "success", "module": name, "removed": path }),
        |out| out.line(&format!("Removed: {path}")),
    );
    Ok(Done::Well)
}

/// There is no such module; near names are.
fn unknown(home: &Home, name: &str) -> ToolError {
    let known: Vec<String> = place::all(home).into_iter().map(|place| place.name).collect();
    let near = near(name, known.iter().map(String::as_str), 0.8);
    let error = ToolError::new(ErrorKind::NotFound, format!("There is no module '{}'", visible(name)));
    match near.first() {
        Some(near) => error.hint(format!("Did you mean '{near}'?")),
        None => error.hint("See: pinza module list"),
    }
}
