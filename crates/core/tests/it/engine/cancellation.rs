//! A caller that no longer wants an answer, at every step of the way.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use pinza_core::{Answer, CallScope, CancellationToken, Capability, Tool, ToolCall, ToolOutput};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Person, World, answering, definition, describe, fake, named, seconds, sleeping};

const CANCELLED: &str = "cancelled: Tool execution was cancelled";

/// The world's scope with a token of its own, which fires after some (paused) time.
fn cancelled_after(world: &World, time: u64) -> CallScope {
    let cancellation = CancellationToken::new();
    let token = cancellation.clone();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(time)).await;
        token.cancel();
    });
    CallScope { cancellation, ..world.scope.clone() }
}

fn cancelled_already(world: &World) -> CallScope {
    let scope = CallScope { cancellation: CancellationToken::new(), ..world.scope.clone() };
    scope.cancellation.cancel();
    scope
}

fn needing_exec() -> Arc<dyn Tool> {
    named_with_exec("runs")
}

fn named_with_exec(name: &str) -> Arc<dyn Tool> {
    answering(definition(name).needs(Capability::known("exec")), name)
}

/// A tool that counts how many of its calls are under way.
fn counted(running: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    struct Leaving(Arc<AtomicUsize>);
    impl Drop for Leaving {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    let running = Arc::clone(running);
    fake(definition("counted"), move |_, _| {
        let running = Arc::clone(&running);
        Box::pin(async move {
            running.fetch_add(1, SeqCst);
            let _leaving = Leaving(running);
            tokio::time::sleep(seconds(20)).await;
            Ok(ToolOutput::text("done"))
        })
    })
}

#[tokio::test]
async fn before_it_began() {
    let ran = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&ran);
    let tool = fake(definition("ready"), move |_, _| {
        seen.fetch_add(1, SeqCst);
        Box::pin(std::future::ready(Ok(ToolOutput::text("ran"))))
    });
    let person = Person::says(Answer::Once);
    let world = World::new([tool, needing_exec()]).asking(person.clone());
    let scope = cancelled_already(&world);
    // More than once: a race that is lost sometimes is a bug as well.
    for _ in 0..50 {
        assert_eq!(describe(&world.call_in(&scope, "ready", json!({})).await), CANCELLED);
        assert_eq!(describe(&world.call_in(&scope, "runs", json!({})).await), CANCELLED);
    }
    assert_eq!(ran.load(SeqCst), 0, "the tool never ran");
    assert!(person.calls_shown().is_empty(), "and nobody was asked");
}

#[tokio::test(start_paused = true)]
async fn during_the_run() {
    let running = Arc::new(AtomicUsize::new(0));
    let world = World::new([counted(&running)]);
    let begun = Instant::now();
    let scope = cancelled_after(&world, 3);
    assert_eq!(describe(&world.call_in(&scope, "counted", json!({})).await), CANCELLED);
    assert_eq!(running.load(SeqCst), 0, "its future is gone");
    assert!(begun.elapsed() < seconds(4), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn during_the_wait_for_a_place() {
    let alone = sleeping(definition("alone").exclusive(), seconds(10));
    let world = Arc::new(World::new([alone, named("quick")]));
    let begun = Instant::now();
    let first = tokio::spawn({
        let world = Arc::clone(&world);
        async move { describe(&world.call("alone", json!({})).await) }
    });
    tokio::task::yield_now().await;
    for waiting in ["quick", "alone"] {
        let scope = cancelled_after(&world, 2);
        assert_eq!(describe(&world.call_in(&scope, waiting, json!({})).await), CANCELLED, "{waiting}");
    }
    assert!(begun.elapsed() < seconds(5), "while the first still runs: {:?}", begun.elapsed());
    assert_eq!(first.await.unwrap(), "alone");
    world.check("quick", json!({}), "quick").await;
}

#[tokio::test(start_paused = true)]
async fn during_a_prompt() {
    let person = Person::silent();
    let world = World::new([needing_exec()]).asking(person.clone());
    let scope = cancelled_after(&world, 3);
    assert_eq!(describe(&world.call_in(&scope, "runs", json!({})).await), CANCELLED);
    assert_eq!(person.calls_shown().len(), 1);
    assert_eq!(person.open.load(SeqCst), 0, "the prompt was withdrawn");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_told_of_once() {
    let quick = Person::says(Answer::Once);
    let cases = [("sleeps", Person::silent(), 0), ("runs", Person::silent(), 0), ("runs_long", quick, 1)];
    for (name, person, decided) in cases {
        let tools = [
            sleeping(definition("sleeps").timeout(seconds(1_000)), seconds(900)),
            needing_exec(),
            sleeping(definition("runs_long").needs(Capability::known("exec")), seconds(20)),
        ];
        let world = World::new(tools).asking(person.clone());
        let call = world.engine.call(ToolCall::new("dropped", name, json!({})), &world.scope);
        assert!(tokio::time::timeout(seconds(1), call).await.is_err(), "{name} was dropped");
        let told = world.told_of("dropped");
        assert_eq!(told.answer, CANCELLED, "{name}");
        assert_eq!(told.arguments, Some(json!({})), "{name}");
        assert_eq!(told.decisions.len(), decided, "{name}: what was decided is not forgotten");
        assert_eq!(person.open.load(SeqCst), 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_batch_ends_all_its_calls() {
    let running = Arc::new(AtomicUsize::new(0));
    let world = World::new([counted(&running)]);
    let calls: Vec<ToolCall> =
        (0..50).map(|index| ToolCall::new(format!("{index}"), "counted", json!({}))).collect();
    let batch = world.engine.call_all(calls, &world.scope);
    assert!(tokio::time::timeout(seconds(5), batch).await.is_err());
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(running.load(SeqCst), 0);
    for index in 0..50 {
        assert_eq!(world.told_of(&index.to_string()).answer, CANCELLED);
    }
}
