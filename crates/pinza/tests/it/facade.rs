//! The library: a tool of one's own, batches, approval, and files that are none.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use pinza::{
    CallContext, Capability, NativeTool, Pinza, Policy, Rule, ToolDefinition, ToolName, ToolResult, Verdict,
    core::{
        Answer, Approver, BoxFuture, CallScope, Caller, Engine, ErrorKind, FileType, FsBridge, FsError,
        FsStat, Outcome, Prompt, Registry, Snapshot, Source, ToolCall, ToolContext, WriteMode,
    },
};
use pinza_tools::Services;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// Answers with its number, but only after the one above it has answered.
struct Countdown {
    name: &'static str,
    turns: [Semaphore; 3],
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    number: usize,
}

impl Countdown {
    fn named(name: &'static str) -> Self {
        Self { name, turns: [Semaphore::new(0), Semaphore::new(0), Semaphore::new(1)] }
    }
}

impl NativeTool for Countdown {
    type Parameters = Number;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known(self.name), "Count down").read_only()
    }

    async fn call(&self, Number { number }: Number, _context: &CallContext<'_>) -> ToolResult {
        let turn = self.turns[number].acquire().await;
        turn.map_err(|error| pinza::ToolError::execution(error.to_string()))?.forget();
        if let Some(next) = number.checked_sub(1) {
            self.turns[next].add_permits(1);
        }
        Ok(number.to_string().into())
    }
}

fn text(outcome: &Outcome) -> Result<String, ErrorKind> {
    outcome.result.as_ref().map(|output| output.as_text()).map_err(|error| error.kind)
}

#[tokio::test]
async fn a_tool_of_ones_own_stands_beside_the_others() {
    let pinza = Pinza::builder().tool(Countdown::named("countdown")).build().unwrap();
    let snapshot = pinza.snapshot();
    let entry = snapshot.tools().find(|entry| entry.definition().name == "countdown").unwrap();
    assert_eq!((&*entry.meta().section, &entry.meta().source), ("custom", &Source::Native));
    let outcome = pinza.call("countdown", json!({"number": "2"})).await;
    assert_eq!((text(&outcome), &*outcome.tool), (Ok("2".into()), "countdown"));
    let outcome = pinza.call("countdown", json!({})).await;
    assert_eq!(outcome.result.unwrap_err().message, "Missing required parameter: 'number'");
    assert_eq!(text(&pinza.call("none", json!({})).await), Err(ErrorKind::ToolNotFound));
}

#[test]
fn two_tools_of_one_name_are_a_clash() {
    for name in ["read_file", "countdown"] {
        let builder = Pinza::builder().tool(Countdown::named("countdown")).tool(Countdown::named(name));
        assert_eq!(builder.build().unwrap_err().to_string(), format!("Tool '{name}' is already registered"));
    }
}

#[tokio::test]
async fn outcomes_come_in_the_order_of_the_calls() {
    let pinza = Pinza::builder().tool(Countdown::named("countdown")).build().unwrap();
    let count = |number: usize| ToolCall::new(format!("id-{number}"), "countdown", json!({"number": number}));
    let mut calls: Vec<ToolCall> = (0..3).map(count).collect();
    calls.insert(1, ToolCall::new("odd", "none", json!({})));
    let outcomes = pinza.call_all(calls).await;
    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    assert_eq!(ids, ["id-0", "odd", "id-1", "id-2"]);
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    assert_eq!(texts, [Ok("0".into()), Err(ErrorKind::ToolNotFound), Ok("1".into()), Ok("2".into())]);
}

/// Says yes to the first question and no to the others.
#[derive(Default)]
struct OneYes(AtomicUsize);

impl Approver for OneYes {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        assert_eq!(prompt.permission.capability, "launch");
        let asked = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(if asked == 0 { Answer::Once } else { Answer::Deny }))
    }
}

struct Launch;

impl NativeTool for Launch {
    type Parameters = NoParameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("launch"), "Launch it").needs(Capability::known("launch"))
    }

    async fn call(&self, _: NoParameters, _context: &CallContext<'_>) -> ToolResult {
        Ok("launched".into())
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoParameters {}

#[tokio::test]
async fn what_a_tool_declares_is_asked_for() {
    let nobody = Pinza::builder().tool(Launch).build().unwrap();
    assert_eq!(text(&nobody.call("launch", json!({})).await), Err(ErrorKind::PermissionDenied));
    let allowed = Policy::new([Rule::capability(Verdict::Allow, "launch")], []);
    let allowed = Pinza::builder().tool(Launch).policy(allowed).build().unwrap();
    assert_eq!(text(&allowed.call("launch", json!({})).await), Ok("launched".into()));
    let asked = Pinza::builder().tool(Launch).approver(Arc::new(OneYes::default())).build().unwrap();
    assert_eq!(text(&asked.call("launch", json!({})).await), Ok("launched".into()));
    assert_eq!(text(&asked.call("launch", json!({})).await), Err(ErrorKind::PermissionDenied));
    let off = Pinza::builder().tool(Launch).disable(["launch".into()]).build().unwrap();
    assert_eq!(text(&off.call("launch", json!({})).await), Err(ErrorKind::ToolDisabled));
}

#[tokio::test]
async fn without_a_workspace_there_are_no_file_tools_and_a_reason() {
    let pinza = Pinza::builder().build().unwrap();
    let failures = pinza.failures();
    let failed: Vec<(&str, &str)> =
        failures.iter().map(|failure| (failure.id.as_str(), failure.reason.as_str())).collect();
    let bridge = "the context has no 'bridge'";
    for name in ["read_file", "write_file", "read", "write", "edit"] {
        assert!(failed.contains(&(name, bridge)), "{name}: {failed:?}");
        assert_eq!(text(&pinza.call(name, json!({"path": "a"})).await), Err(ErrorKind::ToolNotFound));
    }
    assert!(failed.contains(&("exec", "the context has no 'process supervisor'")), "{failed:?}");
    assert!(text(&pinza.call("get_current_time", json!({})).await).is_ok(), "the others are there");
}

#[tokio::test]
async fn file_tools_work_on_any_bridge() {
    let mut registry = Registry::new();
    pinza_tools::register(&mut registry, Services::default()).unwrap();
    let files = Arc::new(Memory::default());
    let context = ToolContext { bridge: Some(files.clone()), ..ToolContext::default() };
    let resolution = registry.resolve_all(&context);
    let failed: Vec<&str> = resolution.failures.iter().map(|failure| failure.id.as_str()).collect();
    assert_eq!(failed, ["http_request", "exec", "js_eval"], "only what has no service");
    let snapshot = Arc::new(resolution.into_snapshot(&registry, |_| true));
    let engine = Engine::new(Policy::default());

    let cases = [
        (
            "write",
            json!({"path": "d/a.txt", "content": "one\ntwo\n"}),
            Ok("Successfully wrote 8 bytes to d/a.txt"),
        ),
        ("read", json!({"path": "d/a.txt", "offset": 2}), Ok("two\n")),
        (
            "write_file",
            json!({"path": "d/a.txt", "content": "three", "mode": "append"}),
            Ok("Successfully wrote 5 bytes to d/a.txt (mode: append)"),
        ),
        ("read_file", json!({"path": "d/a.txt"}), Ok("one\ntwo\nthree")),
        ("read_file", json!({"path": "d"}), Err(ErrorKind::ValidationError)),
        ("read_file", json!({"path": "none"}), Err(ErrorKind::FileNotFound)),
        ("read_file", json!({"path": "/etc/passwd"}), Err(ErrorKind::PathNotAllowed)),
    ];
    for (tool, arguments, expected) in cases {
        let answer = call(&engine, &snapshot, tool, arguments.clone()).await;
        assert_eq!(answer, expected.map(str::to_owned), "{tool} {arguments}");
    }
    let edited =
        call(&engine, &snapshot, "edit", json!({"path": "d/a.txt", "oldText": "two", "newText": "2"})).await;
    assert!(edited.unwrap().contains("\n-two\n+2\n"));
    assert_eq!(files.0.lock().unwrap()["d/a.txt"], b"one\n2\nthree");
}

async fn call(
    engine: &Engine,
    snapshot: &Arc<Snapshot>,
    tool: &str,
    arguments: Value,
) -> Result<String, ErrorKind> {
    let scope = CallScope::new(Caller::Library, Arc::clone(snapshot));
    text(&engine.call(ToolCall::new("id", tool, arguments), &scope).await)
}

/// Files that are only in memory; a directory is whatever stands before a slash.
#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Memory {
    fn find(&self, path: &str) -> Result<Option<Vec<u8>>, FsError> {
        if path.starts_with('/') {
            return Err(FsError::Outside);
        }
        let files = self.0.lock().unwrap();
        if files.keys().any(|known| known.starts_with(&format!("{path}/"))) {
            return Err(FsError::IsDirectory);
        }
        Ok(files.get(path).cloned())
    }
}

impl FsBridge for Memory {
    fn stat<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<FsStat>, FsError>> {
        let stat =
            |file: Vec<u8>| FsStat { file_type: FileType::File, size: file.len() as u64, modified: None };
        Box::pin(async move { Ok(self.find(path)?.map(stat)) })
    }

    fn read<'a>(&'a self, path: &'a str, limit: u64) -> BoxFuture<'a, Result<Vec<u8>, FsError>> {
        Box::pin(async move {
            let data = self.find(path)?.ok_or(FsError::NotFound)?;
            let size = data.len() as u64;
            if size > limit { Err(FsError::TooLarge { size, limit }) } else { Ok(data) }
        })
    }

    fn mkdirp<'a>(&'a self, _path: &'a str) -> BoxFuture<'a, Result<(), FsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn write<'a>(
        &'a self,
        path: &'a str,
        data: &'a [u8],
        mode: WriteMode,
    ) -> BoxFuture<'a, Result<(), FsError>> {
        Box::pin(async move {
            let old = self.find(path)?.filter(|_| mode == WriteMode::Append).unwrap_or_default();
            self.0.lock().unwrap().insert(path.to_owned(), [&old, data].concat());
            Ok(())
        })
    }
}
