//! Asking the client's user: about which call, and what answers count.

use serde_json::{Value, json};

use super::{
    pipe::Pipe,
    text,
    web::{Reply, Web},
};
use crate::support::pinza;

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn exec(command: &str) -> Value {
    json!({ "name": "call_tool", "arguments": { "name": "exec", "arguments": { "command": command } } })
}

/// Begins a call in a session, answers the question about it, and returns question and result.
fn asked(pipe: &mut Pipe, params: Value, answer: Value) -> (Value, Value) {
    let id = pipe.begin("tools/call", params);
    let question = pipe.receive_method("elicitation/create");
    pipe.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    (question["params"].clone(), pipe.answer(id)["result"].clone())
}

fn decide(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

#[test]
fn the_question_shows_the_inner_tool_and_its_arguments() {
    let pinza = pinza();
    let mut pipe = Pipe::open_as(&pinza, &[], forms());
    let (question, result) = asked(&mut pipe, exec("echo \u{202e}ran"), decide("once"));
    let message = question["message"].as_str().unwrap();
    assert!(message.starts_with("exec asks for: exec\n"), "{message}");
    assert!(message.contains("command: echo \\u{202e}ran"), "{message}");
    assert_eq!(question["requestedSchema"]["required"], json!(["decision"]));
    assert!(question["requestedSchema"]["properties"]["decision"]["default"].is_null(), "{question}");
    assert!(text(&result).contains("ran"), "{result}");
}

#[test]
fn only_a_clear_yes_permits() {
    let pinza = pinza();
    let mut pipe = Pipe::open_as(&pinza, &[], forms());
    let answers = [
        decide("deny"),
        decide("yes"),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "decline", "content": { "decision": "once" } }),
    ];
    for answer in answers {
        let (_, result) = asked(&mut pipe, exec("echo ran"), answer.clone());
        assert_eq!(result["isError"], true, "{answer}: {result}");
        assert!(text(&result).starts_with("permission_denied: "), "{answer}: {result}");
    }
}

#[test]
fn without_a_way_to_ask_the_answer_is_no() {
    let pinza = pinza();
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut pipe = Pipe::open_as(&pinza, &[], capabilities);
        let result = pipe.call("exec", json!({ "command": "echo ran" }));
        assert!(text(&result).starts_with("permission_denied: "), "{result}");
        assert!(text(&result).contains("Nobody can be asked here"), "{result}");
    }
    let mut pipe = Pipe::open(&pinza, &["--yes"]);
    assert_eq!(text(&pipe.call("exec", json!({ "command": "echo ran" }))), "ran\n");
    let mut pipe = Pipe::open_as(&pinza, &["--deny", "exec"], forms());
    let result = pipe.call("call_tool", json!({ "name": "exec", "arguments": { "command": "echo ran" } }));
    assert_eq!(result["isError"], true, "a deny is not asked about: {result}");
}

#[test]
fn an_answer_for_the_session_holds_for_the_session() {
    let pinza = pinza();
    let mut pipe = Pipe::open_as(&pinza, &[], forms());
    let (_, result) = asked(&mut pipe, exec("echo ran"), decide("session"));
    assert_eq!(text(&result), "ran\n");
    let again = pipe.request("tools/call", exec("echo ran"))["result"].clone();
    assert_eq!(text(&again), "ran\n");
    // Not for another command, and not for another session.
    let (_, result) = asked(&mut pipe, exec("echo other"), decide("deny"));
    assert_eq!(result["isError"], true);
    let mut other = Pipe::open_as(&pinza, &[], forms());
    let (_, result) = asked(&mut other, exec("echo ran"), decide("deny"));
    assert_eq!(result["isError"], true);
}

#[test]
fn always_writes_the_rule_that_was_shown() {
    let pinza = pinza();
    let mut pipe = Pipe::open_as(&pinza, &[], forms());
    let (question, result) = asked(&mut pipe, exec("echo ran"), decide("always"));
    let rule = r#"allow tool exec capability exec where command is "echo ran""#;
    assert!(question["message"].as_str().unwrap().contains(rule), "{question}");
    assert_eq!(text(&result), "ran\n");
    let config = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(config.contains("[[policy.rule]]") && config.contains("echo ran"), "{config}");
    let mut other = Pipe::open(&pinza, &[]);
    assert_eq!(text(&other.call("exec", json!({ "command": "echo ran" }))), "ran\n");
}

/// A question that nobody has answered yet, and the state to answer it with.
fn required(reply: &Reply) -> (String, String) {
    let result = reply.json()["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{reply:?}");
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    (key, result["requestState"].as_str().unwrap().to_owned())
}

fn with_answer(mut params: Value, key: &str, state: Option<&str>, answer: Value) -> Value {
    params["inputResponses"] = json!({ key: answer });
    if let Some(state) = state {
        params["requestState"] = state.into();
    }
    params
}

#[test]
fn without_sessions_the_call_goes_on_where_it_asked() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let call = |params: Value| web.stateless("tools/call", params, forms());
    let params = exec("echo ran >> log; echo well");
    let first = call(params.clone());
    let message = first.json()["result"]["inputRequests"]["approval-1"]["params"]["message"].to_string();
    assert!(message.contains("command: echo ran >> log; echo well"), "{first:?}");
    let (key, state) = required(&first);
    // An answer to another question, or none: the same question again.
    let (_, state) = required(&call(with_answer(params.clone(), "other", Some(&state), decide("once"))));
    let done = call(with_answer(params.clone(), &key, Some(&state), decide("once")));
    assert_eq!(text(&done.json()["result"]), "well\n", "{done:?}");
    assert_eq!(pinza.text("log"), "ran\n", "it ran once");
    // The state is used up.
    let again = call(with_answer(params, &key, Some(&state), decide("once")));
    assert_eq!(again.json()["error"]["code"], -32602, "{again:?}");
    assert_eq!(pinza.text("log"), "ran\n");
}

#[test]
fn an_answer_permits_only_what_was_asked_about() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let call = |params: Value| web.stateless("tools/call", params, forms());
    let harmless = exec("echo harmless");
    let (key, state) = required(&call(harmless.clone()));
    // An answer that nobody asked for, with the right key.
    let (_, other) = required(&call(with_answer(exec("touch stolen"), &key, None, decide("once"))));
    assert_ne!(state, other);
    // The state of one call with the arguments of another.
    let swapped = call(with_answer(exec("touch stolen"), &key, Some(&state), decide("once")));
    assert_eq!(swapped.json()["error"]["code"], -32602, "{swapped:?}");
    // A state that was tampered with.
    for wrong in ["", "x", &state[1..], &format!("{state}0"), &state.to_uppercase()] {
        let tampered = call(with_answer(harmless.clone(), &key, Some(wrong), decide("once")));
        assert!(tampered.json()["error"]["code"] == -32602 || wrong == state, "{wrong}: {tampered:?}");
    }
    // None of which spoiled the question.
    let done = call(with_answer(harmless, &key, Some(&state), decide("once")));
    assert_eq!(text(&done.json()["result"]), "harmless\n", "{done:?}");
    assert!(!pinza.workspace().join("stolen").exists());
}

#[test]
fn questions_without_a_session_do_not_wait_for_each_other() {
    let pinza = pinza();
    let mut pipe = Pipe::start(&pinza, &[]);
    let mut ask = |command: &str| {
        let result = pipe.request_stateless("tools/call", exec(command), forms())["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        result
    };
    let (first, second) = (ask("echo first"), ask("echo second"));
    assert_ne!(first["requestState"], second["requestState"]);
    // There is no session that an answer could hold for.
    let decisions =
        &first["inputRequests"]["approval-1"]["params"]["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(*decisions, json!(["once", "always", "deny"]), "{first}");
    for (asked, command) in [(second, "echo second"), (first, "echo first")] {
        let state = asked["requestState"].as_str().unwrap();
        let params = with_answer(exec(command), "approval-1", Some(state), decide("once"));
        let result = pipe.request_stateless("tools/call", params, forms())["result"].clone();
        assert_eq!(text(&result), command.replace("echo ", "") + "\n", "{result}");
    }
}
