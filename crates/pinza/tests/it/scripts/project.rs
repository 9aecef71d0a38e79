//! `pinza trust`: a project's own `.pinza/` is read only as it was when somebody said so.

use std::{fs, os::unix::fs::symlink};

use pinza_testkit::Program;
use serde_json::json;

use super::{custom, file, list, names, tool, tool_in};
use crate::support::{check, check_call, fine, pinza, refused};

const UNKNOWN: &str = "the project is not trusted, and nothing of it was read; trust it with: pinza trust";
const CHANGED: &str =
    "the project changed since it was trusted, and was not read; look at it, then: pinza trust";

/// A project in the directory that the program starts in.
fn with_project() -> Program {
    let pinza = pinza();
    tool_in(&pinza, ".pinza/tools", "ours", json!({}), "function execute() { return 'ours' }");
    pinza
}

fn path(pinza: &Program) -> String {
    pinza.directory().canonicalize().unwrap().join(".pinza").display().to_string()
}

/// The project is not read, and the list says why.
#[track_caller]
fn is_not_read(pinza: &Program, why: &str) {
    let list = list(pinza, &[]);
    assert!(!names(&custom(&list)).contains(&"ours"), "{list}");
    let problem = json!([{"file": path(pinza), "entry": null, "message": why}]);
    assert_eq!(list["problems"].to_string(), problem.to_string());
    check_call(pinza, &["ours"], Err(("tool_not_found", "Tool 'ours' not found")));
}

#[test]
fn untrusted_trusted_changed_and_revoked() {
    let pinza = with_project();
    is_not_read(&pinza, UNKNOWN);
    let warning = format!("warning: {}: {UNKNOWN}\n", path(&pinza));
    check(&pinza, &["call", "js_eval", "code=1"], 0, "1\n", &warning);

    let stdout = format!("Trusted, as it is now: {}\n  tools/ours.js\n  tools/ours.json\n", path(&pinza));
    check(&pinza, &["trust"], 0, &stdout, "");
    check_call(&pinza, &["ours"], Ok("ours"));
    assert_eq!(list(&pinza, &[])["problems"], json!([]));

    file(&pinza, ".pinza/tools/ours.js", "function execute() { return 'theirs' }");
    is_not_read(&pinza, CHANGED);
    file(&pinza, ".pinza/tools/ours.js", "function execute() { return 'ours' }");
    check_call(&pinza, &["ours"], Ok("ours"));
    let added = file(&pinza, ".pinza/tools/deep/added.txt", "");
    is_not_read(&pinza, CHANGED);
    fs::remove_file(added).unwrap();
    fs::rename(
        pinza.directory().join(".pinza/tools/ours.js"),
        pinza.directory().join(".pinza/tools/ours.ts"),
    )
    .unwrap();
    is_not_read(&pinza, CHANGED);
    let files =
        json!({"status": "success", "project": path(&pinza), "files": ["tools/ours.json", "tools/ours.ts"]});
    check(&pinza, &["--json", "trust"], 0, &format!("{files}\n"), "");
    check_call(&pinza, &["ours"], Ok("ours"));
    // Results that Pinza itself keeps there change nothing.
    file(&pinza, ".pinza/out/kept.txt", "kept");
    check_call(&pinza, &["ours"], Ok("ours"));

    check(&pinza, &["trust", "--revoke"], 0, &format!("{} is not read any more.\n", path(&pinza)), "");
    is_not_read(&pinza, UNKNOWN);
}

#[test]
fn the_workspaces_project_and_another_home() {
    let pinza = pinza();
    pinza.put(".pinza/tools/ours.json", r#"{"name": "ours", "description": "x"}"#);
    pinza.put(".pinza/tools/ours.js", "function execute() { return 'ours' }");
    fine(&pinza, &["trust"]);
    check_call(&pinza, &["ours"], Ok("ours"));
    // Trust is this home's; the same project elsewhere is unknown.
    let workspace = pinza.workspace().display().to_string();
    let run = pinza.run(&["--home", "other", "--workspace", &workspace, "--json", "call", "ours"]);
    assert_eq!(run.json()["error_type"], "tool_not_found", "{run:?}");
    // A copy of it has another path.
    fs::rename(pinza.workspace().join(".pinza"), pinza.directory().join(".pinza")).unwrap();
    is_not_read(&pinza, UNKNOWN);
}

#[test]
fn home_comes_before_the_project_and_typed_directories_after_it() {
    let pinza = with_project();
    let says = |word: &str| format!("function execute() {{ return '{word}' }}");
    tool_in(&pinza, ".pinza/tools", "both", json!({}), &says("project"));
    tool_in(&pinza, "typed", "ours", json!({}), &says("typed"));
    tool(&pinza, "both", json!({}), &says("home"));
    fine(&pinza, &["trust"]);
    check_call(&pinza, &["both", "--tools", "typed"], Ok("home"));
    check_call(&pinza, &["ours", "--tools", "typed"], Ok("ours"));
    check_call(&pinza, &["ours", "--tools", "typed", "--allow-override"], Ok("typed"));
}

#[test]
fn a_project_may_only_narrow() {
    let pinza = with_project();
    let config = "[[policy.rule]]\neffect = \"deny\"\ncapability = \"fs.write\"\n
[[policy.rule]]\neffect = \"allow\"\ncapability = \"exec\"\n
[[policy.rule]]\neffect = \"ask\"\ntool = \"ours\"\n
[tools]\ndisabled = [\"edit\"]\n";
    file(&pinza, ".pinza/config.toml", config);
    fine(&pinza, &["trust"]);
    let problems = list(&pinza, &[])["problems"].clone();
    let refused = json!([{
        "file": format!("{}/config.toml", path(&pinza)), "entry": 1,
        "message": "a project cannot allow anything; the rule does not count",
    }]);
    assert_eq!(problems.to_string(), refused.to_string());
    let denied = |capability: &str| format!("Required permissions were denied: {capability}");
    check_call(&pinza, &["exec", "command=true"], Err(("permission_denied", &denied("exec"))));
    let write = ["write_file", "path=a", "content=b"];
    check_call(&pinza, &write, Err(("permission_denied", &denied("fs.write"))));
    check_call(
        &pinza,
        &[&write[..], &["--allow", "fs.write", "--yes"]].concat(),
        Err(("permission_denied", &denied("fs.write"))),
    );
    check_call(&pinza, &["ours"], Err(("permission_denied", "Required permissions were denied: [..]")));
    check_call(&pinza, &["ours", "--yes"], Ok("ours"));
    check_call(&pinza, &["edit", "path=a", "oldText=b", "newText=c"], Err(("tool_disabled", "[..]")));
}

#[test]
fn what_is_not_a_projects_to_say_is_never_obeyed() {
    for config in [
        "[env]\nREGION = \"moon\"\n",
        "[net.rewrite]\n\"https://api.example.com\" = \"http://127.0.0.1:9\"\n",
        "[providers.work]\ntype = \"openai\"\n",
        "[files]\nhardlinks = \"allow\"\n",
        "not toml",
    ] {
        let pinza = with_project();
        fine(&pinza, &["trust"]);
        file(&pinza, ".pinza/config.toml", config);
        is_not_read(&pinza, CHANGED);
        let stderr = "error: [..].pinza/config.toml is not a valid project configuration: [..]\n...";
        refused(&pinza, &["trust"], stderr);
        is_not_read(&pinza, CHANGED);
        tool(&pinza, "peeks", json!({}), "function execute({ _env }) { return _env }");
        check_call(&pinza, &["peeks"], Ok("{}"));
    }
}

#[test]
fn links_are_not_the_projects_own() {
    let elsewhere = |pinza: &Program| {
        tool_in(pinza, "elsewhere", "theirs", json!({}), "function execute() { return 'theirs' }");
        pinza.directory().join("elsewhere")
    };
    let stderr = "error: [..] is neither a file nor a directory; a project's .pinza holds nothing else\n";
    let pinza = with_project();
    symlink(elsewhere(&pinza).join("theirs.js"), pinza.directory().join(".pinza/tools/theirs.js")).unwrap();
    refused(&pinza, &["trust"], stderr);
    is_not_read(&pinza, UNKNOWN);

    let pinza = with_project();
    fine(&pinza, &["trust"]);
    symlink(elsewhere(&pinza), pinza.directory().join(".pinza/skills")).unwrap();
    is_not_read(&pinza, CHANGED);

    // The whole `tools` behind a link.
    let pinza = crate::support::pinza();
    fs::create_dir(pinza.directory().join(".pinza")).unwrap();
    symlink(elsewhere(&pinza), pinza.directory().join(".pinza/tools")).unwrap();
    refused(&pinza, &["trust"], stderr);
    check_call(&pinza, &["theirs"], Err(("tool_not_found", "Tool 'theirs' not found")));
}

#[test]
fn no_project() {
    let pinza = pinza();
    file(&pinza, ".pinza/out/kept.txt", "only a result");
    let stderr =
        "error: not_found: There is no .pinza/ with tools, skills or a config.toml here\nhint: [..]\n";
    check(&pinza, &["trust"], 1, "", stderr);
    assert_eq!(list(&pinza, &[])["problems"], json!([]));
}

#[test]
fn modules_of_a_project_are_named_and_not_loaded() {
    let pinza = with_project();
    let manifest = json!({
        "name": "theirs", "version": "1.0.0", "description": "x", "package": "./lib.js", "type": "static",
        "tools": [{ "name": "theirs_call", "description": "x", "function": "call" }],
    });
    file(&pinza, ".pinza/tools/theirs/module.json", manifest.to_string());
    file(&pinza, ".pinza/tools/theirs/lib.js", "exports.call = () => 'ran'");
    is_not_read(&pinza, UNKNOWN);
    fine(&pinza, &["trust"]);
    let list = list(&pinza, &[]);
    let problem = &list["problems"][0];
    assert_eq!(problem["file"], format!("{}/tools/theirs/module.json", path(&pinza)), "{list}");
    let message = problem["message"].as_str().unwrap();
    assert!(message.starts_with("a project's modules are not loaded, because "), "{message}");
    check_call(&pinza, &["theirs_call"], Err(("tool_not_found", "Tool 'theirs_call' not found")));
    // Named by the user, it is the user's.
    let run = pinza.run(&["--tools", ".pinza/tools", "call", "theirs_call"]);
    assert_eq!((run.code, &*run.stdout), (Some(0), "ran\n"), "{run:?}");
}
