//! RFC-040's verifications: what is loaded is used, what is not needed is not sent, and nothing that
//! was sent changes.

use pinza_testkit::{
    Program,
    model::{Expect, Provider, Turn},
};
use serde_json::{Value, json};

use super::{World, after, finished, of_type};
use crate::support::pinza;

/// Two groups of JavaScript tools beside the built-in ones.
pub(super) fn with_groups() -> Program {
    let pinza = pinza();
    for group in ["mail", "sheets"] {
        let tools = ["list", "make"].map(|verb| {
            json!({"name": format!("{group}_{verb}"), "description": format!("{verb} {group}"), "function": verb})
        });
        let about =
            json!({"_meta": true, "display_name": group, "description": format!("All about {group}")});
        let manifest: Vec<Value> = std::iter::once(about).chain(tools).collect();
        let directory = pinza.home().join("tools");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("{group}.json")), json!(manifest).to_string()).unwrap();
        let script = format!(
            "function list() {{ return '{group} listed' }} function make() {{ return '{group} made' }}"
        );
        std::fs::write(directory.join(format!("{group}.js")), script).unwrap();
    }
    pinza
}

pub(super) fn load(group: &str) -> (&'static str, Value) {
    ("load_tool_group", json!({ "group_name": group }))
}

/// How a model calls a tool of a loaded group.
pub(super) fn use_of(tool: &str, reveal: &str) -> (&'static str, Value) {
    match (reveal, tool) {
        ("stable", tool) => ("call_tool", json!({"name": tool, "arguments": {}})),
        (_, "mail_list") => ("mail_list", json!({})),
        (_, "sheets_make") => ("sheets_make", json!({})),
        (_, other) => panic!("{other}"),
    }
}

pub(super) fn reveals(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::OpenAi | Provider::Gemini => &["append", "stable"],
        Provider::OpenAiResponses | Provider::Anthropic => &["append", "native", "stable"],
    }
}

#[test]
fn a_group_is_loaded_and_then_used() {
    for provider in Provider::ALL {
        for reveal in reveals(provider) {
            // In the listing, or where the provider has a place of its own for groups.
            let first = Expect::contains(["All about mail"]);
            let turns = [
                Turn::calls([load("mail")]).expect(first),
                Turn::calls([use_of("mail_list", reveal)]),
                after(&["mail listed"], Turn::text("You have mail.")),
            ];
            let world = World::with(with_groups(), provider, turns);
            let events = world.say("check my email", &["--reveal", reveal]);
            assert_eq!(of_type(&events, "group_loaded")[0]["group"], "mail", "{provider} {reveal}");
            assert_eq!(finished(&events).len(), 2);
        }
    }
}

#[test]
fn load_and_use_in_one_turn() {
    for provider in [Provider::OpenAi, Provider::Gemini] {
        let turns = [
            Turn::calls([load("mail"), use_of("mail_list", "stable")]),
            after(&["mail listed"], Turn::text("Done.")),
        ];
        let world = World::with(with_groups(), provider, turns);
        let events = world.say("check my email", &["--reveal", "stable"]);
        assert!(finished(&events).iter().all(|line| line.ends_with("success")), "{events:?}");
    }
}

#[test]
fn a_simple_question_loads_nothing() {
    let lean = Expect { no_tools: vec!["mail_list".into(), "read".into()], ..Expect::default() };
    let turns = [
        Turn::calls([("get_current_time", json!({}))]).expect(lean.clone()),
        Turn::text("Noon.").expect(lean),
    ];
    let events = World::with(with_groups(), Provider::OpenAi, turns).say("what time is it?", &[]);
    assert!(of_type(&events, "group_loaded").is_empty());
}

#[test]
fn a_new_session_begins_without_groups_and_an_old_one_keeps_them() {
    let loaded = |names: &[&str]| Expect {
        tools: names.iter().map(ToString::to_string).collect(),
        ..Expect::default()
    };
    let none = Expect { no_tools: vec!["sheets_make".into()], ..Expect::default() };
    let turns = [
        Turn::calls([load("sheets")]).expect(none.clone()),
        Turn::text("Ready.").expect(loaded(&["sheets_make"])),
        // The same session, another process.
        Turn::calls([use_of("sheets_make", "append")]).expect(loaded(&["sheets_make"])),
        after(&["sheets made"], Turn::text("Made.")),
        // Another session.
        Turn::text("Hello.").expect(none),
    ];
    let world = World::with(with_groups(), Provider::OpenAi, turns);
    world.say("create a spreadsheet", &["--session", "one"]);
    world.say("now make it", &["--session", "one"]);
    world.say("hi", &["--session", "two"]);
    assert_eq!(world.model.turns_left(), 0);
}

#[test]
fn three_blind_calls_end_the_loop() {
    let blind = || Turn::calls([("mail_list", json!({}))]);
    let world =
        World::with(with_groups(), Provider::OpenAi, [blind(), blind(), blind(), Turn::text("never")]);
    let events = world.fails("mail?", &[], "tool_not_available", "without loading its group 'mail'");
    assert_eq!(finished(&events), vec!["mail_list tool_not_available"; 3]);
    let results = of_type(&events, "tool_finished");
    assert!(results[0]["hint"].as_str().unwrap().contains("Its arguments are"), "{results:?}");
}

/// The parts of a request that providers cache, as text.
fn cached(provider: Provider, body: &Value) -> (Vec<String>, Vec<String>) {
    let texts = |value: &Value| match value {
        Value::Array(items) => items.iter().map(|item| strip(item).to_string()).collect(),
        Value::Null => Vec::new(),
        one => vec![strip(one).to_string()],
    };
    let (tools, messages) = match provider {
        Provider::OpenAi | Provider::Anthropic => (&body["tools"], &body["messages"]),
        Provider::OpenAiResponses => (&body["tools"], &body["input"]),
        Provider::Gemini => (&body["tools"][0]["functionDeclarations"], &body["contents"]),
    };
    let mut messages = texts(messages);
    for system in ["system", "instructions", "systemInstruction", "system_instruction"] {
        messages.splice(0..0, texts(&body[system]));
    }
    (texts(tools), messages)
}

/// Cache marks move on with every request, and are no part of what is cached.
fn strip(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.iter().filter(|(key, _)| *key != "cache_control");
            kept.map(|(key, value)| (key.clone(), strip(value))).collect()
        }
        Value::Array(items) => items.iter().map(strip).collect(),
        other => other.clone(),
    }
}

#[test]
fn over_twenty_turns_nothing_that_was_sent_changes() {
    for provider in Provider::ALL {
        for reveal in reveals(provider) {
            let mut turns = Vec::new();
            for turn in 0..20 {
                if turn % 4 == 0 {
                    let group = ["mail", "sheets", "fs", "mail", "sheets"][turn / 4];
                    turns.push(Turn::calls([load(group)]));
                }
                turns.push(Turn::text(format!("Answer {turn}")));
            }
            let world = World::with(with_groups(), provider, turns);
            for turn in 0..20 {
                world.say(&format!("Message {turn}"), &["--session", "s", "--reveal", reveal]);
            }
            let bodies = world.model.bodies();
            assert_eq!(bodies.len(), 25);
            for (number, pair) in bodies.windows(2).enumerate() {
                let [(tools, messages), (more_tools, more_messages)] =
                    [cached(provider, &pair[0]), cached(provider, &pair[1])];
                let case = format!("{provider} {reveal} request {number}");
                assert_eq!(more_messages[..messages.len()], messages, "{case}");
                assert_eq!(more_tools[..tools.len()], tools, "{case}");
                if *reveal != "append" {
                    assert_eq!(more_tools.len(), tools.len(), "{case}");
                }
            }
        }
    }
}
