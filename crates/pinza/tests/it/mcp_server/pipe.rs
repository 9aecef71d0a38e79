//! A client on stdio.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use pinza_testkit::{Program, Run};
use serde_json::{Value, json};

use super::{initialize, stateless};

/// Longer than anything takes here: what is waited for longer does not come.
pub(super) const PATIENCE: Duration = Duration::from_secs(40);

pub(super) struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u32,
}

impl Pipe {
    /// Starts `serve --stdio`, without a word to it.
    pub(super) fn start(program: &Program, arguments: &[&str]) -> Self {
        let mut command = program.command([&["serve", "--stdio"], arguments].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next: 1 }
    }

    /// As [`start`](Self::start), with the handshake of 2025-11-25.
    pub(super) fn open(program: &Program, arguments: &[&str]) -> Self {
        Self::open_as(program, arguments, json!({}))
    }

    pub(super) fn open_as(program: &Program, arguments: &[&str], capabilities: Value) -> Self {
        let mut pipe = Self::start(program, arguments);
        pipe.send(&initialize(capabilities));
        assert_eq!(pipe.receive()["result"]["protocolVersion"], "2025-11-25");
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(super) fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    #[track_caller]
    pub(super) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// What comes next with this method; what comes before it is passed over.
    #[track_caller]
    pub(super) fn receive_method(&mut self, method: &str) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Sends a request of the open session and returns its id.
    pub(super) fn begin(&mut self, method: &str, params: Value) -> u32 {
        let id = self.id();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(super) fn id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// The answer to this request; other messages are passed over.
    #[track_caller]
    pub(super) fn answer(&mut self, id: u32) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    #[track_caller]
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// A request without a session.
    #[track_caller]
    pub(super) fn request_stateless(&mut self, method: &str, params: Value, capabilities: Value) -> Value {
        let id = self.id();
        self.send(&stateless(id, method, params, capabilities));
        self.answer(id)
    }

    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    pub(super) fn list(&mut self) -> Value {
        self.request("tools/list", json!({}))["result"].clone()
    }

    /// Whether it still answers.
    #[track_caller]
    pub(super) fn is_well(&mut self) {
        assert_eq!(self.request("ping", json!({}))["result"], json!({}));
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Closes stdin and waits for the end.
    pub(super) fn close(mut self) -> Run {
        self.stdin = None;
        self.wait()
    }

    pub(super) fn wait(&mut self) -> Run {
        let stdout: Vec<String> = self.lines.iter().collect();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        Run { code: status.code(), stdout: stdout.join("\n"), stderr }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
