//! Another server's tools, served on: nothing of them is lost on the way.

use serde_json::{Value, json};

use super::pipe::Pipe;
use crate::upstreams::with_fixture;

#[test]
fn results_are_passed_on_whole() {
    let pinza = with_fixture(&[]);
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    let picture = pipe.call("fix__picture", json!({}));
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let resource = json!({"uri": "file:///c", "mimeType": "application/zip", "blob": "AAAA"});
    let blocks = picture["content"].as_array().unwrap();
    assert_eq!((&blocks[1], &blocks[5]), (&image, &json!({"type": "resource", "resource": resource})));
    assert_eq!(blocks[6]["text"], "[a kind of content that Pinza does not know]");
    let failure = pipe.call("fix__fail", json!({}));
    assert_eq!((&failure["isError"], &failure["content"][1]), (&json!(true), &image));
    assert_eq!(failure["structuredContent"], json!({"code": 7}));
}

#[test]
fn a_tool_is_listed_with_what_its_server_says_of_it() {
    let pinza = with_fixture(&[]);
    let list = Pipe::open(&pinza, &["--expose", "full"]).list();
    let hints = |name: &str| {
        let found = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name);
        found.unwrap()["annotations"].clone()
    };
    let adder = json!({
        "title": "Adder",
        "readOnlyHint": false,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
    });
    assert_eq!(hints("fix__sum"), adder);
    let echo = json!({"title": "Echo", "readOnlyHint": true, "destructiveHint": false});
    assert_eq!(hints("fix__echo"), echo);
    assert_eq!(hints("fix__fail"), json!({"readOnlyHint": false}));
}

#[test]
fn progress_has_the_numbers_of_its_server() {
    let pinza = with_fixture(&[]);
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    let params = json!({"name": "fix__progress", "arguments": {}, "_meta": {"progressToken": "t"}});
    let id = pipe.begin("tools/call", params);
    let mut told = Vec::new();
    loop {
        let message = pipe.receive();
        if message["id"] == id {
            break;
        }
        told.push(message["params"].clone());
    }
    let step = |number: f64| -> Value {
        json!({"progressToken": "t", "progress": number / 2.0, "total": 1.5, "message": format!("step {number}")})
    };
    assert_eq!(told, [step(1.0), step(2.0), step(3.0)]);
}
