//! What a call costs beyond the tool itself: look-up, arguments, policy, admission, timeout,
//! bounds and observers. Divan's item counter makes every figure one of a single call.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has to stop")]

use std::sync::Arc;

use divan::{Bencher, black_box, counter::ItemsCount};
use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Capability, Engine, Parameter, ParameterType,
    Parameters, Policy, Registry, Rule, Snapshot, Tool, ToolCall, ToolContext, ToolDefinition, ToolName,
    ToolOutput, ToolResult, Verdict,
};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

/// Calls in one sample, so that entering the runtime costs none of them anything.
const CALLS: usize = 1_000;

fn main() {
    divan::main();
}

/// Answers at once.
struct Trivial(ToolDefinition);

impl Tool for Trivial {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async { Ok(ToolOutput::text("done")) })
    }
}

fn definition(name: &str) -> ToolDefinition {
    let parameters = Parameters::build()
        .required("path", Parameter::string("Where"))
        .required("content", Parameter::string("What"))
        .optional("mode", Parameter::string("How").one_of(["overwrite", "append"]).default_value("overwrite"))
        .optional("retries", Parameter::integer("How often"))
        .optional("tags", Parameter::array(ParameterType::String, "Words"))
        .done();
    ToolDefinition::new(ToolName::new(name).unwrap(), "Does nothing").parameters(parameters)
}

fn snapshot(definitions: impl IntoIterator<Item = ToolDefinition>) -> Arc<Snapshot> {
    let mut registry = Registry::new();
    for definition in definitions {
        registry.register(Arc::new(Trivial(definition)), None).unwrap();
    }
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true))
}

fn calls(name: &str) -> Vec<ToolCall> {
    let arguments = json!({"path": "notes/today.md", "content": "hello", "retries": 3, "tags": ["a", "b"]});
    (0..CALLS).map(|index| ToolCall::new(index.to_string(), name, arguments.clone())).collect()
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn one_after_the_other(bencher: Bencher, definition: ToolDefinition, rules: Vec<Rule>) {
    let runtime = current_thread();
    let engine = Engine::new(Policy::new(rules, []));
    let scope = CallScope::new(Caller::Library, snapshot([definition]));
    bencher.counter(ItemsCount::new(CALLS)).with_inputs(|| calls("trivial")).bench_values(|calls| {
        runtime.block_on(async {
            for call in calls {
                let outcome = engine.call(call, &scope).await;
                assert!(black_box(outcome).result.is_ok());
            }
        });
    });
}

#[divan::bench]
fn trivial_tool(bencher: Bencher) {
    one_after_the_other(bencher, definition("trivial"), vec![]);
}

#[divan::bench]
fn trivial_tool_beside_five_rules(bencher: Bencher) {
    let others = ["exec", "web_*", "browser", "server__*", "cron"];
    let rules = others.map(|tool| Rule {
        tool: Some(pinza_core::Glob::new(tool)),
        ..Rule::capability(Verdict::Deny, "net*")
    });
    one_after_the_other(bencher, definition("trivial"), rules.to_vec());
}

#[divan::bench]
fn with_a_capability_that_a_rule_allows(bencher: Bencher) {
    let definition = definition("trivial").needs(Capability::known("exec")).subject("path");
    one_after_the_other(bencher, definition, vec![Rule::capability(Verdict::Allow, "exec")]);
}

/// The part of the above that is only the arguments' and the answer's own coming and going.
#[divan::bench]
fn making_and_dropping_a_call(bencher: Bencher) {
    bencher.counter(ItemsCount::new(CALLS)).with_inputs(|| calls("trivial")).bench_values(|calls| {
        for call in calls {
            black_box((call, ToolOutput::text("done")));
        }
    });
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn look_up(bencher: Bencher, tools: usize) {
    let names: Vec<String> = (0..tools).map(|index| format!("server__tool_number_{index}")).collect();
    let snapshot = snapshot(names.iter().map(|name| definition(name)));
    let wanted: Vec<&String> = names.iter().cycle().step_by(7).take(CALLS).collect();
    bencher.counter(ItemsCount::new(CALLS)).bench(|| {
        for name in &wanted {
            assert!(snapshot.get(black_box(name)).is_some());
        }
    });
}

#[divan::bench]
fn a_thousand_side_by_side(bencher: Bencher) {
    let runtime = Builder::new_multi_thread().enable_time().build().unwrap();
    let engine = Arc::new(Engine::new(Policy::default()));
    let scope = CallScope::new(Caller::Library, snapshot([definition("trivial")]));
    bencher.counter(ItemsCount::new(CALLS)).with_inputs(|| calls("trivial")).bench_values(|calls| {
        let outcomes = runtime.block_on(engine.call_all(calls, &scope));
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
        outcomes
    });
}
