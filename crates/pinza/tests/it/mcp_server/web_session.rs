//! In a session over HTTP, calls after the first do not go through the SDK as long as they take a moment; they are what
//! they would have been there.

use std::io::Write as _;

use serde_json::{Value, json};

use super::{
    initialize, text,
    web::{Reply, Web, read_reply},
};
use crate::support::pinza;

fn call(id: u32, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn exec(command: &str) -> Value {
    json!({ "name": "exec", "arguments": { "command": command } })
}

/// A session that has called something.
fn session(web: &Web, capabilities: Value) -> String {
    let headers = web.session(capabilities);
    let time = json!({ "name": "get_current_time", "arguments": {} });
    assert_eq!(web.post(&headers, &call(1, &time)).json()["result"]["isError"], false);
    headers
}

#[test]
fn an_answer_is_the_same_on_both_ways() {
    let pinza = pinza();
    pinza.put("a.txt", "one\ntwo\n");
    let web = Web::start(&pinza, &["--expose", "full", "--allow", "fs.read", "--deny", "exec"]);
    for capabilities in [json!({}), json!({ "elicitation": {}, "sampling": {}, "roots": {} })] {
        let headers = session(&web, capabilities);
        for params in [
            json!({ "name": "read", "arguments": { "path": "a.txt" } }),
            json!({ "name": "read", "arguments": { "path": "nowhere.txt" } }),
            json!({ "name": "read", "arguments": { "path": 5, "odd": true } }),
            json!({ "name": "read" }),
            json!({ "name": "call_tool", "arguments": { "name": "read", "arguments": { "path": "a.txt" } } }),
            json!({ "name": "js_eval", "arguments": { "code": "return { ok: [1, 2] }" } }),
            json!({ "name": "nothing", "arguments": {} }),
            json!({ "name": "read", "arguments": { "path": "a.txt" }, "_meta": { "example.com/note": 1 } }),
            exec("echo ran"),
        ] {
            let mut odd = params.clone();
            odd["odd"] = json!("any");
            let [ours, theirs]: [Reply; 2] =
                [&params, &odd].map(|params| web.post(&headers, &call(7, params)));
            // Either may take longer than a moment, and then be a stream.
            let said = |reply: &Reply| (reply.status, reply.json().to_string());
            assert_eq!(said(&ours), said(&theirs), "{params}");
        }
    }
}

#[test]
fn a_call_that_takes_longer_goes_on_with_the_sdk_and_runs_once() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let headers = session(&web, json!({}));
    let reply = web.post(&headers, &call(2, &exec("echo ran >> runs; sleep 0.3; echo late")));
    assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{reply:?}");
    assert_eq!((text(&reply.json()["result"]).as_str(), pinza.text("runs").as_str()), ("late\n", "ran\n"));
}

#[test]
fn a_call_asks_on_its_own_stream_and_goes_on_with_the_answer() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--expose", "full"]);
    let headers = session(&web, json!({ "elicitation": {} }));
    let mut stream = web.connect();
    stream
        .write_all(web.request(&headers, &call(2, &exec("echo ran >> runs; echo out"))).as_bytes())
        .unwrap();
    let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
    let question = loop {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0, "nobody was asked");
        let data = line.strip_prefix("data:").and_then(|data| serde_json::from_str::<Value>(data).ok());
        if let Some(question) = data.filter(|data| data["method"] == "elicitation/create") {
            break question;
        }
    };
    assert!(question["params"]["message"].as_str().unwrap().contains("echo ran"), "{question}");
    let yes = json!({ "jsonrpc": "2.0", "id": question["id"],
                      "result": { "action": "accept", "content": { "decision": "once" } } });
    assert_eq!(web.post(&headers, &yes.to_string()).status, 202);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    assert!(rest.contains("out\\n") && rest.contains("\"id\":2"), "{rest}");
    assert_eq!(pinza.text("runs"), "ran\n");
}

#[test]
fn hanging_up_at_once_does_not_cancel() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let headers = session(&web, json!({}));
    for round in 1..=3 {
        let mut stream = web.connect();
        let command = format!("sleep 0.2; echo ran >> runs{round}");
        stream.write_all(web.request(&headers, &call(2, &exec(&command))).as_bytes()).unwrap();
        // Within its moment, as far as anybody can tell.
        std::thread::sleep(std::time::Duration::from_millis(15));
        drop(stream);
        let file = pinza.workspace().join(format!("runs{round}"));
        let begun = std::time::Instant::now();
        while !file.exists() {
            assert!(begun.elapsed() < super::pipe::PATIENCE, "it was cancelled");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_call_can_be_cancelled_at_once_and_its_id_used_again() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let headers = session(&web, json!({}));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    let mut stream = web.connect();
    stream
        .write_all(web.request(&headers, &call(2, &exec("echo $$ > process; sleep 25"))).as_bytes())
        .unwrap();
    // As soon as it runs, which is within its moment unless this machine is busy.
    let begun = std::time::Instant::now();
    while !pinza.workspace().join("process").exists() {
        assert!(begun.elapsed() < super::pipe::PATIENCE, "it does not run");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(web.post(&headers, &cancel.to_string()).status, 202);
    // Whatever it is answered with, it did not come to its end.
    assert_ne!(read_reply(stream).json()["result"]["isError"], false);
    let reply = web.post(&headers, &call(2, &exec("echo again")));
    assert_eq!(text(&reply.json()["result"]), "again\n");
}

#[test]
fn whoever_begins_anew_is_asked_who_it_is() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--expose", "full"]);
    let headers = session(&web, json!({}));
    assert_eq!(web.post(&headers, &call(2, &exec("echo ran"))).json()["result"]["isError"], true);
    let mut again = initialize(json!({ "elicitation": {} }));
    again["id"] = json!(3);
    let reply = web.post(&headers, &again.to_string());
    assert!(reply.json()["result"].is_object(), "{reply:?}");
    let mut stream = web.connect();
    stream.write_all(web.request(&headers, &call(4, &exec("echo ran"))).as_bytes()).unwrap();
    let mut reader = std::io::BufReader::new(stream);
    let mut seen = String::new();
    while !seen.contains("elicitation/create") {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0, "nobody was asked: {seen}");
        seen += &line;
    }
}

#[test]
fn a_session_that_has_ended_is_gone_here_too() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let headers = session(&web, json!({}));
    let (host, time) = (&web.address, json!({ "name": "get_current_time", "arguments": {} }));
    assert_eq!(web.post(&headers, &call(2, &time)).status, 200);
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    assert!(web.raw(delete.as_bytes()).status < 300);
    assert_eq!(web.post(&headers, &call(3, &time)).status, 404);
}
