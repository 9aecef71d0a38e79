//! A server that is started again says at once what it said the last time, if nothing has changed since.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{
    names,
    pipe::{PATIENCE, Pipe},
    text,
};
use crate::support::pinza;

const FULL: &[&str] = &["--expose", "full"];
/// In the front only, as long as the truth: whoever lists it has been told by the front.
const FORGED: &str = "Forged";

fn with_tool(description: &str) -> Program {
    let pinza = pinza();
    put_tool(&pinza, "shout", description);
    pinza
}

fn put_tool(pinza: &Program, name: &str, description: &str) {
    let tools = pinza.home().join("tools");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join(format!("{name}.js")), "function execute({ text }) { return text + '!'; }").unwrap();
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let manifest = json!({ "name": name, "description": description, "parameters": schema });
    fs::write(tools.join(format!("{name}.json")), manifest.to_string()).unwrap();
}

fn fronts(pinza: &Program) -> Vec<PathBuf> {
    let found = fs::read_dir(pinza.home().join("cache/front")).into_iter().flatten();
    found.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_none()).collect()
}

fn description(list: &Value) -> String {
    let tools = list["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "shout").unwrap();
    tool["description"].as_str().unwrap().to_owned()
}

/// Lists until the list is kept: not before the files are a while old.
#[track_caller]
fn kept(pinza: &Program, arguments: &[&str]) -> PathBuf {
    let start = Instant::now();
    let before = fronts(pinza);
    loop {
        let mut pipe = Pipe::open(pinza, arguments);
        pipe.list();
        pipe.close();
        if let Some(path) = fronts(pinza).into_iter().find(|path| !before.contains(path)) {
            return path;
        }
        assert!(start.elapsed() < PATIENCE, "no front is kept");
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn forge(path: &PathBuf, what: &str, with: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(what), "{text}");
    fs::write(path, text.replace(what, with)).unwrap();
}

fn listed(pinza: &Program, arguments: &[&str]) -> Value {
    Pipe::open(pinza, arguments).list()
}

#[test]
fn what_was_said_is_said_again_while_nothing_changes() {
    let pinza = with_tool("Shouts");
    let first = listed(&pinza, FULL);
    let front = kept(&pinza, FULL);
    assert_eq!(listed(&pinza, FULL), first);
    forge(&front, "\"description\":\"Shouts\"", &format!("\"description\":\"{FORGED}\""));
    let mut pipe = Pipe::open(&pinza, FULL);
    assert_eq!(description(&pipe.list()), FORGED);
    // What is called is what is loaded.
    assert_eq!(text(&pipe.call("shout", json!({ "text": "hey" }))), "hey!");
    // From now on the list is made of what is there.
    assert_eq!(description(&pipe.list()), "Shouts");
    pipe.close();

    // Other options have another front, and so has whoever asks in another way.
    assert_eq!(description(&listed(&pinza, &["--expose", "full", "--exclude", "exec"])), "Shouts");
    let mut pipe = Pipe::start(&pinza, FULL);
    let stateless = pipe.request_stateless("tools/list", json!({}), json!({}))["result"].clone();
    assert_eq!(description(&stateless), "Shouts");
}

#[test]
fn whatever_decides_about_tools_makes_a_front_old() {
    let pinza = with_tool("Shouts");
    let front = kept(&pinza, FULL);
    forge(&front, "\"description\":\"Shouts\"", &format!("\"description\":\"{FORGED}\""));
    let forged = fs::read(&front).unwrap();
    let is_new = |what: &str| {
        assert_ne!(description(&listed(&pinza, FULL)), FORGED, "{what}");
        fs::write(&front, &forged).unwrap();
    };
    let manifest = pinza.home().join("tools/shout.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("Shouts", "Yells!")).unwrap();
    is_new("the same size, another text");
    fs::write(&manifest, &text).unwrap();
    is_new("the same text again");
    put_tool(&pinza, "more", "Another one");
    is_new("another tool");
    assert!(names(&listed(&pinza, FULL)).contains(&"more"));
    fs::write(pinza.config_file(), "[tools]\ndisabled = [\"more\"]\n").unwrap();
    is_new("another configuration");
    assert!(!names(&listed(&pinza, FULL)).contains(&"more"));
    fs::create_dir_all(pinza.home().join("skills/one")).unwrap();
    fs::write(pinza.home().join("skills/one/SKILL.md"), "---\nname: one\ndescription: One\n---\nDo it.\n")
        .unwrap();
    is_new("a skill");
}

#[test]
fn a_client_that_was_told_wrong_is_told_so() {
    let pinza = with_tool("Shouts");
    let front = kept(&pinza, FULL);
    let text = fs::read_to_string(&front).unwrap();
    let digest = text.split("\"listing\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    forge(&front, &digest, "other tools than there are");
    forge(&front, "\"description\":\"Shouts\"", &format!("\"description\":\"{FORGED}\""));
    let mut pipe = Pipe::open(&pinza, FULL);
    assert_eq!(description(&pipe.list()), FORGED);
    pipe.receive_method("notifications/tools/list_changed");
    assert_eq!(description(&pipe.list()), "Shouts");
}

#[test]
fn a_client_that_listens_late_is_told_that_it_was_told_wrong() {
    let pinza = with_tool("Shouts");
    let front = kept(&pinza, FULL);
    let text = fs::read_to_string(&front).unwrap();
    let digest = text.split("\"listing\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    forge(&front, &digest, "other tools than there are");
    let mut pipe = Pipe::start(&pinza, FULL);
    pipe.send(&super::initialize(json!({})));
    pipe.receive();
    pipe.list();
    // By its answer everything is loaded, and found to be another.
    pipe.call("shout", json!({ "text": "hey" }));
    pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    pipe.receive_method("notifications/tools/list_changed");
}

#[test]
fn a_call_that_is_cancelled_before_all_is_loaded_is_not_begun() {
    let pinza = with_tool("Shouts");
    let options = &["--expose", "full", "--allow", "fs.write"];
    kept(&pinza, options);
    let mut pipe = Pipe::start(&pinza, options);
    let call = json!({ "name": "write_file", "arguments": { "path": "ran", "content": "x" } });
    // In one piece: the last of it is read long before anything is loaded.
    let lines = [
        super::initialize(json!({})),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": call }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 70 } }),
    ];
    pipe.send_line(&lines.map(|line| line.to_string()).join("\n"));
    assert_eq!(text(&pipe.call("shout", json!({ "text": "hey" }))), "hey!");
    pipe.close();
    assert!(!pinza.workspace().join("ran").exists());
}

#[test]
fn a_damaged_front_is_none() {
    let pinza = with_tool("Shouts");
    let front = kept(&pinza, FULL);
    let whole = fs::read(&front).unwrap();
    let stamp = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for damaged in [
        &[] as &[u8],
        &whole[..stamp],
        &whole[..=stamp],
        &whole[..stamp + 40],
        b"\n\n\n",
        &whole[..whole.len() - 9],
    ] {
        fs::write(&front, damaged).unwrap();
        assert_eq!(description(&listed(&pinza, FULL)), "Shouts");
    }
}

#[test]
fn a_list_that_grows_is_not_kept() {
    let pinza = with_tool("Shouts");
    kept(&pinza, FULL);
    let before = fronts(&pinza);
    let mut pipe = Pipe::open(&pinza, &["--expose", "dynamic"]);
    pipe.list();
    pipe.close();
    assert_eq!(fronts(&pinza), before);
}

#[test]
fn a_client_that_has_nothing_more_to_say_still_gets_its_list() {
    let pinza = pinza();
    let tools = pinza.home().join("tools");
    fs::create_dir_all(&tools).unwrap();
    // More than a pipe holds.
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let entry = |number: u32| {
        let description = format!("Says {}", "so ".repeat(100));
        json!({ "name": format!("tool_{number}"), "description": description, "function": "run", "parameters": schema })
    };
    for first in (0..300).step_by(50) {
        let entries: Vec<Value> = (first..first + 50).map(entry).collect();
        fs::write(tools.join(format!("many{first}.json")), json!(entries).to_string()).unwrap();
        fs::write(tools.join(format!("many{first}.js")), "function run() {}").unwrap();
    }
    let ask = |pinza: &Program| {
        let mut pipe = Pipe::start(pinza, FULL);
        pipe.send(&super::stateless(5, "tools/list", json!({}), json!({})));
        let run = pipe.close();
        let list: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("cut: {}", run.stdout.len()));
        assert_eq!(names(&list["result"]).iter().filter(|name| name.starts_with("tool_")).count(), 300);
    };
    let start = Instant::now();
    while fronts(&pinza).is_empty() {
        ask(&pinza);
        assert!(start.elapsed() < PATIENCE, "no front is kept");
        std::thread::sleep(Duration::from_millis(300));
    }
    ask(&pinza);
}

/// What a front says is not all: everything is opened after it, and that can fail.
#[test]
fn a_start_that_fails_behind_a_front_ends() {
    let pinza = with_tool("Shouts");
    kept(&pinza, FULL);
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(pinza.home().join(file));
    }
    fs::create_dir(pinza.home().join("state.db")).unwrap();
    // On a socket, as some agents have it, standard input is read by a thread that nobody can stop.
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let command = &mut pinza.command([&["serve", "--stdio"], FULL].concat());
    let child = command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    ours.write_all(format!("{}\n", super::initialize(json!({}))).as_bytes()).unwrap();
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > PATIENCE => {
                let _ = child.kill();
                panic!("it hangs");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let mut stderr = String::new();
    child.stderr.unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("state.db"), "{stderr}");
}

#[test]
fn clients_that_leave_before_all_is_loaded_leave_nothing_behind() {
    let pinza = with_tool("Shouts");
    kept(&pinza, FULL);
    for _ in 0..5 {
        let mut pipe = Pipe::open(&pinza, FULL);
        pipe.list();
        let run = pipe.close();
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    }
}
