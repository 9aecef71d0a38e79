//! `pinza doctor`: is everything in place, and what does this machine enforce?

use std::{os::unix::fs::PermissionsExt, path::Path};

use pinza::{
    Policy,
    core::{Caller, Engine, ToolCall},
    host::{
        files::{Workspace, WorkspaceOptions},
        process::{Command, Supervisor},
    },
};
use serde::Serialize;
use serde_json::json;

use super::{Done, Global, Result, env, session};
use crate::{config::ConfigFile, home::Home, terminal::Printer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warning,
    Error,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
}

pub(crate) fn run(global: &Global, printer: &Printer) -> Result {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let checks = [
        check_home(&home.path),
        check_config(&home),
        check_workspace(global, &home),
        check_jail(),
        check_supervisor(),
        check_scripts(global),
        check_key(&home),
        check_tools(global),
    ];
    let healthy = checks.iter().all(|check| check.status != Status::Error);
    printer.json_or(
        || json!({ "ok": healthy, "checks": checks }),
        |out| {
            out.columns(checks.iter().map(|check| {
                let mark = match check.status {
                    Status::Ok => "ok",
                    Status::Warning => "warning",
                    Status::Error => "error",
                };
                [mark.to_owned(), check.name.to_owned(), check.detail.clone()]
            }));
        },
    );
    Ok(if healthy { Done::Well } else { Done::Answered })
}

fn check(name: &'static str, outcome: std::result::Result<String, String>) -> Check {
    match outcome {
        Ok(detail) => Check { name, status: Status::Ok, detail },
        Err(detail) => Check { name, status: Status::Error, detail },
    }
}

fn check_home(home: &Path) -> Check {
    let mode = std::fs::metadata(home).map(|meta| meta.permissions().mode() & 0o777);
    match mode {
        Ok(mode) if mode & 0o077 != 0 => Check {
            name: "home",
            status: Status::Warning,
            detail: format!(
                "{} can be read by others; close it with: chmod 700 {}",
                home.display(),
                home.display()
            ),
        },
        Ok(_) => check("home", Ok(home.display().to_string())),
        Err(error) => check("home", Err(format!("{}: {error}", home.display()))),
    }
}

fn check_config(home: &Home) -> Check {
    let file = home.config_file();
    let read = ConfigFile::read(file.clone()).map_err(|error| format!("{error:#}"));
    check(
        "config",
        read.map(|read| match read.values().len() {
            0 => "nothing is set; the built-in values hold".into(),
            count => format!("{count} values in {}", file.display()),
        }),
    )
}

fn check_workspace(global: &Global, home: &Home) -> Check {
    let open = || {
        let (path, _) = session::workspace(global, home).map_err(|error| format!("{error:#}"))?;
        let options = WorkspaceOptions { protected: vec![home.path.clone()], ..WorkspaceOptions::default() };
        Workspace::open(&path, options).map_err(|error| error.to_string())?;
        Ok(path.display().to_string())
    };
    check("workspace", open())
}

/// Asks the kernel itself rather than its version.
fn check_jail() -> Check {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS) {
        Ok(_) => check("file jail", Ok("openat2 confines file tools to the workspace".into())),
        Err(error) => {
            check("file jail", Err(format!("openat2 is missing ({error}); file tools need Linux 5.6")))
        }
    }
}

fn check_supervisor() -> Check {
    let run = || -> std::result::Result<String, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let command = Command::new(["true"], "/");
        match runtime.block_on(Supervisor::this_program().run(command, |_, _| {})) {
            Ok(finished) if finished.code == 0 => {
                Ok("commands run supervised; their whole tree ends with the call".into())
            }
            Ok(finished) => Err(format!("a trial command ended with code {}", finished.code)),
            Err(error) => Err(format!("a trial command failed: {error}")),
        }
    };
    check("processes", run())
}

/// The layers that a worker gives up everything with; what this kernel lacks is named.
const LAYERS: [&str; 4] = ["privileges", "rlimits", "landlock", "seccomp"];

fn check_scripts(global: &Global) -> Check {
    let run = || -> Result<Vec<String>> {
        let session = session::Session::open(global)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let call = ToolCall::new("doctor", "js_eval", json!({ "code": "1" }));
        let scope = session.pinza.scope(Caller::Cli);
        // Asked of the tool itself: a rule that forbids it is not this check's business.
        let engine = Engine::new(Policy::default());
        let output = runtime.block_on(engine.call(call, &scope)).result?;
        let held = output.details.as_ref().and_then(|details| details["sandbox"].as_array().cloned());
        Ok(held.into_iter().flatten().filter_map(|layer| layer.as_str().map(String::from)).collect())
    };
    match run() {
        Err(error) => check("scripts", Err(format!("a trial script failed: {error:#}"))),
        Ok(held) => {
            let missing: Vec<&str> =
                LAYERS.into_iter().filter(|layer| !held.iter().any(|name| name == layer)).collect();
            match missing.as_slice() {
                [] => check(
                    "scripts",
                    Ok(format!("run in processes of their own, closed by {}", held.join(", "))),
                ),
                missing => Check {
                    name: "scripts",
                    status: Status::Warning,
                    detail: format!(
                        "this kernel does not enforce {}; {} hold",
                        missing.join(", "),
                        held.join(", ")
                    ),
                },
            }
        }
    }
}

fn check_key(home: &Home) -> Check {
    let names = env::open(home).and_then(|store| store.names().map_err(|error| anyhow::anyhow!("{error}")));
    check(
        "variables",
        names.map_err(|error| format!("{error:#}")).map(|names| format!("{} kept, encrypted", names.len())),
    )
}

fn check_tools(global: &Global) -> Check {
    let session = session::Session::open(global);
    match session {
        Err(error) => check("tools", Err(format!("{error:#}"))),
        Ok(session) if session.all_problems().is_empty() => {
            check("tools", Ok(format!("{} tools are ready", session.pinza.snapshot().len())))
        }
        Ok(session) => {
            let problems: Vec<String> =
                session.all_problems().iter().map(super::tools::problem_line).collect();
            Check { name: "tools", status: Status::Warning, detail: problems.join("; ") }
        }
    }
}
