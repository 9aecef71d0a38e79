//! The packages of `fixtures/modules/packages` in real Node processes, called through the engine.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Engine, ErrorKind, Policy, Registry, Rule, Tool,
    ToolCall, ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult, Verdict,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// Only a hang takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// `cargo test` builds the examples of a package, unless it is told to run one test binary.
fn supervisor() -> Supervisor {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/worker");
    assert!(program.exists(), "first run: cargo build -p pinza-js --examples");
    Supervisor::new(program)
}

/// A module's directory with all packages installed, and a host.
struct World {
    directory: TempDir,
    host: Arc<NodeHost>,
    rules: Vec<Rule>,
    timeout: Duration,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/modules/packages");
        copy(Path::new(packages), &directory.path().join("node_modules"));
        Self {
            directory,
            host: Arc::new(NodeHost::new(supervisor())),
            rules: vec![Rule::capability(Verdict::Allow, "node")],
            timeout: PATIENCE,
        }
    }

    fn module(&self, package: &str) -> NodeModule {
        NodeModule {
            name: "fixture".into(),
            directory: self.directory.path().canonicalize().unwrap(),
            package: package.into(),
            heap: 128 << 20,
            session: None,
        }
    }

    async fn call(&self, package: &str, plan: Value) -> ToolResult {
        self.run(self.module(package), plan).await
    }

    async fn run(&self, module: NodeModule, plan: Value) -> ToolResult {
        let definition = ToolDefinition::new(ToolName::known("wrapped"), "A wrapped function");
        let definition = definition.timeout(self.timeout);
        let mut registry = Registry::new();
        let tool = Wrapped { definition, host: Arc::clone(&self.host), module, plan };
        registry.register(Arc::new(tool), None).unwrap();
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        let engine = Engine::new(Policy::new(self.rules.clone(), []));
        let scope = CallScope::new(Caller::Library, Arc::new(snapshot));
        let call = engine.call(ToolCall::new("1", "wrapped", json!({})), &scope);
        tokio::time::timeout(PATIENCE * 2, call).await.expect("it hangs").result
    }

    /// What a function returns.
    async fn value(&self, package: &str, plan: Value) -> Value {
        value(self.call(package, plan).await)
    }

    /// `code: message` of the answer.
    async fn error(&self, package: &str, plan: Value) -> String {
        self.call(package, plan).await.unwrap_err().to_string()
    }
}

fn value(result: ToolResult) -> Value {
    result.unwrap().details.unwrap()["value"].clone()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The least that a tool does with an outcome.
struct Wrapped {
    definition: ToolDefinition,
    host: Arc<NodeHost>,
    module: NodeModule,
    plan: Value,
}

impl Tool for Wrapped {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a Arguments, context: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let outcome = self.host.call(context, &self.module, &self.plan).await?;
            if let Some(thrown) = outcome.error {
                return Err(thrown.answer(&self.module.name));
            }
            let details = json!({ "value": outcome.value, "handle": outcome.handle, "log": outcome.log });
            Ok(ToolOutput::text("").details(details))
        })
    }
}

fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("98764.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that have the marker as an argument of their own.
fn alive(marker: &str) -> Vec<PathBuf> {
    let has_marker = |process: &PathBuf| {
        let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == marker.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.filter(has_marker).collect()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn common_js_and_es_modules_by_name_and_by_path() {
    let world = World::new();
    let sum = json!({ "function": "sum", "args": [1, 2, 3] });
    assert_eq!(world.value("common-js", sum.clone()).await, 6);
    assert_eq!(world.value("./node_modules/common-js", sum.clone()).await, 6);
    assert_eq!(world.value("./node_modules/common-js/index.js", sum).await, 6);
    assert_eq!(world.value("es-module", json!({ "function": "greet", "args": ["Ada"] })).await, "hello Ada");
    assert_eq!(world.value("es-module", json!({ "function": "ownName" })).await, "es-module");
    let init = json!({ "type": "constructor", "config": { "word": "salut" } });
    let say = json!({ "init": init, "function": "say", "args": ["Ada"] });
    assert_eq!(world.value("es-module", say).await, "salut Ada");
}

#[tokio::test]
async fn a_process_starts_clean_in_the_modules_directory() {
    let world = World::new();
    let seen = world.value("common-js", json!({ "function": "where" })).await;
    assert_eq!(seen["cwd"], world.directory.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(seen["execArgv"], json!([]));
    let inherited = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR"];
    for name in seen["env"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(inherited.contains(&name) || name.starts_with("LC_"), "{name}");
    }
    assert_eq!(world.value("common-js", json!({ "function": "input" })).await, "");
}

#[tokio::test]
async fn bytes_and_long_texts_come_back() {
    let world = World::new();
    let bytes = world.value("common-js", json!({ "function": "bytes" })).await;
    assert_eq!(bytes, json!({ "type": "bytes", "base64": "aMOpbGxv" }));
    let long = world.value("common-js", json!({ "function": "long", "args": [1_000_000] })).await;
    assert_eq!(long.as_str().unwrap().len(), 2_000_000);
    // Within the bound of characters, beyond that of bytes.
    let error = world.error("common-js", json!({ "function": "long", "args": [10 << 20] })).await;
    assert_eq!(error, "output_limit: The result is larger than 16 MiB");
}

#[tokio::test]
async fn errors_keep_their_class_wherever_they_are_thrown() {
    let world = World::new();
    for function in ["at_once", "later", "aside"] {
        let error = world.error("throwing", json!({ "function": function })).await;
        assert_eq!(
            error, "execution_error: Tool execution failed: QuotaError: the quota is used up",
            "{function}"
        );
    }
}

#[tokio::test]
async fn a_wrong_path_is_explained() {
    let error = World::new().error("throwing", json!({ "function": "latter" })).await;
    let expected = "'latter' is not there: the library has no 'latter'; did you mean later?";
    assert_eq!(error, format!("execution_error: Tool execution failed: {expected}"));
}

#[tokio::test]
async fn what_a_library_prints_is_its_log() {
    let world = World::new();
    let output = world.call("printing", json!({ "function": "chat", "args": [0] })).await.unwrap();
    let details = output.details.unwrap();
    assert_eq!(details["value"], "done");
    let lines: Vec<&str> =
        details["log"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(lines, ["to the log", "to the errors", "\0\0\0\u{2}{}", "from a child", "without an end"]);
}

#[tokio::test]
async fn a_library_that_prints_much_is_read_and_cut() {
    let world = World::new();
    let output = world.call("printing", json!({ "function": "chat", "args": [20_000] })).await.unwrap();
    let details = output.details.unwrap();
    assert_eq!(details["value"], "done");
    assert_eq!(details["log"].as_array().unwrap().len(), crate::frame::LOG_LINES + 1);
}

#[tokio::test]
async fn a_late_call_ends_with_its_process() {
    let world = World { timeout: Duration::from_millis(1500), ..World::new() };
    for function in ["asleep", "busy"] {
        let error = world.call("hanging", json!({ "function": function })).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout, "{function}: {error}");
    }
}

#[tokio::test]
async fn a_promise_that_nothing_settles_is_told() {
    let error = World::new().error("hanging", json!({ "function": "stalled" })).await;
    let expected = "the library waits for a promise that nothing can settle any more";
    assert_eq!(error, format!("execution_error: Tool execution failed: {expected}"));
}

#[tokio::test]
async fn children_end_with_the_call() {
    let world = World::new();
    let marker = marker();
    assert_eq!(world.value("spawning", json!({ "function": "leave", "args": [marker] })).await, true);
    assert_eq!(alive(&marker), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn children_of_a_late_call_end_too() {
    let world = Arc::new(World::new());
    let marker = marker();
    let plan = json!({ "function": "leaveAndHang", "args": [marker] });
    let caller = Arc::clone(&world);
    let call = tokio::spawn(async move { caller.call("spawning", plan).await });
    until("the start", || !alive(&marker).is_empty()).await;
    call.abort();
    until("the end", || alive(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_library_that_ends_its_process_is_told_so() {
    let world = World::new();
    let error = world.call("exiting", json!({ "function": "exit", "args": [3] })).await.unwrap_err();
    let message = "Tool execution failed: the library of 'fixture' ended its process before it answered";
    assert_eq!(error.message, format!("{message} (exit code 3)"));
    assert_eq!(error.hint.unwrap(), "It printed, at the end: going");
    let error = world.call("exiting", json!({ "function": "killed" })).await.unwrap_err();
    assert_eq!(error.message, format!("{message} (signal 9)"));
}

#[tokio::test]
async fn what_cannot_be_loaded_says_why() {
    let world = World::new();
    let error = world.error("native-addon", json!({ "function": "root" })).await;
    assert!(error.contains("the library of 'fixture' cannot be loaded"), "{error}");
    assert!(error.contains("Cannot find module './build/Release/addon.node'"), "{error}");
    let error = world.error("broken", json!({ "function": "root" })).await;
    assert!(error.contains("cannot be loaded: TypeError: it fails while it loads"), "{error}");
    let error = world.error("not-installed", json!({ "function": "root" })).await;
    assert!(error.contains("Cannot find package 'not-installed'"), "{error}");
}

#[tokio::test]
async fn the_heap_is_bounded() {
    let world = World::new();
    let module = NodeModule { heap: 32 << 20, ..world.module("greedy") };
    let error = world.run(module, json!({ "function": "eat" })).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MemoryLimit, "{error}");
    let hint = error.hint.unwrap_or_default();
    assert!(hint.contains("\"heapMb\": 64") && !hint.contains("runtime"), "{hint}");
}

#[tokio::test]
async fn without_the_capability_nothing_starts() {
    let world = World { rules: Vec::new(), ..World::new() };
    let error = world.call("common-js", json!({ "function": "sum" })).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::PermissionDenied);
    assert!(error.message.contains("node"), "{error}");
}

#[tokio::test]
async fn without_node_the_answer_says_what_is_missing() {
    let host = NodeHost { program: "no-node-here".into(), ..NodeHost::new(supervisor()) };
    let world = World { host: Arc::new(host), ..World::new() };
    let error = world.call("common-js", json!({ "function": "sum" })).await.unwrap_err();
    assert!(error.message.contains("'fixture' needs Node"), "{error}");
    assert!(error.message.contains("'no-node-here' was not found"), "{error}");
    assert!(error.hint.unwrap().contains("Install Node 20"));
}

#[tokio::test]
async fn each_call_begins_anew_unless_a_session_keeps_its_process() {
    let world = World::new();
    let next = json!({ "init": { "type": "constructor" }, "function": "next" });
    let count = |result: ToolResult| value(result)["count"].clone();
    assert_eq!(count(world.call("client", next.clone()).await), 1);
    assert_eq!(count(world.call("client", next.clone()).await), 1);

    let kept = |session: &str| NodeModule { session: Some(session.into()), ..world.module("client") };
    for expected in 1..=3 {
        assert_eq!(count(world.run(kept("a"), next.clone()).await), expected);
    }
    assert_eq!(count(world.run(kept("b"), next.clone()).await), 1);
    assert_eq!(count(world.run(kept("b"), next).await), 2);
}

#[tokio::test]
async fn handles_live_in_their_session() {
    let world = World::new();
    let kept = || NodeModule { session: Some("s".into()), ..world.module("client") };
    let init = json!({ "type": "constructor" });
    let cursor = json!({ "init": init, "function": "cursor", "keep": true, "prefix": "client" });
    let output = world.run(kept(), cursor).await.unwrap().details.unwrap();
    assert_eq!((&output["handle"], &output["value"]), (&json!("client-1"), &json!("cursor at 0")));
    let step = json!({ "init": init, "function": "step", "handle": "client-1" });
    assert_eq!(value(world.run(kept(), step.clone()).await), 1);
    assert_eq!(value(world.run(kept(), step.clone()).await), 2);
    let error = world.call("client", step).await.unwrap_err();
    assert_eq!(error.to_string(), "not_found: There is no kept object 'client-1'; nothing is kept");
}

#[tokio::test]
async fn a_session_survives_the_end_of_its_process() {
    let world = World { timeout: Duration::from_millis(1500), ..World::new() };
    let kept = |package: &str| NodeModule { session: Some("s".into()), ..world.module(package) };
    let fine = json!({ "function": "fine" });
    assert_eq!(value(world.run(kept("exiting"), fine.clone()).await), "fine");
    world.run(kept("exiting"), json!({ "function": "exit", "args": [0] })).await.unwrap_err();
    assert_eq!(value(world.run(kept("exiting"), fine).await), "fine");
    // A late call takes its process along; the next one finds another.
    world.run(kept("hanging"), json!({ "function": "busy" })).await.unwrap_err();
    let error = world.run(kept("hanging"), json!({ "function": "stalled" })).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ExecutionError, "{error}");
}

#[tokio::test]
async fn calls_of_one_session_take_turns() {
    let world = World::new();
    let kept = || NodeModule { session: Some("s".into()), ..world.module("client") };
    let next = json!({ "init": { "type": "constructor" }, "function": "next" });
    let calls = (0..8).map(|_| world.run(kept(), next.clone()));
    let values: Vec<Value> = futures_util::future::join_all(calls).await.into_iter().map(value).collect();
    let counts: HashSet<u64> = values.iter().map(|value| value["count"].as_u64().unwrap()).collect();
    let processes: HashSet<u64> = values.iter().map(|value| value["pid"].as_u64().unwrap()).collect();
    assert_eq!((counts, processes.len()), ((1..=8).collect(), 1));
}

#[tokio::test]
async fn no_more_processes_are_kept_than_may_be() {
    let world = World::new();
    let next = json!({ "init": { "type": "constructor" }, "function": "next" });
    for session in 0..=MOST_KEPT {
        let module = NodeModule { session: Some(session.to_string()), ..world.module("client") };
        assert_eq!(value(world.run(module, next.clone()).await)["count"], 1);
    }
    assert_eq!(world.host.kept.lock().unwrap().len(), MOST_KEPT);
    let count = |session: &str| {
        let module = NodeModule { session: Some(session.into()), ..world.module("client") };
        let call = world.run(module, next.clone());
        async { value(call.await)["count"].clone() }
    };
    assert_eq!(count("1").await, 2);
    assert_eq!(count("0").await, 1);
}

#[tokio::test]
async fn a_process_that_nobody_calls_ends() {
    let world = World::new();
    let kept = || NodeModule { session: Some("s".into()), ..world.module("client") };
    let next = json!({ "init": { "type": "constructor" }, "function": "next" });
    // Real processes answer in real time; only the waiting between calls is not waited for.
    let later = async |time: Duration| {
        // Whoever is about to wait does.
        tokio::task::yield_now().await;
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    };
    let is_kept = || {
        let slots = world.host.kept.lock().unwrap();
        slots.values().any(|slot| slot.process.try_lock().is_ok_and(|process| process.is_some()))
    };
    let first = value(world.run(kept(), next.clone()).await);
    later(IDLE * 2 / 3).await;
    // This call begins the time anew.
    assert_eq!(value(world.run(kept(), next.clone()).await)["count"], 2);
    later(IDLE * 2 / 3).await;
    assert!(is_kept());
    later(IDLE / 2).await;
    until("the process ends", || !is_kept()).await;
    let process = PathBuf::from(format!("/proc/{}", first["pid"]));
    until("its end is seen", || !process.exists()).await;
    // The session begins anew, and its process is watched again.
    assert_eq!(value(world.run(kept(), next).await)["count"], 1);
    later(IDLE * 2).await;
    until("the next one ends, too", || !is_kept()).await;
}

#[tokio::test]
async fn a_check_asks_without_calling() {
    let world = World::new();
    let request = json!({ "init": { "type": "constructor" }, "functions": ["next", "nxt"] });
    let told = world.host.describe(&world.module("client"), &request).await.unwrap();
    assert_eq!(told["functions"][0], json!({ "function": "next", "ok": true, "parameters": 0 }));
    assert!(told["functions"][1]["message"].as_str().unwrap().ends_with("did you mean next?"));
    let told = world.host.describe(&world.module("broken"), &request).await.unwrap();
    assert_eq!(told["error"]["fault"], "load");
}
