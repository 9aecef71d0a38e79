//! What the journal costs a call: the same engine with and without it.
//!
//! The writer works beside the calls; what is measured is the time that a caller loses.

use std::sync::Arc;

use divan::Bencher;
use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Engine, Policy, Registry, Tool, ToolCall,
    ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult,
};
use pinza_state::{Journal, Keep, Store};
use serde_json::json;

fn main() {
    divan::main();
}

struct Echo(ToolDefinition);

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(Ok(ToolOutput::text("ok"))))
    }
}

fn scope() -> CallScope {
    let mut registry = Registry::new();
    let definition = ToolDefinition::new(ToolName::known("echo"), "x").read_only();
    let _ = registry.register(Arc::new(Echo(definition)), None);
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    CallScope::new(Caller::Cli, Arc::new(snapshot))
}

fn calls(bencher: Bencher<'_, '_>, engine: &Engine) {
    let (scope, runtime) = (scope(), tokio::runtime::Builder::new_current_thread().enable_all().build());
    let Ok(runtime) = runtime else { return };
    let arguments = json!({"path": "notes/today.txt", "limit": 5});
    bencher
        .bench_local(|| runtime.block_on(engine.call(ToolCall::new("1", "echo", arguments.clone()), &scope)));
}

#[divan::bench]
fn without(bencher: Bencher<'_, '_>) {
    calls(bencher, &Engine::new(Policy::default()));
}

#[divan::bench]
fn with_journal(bencher: Bencher<'_, '_>) {
    let Ok(directory) = tempfile::tempdir() else { return };
    let Ok(store) = Store::open(&directory.path().join("state.db")) else { return };
    let journal = Journal::new(store.clone(), Keep::Head, Arc::new(str::to_owned));
    calls(bencher, &Engine::new(Policy::default()).observer(Arc::new(journal)));
}
