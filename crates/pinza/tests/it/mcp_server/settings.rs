//! Rules and switches that change while a server runs.

use std::{
    fs,
    time::{Duration, Instant},
};

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{
    names,
    pipe::{PATIENCE, Pipe},
    text,
    web::Web,
};
use crate::support::{fine, pinza};

const CHANGED: &str = "notifications/tools/list_changed";
const FULL: &[&str] = &["--expose", "full"];

fn with_tool() -> Program {
    let pinza = pinza();
    let tools = pinza.home().join("tools");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join("greet.js"), "function execute() { return 'hello'; }").unwrap();
    fs::write(tools.join("greet.json"), json!({ "name": "greet", "description": "Greets" }).to_string())
        .unwrap();
    pinza
}

fn exec() -> Value {
    json!({ "name": "exec", "arguments": { "command": "echo ran" } })
}

fn log(pinza: &Program) -> String {
    fs::read_to_string(pinza.home().join("logs/serve.log")).unwrap_or_default()
}

/// Waits for it, for as long as a machine with other things to do may take.
#[track_caller]
fn comes(what: &str, mut is_there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Pipe {
    #[track_caller]
    fn says(&mut self, tool: &str) -> String {
        text(&self.call(tool, json!({})))
    }
}

#[test]
fn a_rule_holds_as_soon_as_it_is_written_and_no_longer_than_that() {
    let pinza = with_tool();
    let mut pipe = Pipe::open(&pinza, FULL);
    assert_eq!(pipe.says("greet"), "hello");
    for _ in 0..2 {
        fine(&pinza, &["policy", "deny", "--tool", "greet"]);
        pipe.receive_method(CHANGED);
        assert!(!names(&pipe.list()).contains(&"greet"));
        assert!(pipe.says("greet").starts_with("permission_denied: "), "{}", pipe.says("greet"));
        fine(&pinza, &["policy", "revoke", "1"]);
        pipe.receive_method(CHANGED);
        assert!(names(&pipe.list()).contains(&"greet"));
        assert_eq!(pipe.says("greet"), "hello");
    }
}

#[test]
fn a_tool_is_switched_off_and_on_while_it_is_served() {
    let pinza = with_tool();
    let mut pipe = Pipe::open(&pinza, FULL);
    assert_eq!(pipe.says("greet"), "hello");
    fine(&pinza, &["tools", "disable", "greet"]);
    pipe.receive_method(CHANGED);
    assert!(!names(&pipe.list()).contains(&"greet"));
    assert!(pipe.says("greet").starts_with("tool_disabled: "));
    fine(&pinza, &["tools", "enable", "greet"]);
    pipe.receive_method(CHANGED);
    assert!(names(&pipe.list()).contains(&"greet"));
    assert_eq!(pipe.says("greet"), "hello");
}

#[test]
fn a_server_over_http_obeys_too() {
    let pinza = with_tool();
    let web = Web::start(&pinza, FULL);
    let says = || {
        let reply = web.stateless("tools/call", json!({ "name": "greet", "arguments": {} }), json!({}));
        text(&reply.json()["result"])
    };
    assert_eq!(says(), "hello");
    fine(&pinza, &["policy", "deny", "--tool", "greet"]);
    comes("the tool is still there", || says().starts_with("permission_denied: "));
    let list = web.stateless("tools/list", json!({}), json!({})).json();
    assert!(!names(&list["result"]).contains(&"greet"), "{list}");
    fine(&pinza, &["policy", "revoke", "1"]);
    comes("the tool is still denied", || says() == "hello");
}

#[test]
fn a_configuration_that_cannot_be_read_changes_nothing() {
    let pinza = with_tool();
    let denies = "[[policy.rule]]\neffect = \"deny\"\ntool = \"greet\"\n";
    fs::write(pinza.config_file(), denies).unwrap();
    let mut pipe = Pipe::open(&pinza, FULL);
    let is_denied = |pipe: &mut Pipe| pipe.says("greet").starts_with("permission_denied: ");
    let complaints = |words: &str| log(&pinza).matches(words).count();
    assert!(is_denied(&mut pipe));
    let kept = "; the rules and switches that it had stay in use";

    // With a secret, as such files have them.
    fs::write(pinza.config_file(), "[env]\nKEY = \"hunter2\" [[policy").unwrap();
    comes("nothing is said", || complaints(kept) == 1);
    assert!(is_denied(&mut pipe));
    assert!(!log(&pinza).contains("hunter2"), "{}", log(&pinza));
    assert!(log(&pinza).contains("TOML parse error at line 2, column 17"), "{}", log(&pinza));
    // Other things are looked at meanwhile, and it is not said again.
    let script = pinza.home().join("tools/greet.js");
    fs::write(&script, "function execute() { return 'hello again'; }").unwrap();
    comes("the script is not live", || log(&pinza).contains("changed: greet"));
    assert_eq!(complaints(kept), 1, "{}", log(&pinza));
    assert!(is_denied(&mut pipe));

    fs::write(pinza.config_file(), "[policy]\nrule = 1\n").unwrap();
    comes("nothing is said", || complaints(kept) == 2);
    fs::remove_file(pinza.config_file()).unwrap();
    comes("nothing is said", || complaints(&format!("config.toml: the file is gone{kept}")) == 1);
    assert!(is_denied(&mut pipe));

    // Empty on purpose is another thing.
    fs::write(pinza.config_file(), "").unwrap();
    pipe.receive_method(CHANGED);
    assert_eq!(pipe.says("greet"), "hello again");
}

#[test]
fn flags_stay_on_top_of_whatever_is_written() {
    let pinza = with_tool();
    let mut denying = Pipe::open(&pinza, &["--expose", "full", "--deny", "exec"]);
    let mut allowing = Pipe::open(&pinza, &["--expose", "full", "--allow", "exec"]);
    let mut saying_yes = Pipe::open(&pinza, &["--expose", "full", "--yes"]);
    fine(&pinza, &["policy", "allow", "exec"]);
    fine(&pinza, &["tools", "disable", "greet"]);
    for pipe in [&mut denying, &mut allowing, &mut saying_yes] {
        pipe.receive_method(CHANGED);
        assert!(!names(&pipe.list()).contains(&"greet"));
    }
    let run = |pipe: &mut Pipe| text(&pipe.request("tools/call", exec())["result"]);
    assert!(run(&mut denying).starts_with("permission_denied: "));
    assert!(!names(&denying.list()).contains(&"exec"));
    fine(&pinza, &["policy", "revoke", "1"]);
    fine(&pinza, &["tools", "enable", "greet"]);
    for pipe in [&mut allowing, &mut saying_yes] {
        pipe.receive_method(CHANGED);
        assert!(names(&pipe.list()).contains(&"greet"));
        assert_eq!(run(pipe), "ran\n");
    }
}

fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// Answers the question that a call in a session comes with.
#[track_caller]
fn answered(pipe: &mut Pipe, decision: &str) -> String {
    let id = pipe.begin("tools/call", exec());
    let question = pipe.receive_method("elicitation/create");
    let answer = json!({ "action": "accept", "content": { "decision": decision } });
    pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    text(&pipe.answer(id)["result"])
}

#[test]
fn always_holds_in_every_server_until_it_is_revoked() {
    let pinza = with_tool();
    let mut asking = Pipe::open_as(&pinza, FULL, forms());
    let mut other = Pipe::open(&pinza, FULL);
    let run = |pipe: &mut Pipe| text(&pipe.request("tools/call", exec())["result"]);
    assert!(run(&mut other).contains("Nobody can be asked here"));
    assert_eq!(answered(&mut asking, "always"), "ran\n");
    // At once where it was given.
    assert_eq!(run(&mut asking), "ran\n");
    comes("the other server does not see the rule", || run(&mut other) == "ran\n");
    let rules = fine(&pinza, &["--json", "policy", "list"]).json()["rules"].clone();
    assert_eq!(rules.as_array().map(Vec::len), Some(1), "{rules}");

    fine(&pinza, &["policy", "revoke", "1"]);
    comes("the rule still holds", || run(&mut other).contains("Nobody can be asked here"));
    comes("the first server does not see it", || log(&pinza).matches("the rules have changed").count() >= 4);
    // It is asked about again, and what is answered for a session is no rule.
    assert_eq!(answered(&mut asking, "session"), "ran\n");
    fine(&pinza, &["tools", "disable", "greet"]);
    asking.receive_method(CHANGED);
    assert_eq!(run(&mut asking), "ran\n");
    fine(&pinza, &["policy", "deny", "exec"]);
    asking.receive_method(CHANGED);
    assert!(run(&mut asking).starts_with("permission_denied: "), "a deny beats what was answered");
}

#[test]
fn a_rule_is_written_once() {
    let pinza = with_tool();
    let mut servers = [Pipe::open_as(&pinza, FULL, forms()), Pipe::open_as(&pinza, FULL, forms())];
    // Both are asked before either is answered.
    let asked = servers.each_mut().map(|pipe| {
        let id = pipe.begin("tools/call", exec());
        (id, pipe.receive_method("elicitation/create")["id"].clone())
    });
    let answer = json!({ "action": "accept", "content": { "decision": "always" } });
    for (pipe, (id, question)) in servers.iter_mut().zip(asked) {
        pipe.send(&json!({ "jsonrpc": "2.0", "id": question, "result": answer }));
        assert_eq!(text(&pipe.answer(id)["result"]), "ran\n");
    }
    let config = fs::read_to_string(pinza.config_file()).unwrap();
    assert_eq!(config.matches("[[policy.rule]]").count(), 1, "{config}");
}

/// What runs has been permitted.
#[test]
fn a_call_in_flight_keeps_the_policy_that_it_began_with() {
    let pinza = with_tool();
    let script = "async function execute() { await new Promise((done) => setTimeout(done, 1500)); return fs.readFile('x'); }";
    fs::write(pinza.home().join("tools/greet.js"), script).unwrap();
    pinza.put("x", "read");
    let mut pipe = Pipe::open(&pinza, FULL);
    pipe.is_well();
    let id = pipe.begin("tools/call", json!({ "name": "greet", "arguments": {} }));
    std::thread::sleep(Duration::from_millis(200));
    fine(&pinza, &["policy", "deny", "fs.read"]);
    // Told before it ends, and it ends well.
    assert_eq!(pipe.receive()["method"], CHANGED);
    assert_eq!(text(&pipe.answer(id)["result"]), "read");
    assert!(pipe.says("greet").starts_with("permission_denied: "));
}
