//! npm packages on the embedded engine, and the same calls in Node: the answers are the same, byte by byte.
//!
//! A case is a file in `fixtures/modules/compat`: a package, tools as in a `module.json` and calls of them.
//! `./test modules` installs the packages and runs this, which takes the network and a minute or two;
//! with `UPDATE_DOCS=1` it writes the page in `docs/reference` anew. `PINZA_PACKAGES=a,b` runs these only, and
//! `PINZA_COMPAT=DIR` runs cases and packages of another directory.

mod case;
mod report;

use std::{
    fs,
    path::{Path, PathBuf},
};

use pinza_testkit::{RecordedRequest, Reply, WireServer};
use serde_json::json;

use case::{Case, Engine};
use report::Row;

fn fixtures() -> PathBuf {
    elsewhere().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/modules/compat"))
}

/// `PINZA_COMPAT=DIR` tries other packages: cases and a `node_modules` of one's own.
fn elsewhere() -> Option<PathBuf> {
    std::env::var_os("PINZA_COMPAT").map(PathBuf::from)
}

/// Where `./test modules` has installed what the fixtures' `package.json` names.
pub(crate) fn installed() -> PathBuf {
    let directory = elsewhere().unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("compat"));
    assert!(directory.join("node_modules").is_dir(), "there are no packages yet; run: ./test modules");
    directory
}

/// Says what it was asked, as far as every client asks the same.
pub(crate) fn echo(request: &RecordedRequest) -> Reply {
    if request.path().starts_with("/text") {
        return Reply::ok("plain text, 25 characters");
    }
    if !request.path().starts_with("/echo") {
        let headers = [("content-type", "application/json")];
        return Reply::new("404 Not Found", &headers, json!({ "error": "not here" }).to_string());
    }
    let headers = ["content-type", "accept", "x-test", "x-client"].map(|name| (name, request.header(name)));
    let headers = headers.into_iter().collect::<std::collections::BTreeMap<_, _>>();
    Reply::json(&json!({
        "method": request.method(), "path": request.path(), "headers": headers, "body": request.text()
    }))
}

#[tokio::test]
#[ignore = "needs packages from npm: ./test modules"]
async fn packages_answer_as_in_node() {
    let installed = installed();
    let server = WireServer::start(echo);
    let only = std::env::var("PINZA_PACKAGES").ok();
    let chosen = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
    let mut rows = Vec::new();
    for case in Case::all(&server.url("")).into_iter().filter(|case| chosen(&case.name)) {
        let node = case.run(Engine::Node, &installed).await;
        let embedded = case.run(Engine::Embedded, &installed).await;
        // Without a word about the engine, the one that works is found.
        let found =
            if case.engine == Engine::Node { Some(case.run(Engine::Either, &installed).await) } else { None };
        rows.push(Row::new(&case, &installed, node, embedded, found));
    }
    let page = report::page(&rows);
    eprintln!("{page}");
    if std::env::var_os("UPDATE_DOCS").is_some() && only.is_none() {
        fs::write(report::place(), &page).unwrap();
    }
    let faults: Vec<String> = rows.iter().flat_map(|row| row.faults.clone()).collect();
    assert!(faults.is_empty(), "{} differ:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_page_names_what_is_tested() {
    let page = fs::read_to_string(report::place()).unwrap();
    let pinned = fs::read_to_string(fixtures().join("package.json")).unwrap();
    let pinned: serde_json::Value = serde_json::from_str(&pinned).unwrap();
    let mut expected: Vec<(String, String)> = Case::all("")
        .into_iter()
        .map(|case| {
            let version = pinned["dependencies"][&case.name].as_str().unwrap_or("not pinned").to_owned();
            (case.name, version)
        })
        .collect();
    expected.sort();
    let mut listed = report::listed(&page);
    listed.sort();
    assert_eq!(listed, expected, "write it anew with: UPDATE_DOCS=1 ./test modules");
}
