//! For authors of JavaScript tools: `tools check`, `tools new`, `tools test`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, ensure};
use pinza::{
    Provider, SchemaOptions, ToolError,
    core::{CallScope, Caller, ErrorKind, Source, TextLimit, ToolCall, schema_fault, visible},
    js::{Libraries, Library, Loaded, LoadedTool, Loader, OnClash, Place, Problem, StandIn},
    tool_schemas,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Done, Global, Result,
    args::{NewTool, TestTools},
    near::near,
    session::{self, Session},
    tools::why_missing,
};
use crate::{home::Home, terminal::Printer};

/// What an editor needs to know of globals and manifests; written beside new tools.
const FOR_EDITORS: [(&str, &str); 2] = [
    ("pinza.d.ts", include_str!("../../../js/pinza.d.ts")),
    ("tool-manifest.schema.json", include_str!("../../../js/tool-manifest.schema.json")),
];

pub(crate) fn check(global: &Global, printer: &Printer, directories: Vec<PathBuf>) -> Result {
    let home = Home::find(global.home.as_deref())?;
    let directories = match directories.as_slice() {
        [] => [home.path.join("tools")]
            .into_iter()
            .filter(|path| path.is_dir())
            .chain(global.tools.clone())
            .collect(),
        _ => directories,
    };
    if directories.is_empty() {
        let hint = "Name a directory: pinza tools check DIR";
        return Err(ToolError::new(ErrorKind::NotFound, "There are no tools to check").hint(hint).into());
    }
    let places: Vec<Place> = directories.into_iter().map(Place::Directory).collect();
    let on_clash = if global.allow_override { OnClash::Replace } else { OnClash::KeepFirst };
    let mut loaded = Loader::new(places, on_clash).caps(session::caps(global, &home)?).load();
    refuse_builtin_names(global, &mut loaded)?;
    let later = [unusable_schemas(&loaded), losses(&loaded), broken_libraries(&loaded)];
    loaded.problems.extend(later.into_iter().flatten());
    let faults = loaded.problems.iter().filter(|problem| !problem.warning).count();
    let (tools, warnings) = (loaded.tools.len(), loaded.problems.len() - faults);
    printer.json_or(
        || json!({ "ok": faults == 0, "tools": tools, "problems": loaded.problems }),
        |out| {
            loaded.problems.iter().for_each(|problem| out.line(&visible(&problem.to_string())));
            let counts = [(tools, "tool"), (faults, "problem"), (warnings, "warning")];
            out.line(&counts.map(|(count, what)| counted(count, what)).join(", "));
        },
    );
    Ok(if faults == 0 { Done::Well } else { Done::Answered })
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A tool of the program's own keeps its name, as when tools are called.
fn refuse_builtin_names(global: &Global, loaded: &mut Loaded) -> Result<()> {
    if global.allow_override {
        return Ok(());
    }
    let snapshot = Session::open(global)?.pinza.snapshot();
    let is_builtin = |tool: &LoadedTool| {
        let known = snapshot.get(tool.definition.name.as_str());
        known.is_some_and(|entry| entry.meta().source == Source::Builtin)
    };
    loaded.problems.extend(loaded.tools.iter().filter(|tool| is_builtin(tool)).map(LoadedTool::clash));
    loaded.tools.retain(|tool| !is_builtin(tool));
    Ok(())
}

fn about(tool: &LoadedTool, message: String) -> Problem {
    Problem {
        file: tool.manifest.clone(),
        entry: tool.entry,
        message,
        line: None,
        column: None,
        warning: false,
    }
}

/// A schema is compiled when its tool is first called; its author should not have to wait for that.
fn unusable_schemas(loaded: &Loaded) -> Vec<Problem> {
    let fault = |tool: &LoadedTool| {
        let reason = schema_fault(&tool.definition.parameters)?;
        Some(about(tool, format!("The tool's parameter schema cannot be used: {reason}")))
    };
    loaded.tools.iter().filter_map(fault).collect()
}

/// What a provider's dialect would lose of a tool's schema, as warnings.
fn losses(loaded: &Loaded) -> Vec<Problem> {
    let usable = loaded.tools.iter().filter(|tool| schema_fault(&tool.definition.parameters).is_none());
    let usable: Vec<&LoadedTool> = usable.collect();
    let of = |provider: Provider| {
        let usable = usable.clone();
        usable.into_iter().flat_map(move |tool| {
            let schemas = tool_schemas(provider, [&tool.definition], SchemaOptions::default());
            let loses = move |loss| format!("{provider} loses something of {loss}");
            let warning = move |loss| Problem { warning: true, ..about(tool, loses(loss)) };
            schemas.losses.into_iter().map(warning)
        })
    };
    Provider::ALL.into_iter().flat_map(of).collect()
}

/// A library is read when a tool asks for it. It may also be a file that nobody asks for, so this is a warning.
fn broken_libraries(loaded: &Loaded) -> Vec<Problem> {
    // The tools of a directory share its libraries.
    let mut directories: Vec<&Arc<Libraries>> = loaded.tools.iter().map(|tool| &tool.libraries).collect();
    directories.sort_by_key(|libraries| Arc::as_ptr(libraries));
    directories.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let faults = |(name, library): (&String, &Library)| {
        let name = visible(name);
        let warning = move |fault: Problem| {
            let message = format!("lib('{name}') cannot be used: {}", fault.message);
            Problem { message, warning: true, ..fault }
        };
        library.read().err().into_iter().flatten().map(warning)
    };
    let mut found: Vec<Problem> =
        directories.into_iter().flat_map(|libraries| libraries.iter()).flat_map(faults).collect();
    found.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

pub(crate) fn new(global: &Global, printer: &Printer, wanted: NewTool) -> Result {
    let name = &wanted.name;
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !starts_well || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        let message = format!(
            "Tool name '{}' must be snake_case (lowercase letters, digits, underscores)",
            visible(name)
        );
        return Err(ToolError::validation(message).into());
    }
    let home = Home::find(global.home.as_deref())?;
    let directory = match global.tools.first() {
        Some(directory) => directory.clone(),
        None => {
            home.create()?;
            home.path.join("tools")
        }
    };
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let files = template(&wanted);
    if let Some(taken) = taken(global, &wanted, &directory, &files)? {
        let message = format!("{} already; nothing was written", visible(&taken));
        return Err(ToolError::validation(message).hint("Choose another name.").into());
    }
    let mut written = Vec::new();
    for (file, text) in files {
        let path = directory.join(&file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path.display().to_string());
    }
    for (file, text) in FOR_EDITORS {
        let path = directory.join(file);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let at = global.tools.first().map_or_else(String::new, |path| format!(" --tools {}", path.display()));
    let tool = tool_names(&wanted).swap_remove(0);
    printer.json_or(
        || json!({ "status": "success", "files": written }),
        |out| {
            written.iter().for_each(|file| out.line(file));
            out.line("");
            out.line(&format!("Call it: pinza{at} call {tool} name=Ada"));
            out.line(&format!("Test it: pinza{at} tools test {name}"));
        },
    );
    Ok(Done::Well)
}

/// What is in the way of a new tool: a file, or a tool whose name would be first.
fn taken(
    global: &Global,
    wanted: &NewTool,
    directory: &Path,
    files: &[(String, String)],
) -> Result<Option<String>> {
    // A script in the other language would make two of them for one manifest.
    let scripts = ["js", "ts"].map(|ending| format!("{}.{ending}", wanted.name));
    let mut paths = files.iter().map(|(file, _)| file).chain(&scripts).map(|file| directory.join(file));
    if let Some(path) = paths.find(|path| path.exists()) {
        return Ok(Some(format!("{} exists", path.display())));
    }
    if global.allow_override {
        return Ok(None);
    }
    let session = Session::open(global)?;
    let known = |name: &String| session.pinza.snapshot().get(name).is_some();
    Ok(tool_names(wanted).into_iter().find(known).map(|name| format!("There is a tool '{name}'")))
}

/// The tools of the template, the first one to be tried first.
fn tool_names(wanted: &NewTool) -> Vec<String> {
    let name = &wanted.name;
    if wanted.group { vec![format!("{name}_greet"), format!("{name}_count")] } else { vec![name.clone()] }
}

/// A working example: manifest, script, tests.
fn template(wanted: &NewTool) -> Vec<(String, String)> {
    let (manifest, script, tests) = match (wanted.group, wanted.ts) {
        (false, false) => (
            include_str!("templates/single.json"),
            include_str!("templates/single.js"),
            include_str!("templates/single.test.json"),
        ),
        (false, true) => (
            include_str!("templates/single.json"),
            include_str!("templates/single.ts"),
            include_str!("templates/single.test.json"),
        ),
        (true, false) => (
            include_str!("templates/group.json"),
            include_str!("templates/group.js"),
            include_str!("templates/group.test.json"),
        ),
        (true, true) => (
            include_str!("templates/group.json"),
            include_str!("templates/group.ts"),
            include_str!("templates/group.test.json"),
        ),
    };
    let name = &wanted.name;
    let ending = if wanted.ts { "ts" } else { "js" };
    let named = |text: &str| text.replace("NAME", name);
    vec![
        (format!("{name}.json"), named(manifest)),
        (format!("{name}.{ending}"), named(script)),
        (format!("{name}.test.json"), named(tests)),
    ]
}

/// One case of a test file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    name: Option<String>,
    /// The tool, where the file is a group's.
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    arguments: Value,
    /// The whole result: text, or JSON that the result's text must equal.
    #[serde(default)]
    result: Option<Value>,
    /// A part of the result's text.
    #[serde(default)]
    contains: Option<String>,
    /// The code of the error that is expected instead.
    #[serde(default)]
    error: Option<String>,
    /// Answers that stand in for the network.
    #[serde(default)]
    http: Vec<StandIn>,
}

pub(crate) fn test(global: &Global, printer: &Printer, wanted: TestTools) -> Result {
    let home = Home::find(global.home.as_deref())?;
    let own = home.path.join("tools");
    let directories: Vec<PathBuf> = global.tools.iter().cloned().chain(own.is_dir().then_some(own)).collect();
    let files = test_files(&directories, &wanted.names)?;
    if files.is_empty() {
        let hint = "A tool's tests stand beside it in NAME.test.json; name other directories with --tools.";
        return Err(ToolError::new(ErrorKind::NotFound, "There are no tests to run").hint(hint).into());
    }
    let mut results = Vec::new();
    for (tool, file) in files {
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let cases: Vec<Case> = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
            .with_context(|| format!("{} is not a list of cases", file.display()))?;
        for (index, case) in cases.into_iter().enumerate() {
            let label = case.name.clone().unwrap_or_else(|| format!("case {index}"));
            let failure = run_case(global, &tool, case)?;
            results.push((format!("{tool}: {label}"), failure));
        }
    }
    let failed = results.iter().filter(|(_, failure)| failure.is_some()).count();
    printer.json_or(
        || {
            let result = |(name, failure): &(String, Option<String>)| json!({ "name": name, "ok": failure.is_none(), "message": failure });
            json!({ "ok": failed == 0, "cases": results.iter().map(result).collect::<Vec<_>>() })
        },
        |out| {
            for (name, failure) in &results {
                match failure {
                    None => out.line(&format!("ok      {}", visible(name))),
                    Some(message) => out.line(&format!("FAILED  {}\n        {}", visible(name), visible(message))),
                }
            }
            out.line(&format!("{} passed, {failed} failed", results.len() - failed));
        },
    );
    Ok(if failed == 0 { Done::Well } else { Done::Answered })
}

/// Test files of the wanted tools, or of all: (manifest's name, file).
fn test_files(directories: &[PathBuf], names: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for directory in directories {
        for entry in
            std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let path = entry?.path();
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(name) = file.strip_suffix(".test.json") {
                files.push((name.to_owned(), path.clone()));
            }
        }
    }
    files.sort();
    if let Some(unknown) = names.iter().find(|name| !files.iter().any(|(tool, _)| tool == *name)) {
        let message = format!("There is no test file '{}.test.json'", visible(unknown));
        let hint = match near(unknown, files.iter().map(|(tool, _)| tool.as_str()), 0.8).as_slice() {
            [] => "Tests stand beside the tool; name its directory with --tools.".to_owned(),
            near => format!("Did you mean {}?", visible(&near.join(", "))),
        };
        return Err(ToolError::new(ErrorKind::NotFound, message).hint(hint).into());
    }
    files.retain(|(tool, _)| names.is_empty() || names.contains(tool));
    Ok(files)
}

/// Runs a case in the real sandbox; `None` if it went as expected, else what was different.
fn run_case(global: &Global, tool: &str, case: Case) -> Result<Option<String>> {
    ensure!(
        case.result.is_some() || case.contains.is_some() || case.error.is_some(),
        "a case of {tool} expects nothing: give it \"result\", \"contains\" or \"error\""
    );
    let session = Session::open_with(global, |builder| builder.stand_ins(case.http))?;
    let name = case.tool.unwrap_or_else(|| tool.to_owned());
    let arguments = if case.arguments.is_null() { json!({}) } else { case.arguments };
    let scope = CallScope { text_limit: TextLimit::NONE, ..session.pinza.scope(Caller::Cli) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome =
        runtime.block_on(session.pinza.engine().call(ToolCall::new("test", name, arguments), &scope));
    let text = match (&outcome.result, case.error) {
        (Err(error), Some(code)) if error.kind.code() == code => return Ok(None),
        (Err(error), _) => {
            let is_missing = error.kind == ErrorKind::ToolNotFound;
            let why = is_missing.then(|| why_missing(&session, tool)).flatten();
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            return Ok(Some(format!("answered {error}{why}")));
        }
        (Ok(output), Some(code)) => {
            return Ok(Some(format!("expected the error {code}, got: {}", output.as_text())));
        }
        (Ok(output), None) => output.as_text(),
    };
    let equals = |expected: &Value| match expected {
        Value::String(expected) => text == *expected,
        expected => serde_json::from_str::<Value>(&text).is_ok_and(|value| value == *expected),
    };
    Ok(match (case.result, case.contains) {
        (Some(expected), _) if !equals(&expected) => Some(format!("expected {expected}, got: {text}")),
        (_, Some(part)) if !text.contains(&part) => {
            Some(format!("expected it to contain {part:?}, got: {text}"))
        }
        _ => None,
    })
}
