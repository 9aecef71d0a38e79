//! What clients are shown, and what they reach.

use std::fs;

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{names, pipe::Pipe, text, web::Web};
use crate::support::pinza;

fn listed(program: &Program, arguments: &[&str]) -> Vec<String> {
    let mut pipe = Pipe::open(program, arguments);
    names(&pipe.list()).into_iter().map(str::to_owned).collect()
}

#[test]
fn each_exposure_lists_what_it_says() {
    let pinza = pinza();
    let groups = listed(&pinza, &[]);
    for name in ["load_tool_group", "search_tools", "call_tool", "get_current_time", "read_file"] {
        assert!(groups.contains(&name.to_owned()), "{name}: {groups:?}");
    }
    assert!(!groups.contains(&"edit".to_owned()), "{groups:?}");
    let mut search = listed(&pinza, &["--expose", "search"]);
    search.sort();
    assert_eq!(search, ["call_tool", "search_tools"]);
    let full = listed(&pinza, &["--expose", "full"]);
    assert!(full.contains(&"edit".to_owned()) && full.len() > groups.len(), "{full:?}");
    let dynamic = listed(&pinza, &["--expose", "dynamic"]);
    assert!(dynamic.contains(&"load_tool_group".to_owned()), "{dynamic:?}");
    assert!(
        !dynamic.contains(&"call_tool".to_owned()) && !dynamic.contains(&"edit".to_owned()),
        "{dynamic:?}"
    );
    // In the same order, whoever asks and however often.
    assert_eq!(listed(&pinza, &["--expose", "full"]), full);
    let web = Web::start(&pinza, &["--expose", "full"]);
    let over_http = web.stateless("tools/list", json!({}), json!({})).json();
    assert_eq!(names(&over_http["result"]), full);
}

#[test]
fn groups_are_described_and_reached_through_call_tool() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let described = text(&pipe.call("load_tool_group", json!({ "group_name": "fs" })));
    assert!(described.contains("- edit: ") && described.contains("call_tool {"), "{described}");
    let before = pipe.list();
    let direct = pipe.call("edit", json!({ "path": "x", "oldText": "a", "newText": "b" }));
    assert!(text(&direct).starts_with("tool_not_available: "), "{direct}");
    assert!(text(&direct).contains("call_tool"), "{direct}");
    pinza.put("x", "a");
    let edit = json!({ "name": "edit", "arguments": { "path": "x", "oldText": "a", "newText": "b" } });
    let through = pipe.call("call_tool", edit);
    assert_eq!(through["isError"], false, "{through}");
    assert_eq!(pinza.text("x"), "b");
    assert_eq!(pipe.list(), before, "nothing that is called changes the list");
    let unknown = pipe.call("call_tool", json!({ "name": "nope" }));
    assert!(text(&unknown).starts_with("tool_not_found: "), "{unknown}");
}

#[test]
fn dynamic_grows_with_what_is_loaded() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--expose", "dynamic"]);
    let before = pipe.list();
    let load = |pipe: &mut Pipe| {
        pipe.begin("tools/call", json!({ "name": "load_tool_group", "arguments": { "group_name": "fs" } }))
    };
    let id = load(&mut pipe);
    pipe.receive_method("notifications/tools/list_changed");
    let loaded = pipe.answer(id)["result"].clone();
    assert!(!text(&loaded).contains("call_tool"), "{loaded}");
    let after = pipe.list();
    assert_eq!(names(&after)[..names(&before).len()], names(&before), "what was listed stays where it was");
    assert!(names(&after).contains(&"edit"), "{after}");
    pinza.put("x", "a");
    let edited = pipe.call("edit", json!({ "path": "x", "oldText": "a", "newText": "b" }));
    assert_eq!(edited["isError"], false, "{edited}");
    // Loading it again changes nothing, and says nothing.
    let id = load(&mut pipe);
    assert!(pipe.receive()["id"] == id);
    // Without a session there is nothing to remember it by.
    let web = Web::start(&pinza, &["--expose", "dynamic"]);
    let list = web.stateless("tools/list", json!({}), json!({})).json();
    assert!(names(&list["result"]).contains(&"call_tool"), "{list}");
}

#[test]
fn without_a_session_only_a_subscription_tells_that_tools_came() {
    let pinza = pinza();
    let load = json!({ "name": "load_tool_group", "arguments": { "group_name": "fs" } });
    for is_subscribed in [false, true] {
        let mut pipe = Pipe::start(&pinza, &["--expose", "dynamic"]);
        let subscription = pipe.id();
        if is_subscribed {
            let listening = json!({ "notifications": { "toolsListChanged": true } });
            pipe.send(&super::stateless(subscription, "subscriptions/listen", listening, json!({})));
            pipe.receive_method("notifications/subscriptions/acknowledged");
        }
        let call = pipe.id();
        pipe.send(&super::stateless(call, "tools/call", load.clone(), json!({})));
        // Something after it, so that what comes late is seen.
        let list = pipe.id();
        pipe.send(&super::stateless(list, "tools/list", json!({}), json!({})));
        let mut told = Vec::new();
        let mut awaited = vec![call, list];
        while !awaited.is_empty() || told.len() < usize::from(is_subscribed) {
            let message = pipe.receive();
            awaited.retain(|id| message["id"] != *id);
            if message["method"] == "notifications/tools/list_changed" {
                told.push(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone());
            }
        }
        let expected = if is_subscribed { vec![json!(subscription)] } else { vec![] };
        assert_eq!(told, expected);
        let list = pipe.request_stateless("tools/list", json!({}), json!({}));
        assert!(names(&list["result"]).contains(&"edit"), "{list}");
    }
}

#[test]
fn a_hint_names_a_way_that_is_open() {
    let pinza = pinza();
    let through = "Call it with: call_tool";
    let denied = "A rule or flag denies it. See which with: pinza policy test";
    let load = "Load its group first: load_tool_group";
    let cases: [(&[&str], &str, Option<&str>); 8] = [
        (&[], "edit", Some(through)),
        (&["--exclude", "call_tool"], "edit", None),
        (&["--expose", "search"], "edit", Some(through)),
        (&["--expose", "search"], "get_current_time", Some(through)),
        (&["--expose", "search", "--exclude", "call_tool"], "get_current_time", None),
        (&["--expose", "dynamic"], "edit", Some(load)),
        (&["--expose", "dynamic", "--exclude", "load_tool_group"], "edit", None),
        (&["--deny", "fs.write"], "edit", Some(denied)),
    ];
    for (options, tool, hint) in cases {
        let mut pipe = Pipe::open(&pinza, options);
        let answer = text(&pipe.call(tool, json!({ "path": "x", "oldText": "a", "newText": "b" })));
        assert!(answer.starts_with("tool_not_available: "), "{options:?}: {answer}");
        match hint {
            Some(hint) => assert!(answer.contains(hint), "{options:?}: {answer}"),
            None => {
                assert!(!answer.contains("call_tool") && !answer.contains("load_"), "{options:?}: {answer}")
            }
        }
    }
}

#[test]
fn what_is_not_in_the_tool_set_is_not_there() {
    let pinza = pinza();
    let only = ["--expose", "full", "--include", "get_current_time,group:fs", "--exclude", "write"];
    let list = listed(&pinza, &only);
    assert!(list.contains(&"edit".to_owned()) && !list.contains(&"write".to_owned()), "{list:?}");
    assert!(!list.contains(&"exec".to_owned()) && !list.contains(&"http_request".to_owned()), "{list:?}");
    let mut pipe = Pipe::open(&pinza, &only[2..]);
    for (tool, arguments) in
        [("exec", json!({ "command": "echo ran" })), ("write", json!({ "path": "x", "content": "y" }))]
    {
        let direct = pipe.call(tool, arguments.clone());
        assert!(text(&direct).starts_with("tool_not_available: "), "{direct}");
        let through = pipe.call("call_tool", json!({ "name": tool, "arguments": arguments }));
        assert!(text(&through).starts_with("tool_not_available: "), "{through}");
    }
    let group = text(&pipe.call("load_tool_group", json!({ "group_name": "fs" })));
    assert!(group.contains("- edit: ") && !group.contains("- write: "), "{group}");
    // What policy denies whatever the arguments is not offered either.
    let denied = listed(&pinza, &["--expose", "full", "--deny", "exec"]);
    assert!(!denied.contains(&"exec".to_owned()), "{denied:?}");
}

fn manifest(program: &Program, name: &str, description: &str) {
    let tools = program.home().join("tools");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join(format!("{name}.js")), "function execute() { return 'hello'; }").unwrap();
    let manifest = json!({ "name": name, "description": description });
    fs::write(tools.join(format!("{name}.json")), manifest.to_string()).unwrap();
}

fn describes(list: &Value, name: &str) -> Option<String> {
    let tools = list["tools"].as_array()?;
    let tool = tools.iter().find(|tool| tool["name"] == name)?;
    tool["description"].as_str().map(str::to_owned)
}

#[test]
fn a_saved_script_is_told_of_and_listed() {
    let pinza = pinza();
    fs::create_dir_all(pinza.home().join("tools")).unwrap();
    let mut pipe = Pipe::open(&pinza, &["--expose", "full"]);
    pipe.is_well();
    manifest(&pinza, "greet", "Says hello");
    while describes(&pipe.list(), "greet").is_none() {
        pipe.receive_method("notifications/tools/list_changed");
    }
    assert_eq!(text(&pipe.call("greet", json!({}))), "hello");

    let web = Web::start(&pinza, &["--expose", "full"]);
    let listening = json!({ "notifications": { "toolsListChanged": true } });
    let (sender, events) = std::sync::mpsc::channel();
    let body = super::stateless(9, "subscriptions/listen", listening, json!({})).to_string();
    let headers = super::web::stateless_headers("subscriptions/listen", &Value::Null);
    let request = web.request(&headers, &body);
    let mut stream = web.connect();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    std::thread::spawn(move || {
        let lines = std::io::BufRead::lines(std::io::BufReader::new(stream));
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let heard = |method: &str| loop {
        let line = events.recv_timeout(super::pipe::PATIENCE).unwrap();
        if line.contains(method) {
            return;
        }
    };
    heard("notifications/subscriptions/acknowledged");
    manifest(&pinza, "greet", "Says hello again");
    heard("notifications/tools/list_changed");
    let list = web.stateless("tools/list", json!({}), json!({})).json();
    assert_eq!(describes(&list["result"], "greet").as_deref(), Some("Says hello again"));
}
