//! What outlives a session: memory, history, agents.

use pinza_testkit::model::{Expect, Provider, Turn};
use serde_json::json;

use super::{World, after, finished};
use crate::support::fine;

#[test]
fn what_was_remembered_is_in_the_next_session_and_the_last_one_can_be_searched() {
    let turns = [
        Turn::calls([("save_memory", json!({"text": "The user likes sailing"}))]),
        after(&["Remembered as 1"], Turn::text("I will remember.")),
        Turn::calls([("search_history", json!({"query": "boats sailing"}))])
            .expect(Expect::contains(["- The user likes sailing"])),
        after(
            &["memory 1: The user likes sailing", "session one, user: I like sailing"],
            Turn::text("You like sailing."),
        ),
        Turn::calls([("update_memory", json!({"id": 1, "text": "The user likes rowing"}))]),
        after(&["Memory 1 is changed"], Turn::text("Noted.")),
    ];
    let world = World::new(Provider::OpenAi, turns);
    world.say("I like sailing", &["--session", "one"]);
    world.say("What do I like?", &["--session", "two"]);
    world.say("Rowing, rather", &["--session", "three"]);
    let memory = fine(&world.pinza, &["--json", "memory", "list"]).json();
    assert_eq!(memory["memories"][0]["text"], "The user likes rowing");
}

#[test]
fn a_model_creates_an_agent_if_it_may() {
    let create = || {
        Turn::calls([(
            "create_agent",
            json!({"name": "poet", "system_prompt": "Rhyme.", "tools": ["get_current_time"]}),
        )])
    };
    let turns = [
        create(),
        after(&["permission_denied"], Turn::text("I may not.")),
        create(),
        after(&["Created the agent"], Turn::text("Done.")),
        Turn::text("In rhyme.").expect(Expect {
            contains: vec!["Rhyme.".into()],
            no_tools: vec!["exec".into()],
            ..Expect::default()
        }),
    ];
    let world = World::new(Provider::OpenAi, turns);
    assert_eq!(finished(&world.say("Make a poet", &[])), ["create_agent permission_denied"]);
    world.say("Make a poet", &["--allow", "agents"]);
    let agents = fine(&world.pinza, &["--json", "agents", "list"]).json();
    assert_eq!(
        (&agents["agents"][0]["name"], &agents["agents"][0]["system_prompt"]),
        (&json!("poet"), &json!("Rhyme."))
    );
    world.say("Hello", &["--agent", "poet"]);
    fine(&world.pinza, &["agents", "rm", "poet"]);
    assert_eq!(fine(&world.pinza, &["--json", "agents", "list"]).json()["agents"], json!([]));
}
