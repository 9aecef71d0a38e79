//! What comes back: blocks, structures, progress, errors, and texts that are too long.

use serde_json::json;

use super::{pipe::Pipe, text, web::Web};
use crate::support::pinza;

#[test]
fn errors_are_for_the_model_and_unknown_tools_for_the_client() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let cases = [
        (
            "get_current_time",
            json!({ "timezone": 5 }),
            "validation_error: Parameter 'timezone' expected type",
        ),
        ("read_file", json!({}), "validation_error: Missing required parameter: 'path'"),
        ("read_file", json!({ "path": "nope" }), "file_not_found: File not found: nope"),
        (
            "read_file",
            json!({ "path": "../../etc/passwd" }),
            "path_not_allowed: Access denied: path is outside",
        ),
    ];
    for (tool, arguments, expected) in cases {
        let result = pipe.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).starts_with(expected), "{result}");
    }
    // The hint comes behind the message.
    let outside = text(&pipe.call("read_file", json!({ "path": "../x" })));
    assert!(outside.ends_with("\nUse a path relative to the workspace."), "{outside}");
    let unknown = pipe.request("tools/call", json!({ "name": "get_curent_time", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains("Did you mean get_current_time?"), "{message}");
}

#[test]
fn structures_go_along_where_they_are_promised() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--conformance", "--allow", "exec"]);
    let list = pipe.list();
    let tool =
        list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "test_structured").unwrap();
    assert_eq!(tool["outputSchema"]["required"], json!(["temperature", "conditions"]));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    let structure = json!({ "temperature": 22.5, "conditions": "cloudy" });
    assert_eq!(pipe.call("test_structured", json!({}))["structuredContent"], structure);
    let through = pipe.call("call_tool", json!({ "name": "test_structured" }));
    assert_eq!(through["structuredContent"], structure);
    // exec has details, and promises none.
    assert!(pipe.call("exec", json!({ "command": "true" }))["structuredContent"].is_null());
}

#[test]
fn progress_goes_to_those_who_want_it() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    let params = |token: serde_json::Value| {
        let arguments = json!({ "command": "echo one; sleep 0.3; echo two" });
        json!({ "name": "exec", "arguments": arguments, "_meta": { "progressToken": token } })
    };
    for token in [json!("t-1"), json!(7)] {
        let id = pipe.begin("tools/call", params(token.clone()));
        let mut last = 0.0;
        let answer = loop {
            let message = pipe.receive();
            if message["id"] == id {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
            assert_eq!(message["params"]["progressToken"], token);
            let progress = message["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "progress grows: {message}");
            last = progress;
        };
        assert_eq!(text(&answer["result"]), "one\ntwo\n");
        assert!(last > 0.0, "there was some");
    }
    let id = pipe
        .begin("tools/call", json!({ "name": "exec", "arguments": { "command": "echo one; sleep 0.3" } }));
    assert_eq!(pipe.receive()["id"], id, "nobody asked for progress");
}

#[test]
fn a_text_that_is_too_long_can_be_read_as_a_resource() {
    let pinza = pinza();
    pinza.put("big.txt", "0123456789\n".repeat(20_000));
    pinza.put(".pinza/out/cli-1.txt", "another caller's");
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    let result = pipe.call("exec", json!({ "command": "cat big.txt" }));
    assert!(text(&result).contains("bytes left out"), "{}", &text(&result)[..200]);
    let blocks = result["content"].as_array().unwrap();
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
    let uri = link["uri"].as_str().unwrap();
    assert!(uri.starts_with("pinza://out/mcp-"), "{link}");
    let whole = pipe.request("resources/read", json!({ "uri": uri }))["result"].clone();
    assert_eq!(whole["contents"][0]["text"], "0123456789\n".repeat(20_000));
    let list = pipe.request("resources/list", json!({}))["result"].clone();
    assert_eq!(list["resources"][0]["uri"], uri, "{list}");
    let others = [
        "pinza://out/cli-1.txt",
        "pinza://out/../../big.txt",
        "pinza://out/mcp-../../big.txt",
        "pinza://out/mcp-%2e%2e%2fbig.txt",
        "pinza://out//etc/passwd",
        "pinza://out/mcp-nope.txt",
        "pinza://out/",
        "file:///etc/passwd",
        "big.txt",
        "",
    ];
    for uri in others {
        let answer = pipe.request("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    // The code that the later revision has for it.
    let web = Web::start(&pinza, &[]);
    let answer = web.stateless("resources/read", json!({ "uri": "pinza://out/cli-1.txt" }), json!({})).json();
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn whoever_subscribed_to_a_resource_hears_of_it() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--conformance"]);
    let watched = json!({ "uri": "test://watched-resource" });
    let trigger = json!({ "name": "test_trigger_resource_update", "arguments": {} });
    assert_eq!(pipe.request("resources/subscribe", json!({ "uri": "test://nope" }))["error"]["code"], -32002);
    assert_eq!(pipe.request("resources/subscribe", watched.clone())["result"], json!({}));
    pipe.begin("tools/call", trigger.clone());
    let told = pipe.receive_method("notifications/resources/updated");
    assert_eq!(told["params"], watched);
    assert_eq!(pipe.request("resources/unsubscribe", watched)["result"], json!({}));
    pipe.begin("tools/call", trigger);
    let run = pipe.close();
    assert!(!run.stdout.contains("notifications/resources/updated"), "{run:?}");
}

#[test]
fn skills_are_prompts() {
    let pinza = pinza();
    let skill = pinza.home().join("skills/say-hello");
    std::fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: say-hello\ndisplay_name: Say hello\ndescription: Greets somebody\nparameters:\n  - name: who\n    \
                type: string\n    description: Whom\n    required: true\n---\nGreet {{who}} warmly.\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let mut pipe = Pipe::open(&pinza, &[]);
    let list = pipe.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let prompt = list.as_array().unwrap().iter().find(|prompt| prompt["name"] == "say-hello").unwrap();
    assert_eq!((&prompt["title"], &prompt["arguments"][0]["required"]), (&json!("Say hello"), &json!(true)));
    let got = pipe.request("prompts/get", json!({ "name": "say-hello", "arguments": { "who": "Ada" } }));
    let said = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains("Greet Ada warmly."), "{got}");
    let missing = pipe.request("prompts/get", json!({ "name": "say-hello" }));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
    let expected =
        "Missing required argument: 'who'\nGive it in 'arguments'. Prompt 'say-hello' takes: who (required)";
    assert_eq!(missing["error"]["message"], expected);
    let unknown = pipe.request("prompts/get", json!({ "name": "no-such" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    // Who may not load skills has none.
    let mut pipe = Pipe::open(&pinza, &["--exclude", "load_skill"]);
    assert_eq!(pipe.request("prompts/list", json!({}))["result"]["prompts"], json!([]));
    assert_eq!(pipe.request("prompts/get", json!({ "name": "say-hello" }))["error"]["code"], -32602);
}
