//! The scripts of `fixtures/prelude` that need a whole home around them: other tools, libraries, a large answer.
//! The others run in `crates/js/tests/it/prelude.rs`; the README beside them says what they expect.

use std::path::Path;

use pinza_testkit::{Reply, WireServer};
use serde_json::json;

use super::{file, tool};
use crate::support::{check_call, fine, pinza};

const SCRIPTS: [&str; 5] =
    ["host_bridges", "fetch_failures", "lib", "patched_promise", "patched_object_prototype"];

#[test]
fn globals_in_a_furnished_home() {
    let server = WireServer::start(|request| match request.path() {
        "/truncated" => Reply::ok(format!("{{\"a\":[{}1]}}", "1,2,".repeat(3 << 20))),
        "/bytes" => Reply::new("200 OK", &[], [0, 1, 2, 0xfd, 0xfe, 0xff]),
        _ => Reply::json(&json!({"method": request.method(), "text": request.text()})),
    });
    let pinza = pinza();
    let closed = WireServer::start(|_| Reply::ok("")).url("");
    fine(&pinza, &["config", "set", r#"net.rewrite."http://stand-in.test""#, &server.url("")]);
    fine(&pinza, &["config", "set", r#"net.rewrite."http://refused.test""#, &closed]);
    for (name, text) in [
        ("counter", "let n = 0; exports.next = () => ++n;"),
        ("whole", "module.exports = (name) => 'hello ' + name;"),
        ("cycle_a", "exports.early = 1; exports.b = lib('cycle_b'); exports.late = 2;"),
        ("cycle_b", "const a = lib('cycle_a'); exports.saw = Object.keys(a).join();"),
        ("broken", "throw new RangeError('broken')"),
    ] {
        file(&pinza, &format!("home/tools/{name}.js"), text);
    }
    let echo = "function execute({ _env, ...args }) { return { name: 'echo', arguments: args } }";
    tool(&pinza, "echo", json!({}), echo);
    for name in SCRIPTS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/prelude");
        let script = std::fs::read_to_string(path.join(name).with_extension("js")).unwrap();
        let tool_name = format!("p_{name}");
        tool(&pinza, &tool_name, json!({"limits": {"heapMb": 64}}), &script);
        check_call(&pinza, &[&tool_name], Ok("ok"));
    }
}

/// DESIGN chapter 9, 6: what is too long is cut while it is read, and says so.
#[test]
fn an_answer_that_is_too_long_is_cut_and_says_so() {
    let server = WireServer::start(|_| Reply::ok(vec![b'x'; (8 << 20) + 1]));
    let pinza = pinza();
    let script = format!(
        "async function execute() {{
            const answer = await fetch('{}');
            return [answer.truncated, await answer.json().catch((error) => error.message)];
        }}",
        server.url("/")
    );
    tool(&pinza, "large", json!({}), &script);
    let expected = r#"[true,"[..]cut off[..]"]"#;
    check_call(&pinza, &["large", "--allow=net.private"], Ok(expected));
}
