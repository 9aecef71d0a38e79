//! The handshake of one revision, the discovery of the other, on one endpoint.

use serde_json::{Value, json};

use super::{initialize, names, pipe::Pipe, stateless, web::Web};
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
