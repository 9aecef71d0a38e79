//! What a script may do: its manifest is a ceiling, policy decides below it.

use pinza_testkit::Program;
use serde_json::json;

use super::tool;
use crate::support::{Expected, check_call, fine, pinza};

/// Runs the code that it is given, with these capabilities.
fn runner(pinza: &Program, name: &str, capabilities: &[&str]) {
    let script = "async function execute({ code }) { return await (0, eval)(`(async () => ${code})()`) }";
    tool(pinza, name, json!({"capabilities": capabilities}), script);
}

fn denied(capability: &str) -> String {
    format!("Required permissions were denied: {capability}")
}

#[test]
fn capabilities_are_a_ceiling_whatever_is_allowed() {
    let pinza = pinza();
    pinza.put("a.txt", "text");
    runner(&pinza, "files_only", &["fs.read"]);
    runner(&pinza, "net_only", &["net"]);
    runner(&pinza, "nothing", &[]);
    let read = "fs.readFile('a.txt')";
    let write = "fs.writeFile('b.txt', 'x')";
    let fetch = "fetch('http://nothing.invalid/')";
    let private = "fetch('http://127.0.0.1:9/')";
    let exec = "tools.exec({ command: 'echo hi' })";
    let nested = "tools.call('write_file', { path: 'b.txt', content: 'x' })";
    let nested_read = "tools.read_file({ path: 'a.txt' })";
    let by_other = "tools.files_only({ code: \"fs.readFile('a.txt')\" })";
    let cannot_resolve: Expected = Err(("network_error", "Cannot resolve host: nothing.invalid"));
    for (name, code, expected) in [
        ("files_only", read, Ok("text")),
        ("files_only", nested_read, Ok("text")),
        ("files_only", write, Err("fs.write")),
        ("files_only", nested, Err("fs.write")),
        ("files_only", fetch, Err("net")),
        ("files_only", exec, Err("exec")),
        ("net_only", read, Err("fs.read")),
        ("net_only", by_other, Err("fs.read")),
        ("net_only", private, Err("net.private")),
        ("net_only", exec, Err("exec")),
        ("nothing", read, Err("fs.read")),
        ("nothing", "fs.exists('a.txt')", Err("fs.read")),
        ("nothing", "downloadToFile('http://nothing.invalid/', 'b.txt')", Err("net")),
        ("nothing", exec, Err("exec")),
        ("nothing", "1 + 1", Ok("2")),
    ] {
        let message = expected.err().map(denied).unwrap_or_default();
        let expected = expected.map_err(|_| ("permission_denied", &*message));
        let allowing = "--allow=exec,net.private,fs.write";
        check_call(&pinza, &[name, &format!("code={code}"), allowing, "--yes"], expected);
    }
    check_call(&pinza, &["net_only", &format!("code={fetch}")], cannot_resolve);
    assert!(!pinza.workspace().join("b.txt").exists());
}

#[test]
fn below_the_ceiling_policy_decides_about_each_request() {
    let pinza = pinza();
    pinza.put("notes/a.txt", "text");
    runner(&pinza, "runner", &["fs.read", "fs.write", "exec"]);
    let call = |code: &str, flags: &[&str], expected: Expected| {
        check_call(&pinza, &[&["runner", &format!("code={code}")], flags].concat(), expected);
    };
    let exec = "tools.exec({ command: 'echo hi' })";
    let (no_exec, no_read) = (denied("exec"), denied("fs.read"));
    call(exec, &[], Err(("permission_denied", &no_exec)));
    call(exec, &["--allow", "exec"], Ok("hi\n"));
    call(exec, &["--yes"], Ok("hi\n"));
    call(exec, &["--yes", "--deny", "exec"], Err(("permission_denied", &no_exec)));
    call("fs.readFile('notes/a.txt')", &["--deny", "fs.read"], Err(("permission_denied", &no_read)));
    fine(&pinza, &["policy", "deny", "fs.read", "--arg", "path=notes/*"]);
    call("fs.readFile('notes/a.txt')", &[], Err(("permission_denied", &no_read)));
    call("tools.read_file({ path: 'notes/a.txt' })", &[], Err(("permission_denied", &no_read)));
    call("fs.exists('other.txt')", &[], Ok("false"));
}

#[test]
fn a_refusal_can_be_caught() {
    let pinza = pinza();
    let script = "function execute() {
        try { fs.writeFile('x', 'y') } catch (error) { return [error instanceof Error, error.code, error.message] }
    }";
    tool(&pinza, "careful", json!({"capabilities": []}), script);
    let expected = format!(r#"[true,"permission_denied","{}"]"#, denied("fs.write"));
    check_call(&pinza, &["careful"], Ok(&expected));
}

#[test]
fn required_permissions_are_asked_for_before_the_script_runs() {
    let pinza = pinza();
    let script = "fs.writeFile('ran', 'x');\nfunction execute() { return 'ran' }";
    tool(&pinza, "careful", json!({"requiredPermissions": ["launch.rockets"]}), script);
    let denied = Err(("permission_denied", "Required permissions were denied: launch.rockets"));
    let answer = check_call(&pinza, &["careful"], denied);
    assert!(answer["hint"].as_str().unwrap().contains("--allow launch.rockets"), "{answer}");
    check_call(&pinza, &["careful", "--yes", "--deny", "launch.rockets"], denied);
    assert!(!pinza.workspace().join("ran").exists());
    check_call(&pinza, &["careful", "--allow", "launch.rockets"], Ok("ran"));
    check_call(&pinza, &["careful", "--yes"], Ok("ran"));
    fine(&pinza, &["policy", "deny", "--tool", "care*"]);
    check_call(&pinza, &["careful", "--allow", "launch.rockets"], denied);
}

#[test]
fn a_tool_that_is_switched_off_is_off_for_scripts_too() {
    let pinza = pinza();
    tool(&pinza, "mine", json!({}), "function execute() { return 'mine' }");
    fine(&pinza, &["tools", "disable", "mine", "exec"]);
    check_call(&pinza, &["mine"], Err(("tool_disabled", "[..]")));
    check_call(&pinza, &["js_eval", "code=await tools.mine()"], Err(("tool_disabled", "[..]")));
    let code = "code=await tools.exec({ command: 'true' })";
    check_call(&pinza, &["js_eval", code, "--allow=exec"], Err(("tool_disabled", "[..]")));
}
