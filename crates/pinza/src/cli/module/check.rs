//! `pinza module check` and `list`: what is there, and whether it is as it should be.

use std::path::{Path, PathBuf};

use pinza::{
    Pinza,
    core::visible,
    js::module::{Mode, ModuleManifest},
    js::package::{Installed, LockState, PackageVerdict, RunsOn, check_lock},
};
use serde_json::{Value, json};

use super::{
    super::{Done, Global, Result, author::counted, session::Session},
    place::{Place, all},
    unknown,
};
use crate::{
    home::Home,
    terminal::{Out, Printer},
};

/// What is known of one module.
struct Report {
    name: String,
    directory: PathBuf,
    manifest: Value,
    lock: &'static str,
    version: Option<String>,
    verdict: Option<PackageVerdict>,
    problems: Vec<String>,
}

pub(super) fn check(global: &Global, printer: &Printer, home: &Home, module: Option<&str>) -> Result {
    let places = match module {
        None => all(home),
        Some(name) => vec![find(home, name)?],
    };
    let mut reports: Vec<Report> = places.into_iter().map(|place| report(place, Depth::Whole)).collect();
    let session = Session::open(global)?;
    // What is broken otherwise is not loaded.
    for report in reports.iter_mut().filter(|report| report.problems.is_empty()) {
        report.problems = missing_functions(&session.pinza, &report.directory)?;
    }
    let problems: usize = reports.iter().map(|report| report.problems.len()).sum();
    printer.json_or(
        || json!({ "ok": problems == 0, "modules": reports.iter().map(Report::json).collect::<Vec<_>>() }),
        |out| {
            reports.iter().for_each(|report| report.print(out));
            out.line(&format!("{}, {}", counted(reports.len(), "module"), counted(problems, "problem")));
        },
    );
    Ok(if problems == 0 { Done::Well } else { Done::Answered })
}

pub(super) fn list(printer: &Printer, home: &Home) -> Result {
    let reports: Vec<Report> = all(home).into_iter().map(|place| report(place, Depth::Lock)).collect();
    printer.json_or(
        || json!({ "modules": reports.iter().map(Report::summary).collect::<Vec<_>>() }),
        |out| {
            if reports.is_empty() {
                out.line("There are no modules. Add one with: pinza module add PACKAGE");
            }
            let row = |report: &Report| {
                let summary = report.summary();
                let text = |key: &str| summary[key].as_str().map(visible).unwrap_or_default();
                [
                    text("name"),
                    text("package"),
                    counted(report.tools(), "tool"),
                    text("engine"),
                    text("state"),
                ]
            };
            out.columns(reports.iter().map(row));
        },
    );
    Ok(Done::Well)
}

/// A module's name, or a directory with a `module.json`.
fn find(home: &Home, name: &str) -> Result<Place> {
    if let Some(place) = Place::existing(home, name) {
        return Ok(place);
    }
    let directory = PathBuf::from(name);
    if !directory.is_dir() {
        return Err(unknown(home, name).into());
    }
    let directory = std::path::absolute(directory)?;
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Place { name, directory })
}

/// How closely a module is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The manifest and the lock.
    Lock,
    /// The package's code, too.
    Whole,
}

fn report(place: Place, depth: Depth) -> Report {
    let Place { name, directory } = place;
    let (manifest, mut problems) = manifest(&directory);
    let lock = match check_lock(&directory) {
        Ok(LockState::Free) => "not locked",
        Ok(LockState::Same) => "locked",
        Ok(LockState::Differs(differences)) => {
            problems.extend(differences.iter().map(|one| format!("not as locked: {one}")));
            "changed"
        }
        Err(fault) => {
            problems.push(fault.to_string());
            "unreadable"
        }
    };
    let package = manifest["package"].as_str().unwrap_or_default();
    let (mut version, mut verdict) = (None, None);
    // A library of the module's own, beside it, is no package.
    if !package.is_empty() && !package.starts_with(['.', '/']) {
        let installed = Installed::open(&directory, package);
        version = installed.as_ref().ok().and_then(|installed| installed.version().map(str::to_owned));
        let looked = match depth {
            Depth::Whole => installed.and_then(|installed| installed.verdict()).map(Some),
            Depth::Lock => installed.map(|_| None),
        };
        match looked {
            Ok(found) => verdict = found,
            Err(fault) => problems.push(fault.to_string()),
        }
    }
    let refused = verdict.iter().flat_map(|verdict| &verdict.concerns).filter(|concern| concern.refused);
    problems.extend(refused.map(|concern| concern.message.clone()));
    let needs_node = verdict.as_ref().is_some_and(|verdict| verdict.runs_on == RunsOn::Node);
    if needs_node && manifest["runtime"] != "node" {
        problems.push("the package needs Node, but module.json does not say \"runtime\": \"node\"".into());
    }
    Report { name, directory, manifest, lock, version, verdict, problems }
}

/// The manifest as JSON, and what is wrong with it.
fn manifest(directory: &Path) -> (Value, Vec<String>) {
    let file = directory.join("module.json");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => return (Value::Null, vec![format!("module.json cannot be read: {error}")]),
    };
    let parsed = ModuleManifest::parse(&text, Mode::Strict);
    let problems =
        parsed.faults.iter().filter(|fault| !fault.warning).map(|fault| format!("module.json:{fault}"));
    let value = serde_json::from_str::<Value>(text.strip_prefix('\u{feff}').unwrap_or(&text));
    (value.unwrap_or_default(), problems.collect())
}

/// Which of a module's functions its library does not have. The library is loaded, none of them is called.
fn missing_functions(pinza: &Pinza, directory: &Path) -> Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = match runtime.block_on(pinza.check_module(directory)) {
        Ok(output) => output,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    let told: Value = serde_json::from_str(&output.as_text())?;
    let message = |told: &Value| told["message"].as_str().map(str::to_owned);
    let mut problems: Vec<String> = Vec::new();
    for key in ["error", "init"] {
        problems.extend(told.get(key).and_then(message));
    }
    let functions = told["functions"].as_array().into_iter().flatten();
    problems.extend(functions.filter(|function| function["ok"] == false).filter_map(message));
    Ok(problems)
}

impl Report {
    fn tools(&self) -> usize {
        self.manifest["tools"].as_array().map_or(0, Vec::len)
    }

    fn package(&self) -> String {
        let package = self.manifest["package"].as_str().unwrap_or_default();
        match &self.version {
            Some(version) => format!("{package}@{version}"),
            None => package.to_owned(),
        }
    }

    fn summary(&self) -> Value {
        let runtime = self.manifest["runtime"].as_str();
        let engine = if runtime == Some("node") { "node" } else { "embedded" };
        let state = self.problems.first().map_or(self.lock, String::as_str);
        json!({
            "name": self.manifest["name"].as_str().unwrap_or(&self.name),
            "package": self.package(),
            "tools": self.tools(),
            "engine": engine,
            "state": state,
            "directory": self.directory.display().to_string(),
        })
    }

    fn json(&self) -> Value {
        let mut json = self.summary();
        json["lock"] = self.lock.into();
        json["problems"] = json!(self.problems);
        json["verdict"] = json!(self.verdict);
        json
    }

    fn print(&self, out: &mut Out) {
        out.heading(&format!("{}: {}", visible(&self.name), self.directory.display()));
        if let Some(verdict) = &self.verdict {
            verdict.to_string().lines().for_each(|line| out.line(&format!("  {line}")));
        }
        out.line(&format!("    tools          {}", self.tools()));
        out.line(&format!("    lock           {}", self.lock));
        self.problems.iter().for_each(|problem| out.line(&format!("    problem: {}", visible(problem))));
    }
}
