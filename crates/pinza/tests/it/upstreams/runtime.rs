//! Servers of a runtime that lives on: starts, restarts, cancellation, several callers.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use pinza::{
    Pinza, UpstreamSettings,
    core::{CallScope, Caller, CancellationToken, ErrorKind, ToolCall},
    mcp::client::{Launch, NoVariables, Restarts, Spec, UpstreamName},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{PATIENCE, command};

/// Pauses that no test lives to see the end of, and lives that are all short: no clock decides.
const LATE: Restarts = Restarts {
    first_pause: Duration::from_secs(3600),
    longest_pause: Duration::from_secs(3600),
    short_life: Duration::from_secs(3600),
};

/// Counts how often a server was started.
struct Starts {
    _directory: TempDir,
    file: String,
}

impl Starts {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("count").display().to_string();
        Self { _directory: directory, file }
    }

    fn options(&self) -> [&str; 2] {
        ["--count", &self.file]
    }

    fn count(&self) -> usize {
        std::fs::read_to_string(&self.file).unwrap_or_default().lines().count()
    }
}

/// A runtime with the fixture under each of these names, with its options; all but the last are looked at first.
struct World {
    pinza: Pinza,
    specs: Vec<Spec>,
    directory: TempDir,
}

fn spec(name: &str, options: &[&str], directory: &Path) -> Spec {
    let launch = Launch::Command { argv: command(options), env: Vec::new(), directory: directory.to_owned() };
    Spec::new(UpstreamName::new(name).unwrap(), launch)
}

fn runtime(directory: &Path, specs: Vec<Spec>) -> Pinza {
    Pinza::builder()
        .workspace(directory)
        .helper(env!("CARGO_BIN_EXE_pinza"))
        .upstreams(UpstreamSettings {
            specs,
            directory: directory.join("mcp"),
            variables: Arc::new(NoVariables),
            tokens: None,
        })
        .build()
        .unwrap()
}

impl World {
    /// All servers have been looked at in a runtime before this one.
    async fn new(servers: &[(&str, &[&str])]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_owned();
        let specs = |options: &dyn Fn(&[&str]) -> Vec<String>| -> Vec<Spec> {
            let spec = |(name, given): &(&str, &[&str])| {
                let options = options(given);
                spec(name, &options.iter().map(String::as_str).collect::<Vec<_>>(), &root)
            };
            servers.iter().map(spec).collect()
        };
        let behaved = |given: &[&str]| -> Vec<String> {
            if given.contains(&"--modern") {
                return given.iter().map(|word| (*word).to_owned()).collect();
            }
            let place = given.iter().position(|word| *word == "--tools");
            place
                .map(|place| given[place..place + 2].iter().map(|word| (*word).to_owned()).collect())
                .unwrap_or_default()
        };
        let first = runtime(&root, specs(&behaved));
        for (name, _) in servers {
            first.upstreams().get(name).unwrap().contact().await.unwrap();
        }
        let specs = specs(&|given| given.iter().map(|word| (*word).to_owned()).collect());
        Self { pinza: runtime(&root, specs.clone()), specs, directory }
    }

    fn with_restarts(self, restarts: Restarts) -> Self {
        let specs = self.specs.into_iter().map(|spec| Spec { restarts, ..spec }).collect::<Vec<_>>();
        Self { pinza: runtime(self.directory.path(), specs.clone()), specs, directory: self.directory }
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<String, (ErrorKind, String)> {
        let outcome = self.pinza.call(name, arguments).await;
        outcome.result.map(|output| output.as_text()).map_err(|error| (error.kind, error.message))
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_blocks_nobody() {
    let files = tempfile::tempdir().unwrap();
    let gate = files.path().join("gate");
    let world = Arc::new(World::new(&[("slow", &["--gate", gate.to_str().unwrap()]), ("quick", &[])]).await);
    let asking = Arc::clone(&world);
    let slow = tokio::spawn(async move { asking.call("slow__echo", json!({"text": "late"})).await });
    assert_eq!(world.call("quick__echo", json!({"text": "soon"})).await.as_deref(), Ok("soon"));
    assert!(!slow.is_finished(), "its gate is shut");
    std::fs::write(gate, "").unwrap();
    assert_eq!(slow.await.unwrap().as_deref(), Ok("late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_start_serves_all_who_wait_for_it() {
    let starts = Starts::new();
    let options = [&["--slow", "200"], &starts.options()[..]].concat();
    let world = World::new(&[("fix", &options)]).await;
    let calls = (0..20).map(|index| world.call("fix__echo", json!({"text": index.to_string()})));
    let answers = futures_join(calls).await;
    assert!(
        answers.iter().enumerate().all(|(index, answer)| answer.as_deref() == Ok(index.to_string().as_str()))
    );
    assert_eq!(starts.count(), 1);
}

/// Waits for something that must come, however busy the machine is.
async fn comes_to_be(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it hangs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn futures_join<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pinned: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|cx| {
        let mut is_done = true;
        for (future, output) in &mut pinned {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    pinned.into_iter().map(|(_, output)| output.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_server_comes_back_and_one_that_keeps_crashing_is_left_alone() {
    let starts = Starts::new();
    let world = World::new(&[("fix", &starts.options())]).await.with_restarts(LATE);
    let (kind, message) = world.call("fix__crash", json!({})).await.unwrap_err();
    assert_eq!(kind, ErrorKind::ExecutionError);
    assert!(message.ends_with("it exited with code 3"), "{message}");
    assert_eq!(world.call("fix__echo", json!({"text": "again"})).await.as_deref(), Ok("again"));
    world.call("fix__crash", json!({})).await.unwrap_err();
    let (_, message) = world.call("fix__echo", json!({"text": "x"})).await.unwrap_err();
    assert!(message.contains("it ended soon after its start; it is tried again in "), "{message}");
    assert_eq!(starts.count(), 2, "it is left alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_its_pause_is_over_a_server_is_tried_again() {
    let starts = Starts::new();
    let soon = Restarts { first_pause: Duration::ZERO, ..LATE };
    let world = World::new(&[("fix", &starts.options())]).await.with_restarts(soon);
    for start in 1..=4 {
        let (_, message) = world.call("fix__crash", json!({})).await.unwrap_err();
        assert!(message.ends_with("it exited with code 3"), "{message}");
        assert_eq!(starts.count(), start);
    }
    assert_eq!(world.call("fix__echo", json!({"text": "at last"})).await.as_deref(), Ok("at last"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let world = World::new(&[("fix", &[])]).await;
    // The first call on a connection, and one after others.
    for mark in ["first", "later"] {
        let mark = world.path(mark);
        let token = CancellationToken::new();
        let scope = CallScope { cancellation: token.clone(), ..world.pinza.scope(Caller::Library) };
        let call = ToolCall::new("1", "fix__wait", json!({"mark": mark}));
        let engine = Arc::clone(world.pinza.engine());
        let waiting = tokio::spawn(async move { engine.call(call, &scope).await });
        comes_to_be(|| std::fs::read_to_string(&mark).is_ok_and(|text| text == "waiting")).await;
        // The server answers others meanwhile.
        assert_eq!(world.call("fix__echo", json!({"text": "x"})).await.as_deref(), Ok("x"));
        token.cancel();
        let outcome = waiting.await.unwrap();
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Cancelled);
        comes_to_be(|| std::fs::read_to_string(&mark).is_ok_and(|text| text == "cancelled")).await;
        assert_eq!(world.call("fix__echo", json!({"text": "still here"})).await.as_deref(), Ok("still here"));
    }
}

/// The first call on a connection is the SDK's; those after it go past it.
#[tokio::test(flavor = "multi_thread")]
async fn calls_after_the_first_are_as_the_first() {
    for revision in [&[] as &[&str], &["--modern"]] {
        let files = tempfile::tempdir().unwrap();
        let heard = files.path().join("heard");
        let options = [revision, &["--heard", heard.to_str().unwrap()]].concat();
        let world = World::new(&[("fix", &options)]).await;
        let calls = [
            ("fix__echo", json!({"text": "\u{2028} \"quoted\"\n"})),
            ("fix__sum", json!({"numbers": [1, 2.5]})),
            ("fix__picture", json!({})),
            ("fix__fail", json!({})),
            ("fix__refuse", json!({})),
            ("fix__progress", json!({})),
            ("fix__big", json!({"bytes": 300_000})),
        ];
        for (name, arguments) in calls {
            // A runtime of its own, so that this is the first one.
            let alone = runtime(world.directory.path(), world.specs.clone());
            let first = alone.call(name, arguments.clone()).await.result;
            let _ = world.call("fix__echo", json!({"text": "first"})).await;
            let later = world.pinza.call(name, arguments).await.result;
            match (first, later) {
                (Ok(first), Ok(later)) => {
                    assert_eq!((first.content, first.details), (later.content, later.details), "{name}");
                }
                (first, later) => assert_eq!(first.err(), later.err(), "{name}"),
            }
        }
        // What was sent differs in its number alone.
        let mut told: Vec<Value> = std::fs::read_to_string(&heard)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|call: &Value| call["params"]["name"] == "sum")
            .collect();
        assert_eq!(told.len(), 2);
        let numbers = told.iter().map(|call| call["id"].as_u64().unwrap()).collect::<Vec<_>>();
        assert!(numbers[0] < 1_000_000_000 && numbers[1] >= 1_000_000_000, "{numbers:?}");
        for (call, number) in told.iter_mut().zip(numbers) {
            let token = call["params"]["_meta"]["progressToken"].take();
            assert!(revision.is_empty() || call["params"]["_meta"].as_object().unwrap().len() > 1, "{call}");
            assert!(token.is_number(), "{number}: {token}");
            call["id"] = Value::Null;
        }
        assert_eq!(told[0], told[1]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_answers_are_answers_to_every_call() {
    let world = World::new(&[("texts", &["--text-ids"]), ("nulls", &["--nulls"])]).await;
    for word in ["first", "second"] {
        assert_eq!(world.call("texts__echo", json!({"text": word})).await.as_deref(), Ok(word));
        let (kind, message) = world.call("nulls__echo", json!({"text": word})).await.unwrap_err();
        assert_eq!(kind, ErrorKind::ExecutionError, "{message}");
    }
}

/// Says at once what it is, to the first call and to later ones, and the server hears no answer to its answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read_settles_its_call() {
    let files = tempfile::tempdir().unwrap();
    let (raw, heard) = (files.path().join("raw"), files.path().join("heard"));
    let result =
        |text: &str| format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":[],{text}}}}}"#).into_bytes();
    let deep = format!(r#""structuredContent":{}{}"#, "[".repeat(200), "]".repeat(200));
    let cases: [(Vec<u8>, Result<&str, &str>); 8] = [
        (result(r#""structuredContent":"\ud83d""#), Err("no JSON of the protocol")),
        (result(&deep), Err("recursion limit")),
        (result(r#""structuredContent":1e999"#), Err("number out of range")),
        (result(r#""structuredContent":NaN"#), Err("no JSON of the protocol")),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":\"\xff\"}}".to_vec(),
            Err("no JSON of the protocol"),
        ),
        (
            br#"{"jsonrpc":"2.0","id":ID,"error":{"code":"E","message":"too late"}}"#.to_vec(),
            Err("fix: too late"),
        ),
        (br#"{"id":ID,"result":{"content":[{"type":"text","text":"x"}]}}"#.to_vec(), Ok("x")),
        (
            br#"{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[{"type":"text","text":"x"}]}}"#
                .to_vec(),
            Ok("x"),
        ),
    ];
    let options = ["--raw", raw.to_str().unwrap(), "--heard", heard.to_str().unwrap()];
    let world = World::new(&[("fix", &options)]).await;
    for (line, expected) in cases {
        let shown = String::from_utf8_lossy(&line).into_owned();
        std::fs::write(&raw, line).unwrap();
        // A runtime of its own, so that there is a first call.
        let alone = runtime(world.directory.path(), world.specs.clone());
        for place in ["first", "second", "third"] {
            let call = alone.call("fix__echo", json!({"text": "x"}));
            let found = tokio::time::timeout(Duration::from_secs(20), call).await.expect(&shown).result;
            match (found, expected) {
                (Ok(output), Ok(text)) => assert_eq!(output.as_text(), text, "{place}: {shown}"),
                (Err(error), Err(text)) => assert!(error.message.contains(text), "{place}: {shown}: {error}"),
                (found, _) => panic!("{place}: {shown}: {found:?}"),
            }
        }
    }
    let heard = std::fs::read_to_string(&heard).unwrap();
    assert!(heard.lines().all(|line| line.contains("tools/call")), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_read_is_said_to_be_that() {
    let files = tempfile::tempdir().unwrap();
    let raw = files.path().join("raw");
    std::fs::write(&raw, r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[NaN]}}"#).unwrap();
    let specs = vec![spec("fix", &["--raw-list", raw.to_str().unwrap()], files.path())];
    let pinza = runtime(files.path(), specs);
    let error = pinza.upstreams().get("fix").unwrap().contact().await.unwrap_err();
    assert!(error.message.contains("no JSON of the protocol: expected value"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_none_is_left_out_and_named() {
    let files = tempfile::tempdir().unwrap();
    let tools = files.path().join("tools");
    let listed = json!([
        {"name": "echo", "description": "Says it back", "inputSchema": {"type": "object"}},
        {"name": "bare"},
        {"name": "", "inputSchema": {"type": "object"}},
    ]);
    std::fs::write(&tools, listed.to_string()).unwrap();
    let specs = vec![spec("fix", &["--tools", tools.to_str().unwrap()], files.path())];
    runtime(files.path(), specs.clone()).upstreams().get("fix").unwrap().contact().await.unwrap();
    let pinza = runtime(files.path(), specs);
    let problems: Vec<_> =
        pinza.upstreams().shelf().problems.into_iter().map(|found| found.message).collect();
    let expected = [
        "the tool 'bare' of fix is left out: the parameters' schema must be a JSON object, not null",
        "the tool '' of fix is left out: it has no name",
    ];
    assert_eq!(problems, expected);
    assert_eq!(pinza.call("fix__echo", json!({"text": "x"})).await.result.unwrap().as_text(), "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_become_newer_is_greeted_anew() {
    let directory = tempfile::tempdir().unwrap();
    for (options, revision) in
        [(&[] as &[&str], "2025-11-25"), (&["--modern"], "2026-07-28"), (&[], "2025-11-25")]
    {
        let pinza = runtime(directory.path(), vec![spec("fix", options, directory.path())]);
        let contact = pinza.upstreams().get("fix").unwrap().contact().await.unwrap();
        assert_eq!(contact.facts.revision, revision);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_listen_any_more_is_started_again() {
    let starts = Starts::new();
    let options = [&["--deaf"], &starts.options()[..]].concat();
    let world = World::new(&[("fix", &options)]).await;
    assert_eq!(world.call("fix__echo", json!({"text": "one"})).await.as_deref(), Ok("one"));
    // It may take a moment until it has closed its end.
    let start = Instant::now();
    while starts.count() == 1 {
        let _ =
            tokio::time::timeout(Duration::from_millis(200), world.call("fix__echo", json!({"text": "two"})))
                .await;
        assert!(start.elapsed() < PATIENCE, "it is not started again");
    }
    comes_to_be(|| starts.count() == 2).await;
}

/// A question is passed on, or refused, whichever call it comes with.
#[tokio::test(flavor = "multi_thread")]
async fn questions_of_later_calls_are_answered() {
    let world = World::new(&[("fix", &[])]).await;
    for _ in 0..3 {
        let answer = world.call("fix__ask", json!({})).await.unwrap();
        assert!(answer.contains("decline"), "{answer}");
        assert_eq!(world.call("fix__echo", json!({"text": "x"})).await.as_deref(), Ok("x"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_call_is_lost_as_the_first() {
    let world = World::new(&[("fix", &[])]).await;
    assert_eq!(world.call("fix__echo", json!({"text": "first"})).await.as_deref(), Ok("first"));
    let (kind, message) = world.call("fix__giant", json!({})).await.unwrap_err();
    assert_eq!(kind, ErrorKind::OutputLimit, "{message}");
    assert_eq!(world.call("fix__echo", json!({"text": "again"})).await.as_deref(), Ok("again"));
    // Several are lost with the server, and none of them waits for ever.
    let waiting = world.call("fix__wait", json!({}));
    let crash = world.call("fix__crash", json!({}));
    let (waiting, crash) = tokio::join!(waiting, crash);
    for lost in [waiting, crash] {
        let (kind, message) = lost.unwrap_err();
        assert_eq!(kind, ErrorKind::ExecutionError);
        assert!(message.ends_with("it exited with code 3"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_change_under_way_are_held_at_once() {
    tools_change(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_2026_is_listened_to() {
    tools_change(&["--modern"]).await;
}

async fn tools_change(options: &[&str]) {
    let files = tempfile::tempdir().unwrap();
    let tools = files.path().join("tools.json");
    let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    std::fs::write(&tools, json!([tool("echo", "a"), tool("change", "b")]).to_string()).unwrap();
    let options = [options, &["--tools", tools.to_str().unwrap()]].concat();
    let world = World::new(&[("fix", &options)]).await;
    assert_eq!(world.call("fix__echo", json!({"text": "x"})).await.as_deref(), Ok("x"));
    let changed = json!([tool("echo", "now evil"), tool("change", "b")]);
    assert_eq!(world.call("fix__change", json!({"tools": changed})).await.as_deref(), Ok("changed"));
    let start = Instant::now();
    let message = loop {
        match world.call("fix__echo", json!({"text": "x"})).await {
            Err((ErrorKind::ToolNotAvailable, message)) => break message,
            other => assert!(start.elapsed() < PATIENCE, "{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(message.ends_with("so it is held"), "{message}");
    // Accepted elsewhere, it is callable here as well; after a reload models read the new words.
    let upstream = world.pinza.upstreams().get("fix").unwrap();
    upstream.accept(&upstream.record().unwrap().unwrap()).unwrap();
    assert_eq!(world.call("fix__echo", json!({"text": "x"})).await.as_deref(), Ok("x"));
    let reload = tokio::task::block_in_place(|| world.pinza.reload());
    assert_eq!(reload.changed, ["fix__echo"]);
    let description = || world.pinza.snapshot().get("fix__echo").unwrap().definition().description.clone();
    assert_eq!(description(), "now evil");
    // A runtime that is watched sees by itself what another process accepts.
    let _watch = tokio::task::block_in_place(|| world.pinza.watch()).unwrap();
    let file = world.path("mcp/fix.json");
    let accepted = std::fs::read_to_string(&file).unwrap().replace("now evil", "good again");
    std::fs::write(&file, accepted).unwrap();
    comes_to_be(|| description() == "good again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_is_asked_ever_less_often() {
    let starts = Starts::new();
    let options = [&["--die", "7"], &starts.options()[..]].concat();
    let world = World::new(&[("dead", &options)]).await.with_restarts(LATE);
    let (_, first) = world.call("dead__echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(first, "The server dead cannot be used: it exited with code 7 before it answered");
    let tried = starts.count();
    let (_, second) = world.call("dead__echo", json!({"text": "x"})).await.unwrap_err();
    assert!(second.starts_with(&format!("{first}; it is tried again in ")), "{second}");
    assert_eq!(starts.count(), tried, "the second call did not start it");
}
