//! Timeouts, progress, and the clock that stands still while a person thinks. Time is
//! paused: it moves only when everybody waits.

use std::sync::{Arc, Mutex};

use pinza_core::{
    Answer, CallId, Capability, Content, Permission, Permits, ProgressSink, Tool, ToolDefinition, ToolOutput,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{Person, World, definition, fake, seconds, sleeping};

#[tokio::test(start_paused = true)]
async fn timeouts() {
    let tool = |name: &str, limit: u64, takes: u64| {
        sleeping(definition(name).timeout(seconds(limit)), seconds(takes))
    };
    let brief = definition("brief").timeout(std::time::Duration::from_millis(1_500));
    let tools =
        [tool("late", 2, 60), tool("in_time", 2, 1), tool("at_once", 0, 1), sleeping(brief, seconds(9))];
    let world = World::new(tools);
    let cases = [
        ("late", "timeout: Tool execution timed out after 2s", 2_000),
        ("in_time", "in_time", 1_000),
        ("at_once", "timeout: Tool execution timed out after 0s", 0),
        ("brief", "timeout: Tool execution timed out after 1.5s", 1_500),
    ];
    for (name, expected, took) in cases {
        let begun = Instant::now();
        world.check(name, json!({}), expected).await;
        let elapsed = begun.elapsed().as_millis();
        assert!((took..took + 100).contains(&elapsed), "{name}: {elapsed} ms");
    }
}

/// Keeps partial results as `call: text`.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl ProgressSink for Notes {
    fn progress(&self, call: &CallId, partial: &[Content]) {
        let text = ToolOutput { content: partial.to_vec(), ..ToolOutput::default() }.as_text();
        self.0.lock().unwrap().push(format!("{call}: {text}"));
    }
}

/// Shows a partial result every second.
fn counting(definition: ToolDefinition, upto: u32) -> Arc<dyn Tool> {
    fake(definition, move |_, context| {
        Box::pin(async move {
            for number in 1..=upto {
                sleep(seconds(1)).await;
                context.progress(&[Content::text(number.to_string())]);
            }
            Ok("all counted".into())
        })
    })
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_in_order_and_only_the_result_counts() {
    let notes = Arc::new(Notes::default());
    let mut world = World::new([counting(definition("count"), 4)]);
    world.check("count", json!({}), "all counted").await;
    world.scope.progress = Some(Arc::clone(&notes) as _);
    world.check("count", json!({}), "all counted").await;
    assert_eq!(*notes.0.lock().unwrap(), ["call-2: 1", "call-2: 2", "call-2: 3", "call-2: 4"]);
}

#[tokio::test(start_paused = true)]
async fn progress_never_extends_a_timeout() {
    let notes = Arc::new(Notes::default());
    let mut world = World::new([counting(definition("count").timeout(seconds(3)), 1_000)]);
    world.scope.progress = Some(Arc::clone(&notes) as _);
    let begun = Instant::now();
    world.check("count", json!({}), "timeout: Tool execution timed out after 3s").await;
    assert!(begun.elapsed() < seconds(4), "{:?}", begun.elapsed());
    assert!(notes.0.lock().unwrap().len() <= 3);
}

/// Works, asks, works again.
fn asking_on_the_way(timeout: u64, before: u64, after: u64) -> Arc<dyn Tool> {
    fake(definition("asks").timeout(seconds(timeout)), move |_, context| {
        Box::pin(async move {
            sleep(seconds(before)).await;
            context.permit(Permission::new(Capability::known("net.private"))).await?;
            sleep(seconds(after)).await;
            Ok("done".into())
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_person_may_think_as_long_as_they_like() {
    let slow = || Person::says_after(seconds(10_000), Answer::Once);
    let first =
        sleeping(definition("first").timeout(seconds(2)).needs(Capability::known("exec")), seconds(1));
    World::new([first]).asking(slow()).check("first", json!({}), "first").await;

    let late = "timeout: Tool execution timed out after 4s";
    for (before, after, expected) in [(1, 1, "done"), (3, 0, "done"), (3, 3, late), (9, 0, late)] {
        let world = World::new([asking_on_the_way(4, before, after)]).asking(slow());
        world.check("asks", json!({}), expected).await;
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_place_does_not_count() {
    let alone = || sleeping(definition("alone").exclusive().timeout(seconds(2)), seconds(1));
    let world = World::new([alone()]);
    let calls = (0..10).map(|index| pinza_core::ToolCall::new(index.to_string(), "alone", json!({})));
    let outcomes = world.engine.call_all(calls.collect(), &world.scope).await;
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
}
