use std::sync::Arc;

use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Engine, Policy, Registry, Tool, ToolCall,
    ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult,
};
use pinza_state::{CallFilter, Journal, Keep, Store};
use serde_json::json;

use crate::store;

/// Answers what the journal says of it while it runs.
struct Asks {
    definition: ToolDefinition,
    store: Store,
}

impl Tool for Asks {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
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
