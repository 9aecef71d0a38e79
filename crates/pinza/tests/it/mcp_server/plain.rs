//! Plain calls over HTTP do not go through the SDK; their answers are what it would have said.

use serde_json::{Value, json};

use super::{
    stateless, text,
    web::{Reply, Web, stateless_headers},
};
use crate::support::pinza;

/// The same call twice: as it is, and with a note that nobody reads, which leaves it to the SDK.
fn both_ways(web: &Web, params: &Value, capabilities: &Value) -> [Reply; 2] {
    let headers = stateless_headers("tools/call", params);
    let plain = stateless(7, "tools/call", params.clone(), capabilities.clone());
    let mut noted = plain.clone();
    noted["params"]["_meta"]["example.com/note"] = json!("any");
    [web.post(&headers, &plain.to_string()), web.post(&headers, &noted.to_string())]
}

#[test]
fn an_answer_is_the_same_on_both_ways() {
    let pinza = pinza();
    pinza.put("a.txt", "one\ntwo\n");
    let web = Web::start(&pinza, &["--expose", "full", "--allow", "fs.read", "--deny", "exec"]);
    let cases = [
        ("read", json!({ "path": "a.txt" })),
        ("read", json!({ "path": "nowhere.txt" })),
        ("read", json!({ "path": 5, "odd": true })),
        ("read", json!({})),
        ("exec", json!({ "command": "echo ran" })),
        ("call_tool", json!({ "name": "read", "arguments": { "path": "a.txt" } })),
        ("call_tool", json!({ "name": "nothing" })),
        ("js_eval", json!({ "code": "return { ok: [1, 2] }" })),
        ("nothing", json!({})),
        ("get_current_time", json!({ "timezone": "Nowhere/Land" })),
    ];
    for (tool, arguments) in cases {
        for capabilities in [json!({}), json!({ "elicitation": {}, "sampling": {}, "roots": {} })] {
            let params = json!({ "name": tool, "arguments": arguments });
            let [plain, noted] = both_ways(&web, &params, &capabilities);
            assert_eq!(plain.status, noted.status, "{params}");
            assert_eq!(plain.header("content-type"), noted.header("content-type"), "{params}");
            assert_eq!(plain.body, noted.body, "{params}");
            assert_eq!(plain.json()["id"], 7);
        }
    }
}

#[test]
fn what_must_be_asked_is_asked_and_runs_once() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--expose", "full"]);
    let forms = json!({ "elicitation": {} });
    let mut params = json!({ "name": "exec", "arguments": { "command": "echo ran >> runs" } });
    let [plain, noted] = both_ways(&web, &params, &forms);
    for reply in [plain, noted] {
        let result = reply.json()["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{reply:?}");
        let (key, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create");
        params["inputResponses"] = json!({ key: { "action": "accept", "content": { "decision": "once" } } });
        params["requestState"] = result["requestState"].clone();
        let answer = web.stateless("tools/call", params.clone(), forms.clone()).json();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(pinza.text("runs"), "ran\nran\n");
}

#[test]
fn headers_that_contradict_the_body_are_refused() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--expose", "full"]);
    let params = json!({ "name": "get_current_time", "arguments": {} });
    let body = stateless(1, "tools/call", params.clone(), json!({})).to_string();
    let good = stateless_headers("tools/call", &params);
    assert!(!text(&web.post(&good, &body).json()["result"]).is_empty());
    for (what, with) in [
        ("Mcp-Name: get_current_time", "Mcp-Name: exec"),
        ("Mcp-Name: get_current_time\r\n", ""),
        ("Mcp-Name: get_current_time", "Mcp-Name: get_current_time\r\nMcp-Name: exec"),
        ("Mcp-Method: tools/call", "Mcp-Method: tools/list"),
        ("Mcp-Method: tools/call", "Mcp-Method: tools/call\r\nMcp-Method: tools/list"),
        ("MCP-Protocol-Version: 2026-07-28", "MCP-Protocol-Version: 2025-11-25"),
    ] {
        let reply = web.post(&good.replace(what, with), &body);
        assert!(reply.status >= 400, "{with}: {reply:?}");
    }
}
