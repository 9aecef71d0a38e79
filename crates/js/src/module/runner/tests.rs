//! The cases of `fixtures/modules/runner` in both engines that run libraries.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rquickjs::{CatchResultExt as _, Context, Promise, Runtime};
use serde_json::Value;

const DRIVE: &str = include_str!("tests/drive.js");

fn fixtures() -> Vec<PathBuf> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/modules/runner");
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// One expression: a promise of what differs.
fn program(file: &Path) -> String {
    let cases = fs::read_to_string(file).unwrap();
    format!("({DRIVE})(\n{},\n{cases})", super::SOURCE)
}

fn check(file: &Path, report: &str) {
    let report: Value = serde_json::from_str(report).unwrap_or_else(|error| panic!("{error}: {report}"));
    let faults: Vec<&str> = report["faults"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(faults.is_empty(), "{}:\n{}", file.display(), faults.join("\n"));
    assert!(report["count"].as_u64().unwrap() > 0);
}

#[test]
fn cases_hold_in_the_embedded_engine() {
    for file in fixtures() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        let report = context.with(|ctx| {
            let promise = ctx.eval::<Promise<'_>, _>(program(&file));
            let report = promise.and_then(|promise| promise.finish::<String>());
            report.catch(&ctx).map_err(|error| error.to_string())
        });
        check(&file, &report.unwrap());
    }
}

#[test]
fn cases_hold_in_node() {
    for file in fixtures() {
        let program = format!("({}).then(console.log)", program(&file));
        let ran = Command::new("node").args(["--eval", &program]).output().unwrap();
        check(
            &file,
            &format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)),
        );
    }
}
