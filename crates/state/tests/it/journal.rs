use std::sync::Arc;

use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Engine, Policy, Registry, Tool, ToolCall,
    ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult,
};
use pinza_state::{CallFilter, Journal, Keep, Store};
use serde_json::json;

use crate::store;

/// Answers what it is told to, or what the journal says of it while it runs.
struct Asks {
    definition: ToolDefinition,
    store: Store,
}

impl Tool for Asks {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            if let Some(text) = arguments.get("say").and_then(|text| text.as_str()) {
                return Ok(ToolOutput::text(text));
            }
            let calls = self.store.calls(CallFilter::default(), 10).await.unwrap();
            let states: Vec<String> = calls.into_iter().map(|call| call.status.0).collect();
            Ok(ToolOutput::text(states.join(" ")))
        })
    }
}

fn world(store: &Store, keep: Keep) -> (Arc<Engine>, CallScope) {
    let mut registry = Registry::new();
    for (name, read_only) in [("looks", true), ("acts", false)] {
        let definition = ToolDefinition::new(ToolName::known(name), "x");
        let definition = if read_only { definition.read_only() } else { definition };
        registry.register(Arc::new(Asks { definition, store: store.clone() }), None).unwrap();
    }
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    let redact = Arc::new(|text: &str| text.replace("hunter2", "[secret PASSWORD]"));
    let engine = Engine::new(Policy::default()).observer(Arc::new(Journal::new(store.clone(), keep, redact)));
    let caller = Caller::Agent { session: "s".into() };
    (Arc::new(engine), CallScope::new(caller, Arc::new(snapshot)))
}

#[tokio::test]
async fn a_call_with_effects_is_on_disk_before_it_runs() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let (engine, scope) = world(&store, Keep::Head);
    let outcome = engine.call(ToolCall::new("1", "acts", json!({})), &scope).await;
    assert_eq!(outcome.result.unwrap().as_text(), "running");
}

#[tokio::test]
async fn a_row_tells_all_but_secrets() {
    let home = tempfile::tempdir().unwrap();
    for (keep, result) in [(Keep::Head, Some("")), (Keep::Nothing, None)] {
        {
            let store = store(&home);
            let (engine, scope) = world(&store, keep);
            let arguments = json!({"password": "hunter2", "n": 1});
            engine.call(ToolCall::new("call-7", "looks", arguments), &scope).await;
            engine.call(ToolCall::new("call-8", "nothing", json!({})), &scope).await;
        }
        // It was never waited for, but the last one to leave writes it.
        let calls =
            store(&home).calls(CallFilter { tool: Some("looks".into()), ..CallFilter::default() }, 9).await;
        let call = calls.unwrap().pop().unwrap();
        assert_eq!(
            (call.call.as_str(), call.session.as_deref(), call.status.0.as_str()),
            ("call-7", Some("s"), "success")
        );
        assert_eq!(call.arguments, Some(json!({"password": "[secret PASSWORD]", "n": 1})));
        assert_eq!(call.result.is_some(), result.is_some());
        assert!(call.ended.unwrap() >= call.started);
    }
    let failed = CallFilter { status: Some("tool_not_found".into()), ..CallFilter::default() };
    assert_eq!(store(&home).calls(failed, 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn old_rows_are_forgotten() {
    let home = tempfile::tempdir().unwrap();
    {
        let store = store(&home);
        let (engine, scope) = world(&store, Keep::Head);
        engine.call(ToolCall::new("1", "looks", json!({})), &scope).await;
    }
    let store = store(&home);
    assert_eq!(store.forget_calls(std::time::Duration::from_secs(3600)).await.unwrap(), 0);
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    assert_eq!(store.forget_calls(std::time::Duration::ZERO).await.unwrap(), 1);
}

#[tokio::test]
async fn a_secret_that_the_cut_goes_through_is_replaced_too() {
    let home = tempfile::tempdir().unwrap();
    {
        let store = store(&home);
        let (engine, scope) = world(&store, Keep::Head);
        let text = format!("{}hunter2 and so on", "x".repeat(1020));
        engine.call(ToolCall::new("1", "looks", json!({ "say": text })), &scope).await;
    }
    let calls = store(&home).calls(CallFilter::default(), 9).await.unwrap();
    assert_eq!(calls[0].result.as_deref(), Some(format!("{}[sec", "x".repeat(1020)).as_str()));
    assert_eq!(calls[0].bytes, 1037);
}

/// The start and the end of a short call come together and are written as one; the end of a long one
/// finds its row.
#[tokio::test]
async fn a_call_has_one_row_however_long_it_takes() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let (engine, scope) = world(&store, Keep::Head);
    engine.call(ToolCall::new("short", "looks", json!({ "say": "hello" })), &scope).await;
    engine.call(ToolCall::new("long", "acts", json!({})), &scope).await;
    drop((engine, scope, store));
    let calls = crate::store(&home).calls(CallFilter::default(), 9).await.unwrap();
    let rows: Vec<_> = calls.iter().map(|call| (call.call.as_str(), call.status.0.as_str())).collect();
    assert_eq!(rows, [("short", "success"), ("long", "success")]);
    assert!(calls.iter().all(|call| call.started <= call.ended.unwrap()));
}

/// More at once than there is place for: what was given up is counted, and nothing else is missing.
#[tokio::test]
async fn rows_that_find_no_place_are_counted() {
    const CALLS: usize = 30_000;
    let home = tempfile::tempdir().unwrap();
    let lost = {
        let store = store(&home);
        let (engine, scope) = world(&store, Keep::Nothing);
        for number in 0..CALLS {
            engine.call(ToolCall::new(number.to_string(), "nothing", json!({})), &scope).await;
        }
        store.lost()
    };
    let kept = store(&home).calls(CallFilter::default(), CALLS).await.unwrap().len();
    assert_eq!(kept as u64 + lost, CALLS as u64);
}
