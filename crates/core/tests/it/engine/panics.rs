//! Foreign code that falls over: an answer for its caller, nothing for anybody else.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use pinza_core::{
    Answer, Arguments, BoxFuture, CallContext, Capability, Permission, Tool, ToolDefinition, ToolResult,
};
use serde_json::json;

use crate::support::{Person, World, definition, fake, named, seconds};

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_is_answered() {
    let at_once = fake(definition("at_once"), |_, _| resume_unwind(Box::new("at once")));
    let first_poll =
        fake(definition("first_poll"), |_, _| Box::pin(async { resume_unwind(Box::new("first poll")) }));
    let later = fake(definition("later"), |_, _| {
        Box::pin(async {
            tokio::time::sleep(seconds(1)).await;
            panic!("{} later", "a second")
        })
    });
    let odd = fake(definition("odd"), |_, _| resume_unwind(Box::new(5_u8)));
    let world = World::new([at_once, first_poll, later, odd, named("well")]);
    let cases = [
        ("at_once", "execution_error: Tool execution failed: at once"),
        ("first_poll", "execution_error: Tool execution failed: first poll"),
        ("later", "execution_error: Tool execution failed: a second later"),
        ("odd", "execution_error: Tool execution failed: unknown panic"),
        ("well", "well"),
    ];
    for (name, expected) in cases {
        world.check(name, json!({}), expected).await;
    }
}

/// Falls over where it is only looked at.
struct Fragile {
    definition: ToolDefinition,
    /// Set after registration, which looks at the definition too.
    hides: Arc<AtomicBool>,
}

impl Tool for Fragile {
    fn definition(&self) -> &ToolDefinition {
        if self.hides.load(SeqCst) {
            resume_unwind(Box::new("in definition"));
        }
        &self.definition
    }

    fn permissions(&self, _: &Arguments) -> Vec<Permission> {
        resume_unwind(Box::new("in permissions"))
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_tool_that_panics_while_it_is_looked_at_is_answered() {
    let hides = Arc::new(AtomicBool::new(false));
    let world =
        World::new([Arc::new(Fragile { definition: definition("fragile"), hides: Arc::clone(&hides) }) as _]);
    world.check("fragile", json!({}), "execution_error: Tool execution failed: in permissions").await;
    hides.store(true, SeqCst);
    world.check("fragile", json!({}), "execution_error: Tool execution failed: in definition").await;
}

#[tokio::test]
async fn a_panic_does_not_lose_the_decisions() {
    let definition = definition("runs").needs(Capability::known("exec"));
    let tool = fake(definition, |_, _| resume_unwind(Box::new("at once")));
    let world = World::new([tool]).asking(Person::says(Answer::Once));
    world.call("runs", json!({})).await.unwrap_err();
    let decisions = world.last_told().decisions;
    assert_eq!(decisions.len(), 1);
    assert!(decisions[0].granted && decisions[0].asked);
}

#[tokio::test]
async fn an_approver_that_panics_refuses_one_call_only() {
    let person = Person::who(|prompt| {
        let first = prompt.id == 1;
        async move { if first { resume_unwind(Box::new("no terminal")) } else { Answer::Once } }
    });
    let world = World::new([crate::support::echo(definition("runs").needs(Capability::known("exec")))])
        .asking(person);
    world.check("runs", json!({}), "execution_error: Tool execution failed: no terminal").await;
    world.check("runs", json!({}), "{}").await;
}
