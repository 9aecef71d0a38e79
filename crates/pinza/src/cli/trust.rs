//! `pinza trust`: a project's `.pinza/` is read from now on, as long as it stays what it is.

use pinza::{ToolError, core::ErrorKind};
use serde_json::json;

use super::{Done, Global, Result, args::Trust, session};
use crate::{home::Home, project::Project, terminal::Printer};

pub(crate) fn run(global: &Global, printer: &Printer, arguments: Trust) -> Result {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let (workspace, _) = session::workspace(global, &home)?;
    let Some(project) = Project::find(&workspace, &home) else {
        let message = "There is no .pinza/ with tools, skills or a config.toml here";
        let hint = "Go to the project's directory, or name it with --workspace.";
        return Err(ToolError::new(ErrorKind::NotFound, message).hint(hint).into());
    };
    let path = project.path.display().to_string();
    if arguments.revoke {
        let known = project.forget(&home)?;
        printer.json_or(
            || json!({ "status": "success", "project": path, "revoked": known }),
            |out| out.line(&format!("{path} is not read any more.")),
        );
        return Ok(Done::Well);
    }
    let files = project.set_trusted(&home)?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    printer.json_or(
        || json!({ "status": "success", "project": path, "files": names }),
        |out| {
            out.line(&format!("Trusted, as it is now: {path}"));
            names.iter().for_each(|name| out.line(&format!("  {}", pinza::core::visible(name))));
        },
    );
    Ok(Done::Well)
}
