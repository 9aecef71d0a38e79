//! Calls in real workers, through the engine.

use std::{sync::Arc, time::Duration};

use pinza_core::ErrorKind;
use pinza_js::{Code, JsTool, OnClash, Place, ScriptSource, load};
use pinza_testkit::{Reply, WireServer};
use serde_json::json;

use crate::support::World;

#[tokio::test]
async fn results_are_text() {
    let world = World::new();
    let cases = [
        ("function execute() {}", ""),
        ("function execute() { return null }", ""),
        ("function execute() { return 'text' }", "text"),
        ("function execute() { return 5 }", "5"),
        (
            "async function execute(p) { return { name: p.name, list: [1, 2] } }",
            r#"{"name":"Ada","list":[1,2]}"#,
        ),
        ("const execute = (p) => p._env.REGION", "eu"),
        ("let execute = async () => { await null; return true }", "true"),
        ("function execute() { return '\\ud800x' }", "\u{fffd}x"),
        ("function execute() { return { then(f) { f('thenable') } } }", "thenable"),
        ("function execute(p) { return Object.hasOwn(p, '__proto__') + ' ' + p.__proto__.x }", "true 1"),
    ];
    let arguments =
        serde_json::from_str::<serde_json::Value>(r#"{"name": "Ada", "__proto__": {"x": 1}}"#).unwrap();
    for (source, expected) in cases {
        assert_eq!(world.text(source, arguments.clone()).await, expected, "{source}");
    }
}

#[tokio::test]
async fn errors_are_answers() {
    let world = World::new();
    let cases = [
        ("function execute() { throw new Error('boom') }", "execution_error: Tool execution failed: boom"),
        (
            "function execute() { throw new TypeError('boom') }",
            "execution_error: Tool execution failed: TypeError: boom",
        ),
        ("function execute() { throw 'text' }", "execution_error: Tool execution failed: text"),
        ("function execute() { throw null }", "execution_error: Tool execution failed: null"),
        (
            "function execute() { return new Promise(() => {}) }",
            "execution_error: Tool execution failed: the script waits for a promise that nothing can settle any more",
        ),
        ("const execute = 5", "execution_error: Tool execution failed: TypeError: not a function"),
    ];
    for (source, expected) in cases {
        assert_eq!(world.text(source, json!({})).await, expected, "{source}");
    }
    let error = world.run("\nfunction execute() {\n  nosuch() }", json!({})).await.result.unwrap_err();
    assert!(error.hint.unwrap().starts_with("Thrown at script.js:3:"));
}

#[tokio::test]
async fn every_call_is_fresh() {
    let world = World::new();
    let source = "globalThis.count = (globalThis.count ?? 0) + 1;
        Array.prototype.evil ??= 0; Array.prototype.evil++;
        function execute() { return [globalThis.count, Array.prototype.evil] }";
    for _ in 0..3 {
        assert_eq!(world.text(source, json!({})).await, "[1,1]");
    }
}

#[tokio::test]
async fn a_late_script_is_stopped_and_the_next_call_is_right() {
    let world = World { timeout: Duration::from_millis(300), ..World::new() };
    for source in [
        "function execute() { while (true); }",
        "async function execute() { while (true) await null }",
        "function execute() { return new Array(2 ** 32 - 1).join('') }",
        "function execute() { return /(a+)+$/.test('a'.repeat(40) + 'b') }",
    ] {
        let error = world.run(source, json!({})).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout, "{source}: {error}");
        assert_eq!(world.text("function execute() { return 'fine' }", json!({})).await, "fine");
    }
}

#[tokio::test]
async fn memory_is_bounded() {
    let world = World::new();
    for source in [
        "function execute() { const a = []; while (true) a.push('x'.repeat(1000) + a.length) }",
        "function execute() { let s = 'x'; while (true) s += s + Math.random() }",
        "function execute() { const m = new Map(); for (let i = 0; ; i++) m.set(i, {}) }",
        "function execute() { return new ArrayBuffer(17 << 20).byteLength }",
    ] {
        let error = world.run(source, json!({})).await.result.unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::MemoryLimit | ErrorKind::ExecutionError),
            "{source}: {error}"
        );
    }
}

#[tokio::test]
async fn the_sandbox_says_what_held() {
    let details = World::new().run("function execute() {}", json!({})).await.result.unwrap().details.unwrap();
    assert_eq!(details["sandbox"], json!(["privileges", "rlimits", "landlock", "seccomp"]));
}

#[tokio::test]
async fn an_error_names_the_line_that_its_author_wrote() {
    let world = World::new();
    let script = ScriptSource {
        file: "script.ts".into(),
        code: "function execute() {\n  throw new Error('x')\n}".into(),
        lines: vec![6, 8, 9],
    };
    let tool = JsTool { code: Arc::new(Code::new(Arc::new(script))), ..world.tool("") };
    let error = world.run_tool(tool, json!({})).await.result.unwrap_err();
    assert_eq!(error.hint.unwrap(), "Thrown at script.ts:8");
}

#[tokio::test]
async fn files_are_uploaded_from_the_workspace_and_from_nowhere_else() {
    let server = WireServer::start(|_| Reply::ok("taken"));
    let world = World::new();
    std::fs::write(world.workspace.path().join("a.txt"), "content").unwrap();
    let upload = |path: &str| {
        let parts = json!([{ "name": "kind\"\r\nX: y", "value": "plain" }, { "name": "file", "path": path }]);
        format!(
            "async function execute() {{ return (await uploadMultipart('{}', {parts})).status }}",
            server.url("/up")
        )
    };
    assert_eq!(world.text(&upload("a.txt"), json!({})).await, "200");
    let request = server.requests().pop().unwrap();
    let boundary = request.header("content-type").unwrap().split_once("boundary=").unwrap().1.to_owned();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"kind%22%0D%0AX: y\"\r\n\r\nplain\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
         Content-Type: application/octet-stream\r\n\r\ncontent\r\n--{boundary}--\r\n"
    );
    assert_eq!(request.text(), expected);
    let outside = "path_not_allowed: Access denied: path is outside the workspace";
    assert_eq!(world.text(&upload("../../etc/passwd"), json!({})).await, outside);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn only_a_bridge_says_what_kind_an_error_is() {
    let world = World::new();
    let bridge = "file_not_found: File not found: nothing";
    for (body, expected) in [
        ("fs.readFile('nothing')", bridge),
        ("try { fs.readFile('nothing') } catch (error) { throw error }", bridge),
        ("try { fs.readFile('nothing') } catch (error) { error.code = 'timeout'; throw error }", bridge),
        (
            "throw Object.assign(new Error('mine'), { code: 'timeout' })",
            "execution_error: Tool execution failed: mine",
        ),
        (
            "class MyError extends Error { name = 'MyError'; code = 'E1' } throw new MyError('mine')",
            "execution_error: Tool execution failed: MyError: mine",
        ),
        (
            "WeakMap.prototype.get = () => ({ code: 'timeout' }); throw new Error('mine')",
            "execution_error: Tool execution failed: mine",
        ),
        ("return Promise.reject()", "execution_error: Tool execution failed: undefined"),
        ("throw null", "execution_error: Tool execution failed: null"),
    ] {
        assert_eq!(
            world.text(&format!("function execute() {{ {body} }}"), json!({})).await,
            expected,
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_module_is_strict_and_its_columns_are_its_own() {
    let world = World::new();
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("script.json", r#"{"name":"script","description":"Fails"}"#);
    for (text, expected) in [
        ("export function execute() { return nowhere.x }", "Thrown at [..]script.js:1:36"),
        ("function execute() { return nowhere.x }", "Thrown at [..]script.js:1:29"),
        ("export function execute() {\n  undeclared = 1\n}", "Thrown at [..]script.js:2:3"),
    ] {
        write("script.js", text);
        let loaded = load(&[Place::Directory(directory.path().into())], OnClash::KeepFirst);
        let tool = loaded.tools.into_iter().next().unwrap();
        let code = Arc::new(Code::new(Arc::clone(&tool.script)));
        let tool = JsTool::new(tool, code, Arc::clone(&world.host));
        let hint = world.run_tool(tool, json!({})).await.result.unwrap_err().hint.unwrap();
        let (start, end) = expected.split_once("[..]").unwrap();
        assert!(hint.starts_with(start) && hint.ends_with(end), "{text}: {hint}");
    }
}
