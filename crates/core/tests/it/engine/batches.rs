//! Calls side by side, and tools that run alone.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use pinza_core::{CallScope, Caller, Tool, ToolCall, ToolDefinition, ToolName, ToolOutput};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{World, definition, describe, fake, seconds, sleeping, snapshot};

/// How many calls are under way, and how many were at most.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Crowd {
    /// Stays for a second and answers how many others were met on entering.
    fn member(self: &Arc<Self>, definition: ToolDefinition) -> Arc<dyn Tool> {
        let crowd = Arc::clone(self);
        fake(definition, move |_, _| {
            let crowd = Arc::clone(&crowd);
            Box::pin(async move {
                let met = crowd.now.fetch_add(1, SeqCst);
                crowd.most.fetch_max(met + 1, SeqCst);
                sleep(seconds(1)).await;
                let left = crowd.now.fetch_sub(1, SeqCst) - 1;
                Ok(ToolOutput::text(format!("met {met}, left {left}")))
            })
        })
    }
}

fn calls<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<ToolCall> {
    let numbered = names.into_iter().enumerate();
    numbered.map(|(index, name)| ToolCall::new(format!("id-{index}"), name, json!({}))).collect()
}

#[tokio::test(start_paused = true)]
async fn results_come_in_order_after_the_slowest() {
    let tool = |name: &str, takes: u64| sleeping(definition(name), seconds(takes));
    let world = World::new([tool("slow", 9), tool("quick", 1), tool("middling", 5)]);
    let names = ["slow", "quick", "nothing", "middling", "quick"];
    let begun = Instant::now();
    let outcomes = world.engine.call_all(calls(names), &world.scope).await;
    let elapsed = begun.elapsed();
    assert!((seconds(9)..seconds(10)).contains(&elapsed), "{elapsed:?}");
    let heard: Vec<_> = outcomes.iter().map(|one| format!("{} {}", one.id, describe(&one.result))).collect();
    assert_eq!(
        heard,
        [
            "id-0 slow",
            "id-1 quick",
            "id-2 tool_not_found: Tool 'nothing' not found",
            "id-3 middling",
            "id-4 quick"
        ]
    );
    assert!(world.engine.call_all(vec![], &world.scope).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_and_every_tenth_falls_over() {
    let crowd = Arc::new(Crowd::default());
    let falls = fake(definition("falls"), |_, _| {
        Box::pin(async {
            sleep(seconds(1)).await;
            resume_unwind(Box::new("fell"))
        })
    });
    let world = World::new([crowd.member(definition("stands")), falls]);
    let names = (0..1_000).map(|index| if index % 10 == 0 { "falls" } else { "stands" });
    let outcomes = world.engine.call_all(calls(names), &world.scope).await;
    assert_eq!(outcomes.len(), 1_000);
    for (index, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.id.as_str(), format!("id-{index}"));
        let heard = describe(&outcome.result);
        match index % 10 {
            0 => assert_eq!(heard, "execution_error: Tool execution failed: fell"),
            _ => assert!(heard.starts_with("met "), "{heard}"),
        }
        assert_eq!(world.told_of(outcome.id.as_str()).answer, heard);
    }
    let most = crowd.most.load(SeqCst);
    assert!((100..=256).contains(&most), "many at once, but not without bound: {most}");
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_tool_meets_nobody() {
    let crowd = Arc::new(Crowd::default());
    let world =
        World::new([crowd.member(definition("social")), crowd.member(definition("alone").exclusive())]);
    let names = (0..60).map(|index| if index % 6 == 3 { "alone" } else { "social" });
    let outcomes = world.engine.call_all(calls(names), &world.scope).await;
    for outcome in outcomes.iter().filter(|outcome| outcome.tool == "alone") {
        assert_eq!(describe(&outcome.result), "met 0, left 0");
    }
    assert!(crowd.most.load(SeqCst) > 1, "the others ran side by side");
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_calls_does_not_keep_an_exclusive_one_out() {
    let crowd = Arc::new(Crowd::default());
    let world = Arc::new(World::new([
        crowd.member(definition("social")),
        crowd.member(definition("alone").exclusive()),
    ]));
    // Somebody is always inside: a new call enters every half second.
    let stream = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..100 {
                let world = Arc::clone(&world);
                tasks.spawn(async move { world.call("social", json!({})).await });
                sleep(seconds(1) / 2).await;
            }
            tasks.join_all().await
        }
    });
    sleep(seconds(2)).await;
    let begun = Instant::now();
    world.check("alone", json!({}), "met 0, left 0").await;
    assert!(begun.elapsed() < seconds(5), "{:?}", begun.elapsed());
    assert!(stream.await.unwrap().iter().all(Result::is_ok));
}

#[tokio::test(start_paused = true)]
async fn a_call_from_inside_a_call_has_its_parents_place() {
    let world = World::new([]);
    let inner = snapshot([sleeping(definition("inner").exclusive(), seconds(1))]);
    let engine = Arc::clone(&world.engine);
    let outer = fake(definition("outer").exclusive(), move |_, _| {
        let (engine, inner) = (Arc::clone(&engine), Arc::clone(&inner));
        Box::pin(async move {
            let scope = CallScope::new(Caller::Tool { name: ToolName::known("outer"), depth: 1 }, inner);
            let outcomes = engine.call_all(calls(["inner", "inner"]), &scope).await;
            Ok(outcomes.iter().map(|one| describe(&one.result)).collect::<Vec<_>>().join("+").into())
        })
    });
    let scope = CallScope::new(Caller::Library, snapshot([outer]));
    // As many parents as there are places: children that waited for one would wait for ever.
    let outcomes = world.engine.call_all(calls(std::iter::repeat_n("outer", 300)), &scope).await;
    assert!(outcomes.iter().all(|one| describe(&one.result) == "inner+inner"), "{:?}", outcomes[0]);
}
