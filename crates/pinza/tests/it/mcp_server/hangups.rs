//! Clients that change their mind, go away, or do not read; and servers that are told to stop.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{
    pipe::{PATIENCE, Pipe},
    stateless, text,
    web::{Web, read_reply, stateless_headers},
};
use crate::support::pinza;

/// Waits until something is so.
#[track_caller]
fn comes_true(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process that a command wrote down, once it has.
fn written_process(file: &Path) -> String {
    let mut process = String::new();
    comes_true("the command runs", || {
        process = std::fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        !process.is_empty()
    });
    process
}

fn is_gone(process: &str) -> bool {
    !Path::new("/proc").join(process).exists()
}

const COMMAND: &str = "echo $$ > process; sleep 25";

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    // The first, and one after it.
    for _ in 0..2 {
        let id = pipe.begin("tools/call", json!({ "name": "exec", "arguments": { "command": COMMAND } }));
        let file = pinza.workspace().join("process");
        let process = written_process(&file);
        std::fs::remove_file(file).unwrap();
        pipe.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        );
        comes_true("the command is stopped", || is_gone(&process));
        // Nothing comes before this answer.
        let ping = pipe.begin("ping", json!({}));
        assert_eq!(pipe.receive()["id"], ping);
    }
    let run = pipe.close();
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{run:?}");
}

#[test]
fn cancelling_what_does_not_run_does_nothing() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    let id = pipe.begin("tools/call", json!({ "name": "get_current_time", "arguments": {} }));
    assert!(pipe.answer(id)["result"].is_object());
    for params in [
        json!({ "requestId": id }),
        json!({ "requestId": 4711 }),
        json!({ "requestId": "unknown" }),
        json!({ "requestId": null }),
        json!({}),
    ] {
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        pipe.is_well();
    }
}

/// 2026-07-28: whoever hangs up has cancelled.
#[test]
fn hanging_up_cancels_a_stateless_call() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let params = json!({ "name": "exec", "arguments": { "command": COMMAND } });
    let body = stateless(1, "tools/call", params.clone(), json!({})).to_string();
    let mut stream = web.connect();
    stream.write_all(web.request(&stateless_headers("tools/call", &params), &body).as_bytes()).unwrap();
    let process = written_process(&pinza.workspace().join("process"));
    drop(stream);
    comes_true("the command is stopped", || is_gone(&process));
}

/// 2025-11-25: whoever hangs up may come back; only saying so cancels.
#[test]
fn hanging_up_does_not_cancel_a_call_of_a_session() {
    let pinza = pinza();
    let web = Web::start(&pinza, &["--allow", "exec"]);
    let headers = web.session(json!({}));
    let command = "echo $$ > process; sleep 1; echo done > done";
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
                       "params": { "name": "exec", "arguments": { "command": command } } });
    let mut stream = web.connect();
    stream.write_all(web.request(&headers, &call.to_string()).as_bytes()).unwrap();
    written_process(&pinza.workspace().join("process"));
    drop(stream);
    comes_true("the command goes on", || pinza.workspace().join("done").exists());

    std::fs::remove_file(pinza.workspace().join("process")).unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call",
                       "params": { "name": "exec", "arguments": { "command": COMMAND } } });
    let mut stream = web.connect();
    stream.write_all(web.request(&headers, &call.to_string()).as_bytes()).unwrap();
    let process = written_process(&pinza.workspace().join("process"));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 6 } });
    assert_eq!(web.post(&headers, &cancel.to_string()).status, 202);
    comes_true("the command is stopped", || is_gone(&process));
}

/// A client that writes and does not read gets all its answers when it does; until then it is not listened to,
/// and what it says piles up on its own side.
#[test]
fn answers_wait_for_a_slow_reader() {
    let pinza = pinza();
    let mut command = pinza.command(["serve", "--stdio"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let requests = 4000_u64;
    let sent = Arc::new(AtomicU64::new(0));
    let writing = std::thread::spawn({
        let sent = Arc::clone(&sent);
        move || {
            writeln!(stdin, "{}", super::initialize(json!({}))).unwrap();
            // More than the pipe holds, so that what is sent has been read.
            let filler = "x".repeat(1000);
            for id in 1..=requests {
                let params = json!({ "_meta": { "filler": filler } });
                let list = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params });
                writeln!(stdin, "{list}").unwrap();
                sent.store(id, Ordering::SeqCst);
            }
        }
    });
    let mut before = 0;
    comes_true("the client is not listened to", || {
        std::thread::sleep(Duration::from_millis(300));
        let now = sent.load(Ordering::SeqCst);
        now > 0 && std::mem::replace(&mut before, now) == now
    });
    assert!(before < requests, "all was read, and nobody reads the answers");
    let mut answered: Vec<u64> = BufReader::new(stdout)
        .lines()
        .map_while(Result::ok)
        .map(|line| serde_json::from_str::<Value>(&line).unwrap())
        .filter(|answer| answer["result"]["tools"].is_array())
        .filter_map(|answer| answer["id"].as_u64())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (1..=requests).collect::<Vec<_>>());
    writing.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_slow_client_keeps_nobody_else_waiting() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    // Some send nothing, some half a head, some half a body, some never read their answer.
    let body = stateless(1, "tools/list", json!({}), json!({})).to_string();
    let whole = web.request(&stateless_headers("tools/list", &Value::Null), &body);
    let slow: Vec<_> = (0..40)
        .map(|number| {
            let mut stream = web.connect();
            let part = [0, 20, whole.len() - 5, whole.len()][number % 4];
            stream.write_all(&whole.as_bytes()[..part]).unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(web.stateless("tools/list", json!({}), json!({})).status, 200);
    }
    // The rest of a request still counts when it comes.
    let mut late = slow.into_iter().nth(1).unwrap();
    late.write_all(&whole.as_bytes()[20..]).unwrap();
    assert_eq!(read_reply(late).status, 200);
}

/// A client that has nothing more to say, does not read and leaves its end open keeps nobody here.
#[test]
fn the_end_comes_also_for_a_client_that_does_not_read() {
    let pinza = pinza();
    pinza.put("long.txt", "x".repeat(60_000));
    let mut command = pinza.command(["serve", "--stdio", "--expose", "full", "--allow", "fs.read"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    writeln!(stdin, "{}", super::initialize(json!({}))).unwrap();
    let call = |id: u32| {
        let params = json!({ "name": "read", "arguments": { "path": "long.txt" } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    writeln!(stdin, "{}", call(1)).unwrap();
    let mut lines = BufReader::new(stdout).lines();
    // The greeting, and the first answer; then nothing more is read.
    assert!(lines.nth(1).unwrap().unwrap().contains("xxx"));
    for id in 2..=5 {
        writeln!(stdin, "{}", call(id)).unwrap();
    }
    drop(stdin);
    comes_true("it ends", || child.try_wait().unwrap().is_some());
}

#[test]
fn the_end_of_stdin_is_the_end() {
    let pinza = pinza();
    let mut pipe = Pipe::open(&pinza, &[]);
    pipe.is_well();
    // What is on its way is still answered, the first call and a later one.
    let id = pipe.begin("tools/call", json!({ "name": "get_current_time", "arguments": {} }));
    let run = pipe.close();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.stdout.contains(&format!("\"id\":{id}")), "{run:?}");
    let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
    pipe.call("get_current_time", json!({}));
    let exec = |command: &str| json!({ "name": "exec", "arguments": { "command": command } });
    let slow = pipe.begin("tools/call", exec("sleep 1; echo well"));
    // And what takes longer than anybody waits is stopped.
    let mut talking = exec("echo $$ > process; while :; do echo on; sleep 0.5; done");
    talking["_meta"] = json!({ "progressToken": 1 });
    let endless = pipe.begin("tools/call", talking);
    let process = written_process(&pinza.workspace().join("process"));
    let run = pipe.close();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.stdout.contains(&format!("\"id\":{slow}")) && run.stdout.contains("well"), "{run:?}");
    assert!(!run.stdout.contains(&format!("\"id\":{endless}")), "{run:?}");
    comes_true("the command is stopped", || is_gone(&process));
    // Also before there was a word.
    let run = Pipe::start(&pinza, &[]).close();
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    let log = std::fs::read_to_string(pinza.home().join("logs/serve.log")).unwrap();
    assert!(log.contains("serving on stdio") && log.contains("the client is gone"), "{log}");
}

#[test]
fn a_signal_ends_it_in_good_order() {
    let pinza = pinza();
    for signal in [Signal::TERM, Signal::INT] {
        let mut pipe = Pipe::open(&pinza, &["--allow", "exec"]);
        pipe.call("get_current_time", json!({}));
        let exec =
            json!({ "command": "echo $$ > process; trap '' TERM; while :; do echo on; sleep 0.002; done" });
        let meta = json!({ "progressToken": 1 });
        let id = pipe.begin("tools/call", json!({ "name": "exec", "arguments": exec, "_meta": meta }));
        written_process(&pinza.workspace().join("process"));
        std::fs::remove_file(pinza.workspace().join("process")).unwrap();
        kill_process(Pid::from_raw(i32::try_from(pipe.process()).unwrap()).unwrap(), signal).unwrap();
        let run = pipe.wait();
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        let answer = run.stdout.lines().find(|line| line.contains(&format!("\"id\":{id}")));
        assert!(answer.is_some_and(|answer| answer.contains("cancelled")), "{run:?}");

        let mut web = Web::start(&pinza, &["--allow", "exec"]);
        let params =
            json!({ "name": "exec", "arguments": { "command": "echo $$ > process; sleep 1; echo well" } });
        let body = stateless(1, "tools/call", params.clone(), json!({})).to_string();
        let mut stream = web.connect();
        stream.write_all(web.request(&stateless_headers("tools/call", &params), &body).as_bytes()).unwrap();
        written_process(&pinza.workspace().join("process"));
        std::fs::remove_file(pinza.workspace().join("process")).unwrap();
        kill_process(Pid::from_raw(i32::try_from(web.child.id()).unwrap()).unwrap(), signal).unwrap();
        let reply = read_reply(stream);
        assert_eq!(text(&reply.json()["result"]), "well\n", "{reply:?}");
        assert_eq!(web.child.wait().unwrap().code(), Some(0));
        let mut stream = match std::net::TcpStream::connect(&web.address) {
            Err(_) => continue,
            Ok(stream) => stream,
        };
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0, "somebody still answers");
    }
}

/// How often each status is in the journal of somebody's calls.
fn noted(pinza: &pinza_testkit::Program, status: &str) -> usize {
    let run = pinza.run(&["--json", "calls", "list", "--status", status]);
    run.json()["calls"].as_array().unwrap().len()
}

#[test]
fn what_was_answered_is_in_the_journal_however_soon_the_end_comes() {
    let pinza = pinza();
    let call = json!({ "name": "write_file", "arguments": { "path": "a.txt", "content": "x" } });
    for _ in 0..5 {
        let mut pipe = Pipe::open(&pinza, &[]);
        assert_eq!(pipe.request("tools/call", call.clone())["result"]["isError"], false);
        assert_eq!(pipe.close().code, Some(0));
    }
    assert_eq!(noted(&pinza, "success"), 5);
    for round in 1..=5 {
        let mut web = Web::start(&pinza, &["--expose", "full"]);
        // Two connections at once, so that more than one thread has something to note.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| web.stateless("tools/call", call.clone(), json!({})));
            }
        });
        kill_process(Pid::from_child(&web.child), Signal::TERM).unwrap();
        assert!(web.child.wait().unwrap().success());
        assert_eq!(noted(&pinza, "success"), 5 + 2 * round);
    }
}
