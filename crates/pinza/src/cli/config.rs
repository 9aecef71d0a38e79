//! `pinza config`: every value and where it came from; changing one.

use std::process::Command;

use anyhow::{Context as _, ensure};
use pinza::js::Caps;
use serde_json::json;

use super::{Done, Global, Result, args::Config, session};
use crate::{
    config::{ConfigFile, set},
    home::{Home, Origin},
    terminal::Printer,
};

/// What holds where the file says nothing.
fn built_in() -> [(&'static str, String); 5] {
    let Caps { heap, stack, timeout } = Caps::default();
    [
        ("files.hardlinks", "\"refuse\"".into()),
        ("policy.limits.heap_mb", (heap >> 20).to_string()),
        ("policy.limits.stack_kb", (stack >> 10).to_string()),
        ("policy.limits.timeout_seconds", timeout.as_secs().to_string()),
        ("tools.disabled", "[]".into()),
    ]
}

pub(crate) fn run(global: &Global, printer: &Printer, command: Config) -> Result {
    let home = Home::find(global.home.as_deref())?;
    match command {
        Config::Show => show(global, printer, &home)?,
        Config::Edit => edit(printer, &home)?,
        Config::Set { key, value } => {
            home.create()?;
            let edited = ConfigFile::edit(home.config_file(), |document| set(document, &key, &value))?;
            let written = edited.values().into_iter().find(|(name, _)| *name == key);
            let written = written.map_or(value, |(_, value)| value);
            printer.json_or(
                || json!({ "status": "success", "key": key, "value": written }),
                |out| out.line(&format!("{key} = {written}")),
            );
        }
    }
    Ok(Done::Well)
}

/// What was saved stays saved, also if it is wrong: the message says where.
fn edit(printer: &Printer, home: &Home) -> Result<()> {
    home.create()?;
    let file = home.config_file();
    let variable = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // By a shell, because the variable may hold flags.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(&file)
        .status()
        .context("cannot start a shell for the editor")?;
    ensure!(status.success(), "the editor '{}' ended with {status}", pinza::core::visible(&editor));
    ConfigFile::read(file.clone())?;
    let text = file.display().to_string();
    printer.json_or(
        || json!({ "status": "success", "file": text }),
        |out| out.line(&format!("{text} is fine.")),
    );
    Ok(())
}

fn show(global: &Global, printer: &Printer, home: &Home) -> Result<()> {
    let file = home.config_file();
    let quoted = |path: &std::path::Path| json!(path.display().to_string()).to_string();
    let (workspace, workspace_origin) = session::workspace(global, home)?;
    let mut values = vec![
        ("home".to_owned(), quoted(&home.path), home.origin),
        ("workspace".to_owned(), quoted(&workspace), workspace_origin),
    ];
    let flags = [("allow", &global.allow), ("deny", &global.deny)];
    for (name, list) in flags.into_iter().filter(|(_, list)| !list.is_empty()) {
        values.push((name.into(), json!(list).to_string(), Origin::Flag));
    }
    for (name, value) in &global.env {
        values.push((format!("env.{name}"), json!(value).to_string(), Origin::Flag));
    }
    let from_file = ConfigFile::read(file.clone())?.values();
    for (key, value) in built_in() {
        if !from_file.iter().any(|(set, _)| set == key) {
            values.push((key.into(), value, Origin::BuiltIn));
        }
    }
    let overridden = |key: &str| values.iter().any(|(name, _, _)| name == key);
    let from_file: Vec<_> = from_file.into_iter().filter(|(key, _)| !overridden(key)).collect();
    values.extend(from_file.into_iter().map(|(key, value)| (key, value, Origin::User)));

    printer.json_or(
        || {
            let value = |(key, value, origin): &(String, String, Origin)| {
                json!({ "key": key, "value": value, "source": origin })
            };
            json!({ "file": file.display().to_string(), "values": values.iter().map(value).collect::<Vec<_>>() })
        },
        |out| {
            out.columns(values.iter().map(|(key, value, origin)| {
                let origin = match origin {
                    Origin::User => format!("# {}", file.display()),
                    origin => format!("# {origin}"),
                };
                [format!("{key} = {value}"), origin]
            }));
        },
    );
    Ok(())
}
