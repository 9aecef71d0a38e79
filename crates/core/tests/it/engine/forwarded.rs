//! `call_tool`: what is permitted, run and told of is the tool inside.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    Answer, Capability, Engine, Policy, PromptDesk, Registry, Snapshot, Tool, ToolContext, meta,
};
use serde_json::json;

use crate::support::{Person, World, definition, describe, echo, rules, sleeping};

fn snapshot(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Arc<Snapshot> {
    let mut registry = Registry::new();
    meta::register(&mut registry).unwrap();
    for tool in tools {
        registry.register(tool, None).unwrap();
    }
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true))
}

fn world(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> World {
    let mut world = World::new([]);
    world.scope.snapshot = snapshot(tools);
    world
}

#[tokio::test]
async fn a_person_is_asked_about_the_tool_inside_and_its_arguments() {
    let powerful = definition("powerful").needs(Capability::new("exec").unwrap());
    let person = Person::says(Answer::Once);
    let mut world = world([echo(powerful)]);
    world.scope.desk = Arc::new(PromptDesk::new(person.clone()));
    let call = json!({"name": "powerful", "arguments": {"command": "ls"}});
    world.check("call_tool", call, r#"{"command":"ls"}"#).await;
    let prompt = person.only_prompt();
    assert_eq!(prompt.tool, "powerful");
    assert_eq!(serde_json::to_value(&*prompt.arguments).unwrap(), json!({"command": "ls"}));
    assert_eq!(world.last_told().arguments, Some(json!({"command": "ls"})));
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_the_inner_tools() {
    let quick = definition("quick").timeout(Duration::from_secs(2));
    let world = world([sleeping(quick, Duration::from_secs(9))]);
    let answer = describe(&world.call("call_tool", json!({"name": "quick"})).await);
    assert!(answer.starts_with("timeout: "), "{answer}");
}

#[tokio::test]
async fn a_rule_about_the_outer_tool_holds_as_well() {
    let mut world = world([echo(definition("inner"))]);
    for (effect, granted) in [("deny", false), ("allow", true)] {
        let rule = rules(&[json!({"effect": effect, "tool": "call_tool"})]);
        world.engine = Arc::new(Engine::new(Policy::new(rule, [])));
        let outcome = world
            .engine
            .call(pinza_core::ToolCall::new("1", "call_tool", json!({"name": "inner"})), &world.scope)
            .await;
        assert_eq!(outcome.result.is_ok(), granted, "{:?}", outcome.result);
    }
}
