//! What a call finds: a state that no other call has touched, however it is made, in a worker that
//! lives on when its call is given up.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use pinza_core::ErrorKind;
use pinza_js::{Code, JsTool, Limits, OnClash, Place, Pool, ScriptSource, load};
use proptest::{collection::vec, prelude::*, sample::subsequence};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{World, worker_program};

/// Things that a script does at its top level or in its function.
const DEEDS: [&str; 34] = [
    "globalThis.x = (globalThis.x ?? 0) + 1;",
    "Array.prototype.map = () => 'evil';",
    "Array.prototype.evil = (Array.prototype.evil ?? 0) + 1;",
    "Object.freeze(Array.prototype);",
    "delete globalThis.Map;",
    "delete Array.prototype.push;",
    "globalThis.fetch = 1;",
    "delete globalThis.fetch;",
    "URL.prototype.extra = 1;",
    "Object.defineProperty(Object.prototype, 'seen', { value: 1, configurable: true });",
    "Error.stackTraceLimit = 0;",
    "String.prototype.trim = function () { return 'patched' };",
    "Symbol.for('kept').description;",
    "cache.set('n', (cache.get('n') ?? 0) + 1);",
    "list.push(list.length);",
    "count++;",
    "closure();",
    "expression.test('aXaX');",
    "generator.next();",
    "new Thing().touch();",
    "Thing.made = (Thing.made ?? 0) + 1;",
    "Promise.resolve().then(() => { globalThis.late = (globalThis.late ?? 0) + 1 });",
    "new Promise(() => {});",
    "(async () => { for (;;) await null })();",
    "setTimeout(() => { globalThis.timer = 1 }, 0);",
    "queueMicrotask?.(() => { list.push('micro') });",
    "new FinalizationRegistry(() => {}).register({}, 1);",
    "weak.set(key, (weak.get(key) ?? 0) + 1);",
    "let text = 'x'; for (let i = 0; i < 18; i++) text += text; list.push(text.length);",
    "const many = Array.from({ length: 20000 }, (_, i) => ({ i })); list.push(many.length);",
    "bytes[0]++;",
    "Reflect.setPrototypeOf(list, null);",
    "Math.PI2 = (Math.PI2 ?? 0) + 1;",
    "Date.prototype.shift = 1; Date.extra = (Date.extra ?? 0) + 1;",
];

/// State that they find, at the top level.
const STATE: &str = "
    let count = 0;
    const list = [], cache = new Map(), weak = new WeakMap(), key = {}, bytes = new Uint8Array(8);
    const expression = /X/g;
    const closure = (() => { let n = 0; return () => ++n })();
    const generator = (function* () { let n = 0; for (;;) yield n++ })();
    class Thing { static made; #n = 0; touch() { return ++this.#n } }
    const { getOwnPropertyNames } = Object, { stringify } = JSON;
    const own = (object) => getOwnPropertyNames(object).sort().join();
";

/// All that can be seen of it.
const SEEN: &str = "
    await null;
    return stringify({ __proto__: null, count, length: list.length, first: list[0], kept: cache.get?.('n'),
        weak: weak.get(key), byte: bytes[0], index: expression.lastIndex, next: generator.next().value,
        closure: closure(), made: Thing.made, x: globalThis.x, late: globalThis.late, timer: globalThis.timer,
        globals: own(globalThis), array: own(Array.prototype), object: own(Object.prototype), math: own(Math),
        map: typeof Array.prototype.map, date: own(Date) + own(Date.prototype), url: own(URL.prototype),
        frozen: Object.isFrozen(Array.prototype), limit: Error.stackTraceLimit, trim: ' a '.trim(), args });
";

fn script(top: &[&str], inside: &[&str]) -> String {
    // Blocks, so that what a deed declares is its own.
    let block = |deeds: &[&str]| {
        deeds
            .iter()
            .map(|deed| format!("try {{ {deed} }} catch (error) {{ count += 100 }}\n"))
            .collect::<String>()
    };
    format!("{STATE}{}async function execute(args) {{\n{}{SEEN}}}", block(top), block(inside))
}

fn scripts() -> impl Strategy<Value = String> {
    let deeds = || subsequence(DEEDS.to_vec(), 0..8).prop_shuffle();
    (deeds(), deeds()).prop_map(|(top, inside)| script(&top, &inside))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Calls on copied-back images answer as calls on new engines do, in whatever order.
    #[test]
    fn a_call_cannot_tell_how_its_state_was_made(
        scripts in vec(scripts(), 1..4),
        order in vec((0..4usize, 0..3u8), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let imaged = World::new();
            let fresh = World::with(Pool::new(worker_program()).fresh());
            let codes: Vec<Arc<Code>> = scripts.iter().map(|source| code(source)).collect();
            for (index, argument) in order {
                let code = &codes[index % codes.len()];
                let arguments = json!({ "argument": argument });
                let answer = async |world: &World| {
                    let tool = JsTool { code: Arc::clone(code), ..world.tool("") };
                    world.run_tool(tool, arguments.clone()).await.result.map(|output| output.as_text())
                };
                let (one, other) = (answer(&imaged).await, answer(&fresh).await);
                prop_assert_eq!(one.map_err(|error| error.to_string()), other.map_err(|error| error.to_string()));
            }
            Ok(())
        })?;
    }
}

fn code(source: &str) -> Arc<Code> {
    let script = ScriptSource { file: "script.js".into(), code: source.into(), lines: Vec::new() };
    Arc::new(Code::new(Arc::new(script)))
}

/// A tool that is called several times, so that all but the first call find its image.
async fn answers(world: &World, source: &str, calls: usize) -> Vec<String> {
    let code = code(source);
    let mut answers = Vec::new();
    for _ in 0..calls {
        let tool = JsTool { code: Arc::clone(&code), ..world.tool("") };
        answers.push(match world.run_tool(tool, json!({})).await.result {
            Ok(output) => output.as_text(),
            Err(error) => error.to_string(),
        });
    }
    answers
}

#[tokio::test]
async fn what_the_top_level_asks_of_the_world_it_asks_for_every_call() {
    let world = World::new();
    for source in [
        "const then = Date.now(); function execute() { while (Date.now() === then); return then }",
        "const then = +new Date(); function execute() { while (Date.now() === then); return then }",
        "const then = Date() + Math.random(); function execute() { return then }",
        "class Day extends Date {}; const then = new Day().getTime(); function execute() { while (Date.now() === then); return then }",
        "const chance = Math.random(); function execute() { return chance }",
        "const then = eval('Date.now()'); function execute() { while (Date.now() === then); return then }",
        "const id = crypto.randomUUID(); function execute() { return id }",
        "const bytes = crypto.getRandomValues(new Uint8Array(16)); function execute() { return Array.from(bytes) }",
        "function execute() { return [Math.random(), Math.random(), crypto.randomUUID()] }",
        "const n = Number(fs.readFile('n')) + 1; fs.writeFile('n', String(n)); function execute() { return n }",
        "fs.appendFile('log', 'x'); function execute() { return fs.readFile('log') }",
    ] {
        std::fs::write(world.workspace.path().join("n"), "0").unwrap();
        let answers = answers(&world, source, 4).await;
        let different: BTreeSet<&String> = answers.iter().collect();
        assert_eq!(different.len(), 4, "{source}: {answers:?}");
    }
}

#[tokio::test]
async fn a_log_line_of_the_top_level_is_in_every_call() {
    let world = World::new();
    let code = code("console.log('loading'); function execute() { return 1 }");
    for _ in 0..3 {
        let tool = JsTool { code: Arc::clone(&code), ..world.tool("") };
        let details = world.run_tool(tool, json!({})).await.result.unwrap().details.unwrap();
        assert_eq!(details["log"], json!([{ "level": "log", "text": "loading" }]));
    }
}

#[tokio::test]
async fn a_top_level_that_throws_throws_in_every_call() {
    let world = World::new();
    let source = "globalThis.n = (globalThis.n ?? 0) + 1; if (n < 2) throw new Error('at ' + n); function execute() {}";
    assert_eq!(answers(&world, source, 3).await, ["execution_error: Tool execution failed: at 1"; 3]);
}

#[tokio::test]
async fn functions_of_a_script_share_its_image() {
    let world = World::new();
    let code = code(
        "let n = 0; const table = Array.from({ length: 1000 }, (_, i) => i);
         function first() { return [++n, table.length] } const second = () => [++n, table[999]]; let third = async () => ++n;",
    );
    for _ in 0..3 {
        for (function, expected) in [("first", "[1,1000]"), ("second", "[1,999]"), ("third", "1")] {
            let tool = JsTool { code: Arc::clone(&code), function: function.into(), ..world.tool("") };
            let output = world.run_tool(tool, json!({})).await.result.unwrap();
            assert_eq!(output.as_text(), expected, "{function}");
        }
    }
}

#[tokio::test]
async fn a_library_is_part_of_the_image() {
    let world = World::new();
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("script.json", r#"{"name":"script","description":"Counts"}"#);
    write(
        "script.js",
        "const { next, loaded } = lib('counter'); next();
         function execute() { while (Date.now() === loaded()); return [next(), loaded()] }",
    );
    // It reads the clock while it loads, which keeps no script out of its image.
    write(
        "counter.js",
        "let n = 0; const loaded = Date.now(); exports.next = () => ++n; exports.loaded = () => loaded;",
    );
    let loaded = load(&[Place::Directory(directory.path().into())], OnClash::KeepFirst);
    let tool = loaded.tools.into_iter().next().unwrap();
    let code = Arc::new(Code::new(Arc::clone(&tool.script)));
    let mut answers = BTreeSet::new();
    for _ in 0..3 {
        let tool = JsTool::new(tool.clone(), Arc::clone(&code), Arc::clone(&world.host));
        answers.insert(world.run_tool(tool, json!({})).await.result.unwrap().as_text());
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers.first().unwrap().starts_with("[2,"), "{answers:?}");
}

#[tokio::test]
async fn many_scripts_in_one_worker_do_not_mix() {
    let world = World::new();
    let codes: Vec<Arc<Code>> = (0..60)
        .map(|n| {
            code(&format!(
                "const filler = 'x'.repeat({n} * 20000); let calls = 0;
                 function execute() {{ return [{n}, filler.length, ++calls, typeof other] }} var own{n} = 1;"
            ))
        })
        .collect();
    for round in 0..3 {
        for step in 0..codes.len() {
            let n = (step * 7 + round * 13) % codes.len();
            let tool = JsTool { code: Arc::clone(&codes[n]), ..world.tool("") };
            let answer = world.run_tool(tool, json!({})).await.result.unwrap().as_text();
            assert_eq!(answer, format!("[{n},{},1,\"undefined\"]", n * 20000));
        }
    }
}

/// A world whose workers can be told from those of other tests, and their process ids.
struct Watched {
    world: World,
    program: PathBuf,
    _directory: tempfile::TempDir,
}

impl Watched {
    fn new(timeout: Duration) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("worker");
        std::fs::copy(worker_program(), &program).unwrap();
        let world = World { timeout, ..World::with(Pool::new(&program)) };
        Self { world, program, _directory: directory }
    }

    fn workers(&self) -> BTreeSet<i32> {
        let is_ours =
            |entry: &Path| std::fs::read_link(entry.join("exe")).is_ok_and(|exe| exe == self.program);
        let entries = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|entry| is_ours(entry))
            .filter_map(|entry| entry.file_name()?.to_str()?.parse().ok())
            .collect()
    }

    /// Waits for the workers to be as they should.
    async fn settle(&self, wanted: impl Fn(&BTreeSet<i32>) -> bool) -> BTreeSet<i32> {
        for _ in 0..500 {
            let workers = self.workers();
            if wanted(&workers) {
                return workers;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("workers: {:?}", self.workers());
    }
}

const FINE: &str = "function execute() { return 'fine' }";

#[tokio::test]
async fn a_script_that_can_be_interrupted_does_not_cost_its_worker() {
    let watched = Watched::new(Duration::from_millis(300));
    for source in [
        "function execute() { while (true); }",
        "function execute() { for (;;) try { for (;;); } catch {} finally { continue } }",
        "async function execute() { while (true) await null }",
        "async function execute() { await new Promise((done) => setTimeout(done, 1e6)) }",
        "while (true); function execute() {}",
    ] {
        // On a busy machine a worker may not come to hear in time that it should stop; not every time, though.
        let mut is_kept = false;
        for _ in 0..5 {
            assert_eq!(watched.world.text(FINE, json!({})).await, "fine", "{source}");
            let before = watched.workers();
            let error = watched.world.run(source, json!({})).await.result.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Timeout, "{source}: {error}");
            // The next call may come before the worker is back, and get another.
            tokio::time::sleep(Duration::from_millis(200)).await;
            is_kept = watched.workers().is_superset(&before);
            if is_kept {
                break;
            }
        }
        assert!(is_kept, "{source}");
    }
}

#[tokio::test]
async fn a_script_that_cannot_be_interrupted_is_killed_and_its_worker_replaced() {
    let watched = Watched::new(Duration::from_millis(300));
    assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
    let before = watched.workers();
    let endless = "function execute() { return new Array(2 ** 32 - 1).join('') }";
    assert_eq!(watched.world.run(endless, json!({})).await.result.unwrap_err().kind, ErrorKind::Timeout);
    // Without a call, there is a worker again.
    watched.settle(|now| !now.is_empty() && now.is_disjoint(&before)).await;
    assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
}

#[tokio::test]
async fn a_worker_that_died_while_it_waited_is_not_noticed() {
    let watched = Watched::new(Duration::from_secs(10));
    for _ in 0..3 {
        assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
        for worker in watched.workers() {
            kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
        }
        assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
    }
}

#[tokio::test]
async fn a_call_that_ends_its_worker_after_a_request_is_not_run_again() {
    let watched = Watched::new(Duration::from_secs(10));
    assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
    let source = "function execute() { fs.appendFile('log', 'x'); const all = []; for (;;) all.push('x'.repeat(1e5) + all.length) }";
    let error = watched.world.run(source, json!({})).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MemoryLimit, "{error}");
    assert_eq!(std::fs::read_to_string(watched.world.workspace.path().join("log")).unwrap(), "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_nobody_needs_end() {
    let watched = Watched::new(Duration::from_secs(30));
    let sleep = "async function execute() { await new Promise((done) => setTimeout(done, 500)); return 1 }";
    let calls = (0..12).map(|_| watched.world.text(sleep, json!({})));
    assert!(futures_util::future::join_all(calls).await.iter().all(|answer| answer == "1"));
    assert!(watched.workers().len() > 4);
    watched.settle(|now| now.len() == 2).await;
    assert_eq!(watched.world.text(FINE, json!({})).await, "fine");
}

#[tokio::test]
async fn a_heap_is_counted_above_what_the_script_has_loaded() {
    let world = World { limits: Limits { heap: 4 << 20, ..Limits::default() }, ..World::new() };
    let loaded = "const table = 'x'.repeat(3 << 20);";
    let fits = format!("{loaded} function execute() {{ return 'y'.repeat(3 << 20).length + table.length }}");
    let total = (6 << 20).to_string();
    assert_eq!(answers(&world, &fits, 3).await, [total.as_str(); 3]);
    let over = format!(
        "{loaded} function execute() {{ const all = []; for (let i = 0; i < 100; i++) all.push('y'.repeat(1e5) + i) }}"
    );
    for answer in answers(&world, &over, 2).await {
        assert!(answer.starts_with("memory_limit"), "{answer}");
    }
}

#[tokio::test]
async fn cyclic_garbage_is_collected_within_a_call() {
    let world = World::new();
    let source = "function execute() {
        for (let i = 0; i < 20000; i++) { const a = { data: 'x'.repeat(2000) + i }; a.self = a }
        return 'done';
    }";
    assert_eq!(answers(&world, source, 2).await, ["done"; 2]);
}
