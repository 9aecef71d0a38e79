//! Measures a server over stdio or HTTP, as a client that does nothing else: `./bench mcp`.
//!
//! usage: measure NAME stdio|http TOOL ARGUMENTS PROGRAM ARGUMENT...
//!
//! stdio: cold start to `tools/list` (the best of five), a call's median time and CPU, a warm `tools/list`'s median, memory.
//! HTTP: calls a second over 64 connections.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program to measure with")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const CALLS: usize = 5000;
const LISTS: usize = 100;
const CONNECTIONS: usize = 64;
const SPAN: Duration = Duration::from_secs(4);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, way, tool, given, command @ ..] = arguments.as_slice() else {
        println!("usage: measure NAME stdio|http TOOL ARGUMENTS PROGRAM ARGUMENT...");
        return;
    };
    let call = json!({ "name": tool, "arguments": serde_json::from_str::<Value>(given).unwrap() });
    match way.as_str() {
        "stdio" => measure_stdio(name, command, &call),
        _ => measure_http(name, command, &call),
    }
}

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(command: &[String]) -> Self {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, stdin, stdout };
        server.request(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "measure", "version": "1" } } }));
        writeln!(server.stdin, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .unwrap();
        server
    }

    /// Sends a request and waits for a line that answers it.
    fn request(&mut self, message: &Value) -> String {
        self.request_line(&message.to_string())
    }

    fn request_line(&mut self, line: &str) -> String {
        self.stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        loop {
            let mut answer = String::new();
            assert!(self.stdout.read_line(&mut answer).unwrap() > 0, "the server is gone");
            if answer.contains("\"result\"") {
                return answer;
            }
            assert!(!answer.contains("\"error\""), "{answer}");
        }
    }

    /// CPU time so far, from the kernel, in seconds.
    fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        ticks / 100.0
    }

    /// Resident memory in MB.
    fn memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn measure_stdio(name: &str, command: &[String], call: &Value) {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string();
    let cold = (0..5).map(|_| {
        let begun = Instant::now();
        let mut server = Server::start(command);
        server.request_line(&list);
        begun.elapsed()
    });
    let cold = cold.min().unwrap();
    let mut server = Server::start(command);
    let tools = server.request_line(&list).matches("\"inputSchema\"").count();
    let listing = median(LISTS, || drop(server.request_line(&list)));
    for _ in 0..500 {
        server.request_line(&call);
    }
    let before = server.cpu();
    let calling = median(CALLS, || drop(server.request_line(&call)));
    let cpu = (server.cpu() - before) / CALLS as f64 * 1e6;
    println!(
        "{name:<12} {tools:>5} tools  cold {:>7.1} ms  call p50 {:>7.1} µs, CPU {cpu:>6.1} µs  list p50 {:>8.1} µs  {:>6.1} MB",
        cold.as_secs_f64() * 1e3,
        calling.as_secs_f64() * 1e6,
        listing.as_secs_f64() * 1e6,
        server.memory(),
    );
}

fn median(times: usize, mut what: impl FnMut()) -> Duration {
    let mut spans: Vec<Duration> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            what();
            begun.elapsed()
        })
        .collect();
    spans.sort_unstable();
    spans[times / 2]
}

fn measure_http(name: &str, command: &[String], call: &Value) {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    let request = http_request(&address, call);
    let workers: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (address, request) = (address.clone(), request.clone());
            thread::spawn(move || calls_of_one(&address, request.as_bytes()))
        })
        .collect();
    let calls: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    println!("{name:<12} {CONNECTIONS} connections  {:>8.0} calls/s", calls as f64 / SPAN.as_secs_f64());
    let _ = child.kill();
    let _ = child.wait();
}

fn http_request(address: &str, call: &Value) -> String {
    let mut params = call.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "measure", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        call["name"].as_str().unwrap(),
        body.len()
    )
}

/// One call after the other on one connection, for a while.
fn calls_of_one(address: &str, request: &[u8]) -> usize {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    let begun = Instant::now();
    let mut calls = 0;
    while begun.elapsed() < SPAN {
        stream.write_all(request).unwrap();
        let mut length = None;
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        loop {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the server is gone");
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
        }
        let mut body = vec![0; length.unwrap_or_else(|| panic!("an answer without a length: {status}"))];
        reader.read_exact(&mut body).unwrap();
        assert!(status.contains(" 200 "), "{status}{}", String::from_utf8_lossy(&body));
        calls += 1;
    }
    calls
}
