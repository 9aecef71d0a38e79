//! In a session on stdio, calls after the first do not go through the SDK; they are what they would have been there.

use serde_json::{Value, json};

use super::{initialize, pipe::Pipe, text};
use crate::support::pinza;

/// The same call twice, after a first one: as it is, and with a field that nobody reads, which leaves it to the SDK.
fn both_ways(pipe: &mut Pipe, params: &Value) -> [Value; 2] {
    let mut odd = params.clone();
    odd["odd"] = json!("any");
    [params, &odd].map(|params| {
        let mut answer = pipe.request("tools/call", params.clone());
        answer["id"] = Value::Null;
        answer
    })
}

#[test]
fn an_answer_is_the_same_on_both_ways() {
    let pinza = pinza();
    pinza.put("a.txt", "one\ntwo\n");
    for capabilities in [json!({}), json!({ "elicitation": {}, "sampling": {}, "roots": {} })] {
        let options = ["--expose", "full", "--allow", "fs.read", "--deny", "exec"];
        let mut pipe = Pipe::open_as(&pinza, &options, capabilities);
        pipe.call("read", json!({ "path": "a.txt" }));
        for params in [
            json!({ "name": "read", "arguments": { "path": "a.txt" } }),
            json!({ "name": "read", "arguments": { "path": "nowhere.txt" } }),
            json!({ "name": "read", "arguments": { "path": 5, "odd": true } }),
            json!({ "name": "read", "arguments": {} }),
            json!({ "name": "read" }),
            json!({ "name": "read", "arguments": null }),
            json!({ "name": "read", "arguments": [] }),
            json!({ "name": 5 }),
            json!({}),
            json!({ "name": "exec", "arguments": { "command": "echo ran" } }),
            json!({ "name": "call_tool", "arguments": { "name": "read", "arguments": { "path": "a.txt" } } }),
            json!({ "name": "js_eval", "arguments": { "code": "return { ok: [1, 2] }" } }),
            json!({ "name": "nothing", "arguments": {} }),
            json!({ "name": "read", "arguments": { "path": "a.txt" }, "_meta": { "example.com/note": 1 } }),
            json!({ "name": "read", "arguments": { "path": "a.txt" }, "_meta": { "progressToken": {} } }),
            json!({
                "name": "read",
                "arguments": { "path": "a.txt" },
                "_meta": { "io.modelcontextprotocol/protocolVersion": "1999-01-01" },
            }),
        ] {
            let [ours, theirs] = both_ways(&mut pipe, &params);
            assert_eq!(ours.to_string(), theirs.to_string(), "{params}");
        }
        // Arrays are no messages, though they have all that one has.
        let arguments = json!({ "path": "a.txt" });
        let params = json!({ "name": "read", "arguments": arguments });
        for line in [
            json!(["2.0", 7, "tools/call", params]),
            json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": ["read", arguments] }),
        ] {
            pipe.send(&line);
            assert!(pipe.receive()["error"]["code"].is_number(), "{line}");
        }
    }
}

#[test]
fn calls_that_run_side_by_side_are_answered_as_they_end_and_known_by_their_ids() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    let exec = |command: &str| json!({ "name": "exec", "arguments": { "command": command } });
    assert_eq!(text(&pipe.call("exec", json!({ "command": "mkfifo gate; echo first" }))), "first\n");
    let slow = pipe.begin("tools/call", exec("cat gate"));
    // Somebody who counts wrongly is answered twice, and nobody's call is lost.
    let again = json!({ "jsonrpc": "2.0", "id": slow, "method": "tools/call", "params": exec("echo again") });
    pipe.send(&again);
    assert_eq!(text(&pipe.answer(slow)["result"]), "again\n");
    let word =
        json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": exec("echo open > gate") });
    pipe.send(&word);
    let mut answered: Vec<(String, String)> = (0..2)
        .map(|_| pipe.receive())
        .map(|message| (message["id"].to_string(), text(&message["result"])))
        .collect();
    answered.sort();
    assert_eq!(answered, [("\"w\"".into(), "(no output)".into()), (slow.to_string(), "open\n".into())]);
}

#[test]
fn an_id_that_is_used_again_after_a_cancel_is_the_new_calls() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    pipe.call("get_current_time", json!({}));
    let id = pipe.id();
    let call = |command: &str| {
        let params = json!({ "name": "exec", "arguments": { "command": command } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // At once, so that the old one has no time to end before the new one begins.
    pipe.send_line(&[call("sleep 25"), cancel.to_string(), call("sleep 0.5; echo new")].join("\n"));
    assert_eq!(text(&pipe.answer(id)["result"]), "new\n");
}

#[test]
fn one_request_does_not_speak_for_the_session() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    let forms = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    let time = json!({ "name": "get_current_time", "arguments": {}, "_meta": forms });
    assert_eq!(pipe.request("tools/call", time)["result"]["isError"], false);
    // Nobody is asked, as the session cannot be.
    for _ in 0..2 {
        assert_eq!(pipe.call("exec", json!({ "command": "echo ran" }))["isError"], true);
    }
}

#[test]
fn whoever_begins_anew_is_asked_who_it_is() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    pipe.call("get_current_time", json!({}));
    let exec = json!({ "name": "exec", "arguments": { "command": "echo ran" } });
    assert_eq!(pipe.request("tools/call", exec.clone())["result"]["isError"], true, "nobody can be asked");
    pipe.send(&initialize(json!({ "elicitation": {} })));
    pipe.receive();
    let id = pipe.begin("tools/call", exec);
    let question = pipe.receive_method("elicitation/create");
    let yes = json!({ "action": "accept", "content": { "decision": "once" } });
    pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(text(&pipe.answer(id)["result"]), "ran\n");
}
