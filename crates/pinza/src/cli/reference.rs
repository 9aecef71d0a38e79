//! Makes `docs/reference/` from the program itself and fails when the two differ.
//! `UPDATE_DOCS=1 cargo test -p pinza reference` writes the pages anew.

use std::fmt::Write as _;

use clap::CommandFactory;
use pinza::{Pinza, core::ErrorKind};
use serde_json::Value;

use super::args::Cli;

const NOTE: &str =
    "<!-- Made from the program. Write it anew with: UPDATE_DOCS=1 cargo test -p pinza reference -->\n\n";

fn check(page: &str, text: &str) {
    let path = format!("{}/../../docs/reference/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = format!("{NOTE}{text}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/reference/{page} is out of date; run: UPDATE_DOCS=1 cargo test -p pinza reference"
    );
}

/// A page that people wrote, around a part that is measured.
#[test]
fn measured() {
    const START: &str =
        "<!-- Measured. Write it anew with: UPDATE_DOCS=1 cargo test -p pinza reference -->\n";
    const END: &str = "<!-- End of what is measured. -->";
    let path = format!("{}/../../docs/concepts/groups.md", env!("CARGO_MANIFEST_DIR"));
    let written = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = written.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let text = format!("{before}{START}\n{}\n{END}{after}", super::bench::tokens_page());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return std::fs::write(&path, text).unwrap();
    }
    assert!(
        written == text,
        "docs/concepts/groups.md is out of date; run: UPDATE_DOCS=1 cargo test -p pinza reference"
    );
}

#[test]
fn commands() {
    let mut text = String::from("# Commands\n");
    let mut command = Cli::command().term_width(100);
    command.build();
    describe(&mut command, "pinza", &mut text);
    check("commands.md", &text);
}

fn describe(command: &mut clap::Command, name: &str, text: &mut String) {
    // Options for every command stand once, at the top.
    if name != "pinza" {
        *command = command.clone().mut_args(|arg| {
            let everywhere = arg.is_global_set() || arg.get_id() == "help";
            arg.hide(everywhere)
        });
    }
    write!(text, "\n## {name}\n\n```text\n{}\n```\n", command.render_help().to_string().trim_end()).unwrap();
    for inner in
        command.get_subcommands_mut().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
    {
        let name = format!("{name} {}", inner.get_name());
        describe(inner, &name, text);
    }
}

#[test]
fn tools() {
    let workspace = tempfile::tempdir().unwrap();
    let pinza = Pinza::builder().workspace(workspace.path()).helper(pinza::THIS_PROGRAM).build().unwrap();
    assert!(pinza.failures().is_empty(), "{:?}", pinza.failures());
    let mut text = String::from("# Built-in tools\n");
    for entry in pinza.snapshot().tools() {
        let definition = entry.definition();
        let group = entry.meta().group.as_ref().map_or("core".into(), |group| format!("group `{group}`"));
        let needs: Vec<String> =
            definition.capabilities.iter().map(|capability| format!("`{capability}`")).collect();
        let needs = if needs.is_empty() { "nothing".into() } else { needs.join(", ") };
        write!(text, "\n## {}\n\n{}\n\n", definition.name, definition.description).unwrap();
        writeln!(text, "{group}, needs {needs}, timeout {} s\n", definition.timeout.as_secs()).unwrap();
        writeln!(text, "| parameter | type | |\n|---|---|---|").unwrap();
        for (name, schema) in definition.parameters.properties() {
            let word = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
            let required = if definition.parameters.is_required(name) { ", required" } else { "" };
            writeln!(text, "| `{name}` | {}{required} | {} |", word("type"), word("description")).unwrap();
        }
    }
    check("tools.md", &text);
}

#[test]
fn errors() {
    let mut text = String::from("# Error codes\n\n| code | meaning |\n|---|---|\n");
    for kind in ErrorKind::ALL {
        writeln!(text, "| `{kind}` | {} |", kind.meaning()).unwrap();
    }
    check("errors.md", &text);
}
