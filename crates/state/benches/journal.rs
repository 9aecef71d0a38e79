//! What the journal costs a call: the same engine with and without it.
//!
//! The writer works beside the calls; what is measured is the time that a caller loses.

use std::sync::Arc;

use divan::Bencher;
use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Engine, Parameter, ParameterType, Parameters,
    Policy, Registry, Tool, ToolCall, ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult,
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
    let parameters = Parameters::build()
        .required("path", Parameter::string("Where"))
        .required("content", Parameter::string("What"))
        .optional("mode", Parameter::string("How").one_of(["overwrite", "append"]).default_value("overwrite"))
        .optional("retries", Parameter::integer("How often"))
        .optional("tags", Parameter::array(ParameterType::String, "Words"))
        .done();
    let definition = ToolDefinition::new(ToolName::known("echo"), "x").parameters(parameters).read_only();
    let _ = registry.register(Arc::new(Echo(definition)), None);
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    CallScope::new(Caller::Cli, Arc::new(snapshot))
}

fn calls(bencher: Bencher<'_, '_>, engine: &Engine) {
    let (scope, runtime) = (scope(), tokio::runtime::Builder::new_current_thread().enable_all().build());
    let Ok(runtime) = runtime else { return };
    let arguments = json!({"path": "notes/today.md", "content": "hello", "retries": 3, "tags": ["a", "b"]});
    bencher
        .bench_local(|| runtime.block_on(engine.call(ToolCall::new("1", "echo", arguments.clone()), &scope)));
}

#[divan::bench(sample_size = 50, sample_count = 100)]
fn without(bencher: Bencher<'_, '_>) {
    calls(bencher, &Engine::new(Policy::default()));
}

#[divan::bench(sample_size = 50, sample_count = 100)]
fn with_journal(bencher: Bencher<'_, '_>) {
    let Ok(directory) = tempfile::tempdir() else { return };
    let Ok(store) = Store::open(&directory.path().join("state.db")) else { return };
    let journal = Journal::new(store.clone(), Keep::Head, Arc::new(str::to_owned));
    calls(bencher, &Engine::new(Policy::default()).observer(Arc::new(journal)));
}
