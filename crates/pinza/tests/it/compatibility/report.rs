//! The table of all packages, as it is printed and kept in the docs.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::case::{Answers, Case, Engine};

const HEAD: &str = "<!-- Made by the test. Write it anew with: UPDATE_DOCS=1 ./test modules -->

# npm packages that were tried

Each of these is installed from npm as it is, made into tools with a `module.json`, and called on the embedded engine
(`\"runtime\": \"embedded\"`) and in Node; the answers are compared byte by byte, errors too. The calls are in
`fixtures/modules/compat`; `./test modules` makes them again.

\"loads\" is the time of the first call in a program that has just started: a worker is started and the whole package is read
and run. It was measured in a debug build on a small machine; what comes after it starts with the package loaded.
";

/// What came out for one package.
pub(super) struct Row {
    name: String,
    version: String,
    engine: &'static str,
    loads: u128,
    calls: usize,
    same: usize,
    pub(super) faults: Vec<String>,
}

impl Row {
    /// `found` are the answers of a module that does not say where it runs.
    pub(super) fn new(
        case: &Case,
        installed: &Path,
        node: Answers,
        embedded: Answers,
        found: Option<Answers>,
    ) -> Self {
        let differing = |answers: &Answers| -> Vec<String> {
            let pairs = case.calls.iter().zip(answers.texts.iter().zip(&node.texts));
            pairs.filter_map(|(call, (answer, in_node))| call.fault(answer, in_node)).collect()
        };
        let here = differing(&embedded);
        let (answers, faults) = match (&found, case.engine) {
            (Some(found), _) => (found, differing(found)),
            (None, _) => (&embedded, here.clone()),
        };
        let engine = match (here.is_empty(), case.engine) {
            (true, _) => "embedded",
            (false, Engine::Node) if faults.is_empty() => "Node",
            (false, _) => "none",
        };
        Self {
            name: case.name.clone(),
            version: version(installed, &case.name),
            engine,
            loads: answers.first.as_millis(),
            calls: case.calls.len(),
            same: case.calls.len() - faults.len(),
            faults: faults.into_iter().map(|fault| format!("  {}: {fault}", case.name)).collect(),
        }
    }
}

fn version(installed: &Path, name: &str) -> String {
    let text = fs::read_to_string(installed.join("node_modules").join(name).join("package.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["version"].as_str().unwrap().to_owned()
}

pub(super) fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/npm-compatibility.md")
}

pub(super) fn page(rows: &[Row]) -> String {
    let count = |engine: &str| rows.iter().filter(|row| row.engine == engine).count();
    let mut page = String::from(HEAD);
    let _ = writeln!(
        page,
        "\n{} packages: {} on the embedded engine, {} in Node.\n",
        rows.len(),
        count("embedded"),
        count("Node")
    );
    page.push_str(
        "| package | version | engine | loads (ms) | calls | same as Node |\n|---|---|---|--:|--:|---|\n",
    );
    for Row { name, version, engine, loads, calls, same, .. } in rows {
        let same = if same == calls { "yes".into() } else { format!("{same} of {calls}") };
        let _ = writeln!(page, "| {name} | {version} | {engine} | {loads} | {calls} | {same} |");
    }
    page
}

/// Names and versions in a page.
pub(super) fn listed(page: &str) -> Vec<(String, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    })
    .collect()
}
