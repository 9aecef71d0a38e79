//! `pinza init`: the beginning of a project's `.pinza/`. It writes what is missing, changes nothing that is
//! there, and trusts nothing by itself.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind as IoErrorKind, Write as _},
    path::Path,
};

use anyhow::Context;
use pinza::{ToolError, core::visible};
use serde_json::json;

use super::{Done, Global, Result, args::Init};
use crate::{
    home::Home,
    project::{Project, Trust},
    terminal::{Printer, ask, is_interactive},
};

const FILES: [(&str, &str); 4] = [
    ("config.toml", include_str!("templates/project.toml")),
    ("README.md", include_str!("templates/project.md")),
    // So that git keeps the directories while they are empty.
    ("tools/.gitkeep", ""),
    ("skills/.gitkeep", ""),
];

pub(crate) fn run(global: &Global, printer: &Printer, arguments: Init) -> Result {
    let directory = arguments.directory.as_deref().unwrap_or(Path::new("."));
    let found = fs::metadata(directory).with_context(|| format!("cannot use {}", directory.display()))?;
    anyhow::ensure!(found.is_dir(), "{} is no directory", directory.display());
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let project = Project::at(directory);
    refuse_odd_places(&project, &home)?;
    let mut written = Vec::new();
    for (name, text) in FILES {
        if begin(&project.path, name, text)? {
            written.push(name);
        }
    }
    let mut trust = project.trust(&home)?;
    let path = project.path.display().to_string();
    printer.text(|out| {
        if written.is_empty() {
            out.line(&format!("{} is there already; nothing was written.", visible(&path)));
        } else {
            out.line(&format!("Written to {}:", visible(&path)));
            written.iter().for_each(|name| out.line(&format!("  {name}")));
        }
    });
    if trust != Trust::Trusted && !global.json && is_interactive() {
        let answer = ask("Trust it as it is now, so that Pinza reads it? [y/N] ");
        if matches!(answer.as_str(), "y" | "Y" | "yes") {
            project.set_trusted(&home)?;
            trust = Trust::Trusted;
        }
    }
    printer.json_or(
        || json!({ "status": "success", "project": path, "written": written, "trusted": trust == Trust::Trusted }),
        |out| {
            out.line("");
            if trust == Trust::Trusted {
                out.line("It is trusted as it is now. After a change: pinza trust");
            } else {
                out.line(&format!("Nothing of it is read before you trust it: {}pinza trust", there(directory)));
            }
            let tools = project.tools();
            let tools = arguments.directory.as_ref().map_or(Path::new(".pinza/tools"), |_| &tools);
            out.line(&format!("Begin a tool: pinza --tools {} tools new NAME", visible(&tools.display().to_string())));
        },
    );
    Ok(Done::Well)
}

/// What trust would refuse later, and what is no project.
fn refuse_odd_places(project: &Project, home: &Home) -> Result<()> {
    let real = home.path.canonicalize().unwrap_or_else(|_| home.path.clone());
    let path = visible(&project.path.display().to_string());
    if project.path == real {
        let message = format!("{path} is Pinza's own home, and no project");
        return Err(ToolError::validation(message).hint("Go to a project's directory.").into());
    }
    for place in [project.path.clone(), project.tools(), project.skills()] {
        let Ok(found) = fs::symlink_metadata(&place) else { continue };
        if !found.is_dir() {
            let message =
                format!("{} is not a directory; nothing was written", visible(&place.display().to_string()));
            return Err(ToolError::validation(message).hint("Move it away, then try again.").into());
        }
    }
    Ok(())
}

/// Writes a file that is not there yet; tells whether it did. A directory that has something in it keeps no placeholder.
fn begin(project: &Path, name: &str, text: &str) -> Result<bool> {
    let path = project.join(name);
    let place = || format!("cannot write {}", path.display());
    let parent = path.parent().unwrap_or(project);
    let is_placeholder = text.is_empty();
    if is_placeholder && parent.is_dir() {
        return Ok(false);
    }
    fs::create_dir_all(parent).with_context(place)?;
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(place).map(|()| true),
        Err(error) if error.kind() == IoErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(place),
    }
}

/// How to get where `pinza trust` finds the project.
fn there(directory: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    if directory.canonicalize().ok() == here {
        return String::new();
    }
    format!("cd {} && ", visible(&directory.display().to_string()))
}
