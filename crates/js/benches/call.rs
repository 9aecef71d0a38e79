//! An isolated call of a script, through the engine and a sandboxed worker process, beside what
//! else a user would pick: Node with a new context a call, and a Node child without isolation.
//!
//! The benchmark is its own worker program.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot start should stop and say so"
)]

use std::{collections::BTreeMap, process::Command, sync::Arc};

use divan::Bencher;
use pinza_core::{
    CallScope, Caller, Engine, Policy, Registry, ToolCall, ToolContext, ToolDefinition, ToolName,
};
use pinza_host::{
    files::{Workspace, WorkspaceOptions},
    http::{HttpClient, HttpOptions},
};
use pinza_js::{Code, Host, JsTool, Libraries, Limits, Pool, ScriptSource, WORK};
use serde_json::json;

const TRIVIAL: &str = "function execute({ a, b }) { return a + b }";

fn main() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == WORK) {
        let _ = pinza_js::work();
        return;
    }
    divan::main();
    node();
}

/// About 5 KB of source with some work of its own.
fn five_kilobytes() -> String {
    let mut source = String::from("const table = {};\n");
    for number in 0..60 {
        source.push_str(&format!(
            "function helper{number}(value) {{ table['k{number}'] = value * {number}; return value + 1; }}\n"
        ));
    }
    source.push_str("function execute({ a, b }) { let sum = a;\n");
    for number in 0..60 {
        source.push_str(&format!("  sum = helper{number}(sum);\n"));
    }
    source + "  return { sum, keys: Object.keys(table).length, b };\n}\n"
}

struct World {
    runtime: tokio::runtime::Runtime,
    engine: Engine,
    scope: CallScope,
    _workspace: tempfile::TempDir,
}

impl World {
    fn new(source: &str) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let host = Arc::new(Host {
            pool: Arc::new(Pool::this_program()),
            files: Arc::new(Workspace::open(workspace.path(), WorkspaceOptions::default()).unwrap()),
            http: HttpClient::new(HttpOptions::default()).unwrap(),
            clock: |_, _| Ok(String::new()),
            stand_ins: None,
            open_variables: BTreeMap::new(),
            kept_variables: None,
        });
        let script = ScriptSource { file: "script.js".into(), code: source.into(), lines: Vec::new() };
        let tool = JsTool {
            definition: ToolDefinition::new(ToolName::known("script"), "A script"),
            code: Arc::new(Code::new(Arc::new(script))),
            function: "execute".into(),
            env: None,
            limits: Limits::default(),
            libraries: Arc::new(Libraries::new()),
            host,
        };
        let mut registry = Registry::new();
        registry.register(Arc::new(tool), None).unwrap();
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        let world = Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            engine: Engine::new(Policy::default()),
            scope: CallScope::new(Caller::Library, Arc::new(snapshot)),
            _workspace: workspace,
        };
        world.call();
        world
    }

    fn call(&self) {
        let call = ToolCall::new("1", "script", json!({ "a": 1, "b": 2 }));
        let outcome = self.runtime.block_on(self.engine.call(call, &self.scope));
        assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    }
}

#[divan::bench(sample_count = 2000)]
fn trivial(bencher: Bencher) {
    let world = World::new(TRIVIAL);
    bencher.bench_local(|| world.call());
}

#[divan::bench(sample_count = 2000)]
fn five_kb(bencher: Bencher) {
    let world = World::new(&five_kilobytes());
    bencher.bench_local(|| world.call());
}

/// From nothing: a new pool, so a new process.
#[divan::bench(sample_count = 100)]
fn cold_worker(bencher: Bencher) {
    bencher.bench_local(|| World::new(TRIVIAL));
}

/// The alternatives, measured in the same run.
fn node() {
    let script = "
        const vm = require('node:vm');
        const compiled = new vm.Script('function execute({ a, b }) { return a + b }; execute');
        const times = [];
        for (let i = 0; i < 500; i++) {
          const begun = process.hrtime.bigint();
          const execute = compiled.runInContext(vm.createContext({}));
          execute(JSON.parse('[1,2]'));
          times.push(Number(process.hrtime.bigint() - begun) / 1000);
        }
        times.sort((a, b) => a - b);
        console.log(`node:vm, a new context a call: median ${times[250].toFixed(1)} us`);
    ";
    match Command::new("node").args(["-e", script]).output() {
        Ok(output) => println!("{}", String::from_utf8_lossy(&output.stdout).trim_end()),
        Err(_) => println!("node is not installed: its figures are left out"),
    }
}
