//! What is kept of calls, and how it is looked through.

use pinza_testkit::Program;
use serde_json::{Value, json};

use crate::support::{fine, pinza, refused};

fn json_of(pinza: &Program, arguments: &[&str]) -> Value {
    fine(pinza, &[&["--json"], arguments].concat()).json()
}

#[test]
fn a_call_is_in_the_journal_without_its_secrets() {
    let pinza = pinza();
    fine(&pinza, &["env", "set", "TOKEN=correct-horse"]);
    fine(&pinza, &["call", "write_file", "path=a.txt", "content=the correct-horse \"battery\""]);
    pinza.run(&["call", "read_file", "path=missing.txt"]);
    let calls = json_of(&pinza, &["calls", "list"]);
    let rows: Vec<(&Value, &Value)> =
        calls["calls"].as_array().unwrap().iter().map(|call| (&call["tool"], &call["status"])).collect();
    assert_eq!(
        rows,
        [(&json!("write_file"), &json!("success")), (&json!("read_file"), &json!("file_not_found"))]
    );
    let id = calls["calls"][0]["id"].to_string();
    let call = json_of(&pinza, &["calls", "show", &id]);
    assert_eq!(call["arguments"]["content"], "the [secret TOKEN] \"battery\"");
    assert_eq!(call["caller"], "cli");
    assert_eq!(call["decisions"][0]["capability"], "fs.write");
    let filtered = json_of(&pinza, &["calls", "list", "--status", "success"]);
    assert_eq!(filtered["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn results_are_kept_as_the_configuration_says() {
    let pinza = pinza();
    std::fs::create_dir_all(pinza.home()).unwrap();
    std::fs::write(pinza.config_file(), "[journal]\nresults = \"none\"\n").unwrap();
    fine(&pinza, &["call", "write_file", "path=a.txt", "content=x"]);
    assert_eq!(json_of(&pinza, &["calls", "list"])["calls"][0]["result"], Value::Null);
    std::fs::write(pinza.config_file(), "[journal]\nresults = \"some\"\n").unwrap();
    refused(&pinza, &["call", "get_current_time"], "error: [..]\n...\nunknown variant `some`[..]\n...");
}

#[test]
fn memory_is_for_people_too() {
    let pinza = pinza();
    fine(&pinza, &["memory", "add", "Lives in Turin"]);
    fine(&pinza, &["memory", "add", "Likes tea"]);
    let found = json_of(&pinza, &["memory", "search", "where does he live"]);
    assert_eq!(found["found"][0]["excerpt"], "Lives in Turin");
    fine(&pinza, &["memory", "rm", "1"]);
    let left = json_of(&pinza, &["memory", "list"]);
    assert_eq!(left["memories"].as_array().unwrap().len(), 1);
    let run = pinza.run(&["memory", "rm", "1"]);
    assert_eq!(
        (run.code, run.stderr.starts_with("error: not_found: There is no memory 1")),
        (Some(1), true),
        "{run:?}"
    );
    let run = pinza.run(&["sessions", "show", "nobody"]);
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
fn a_newer_state_is_refused() {
    let pinza = pinza();
    fine(&pinza, &["memory", "list"]);
    // The file's version of its tables stands at byte 60.
    let path = pinza.home().join("state.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    refused(
        &pinza,
        &["call", "get_current_time"],
        "error: [..] was written by a newer Pinza [..]\nhint: [..]\n",
    );
}
