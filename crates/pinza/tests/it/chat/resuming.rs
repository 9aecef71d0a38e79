//! Sessions outlive the program, however it ends.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use pinza_testkit::model::{Provider, Turn};
use serde_json::{Value, json};

use super::{World, after, text};
use crate::support::fine;

#[test]
fn a_call_that_was_under_way_is_interrupted_and_not_run_again() {
    for provider in Provider::ALL {
        let turns = [
            Turn::calls([
                ("exec", json!({"command": "echo x >> ran; sleep 60"})),
                ("get_current_time", json!({})),
            ]),
            after(&["interrupted", "not run again", "Go on"], Turn::text("I see.")),
        ];
        let world = World::new(provider, turns);
        let arguments = world.arguments("Do it", &["--session", "s", "--allow", "exec"]);
        let mut child = world.pinza.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        lines.find(|line| line.contains("\"tool_finished\"")).unwrap();
        while !world.pinza.workspace().join("ran").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let events = world.say("Go on", &["--session", "s", "--allow", "exec"]);
        assert_eq!(text(&events), "I see.");
        assert_eq!(
            std::fs::read_to_string(world.pinza.workspace().join("ran")).unwrap(),
            "x\n",
            "{provider}"
        );
        let calls =
            fine(&world.pinza, &["--json", "calls", "list", "--session", "s", "--tool", "exec"]).json();
        assert_eq!(calls["calls"][0]["status"], "interrupted", "{calls}");
    }
}

/// Two hundred times with `PINZA_KILLS=200`.
#[test]
fn kill_at_any_moment_loses_nothing_and_repeats_nothing() {
    let kills: usize = std::env::var("PINZA_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut act = Turn::calls([
        ("exec", json!({"command": "echo x >> ran"})),
        ("write_file", json!({"path": "a", "content": "b"})),
    ]);
    act.keep = true;
    act.chunks.bytes = Some(64);
    act.chunks.delay_ms = 1;
    let world = World::new(Provider::Anthropic, [act]);
    // A moment that moves through all of a run, a few milliseconds each time.
    for kill in 0..kills {
        let arguments = world.arguments(&format!("Message {kill}"), &["--session", "s", "--allow", "exec"]);
        let mut child =
            world.pinza.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut is_acknowledged = false;
        for line in lines.by_ref().take(kill % 23) {
            // Whatever comes from the model comes after the message was kept.
            is_acknowledged |= line.contains("toolcall_start");
        }
        std::thread::sleep(std::time::Duration::from_millis((kill as u64 * 7) % 20));
        child.kill().unwrap();
        child.wait().unwrap();

        let session = world.pinza.run(&["--json", "sessions", "export", "s"]);
        if session.code == Some(1) {
            // It was killed before it had begun.
            assert_eq!(session.json()["error_type"], "not_found", "{session:?}");
            continue;
        }
        let messages = session.json()["messages"].clone();
        check_answered(&messages);
        let prompt = format!("Message {kill}");
        let is_there = messages.as_array().unwrap().iter().any(|message| message["text"] == *prompt);
        assert!(is_there || !is_acknowledged, "{prompt} is lost");
    }
    let journal = fine(
        &world.pinza,
        &["--json", "calls", "list", "--session", "s", "--tool", "exec", "--limit", "9999"],
    )
    .json();
    let begun = journal["calls"].as_array().unwrap().len();
    let ran =
        std::fs::read_to_string(world.pinza.workspace().join("ran")).unwrap_or_default().lines().count();
    assert!(ran <= begun, "{ran} ran, {begun} were written down before");
    let running = |call: &&Value| call["status"] == "running";
    assert_eq!(journal["calls"].as_array().unwrap().iter().filter(running).count(), 0);
    // And it goes on as if nothing had happened.
    let world = World::with(world.pinza, Provider::Anthropic, [Turn::text("Here I am.")]);
    assert_eq!(text(&world.say("Still there?", &["--session", "s"])), "Here I am.");
}

/// Every message of calls is followed by one with all their results; only the last may still lack it.
fn check_answered(messages: &Value) {
    let messages = messages.as_array().unwrap();
    for (index, message) in messages.iter().enumerate() {
        let is_calling =
            message["role"] == "assistant" && message["body"]["message"].to_string().contains("tool_call");
        if is_calling && index + 1 < messages.len() {
            assert_eq!(messages[index + 1]["role"], "tool", "{messages:?}");
        }
    }
}

#[test]
fn a_session_is_open_in_one_process_at_a_time() {
    let hang = Turn { hang: true, ..Turn::default() };
    let world = World::new(Provider::OpenAi, [hang, after(&["First", "Third"], Turn::text("Now."))]);
    let arguments = world.arguments("First", &["--session", "s"]);
    let mut child = world.pinza.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("\"start\"")).unwrap();
    // What the first one said is kept before the model is asked.
    while world.model.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }

    let second = world.run("Meddle", &["--session", "s"]);
    let error = format!("error: the session 's' is open in another Pinza (process {})\nhint: ", child.id());
    assert_eq!((second.code, second.stdout.as_str()), (Some(2), ""), "{second:?}");
    assert!(second.stderr.starts_with(&error), "{second:?}");

    // Whatever ends the first one, the session is free then, and nothing of the second is in it.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(text(&world.say("Third", &["--session", "s"])), "Now.");
    assert!(!world.model.bodies().pop().unwrap().to_string().contains("Meddle"));
}
