//! `pinza-testkit model`, run as a program.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
};

use pinza_testkit::program::finish;
use serde_json::json;

use crate::support::post;

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pinza-testkit"))
}

/// Killed when the test ends, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_script_is_served_and_requests_are_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.json");
    fs::write(
        &script,
        r#"{"turns": [{"text": "Hello"}, {"expect": {"contains": ["secret"]}, "text": "?"}]}"#,
    )
    .unwrap();
    let record = directory.path().join("bodies");
    let mut command = command();
    command.arg("model").arg(&script).arg("--record").arg(&record).args(["--port", "0"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut running = Running(child);
    let mut url = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let url = format!("{}/v1/chat/completions", url.trim());
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi" }] });
    assert!(post(&url, "", &body).body.contains("Hello"));
    assert_eq!(fs::read_to_string(record.join("0001-openai.json")).unwrap(), body.to_string());
    assert_eq!(post(&url, "", &body).status, 400);
    let mut told = String::new();
    let mut stderr = BufReader::new(running.0.stderr.take().unwrap());
    while !told.contains("failure: openai: turn 1: the request lacks 'secret'") {
        let mut piece = [0; 256];
        let read = stderr.read(&mut piece).unwrap();
        assert!(read > 0, "{told}");
        told += &String::from_utf8_lossy(&piece[..read]);
    }
    assert!(told.contains("anthropic: --base-url http://127.0.0.1:"), "{told}");
}

#[test]
fn wrong_usage_is_answered_with_words() {
    let check = |arguments: &[&str], expected: &str| {
        let run = finish(command().args(arguments), "");
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    };
    check(&[], "usage: pinza-testkit model SCRIPT");
    check(&["model"], "usage:");
    check(&["model", "/no/such/file"], "/no/such/file: No such file");
    check(&["model", "x", "--port", "many"], "--port: invalid digit");
    check(&["model", "x", "--colour"], "unknown argument '--colour'");
}
