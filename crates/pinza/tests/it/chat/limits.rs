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
fn the_same_failing_call_is_counted_across_restarts() {
    let turn = || Turn::calls([("read_file", json!({"path": "missing.txt"}))]);
    let world = World::new(Provider::OpenAi, [turn(), Turn::text("Hm."), turn(), Turn::text("Hm."), turn()]);
    world.say("one", &["--session", "s"]);
    world.say("two", &["--session", "s"]);
    world.fails("three", &["--session", "s"], "repeated_call", "'read_file' 3 times");
}

#[test]
fn a_blind_call_is_counted_across_restarts() {
    let turn = || Turn::calls([("read", json!({"path": "a.txt"}))]);
    // A call that went well lies between, so that only the count of blind calls can end it.
    let well = || Turn::calls([("get_current_time", json!({}))]);
    let said = || [turn(), well(), Turn::text("Hm.")];
    let world = World::new(Provider::OpenAi, said().into_iter().chain(said()).chain([turn()]));
    world.say("one", &["--session", "s"]);
    world.say("two", &["--session", "s"]);
    world.fails("three", &["--session", "s"], "tool_not_available", "'read' 3 times");
}

#[test]
fn an_answer_that_did_not_fit_is_asked_for_again_and_has_cost_all_the_same() {
    let full = Turn { stop: Some("model_context_window_exceeded".into()), ..Turn::text("As I") };
    let turns = [Turn::text("Noted."), full, Turn::text("He said one."), Turn::text("As I was saying.")];
    let world = World::with(configured("[agents.a]\ntokens = 480\n"), Provider::Anthropic, turns);
    world.say(&"one ".repeat(100), &["--agent", "a", "--session", "s"]);
    let events = world.say("two", &["--agent", "a", "--session", "s"]);
    assert_eq!(of_type(&events, "compacted").len(), 1, "{events:?}");
    world.fails("three", &["--agent", "a", "--session", "s"], "token_limit", "480 tokens of its 480");
    assert_eq!(world.model.requests().len(), 4, "nobody was asked");
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
    // The request for the summary has cost as well, and another process knows it.
    let cap = 120 + 3620 + 120 + 120 + 120;
    std::fs::write(world.pinza.config_file(), format!("{config}[agents.a]\ntokens = {cap}\n")).unwrap();
    world.fails("fifth", &["--agent", "a", "--session", "s"], "token_limit", &format!("{cap} tokens of its"));
    // What was said is still there for people.
    let shown = world.pinza.run(&["sessions", "show", "s"]);
    assert!(shown.stdout.contains("first word"), "{shown:?}");
}
