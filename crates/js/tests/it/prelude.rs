//! Every script of `fixtures/prelude` in the real sandbox, against a scripted server: the globals
//! as the standards say. Its README says what the scripts expect.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pinza_host::{
    files::{Workspace, WorkspaceOptions},
    http::{HttpClient, HttpOptions},
};
use pinza_js::{Host, Limits, Pool};
use pinza_testkit::{RecordedRequest, Reply, WireServer};
use serde_json::json;

use crate::support::{World, worker_program};

/// These expect what this host has not (a body above the client's bound, other tools and libraries around
/// them); the program runs them, in `crates/pinza/tests/it/scripts/globals.rs`.
const LEFT_OUT: [&str; 5] =
    ["host_bridges.js", "fetch_failures.js", "lib.js", "patched_promise.js", "patched_object_prototype.js"];

fn answer(request: &RecordedRequest) -> Reply {
    let (path, _query) = request.path().split_once('?').unwrap_or((request.path(), ""));
    match path {
        "/echo" => {
            let headers: Vec<(&str, &str)> =
                request.head.lines().skip(1).filter_map(|line| line.split_once(": ")).collect();
            let has_body = request.header("content-length").is_some();
            Reply::json(&json!({
                "method": request.method(),
                "url": format!("http://stand-in.test{}", request.path()),
                "headers": headers,
                "text": has_body.then(|| request.text()),
                "base64": has_body.then(|| STANDARD.encode(&request.body)),
            }))
        }
        "/bytes" => Reply::new("200 OK", &[], [0, 1, 2, 0xfd, 0xfe, 0xff]),
        "/cookies" => {
            let headers = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Two", "1"), ("X-Two", "2")];
            Reply::new("200 OK", &headers, "")
        }
        "/bom" => Reply::new("200 OK", &[], "\u{feff}hi"),
        "/form" => {
            let headers = [("Content-Type", "application/x-www-form-urlencoded")];
            Reply::new("200 OK", &headers, "a=1&b=%C3%A9+x&a=2")
        }
        "/moved" => Reply::redirect("302 Found", "http://stand-in.test/arrived#frag"),
        "/never" => Reply::Hang,
        path => match path.strip_prefix("/status/") {
            Some(status) => Reply::new(&format!("{status} "), &[], ""),
            None => Reply::ok("ok"),
        },
    }
}

#[tokio::test]
async fn the_globals_are_as_the_standards_say() {
    let server = WireServer::start(answer);
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/prelude");
    let mut failed = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".js") || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let world = World::new();
        let workspace = Workspace::open(world.workspace.path(), WorkspaceOptions::default()).unwrap();
        let rewrite =
            vec![("http://stand-in.test".to_owned(), server.url("").trim_end_matches('/').to_owned())];
        let host = Host {
            pool: Arc::new(Pool::new(worker_program())),
            files: Arc::new(workspace),
            http: HttpClient::new(HttpOptions { rewrite, ..HttpOptions::default() }).unwrap(),
            clock: |zone, format| Ok(format!("{zone:?} {format:?}")),
            stand_ins: None,
            open_variables: BTreeMap::new(),
            kept_variables: None,
        };
        let limits = Limits { heap: 64 << 20, ..Limits::default() };
        let world = World { host: Arc::new(host), limits, ..world };
        let text = world.text(&std::fs::read_to_string(&file).unwrap(), json!({})).await;
        if text != "ok" {
            failed.push(format!("{name}: {text}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
