//! RFC-004's flows 4-1 to 4-5, for every provider.

use pinza_testkit::{
    Reply, WireServer,
    model::{Provider, Turn},
};
use serde_json::json;

use super::{World, after, finished, of_type, text};
use crate::support::pinza;

#[test]
fn a_single_call() {
    for provider in Provider::ALL {
        let world = World::new(
            provider,
            [
                Turn::calls([("get_current_time", json!({"timezone": "Asia/Tokyo"}))]),
                after(&["+09:00"], Turn::text("It is late in Tokyo.")),
            ],
        );
        let events = world.say("What is the current time?", &[]);
        assert_eq!(finished(&events), ["get_current_time success"], "{provider}");
        assert_eq!(text(&events), "It is late in Tokyo.");
        let started = of_type(&events, "tool_started");
        let ended = of_type(&events, "toolcall_end");
        assert_eq!((started.len(), ended.len()), (1, 1));
        assert_eq!(ended[0]["arguments"], json!({"timezone": "Asia/Tokyo"}));
        assert_eq!(of_type(&events, "usage").len(), 2);
        let done = events.last().unwrap();
        assert_eq!((&done["text"], &done["rounds"]), (&json!("It is late in Tokyo."), &json!(2)));
    }
}

#[test]
fn a_file_is_read() {
    for provider in Provider::ALL {
        let pinza = pinza();
        pinza.put("test.txt", "hello world");
        let turns = [
            Turn::calls([("read_file", json!({"path": "test.txt"}))]),
            after(&["hello world"], Turn::text("It says: hello world")),
        ];
        let events = World::with(pinza, provider, turns).say("Please read test.txt", &[]);
        assert_eq!(finished(&events), ["read_file success"]);
    }
}

#[test]
fn an_http_request() {
    let server = WireServer::start(|_| Reply::ok("the answer is 42"));
    for provider in Provider::ALL {
        let turns = [
            Turn::calls([("http_request", json!({"url": server.url("/get")}))]),
            after(&["the answer is 42"], Turn::text("42")),
        ];
        let events = World::new(provider, turns).say("GET it", &["--allow", "net.private"]);
        assert_eq!(finished(&events), ["http_request success"]);
    }
}

#[test]
fn parallel_calls_are_all_answered() {
    for provider in Provider::ALL {
        let pinza = pinza();
        pinza.put("test.txt", "hello world");
        let turns = [
            Turn::calls([
                ("get_current_time", json!({"timezone": "UTC"})),
                ("read_file", json!({"path": "test.txt"})),
                ("read_file", json!({"path": "missing.txt"})),
            ]),
            after(&["hello world", "file_not_found"], Turn::text("Both done.")),
        ];
        let events = World::with(pinza, provider, turns).say("Do three things at once", &[]);
        let mut ended = finished(&events);
        ended.sort();
        assert_eq!(ended, ["get_current_time success", "read_file file_not_found", "read_file success"]);
    }
}

#[test]
fn a_forbidden_path_is_an_answer_and_no_crash() {
    for provider in Provider::ALL {
        let turns = [
            Turn::calls([("read_file", json!({"path": "/etc/shadow"}))]),
            after(&["path_not_allowed"], Turn::text("I may not read that.")),
        ];
        let events = World::new(provider, turns).say("Read /etc/shadow", &[]);
        assert_eq!(finished(&events), ["read_file path_not_allowed"]);
        assert_eq!(text(&events), "I may not read that.");
    }
}

#[test]
fn arguments_that_are_no_json_go_back_to_the_model() {
    // Gemini's arguments are never text.
    for provider in [Provider::OpenAi, Provider::OpenAiResponses, Provider::Anthropic] {
        let turns = [
            Turn::calls([("read_file", json!("{\"path\": ")), ("get_current_time", json!({}))]),
            after(&["validation_error", "not JSON"], Turn::text("I'll write it better.")),
        ];
        let events = World::new(provider, turns).say("Go", &[]);
        assert_eq!(finished(&events), ["get_current_time success"], "{provider}: the broken one is not run");
    }
}

#[test]
fn for_people_words_go_to_stdout_and_deeds_to_stderr() {
    let turns = [Turn::calls([("get_current_time", json!({}))]), Turn::text("It is\u{1b}[2J late.")];
    let world = World::new(Provider::OpenAi, turns);
    let arguments = world.arguments("What time is it?", &[]);
    let run = world.pinza.run(&arguments[1..].iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "It is[2J late.\n"), "{run:?}");
    assert!(run.stderr.starts_with("→ get_current_time {}\n✓ get_current_time "), "{run:?}");
}
