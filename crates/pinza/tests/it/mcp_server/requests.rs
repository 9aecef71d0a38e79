//! The handshake of one revision, the discovery of the other, on one endpoint.

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{
    initialize, names,
    pipe::{PATIENCE, Pipe},
    stateless,
    web::Web,
};
use crate::support::pinza;

#[test]
fn both_revisions_are_spoken_over_stdio() {
    let pinza = pinza();
    let mut pipe = Pipe::start(&pinza, &[]);
    pipe.send(&initialize(json!({})));
    let result = pipe.receive()["result"].clone();
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.contains("## Available Tool Groups") && instructions.contains("- fs: "), "{result}");
    let session = pipe.list();

    let mut pipe = Pipe::start(&pinza, &[]);
    let discovered = pipe.request_stateless("server/discover", json!({}), json!({}))["result"].clone();
    let versions: Vec<&str> =
        discovered["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(versions.contains(&"2026-07-28") && versions.contains(&"2025-11-25"), "{discovered}");
    let stateless = pipe.request_stateless("tools/list", json!({}), json!({}))["result"].clone();
    assert_eq!(names(&stateless), names(&session));
    // A request must say who it is from.
    let id = pipe.begin("tools/list", json!({}));
    assert_eq!(pipe.answer(id)["error"]["code"], -32602);
}

#[test]
fn one_endpoint_answers_both_revisions() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let headers = web.session(json!({}));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let in_session = web.post(&headers, &list).json()["result"].clone();
    let alone = web.stateless("tools/list", json!({}), json!({}));
    assert_eq!(names(&in_session), names(&alone.json()["result"]));
    assert_eq!(alone.header("content-type"), Some("application/json"));
    assert_eq!(alone.header("mcp-session-id"), None);
    // Neither with a version that there is not.
    let body =
        stateless(1, "tools/list", json!({}), json!({})).to_string().replace("2026-07-28", "1999-01-01");
    let reply = web.post("MCP-Protocol-Version: 1999-01-01\r\nMcp-Method: tools/list\r\n", &body);
    assert_eq!(reply.status, 400, "{reply:?}");
}

#[test]
fn an_older_or_unknown_revision_is_negotiated() {
    let pinza = pinza();
    for (asked, expected) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")]
    {
        let mut pipe = Pipe::start(&pinza, &[]);
        let mut message = initialize(json!({}));
        message["params"]["protocolVersion"] = asked.into();
        pipe.send(&message);
        assert_eq!(pipe.receive()["result"]["protocolVersion"], expected, "{asked}");
        pipe.is_well();
    }
}

/// The sessions of all calls in the journal, the oldest first, when there are so many.
fn sessions(pinza: &Program, calls: usize) -> Vec<Value> {
    let start = std::time::Instant::now();
    loop {
        let list = crate::support::fine(pinza, &["--json", "calls", "list"]).json();
        let rows = list["calls"].as_array().unwrap_or_else(|| panic!("{list}"));
        if rows.len() == calls {
            return rows.iter().map(|row| row["session"].clone()).collect();
        }
        assert!(start.elapsed() < PATIENCE, "{list}");
    }
}

#[test]
fn the_journal_tells_connections_apart() {
    let pinza = pinza();
    let mut one = Pipe::open(&pinza, &[]);
    let mut other = Pipe::start(&pinza, &[]);
    let params = json!({ "name": "get_current_time", "arguments": {} });
    one.call("get_current_time", json!({}));
    other.request_stateless("tools/call", params.clone(), json!({}));
    sessions(&pinza, 2);
    one.call("get_current_time", json!({}));
    let noted = sessions(&pinza, 3);
    assert!(
        noted.iter().all(|session| session.as_str().is_some_and(|id| id.starts_with("mcp-"))),
        "{noted:?}"
    );
    assert_eq!(noted.iter().filter(|session| **session == noted[2]).count(), 2, "{noted:?}");
    let shown = crate::support::fine(&pinza, &["calls", "list", "--session", noted[2].as_str().unwrap()]);
    assert_eq!(shown.stdout.lines().count(), 2, "{shown:?}");
    assert!(shown.stdout.contains(noted[2].as_str().unwrap()), "{shown:?}");
}

#[test]
fn the_journal_tells_sessions_apart_and_has_none_where_there_is_none() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let params = json!({ "name": "get_current_time", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string();
    let (one, other) = (web.session(json!({})), web.session(json!({})));
    for (index, headers) in [&one, &other, &one].into_iter().enumerate() {
        assert_eq!(web.post(headers, &call).status, 200);
        sessions(&pinza, index + 1);
    }
    assert_eq!(web.stateless("tools/call", params, json!({})).status, 200);
    let noted = sessions(&pinza, 4);
    assert!(noted[0] == noted[2] && noted[0] != noted[1] && noted[0].is_string(), "{noted:?}");
    assert_eq!(noted[3], Value::Null);
    // The journal's name for it does not let anybody speak for the client.
    assert!(!one.contains(noted[0].as_str().unwrap().trim_start_matches("mcp-")), "{one}");
}

/// From the second time on it comes from what is known (`memo.rs`): nothing may differ but the id.
#[test]
fn a_list_that_is_asked_for_again_is_the_same() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    let first = pipe.list();
    for id in [json!(7), json!("seven \"7\""), json!(9_007_199_254_740_991_u64)] {
        pipe.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} }));
        let answer = pipe.receive();
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": id, "result": first }));
    }
    // What asks for something else, or is wrong, is still seen for what it is.
    assert_eq!(pipe.request("tools/list", json!({ "cursor": "2" }))["error"]["code"], -32602);
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{},"id":9}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":8,"method":"tools/list","params":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/List","params":{}}"#, -32601),
    ] {
        pipe.send_line(line);
        assert_eq!(pipe.receive()["error"]["code"], code, "{line}");
    }
    // A client that begins anew with another revision is answered as that one is.
    let stateless = pipe.request_stateless("tools/list", json!({}), json!({}))["result"].clone();
    assert_eq!(names(&stateless), names(&first));
    assert_eq!(pipe.request_stateless("tools/list", json!({}), json!({}))["result"], stateless);
}

#[test]
fn what_is_answered_at_once_in_a_session_is_json_and_what_takes_longer_a_stream() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let headers = web.session(json!({}));
    let call = |name: &str, arguments: Value, meta: Value| {
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        web.post(
            &headers,
            &json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params }).to_string(),
        )
    };
    let quick = call("get_current_time", json!({ "timezone": "UTC" }), json!({}));
    assert_eq!(quick.header("content-type"), Some("application/json"));
    assert_eq!(quick.header("content-length"), Some(quick.body.len().to_string().as_str()));
    let slow = json!({ "name": "exec", "arguments": { "command": "sleep 1; echo ran" } });
    let slow = call("call_tool", slow, json!({}));
    assert_eq!(slow.header("content-type"), Some("text/event-stream"));
    // What is told on the way is told, however soon the answer is there.
    let told = call(
        "call_tool",
        json!({ "name": "exec", "arguments": { "command": "echo ran" } }),
        json!({ "progressToken": 1 }),
    );
    assert_eq!(
        told.body.contains("notifications/progress"),
        told.header("content-type") == Some("text/event-stream")
    );
    for reply in [quick, slow, told] {
        assert_eq!(reply.json()["id"], 9, "{reply:?}");
        assert_eq!(reply.json()["result"]["isError"], false, "{reply:?}");
    }
}
