//! How long a person waits before anything happens: `pinza --version`, `tools list`, and the
//! runtime with a thousand tools.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot start should stop")]
use std::{process::Command, sync::Arc};

use pinza::{
    Pinza, ToolDefinition, ToolName, ToolResult,
    core::{Arguments, BoxFuture, CallContext, Parameter, Parameters, Tool},
};

fn main() {
    divan::main();
}

fn run(arguments: &[&str]) {
    let home = std::env::temp_dir().join("pinza-bench-home");
    let output = Command::new(env!("CARGO_BIN_EXE_pinza")).args(arguments).env("PINZA_HOME", home).output();
    assert!(output.unwrap().status.success());
}

#[divan::bench]
fn version() {
    run(&["--version"]);
}

#[divan::bench]
fn tools_list() {
    run(&["--json", "tools", "list"]);
}

#[divan::bench]
fn call_get_current_time() {
    run(&["call", "get_current_time"]);
}

/// From nothing to the answer of a script: the program, its worker, the engine, the call.
#[divan::bench]
fn call_a_script(bencher: divan::Bencher) {
    let tools = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(tools.path().join(name), text).unwrap();
    write("greet.json", r#"{"name":"greet","description":"Greets"}"#);
    write("greet.js", "function execute() { return 'hello' }");
    let directory = tools.path().to_str().unwrap();
    bencher.bench(|| run(&["--tools", directory, "call", "greet"]));
}

/// From nothing to a listing of a thousand more tools.
#[divan::bench]
fn a_thousand_tools(bencher: divan::Bencher) {
    let workspace = tempfile::tempdir().unwrap();
    let tools: Vec<Arc<dyn Tool>> =
        (0..1000).map(|number| Arc::new(Numbered::new(number)) as Arc<dyn Tool>).collect();
    bencher.bench(|| {
        let builder = Pinza::builder().workspace(workspace.path());
        let builder = tools.iter().fold(builder, |builder, tool| builder.shared_tool(Arc::clone(tool)));
        let pinza = builder.build().unwrap();
        pinza.snapshot().tools().map(|entry| entry.definition().description.len()).sum::<usize>()
    });
}

struct Numbered(ToolDefinition);

impl Numbered {
    fn new(number: usize) -> Self {
        let parameters = Parameters::build()
            .required("path", Parameter::string("Where to look"))
            .optional("limit", Parameter::integer("How much to return"))
            .done();
        let name = ToolName::new(format!("tool_{number}")).unwrap();
        Self(ToolDefinition::new(name, "One of a thousand").parameters(parameters))
    }
}

impl Tool for Numbered {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(Ok("done".into())))
    }
}
