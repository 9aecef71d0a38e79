//! What ends a talk before the model does.

use pinza_testkit::model::{Expect, Provider, Turn, Usage};
use serde_json::json;

use super::{World, finished, of_type};
use crate::support::pinza;

fn configured(config: &str) -> pinza_testkit::Program {
    let pinza = pinza();
    std::fs::create_dir_all(pinza.home()).unwrap();
    std::fs::write(pinza.config_file(), config).unwrap();
    pinza
}

#[test]
fn rounds_are_counted() {
    let turns: Vec<Turn> = (0..9)
        .map(|number| Turn::calls([("write_file", json!({"path": "a", "content": number.to_string()}))]))
        .collect();
    let world = World::with(configured("[agents.a]\nrounds = 3\n"), Provider::OpenAi, turns);
    let events = world.fails("go", &["--agent", "a"], "round_limit", "asked 3 times");
    assert_eq!(finished(&events).len(), 3);
}

#[test]
fn a_session_may_cost_so_much() {
    let usage = Usage { input: 900, output: 200, ..Usage::default() };
    let turn = || Turn { usage, ..Turn::text("Fine.") };
    let world = World::with(configured("[agents.a]\ntokens = 1000\n"), Provider::Anthropic, [turn(), turn()]);
    world.say("one", &["--agent", "a", "--session", "s"]);
    world.fails("two", &["--agent", "a", "--session", "s"], "token_limit", "1100 tokens of its 1000");
    assert_eq!(world.model.requests().len(), 1, "nobody was asked");
}

#[test]
fn the_same_failing_call_ends_after_three() {
    let turn = || Turn::calls([("read_file", json!({"path": "missing.txt"}))]);
    let world = World::new(Provider::Gemini, [turn(), turn(), turn(), turn()]);
    let events = world.fails("go", &[], "repeated_call", "'read_file' 3 times");
    assert_eq!(finished(&events), vec!["read_file file_not_found"; 3]);
}

#[test]
fn an_agent_has_its_own_prompt_and_tools() {
    let config =
        "[agents.a]\nsystem_prompt = \"You are a poet.\"\ntools = [\"get_current_time\", \"group:fs\"]\n";
    let expect = Expect {
        contains: vec!["You are a poet.".into(), "- fs: ".into()],
        tools: vec!["get_current_time".into(), "load_tool_group".into()],
        no_tools: vec!["http_request".into(), "exec".into(), "read".into()],
        ..Expect::default()
    };
    let turns =
        [Turn::calls([("http_request", json!({"url": "http://x/"}))]).expect(expect), Turn::text("No.")];
    let world = World::with(configured(config), Provider::OpenAi, turns);
    let events = world.say("go", &["--agent", "a"]);
    assert_eq!(finished(&events), ["http_request tool_not_available"]);
}

#[test]
fn little_room_makes_a_summary_and_no_call_loses_its_result() {
    let config = "[providers.small]\ntype = \"openai\"\nwindow = 4000\n";
    let long = "word ".repeat(700);
    let full = Usage { input: 3600, output: 20, ..Usage::default() };
    let summary =
        Expect { contains: vec!["Summarise the conversation".into(), "first".into()], ..Expect::default() };
    let rest = Expect {
        contains: vec![
            "Summary of the conversation so far".into(),
            "He said a lot of words".into(),
            "third".into(),
        ],
        lacks: vec!["first".into()],
        ..Expect::default()
    };
    let turns = [
        Turn::calls([("get_current_time", json!({}))]),
        Turn { usage: full, ..Turn::text("Noted.") },
        Turn::text("He said a lot of words.").expect(summary),
        Turn::text("And now?").expect(rest.clone()),
        // Another process has it as it was.
        Turn::text("Goodbye.").expect(rest),
    ];
    let world = World::with(configured(config), Provider::OpenAi, turns);
    let with = ["--session", "s"];
    let named = |world: &World, prompt: &str| {
        let mut arguments = world.arguments(prompt, &with);
        let place = arguments.iter().position(|word| word == "openai").unwrap();
        arguments[place] = "small".into();
        let run = world.pinza.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((run.code, world.model.failures()), (Some(0), vec![]), "{run:?}");
        super::events(&run)
    };
    named(&world, &format!("first {long}"));
    let events = named(&world, "third");
    assert_eq!(of_type(&events, "compacted").len(), 1, "{events:?}");
    named(&world, "fourth");
    assert_eq!(world.model.turns_left(), 0);
    // What was said is still there for people.
    let shown = world.pinza.run(&["sessions", "show", "s"]);
    assert!(shown.stdout.contains("first word"), "{shown:?}");
}
