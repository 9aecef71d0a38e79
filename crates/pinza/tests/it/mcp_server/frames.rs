//! What is no proper message: on stdio a line, over HTTP a body.

use serde_json::{Value, json};

use super::{
    pipe::Pipe,
    stateless,
    web::{Web, stateless_headers},
};
use crate::support::pinza;

#[test]
fn what_cannot_be_parsed_is_passed_over() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let lines =
        ["", "not json", "{", "{\"jsonrpc\":", "\u{0}\u{1}", "]", "\"", "{\"jsonrpc\":\"2.0\",\"id\":1"];
    for line in lines {
        pipe.send_line(line);
        pipe.is_well();
    }
}

#[test]
fn what_comes_before_the_handshake_ends_nothing() {
    let pinza = pinza();
    let mut pipe = Pipe::start(&pinza, &[]);
    pipe.send_line("nonsense");
    pipe.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    let early = pipe.request("tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    pipe.send(&super::initialize(json!({})));
    assert_eq!(pipe.receive()["result"]["serverInfo"]["name"], "pinza");
    pipe.is_well();
}

/// JSON that is no message is answered, without an id to answer to; the client is not dropped.
#[test]
fn json_that_is_no_message_is_refused() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let lines = [
        "null",
        "5",
        "\"text\"",
        "{}",
        "[]",
        // A batch, which the protocol had once.
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        // Ids: null, a fraction, too large for any number, no id at all.
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}"#,
        // The same key twice: which one holds must not depend on who reads it.
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
    ];
    for line in lines {
        pipe.send_line(line);
        let id = pipe.begin("ping", json!({}));
        let first = pipe.receive();
        if first["id"] != id {
            assert!(first["result"].is_null(), "{line} was answered with {first}");
            assert!(first["error"]["code"].is_i64(), "{line} was answered with {first}");
            assert_eq!(pipe.answer(id)["result"], json!({}), "after {line}");
        }
    }
}

#[test]
fn the_last_line_needs_no_end() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    pipe.send_bytes(br#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#);
    let run = pipe.close();
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), r#"{"jsonrpc":"2.0","id":"last","result":{}}"#),
        "{run:?}"
    );
    // What is half a message at the end is none.
    let mut pipe = Pipe::open(&pinza, &[]);
    pipe.send_bytes(br#"{"jsonrpc":"2.0","id":"last","meth"#);
    let run = pipe.close();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
}

/// Whoever sends it waits for an answer, or has asked for none.
#[test]
fn a_refusal_has_the_id_of_a_request_and_never_that_of_an_answer() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    pipe.send_bytes(
        b"{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}\n",
    );
    let answer = pipe.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(71), &json!(-32700)), "{answer}");
    pipe.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"\xff\"}\n");
    let answer = pipe.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(72), &json!(-32700)), "{answer}");
    for line in [
        r#"{"jsonrpc":"2.0","id":73,"error":5}"#,
        r#"{"jsonrpc":"1.0","id":73,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":73,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":73,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":73}"#,
    ] {
        pipe.send_line(line);
        let answer = pipe.receive();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(-32600)),
            "{line}: {answer}"
        );
    }
    let long = pipe.request("tools/call", json!([1]));
    assert_eq!(long["error"]["message"], "Invalid params: they must be an object");
    let meta = pipe.request("tools/call", json!({ "name": "get_current_time", "_meta": [] }));
    assert_eq!(meta["error"]["message"], "Invalid params: _meta must be an object");
}

#[test]
fn unusual_ids_come_back_as_they_are() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let long = "x".repeat(100_000);
    for id in [json!(0), json!(-5), json!(9_007_199_254_740_993_i64), json!(""), json!("ü"), json!(long)] {
        pipe.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        let answer = pipe.receive();
        assert_eq!((&answer["id"], &answer["result"]), (&id, &json!({})));
    }
}

#[test]
fn methods_are_told_apart_by_case() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    for method in ["Tools/List", "tools/LIST", "TOOLS/CALL", "tools/list ", "tools", "", "no/such"] {
        let answer = pipe.request(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    let web = Web::start(&pinza, &[]);
    let body = stateless(3, "Tools/List", json!({}), json!({}));
    let reply = web.post(&stateless_headers("Tools/List", &Value::Null), &body.to_string());
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (404, &json!(-32601)), "{reply:?}");
}

/// Requests of methods that there are, with params that they do not have, and what is said of them.
fn wrong_requests() -> Vec<(&'static str, Value, &'static str)> {
    let time = "get_current_time";
    vec![
        ("tools/call", json!({}), "missing field `name`"),
        ("tools/call", json!({ "arguments": {} }), "missing field `name`"),
        ("tools/call", json!({ "name": 5 }), "name: invalid type: integer `5`, expected a string"),
        ("tools/call", json!({ "name": time, "arguments": [1] }), "arguments: invalid type: sequence"),
        ("tools/call", json!({ "name": time, "arguments": "{}" }), "arguments: invalid type: string"),
        ("tools/call", json!({ "name": time, "requestState": 5 }), "requestState: invalid type: integer"),
        ("prompts/get", json!({ "name": "any", "arguments": [] }), "arguments: invalid type: sequence"),
        ("resources/read", json!({}), "missing field `uri`"),
        ("completion/complete", json!({}), "missing field `ref`"),
    ]
}

fn assert_wrong(answer: &Value, reason: &str) {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("Invalid params: {reason}")), "{answer}");
}

#[test]
fn wrong_params_are_the_callers_fault() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    for (method, params, reason) in wrong_requests() {
        assert_wrong(&pipe.request(method, params), reason);
    }
    let level = "level: unknown variant `bogus`";
    assert_wrong(&pipe.request("logging/setLevel", json!({ "level": "bogus" })), level);
    assert_wrong(&pipe.request("resources/subscribe", json!({ "uri": 5 })), "uri: invalid type");
    assert_wrong(&pipe.request("initialize", json!({})), "missing field `protocolVersion`");
    // What is repeated of a request is short, and takes no control of a terminal.
    let long = format!("\u{1b}{}", "x".repeat(100_000));
    let answer = pipe.request("tools/call", json!({ "name": "get_current_time", "arguments": long }));
    assert_wrong(&answer, "arguments: invalid type: string \"\\u{1b}xxx");
    assert!(answer.to_string().len() < 1000, "{answer}");
    for (params, reason) in [
        (r#""params":{"name":"get_current_time","name":"exec"}"#, "a field is there twice"),
        (r#""x":1"#, "missing field `name`"),
    ] {
        pipe.send_line(&format!(r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call",{params}}}"#));
        assert_wrong(&pipe.answer(77), reason);
    }
    assert_eq!(pipe.request("tools/call", json!([1, 2]))["error"]["code"], -32602);
    let paged = pipe.request("tools/list", json!({ "cursor": "abc" }));
    assert_eq!(paged["error"]["code"], -32602, "{paged}");
}

#[test]
fn wrong_params_are_the_callers_fault_without_a_session() {
    let pinza = pinza();
    let mut pipe = Pipe::start(&pinza, &[]);
    let web = Web::start(&pinza, &[]);
    for (method, params, reason) in wrong_requests() {
        assert_wrong(&pipe.request_stateless(method, params.clone(), json!({})), reason);
        let reply = web.stateless(method, params, json!({}));
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_wrong(&reply.json(), reason);
    }
    let listen = json!({ "notifications": 5 });
    assert_wrong(&web.stateless("subscriptions/listen", listen, json!({})).json(), "notifications: invalid");
    // There is no such method there, right or wrong.
    for (method, params) in [
        ("logging/setLevel", json!({ "level": "bogus" })),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({})),
        ("initialize", json!({})),
    ] {
        let reply = web.stateless(method, params.clone(), json!({}));
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (404, &json!(-32601)), "{reply:?}");
        let answer = pipe.request_stateless(method, params, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    let headers = web.session(json!({}));
    let wrong = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": 5 } });
    let reply = web.post(&headers, &wrong.to_string());
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(3)), "{reply:?}");
    assert_wrong(&reply.json(), "name: invalid type");
}

#[test]
fn a_handshake_with_wrong_params_is_told_so_and_may_be_tried_again() {
    let pinza = pinza();
    let mut pipe = Pipe::start(&pinza, &[]);
    let answer = pipe.request("initialize", json!({ "protocolVersion": 5, "capabilities": {} }));
    assert_wrong(&answer, "protocolVersion: invalid type: integer `5`");
    pipe.send(&super::initialize(json!({})));
    assert_eq!(pipe.receive()["result"]["serverInfo"]["name"], "pinza");
    pipe.is_well();
}

#[test]
fn a_line_that_is_too_long_is_dropped_and_the_client_is_not() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let id = pipe.id();
    let long = "x".repeat(17 << 20);
    pipe.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
                       "params": { "name": "get_current_time", "arguments": { "timezone": long } } }));
    pipe.is_well();
}

#[test]
fn bodies_that_are_no_message_are_refused_in_words() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x":{}{}}}}}"#,
        "[".repeat(1000),
        "]".repeat(1000)
    );
    let none = Value::Null;
    let (open, batch) = ("[".repeat(100_000), format!("[{ping},{ping}]"));
    let bodies: [(&[u8], i64, &Value); 20] = [
        (b"", -32700, &none),
        (b"nonsense", -32700, &none),
        (b"{", -32700, &none),
        (open.as_bytes(), -32700, &none),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}",
            -32700,
            &json!(1),
        ),
        (b"null", -32600, &none),
        (b"[]", -32600, &none),
        (batch.as_bytes(), -32600, &none),
        (br#"["2.0",1,"ping"]"#, -32600, &none),
        (b"{}", -32600, &none),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, &none),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, &none),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, &none),
        (br#"{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"ping"}"#, -32600, &none),
        (br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, &json!("a")),
        (br#"{"jsonrpc":"2.0","id":7,"error":5}"#, -32600, &none),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#, -32602, &json!(1)),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#, -32602, &json!(1)),
        (deep.as_bytes(), -32602, &json!(1)),
        // Who says hello in a wrong way is not asked for a session.
        (br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, -32602, &json!(1)),
    ];
    for (body, code, id) in bodies {
        let reply = web.post_bytes("", body);
        let head = String::from_utf8_lossy(&body[..body.len().min(80)]);
        assert_eq!(reply.status, 400, "{head}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{head}: {reply:?}");
        assert_eq!(
            (&reply.json()["error"]["code"], &reply.json()["id"]),
            (&json!(code), id),
            "{head}: {reply:?}"
        );
    }
    // A mark in front is passed over, as it is on stdio.
    let marked = format!("\u{feff}{}", stateless(1, "tools/list", json!({}), json!({})));
    assert_eq!(web.post(&stateless_headers("tools/list", &Value::Null), &marked).status, 200);
}

#[test]
fn a_body_is_json_if_its_type_says_so() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let body = stateless(1, "tools/list", json!({}), json!({})).to_string();
    let request = web.request(&stateless_headers("tools/list", &Value::Null), &body);
    let right = "Content-Type: application/json";
    let given = [
        (right, 200),
        ("Content-Type: Application/JSON", 200),
        ("Content-Type: application/json;charset=utf-8", 200),
        ("Content-Type: application/json ; charset=utf-8", 200),
        ("Content-Type: application/jsonx", 415),
        ("Content-Type: application/json-seq", 415),
        ("Content-Type: text/plain", 415),
        ("Content-Type: text/plain; application/json", 415),
        ("X: y", 415),
    ];
    for (kind, status) in given {
        let reply = web.raw(request.replacen(right, kind, 1).as_bytes());
        assert_eq!(reply.status, status, "{kind}: {reply:?}");
        // Whatever is in it.
        let reply = web.raw(web.request("", "{").replacen(right, kind, 1).as_bytes());
        assert_eq!(reply.status, if status == 200 { 400 } else { 415 }, "{kind}: {reply:?}");
    }
}

#[test]
fn a_body_that_is_broken_is_not_too_large() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let broken = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n{}\r\nzz\r\n{{}}\r\n",
        web.address,
        super::web::POST
    );
    assert_eq!(web.raw(broken.as_bytes()).status, 400);
}

#[test]
fn bodies_that_are_too_large_are_refused() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let text = "x".repeat(5 << 20);
    let params = json!({ "name": "get_current_time", "arguments": { "timezone": text } });
    assert_eq!(web.stateless("tools/call", params, json!({})).status, 413);
    // Without saying so beforehand.
    let mut chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n{}\r\n",
        web.address,
        super::web::POST
    );
    for _ in 0..5 {
        chunked.push_str(&format!("100000\r\n{}\r\n", "x".repeat(1 << 20)));
    }
    chunked.push_str("0\r\n\r\n");
    assert_eq!(web.raw(chunked.as_bytes()).status, 413);
    assert_eq!(web.stateless("tools/list", json!({}), json!({})).status, 200);
}

#[test]
fn headers_have_to_say_what_the_body_says() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let call = json!({ "name": "get_current_time", "arguments": {} });
    let body = stateless(4, "tools/call", call.clone(), json!({})).to_string();
    let right = stateless_headers("tools/call", &call);
    assert_eq!(web.post(&right, &body).status, 200);
    let wrong = [
        right.replace("tools/call", "tools/list"),
        right.replace("get_current_time", "exec"),
        right.replace("2026-07-28", "2025-11-25"),
        right.replace("Mcp-Name: get_current_time\r\n", ""),
        right.replace("Mcp-Method: tools/call\r\n", ""),
    ];
    for headers in wrong {
        let reply = web.post(&headers, &body);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (400, &json!(-32020)),
            "{headers}: {reply:?}"
        );
    }
}
