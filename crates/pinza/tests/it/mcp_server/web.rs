//! A client over HTTP that sends exactly the bytes it is told to.

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{initialize, pipe::PATIENCE, stateless};

pub(super) struct Web {
    pub(super) child: Child,
    pub(super) address: String,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: String,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The answer: the body, or the last event of a stream.
    pub(super) fn json(&self) -> Value {
        if let Ok(value) = serde_json::from_str(&self.body) {
            return value;
        }
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        events.filter_map(|data| serde_json::from_str(data).ok()).next_back().unwrap_or_default()
    }
}

pub(super) const POST: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

impl Web {
    pub(super) fn start(program: &Program, arguments: &[&str]) -> Self {
        Self::start_with(program.command([&["serve", "--http", "127.0.0.1:0"], arguments].concat()))
    }

    pub(super) fn start_with(mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        // What it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { child, address }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address.replace("0.0.0.0", "127.0.0.1")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a whole request and reads the whole answer.
    pub(super) fn raw(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that has seen enough may close before all is sent.
        let _ = stream.write_all(request);
        read_reply(stream)
    }

    pub(super) fn get(&self, path: &str, headers: &str) -> Reply {
        let host = &self.address;
        self.raw(
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").as_bytes(),
        )
    }

    /// Posts to `/mcp` with these headers instead of none.
    pub(super) fn post(&self, headers: &str, body: &str) -> Reply {
        self.post_bytes(headers, body.as_bytes())
    }

    pub(super) fn post_bytes(&self, headers: &str, body: &[u8]) -> Reply {
        self.raw(&[self.head(headers, body.len()).as_bytes(), body].concat())
    }

    pub(super) fn request(&self, headers: &str, body: &str) -> String {
        format!("{}{body}", self.head(headers, body.len()))
    }

    fn head(&self, headers: &str, length: usize) -> String {
        let host = &self.address;
        let host = if headers.to_ascii_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {host}\r\n")
        };
        let fixed = format!("{host}Connection: close\r\nContent-Length: {length}\r\n{POST}");
        format!("POST /mcp HTTP/1.1\r\n{fixed}{headers}\r\n")
    }

    /// Opens a session of 2025-11-25 and returns the header that belongs to it.
    pub(super) fn session(&self, capabilities: Value) -> String {
        let reply = self.post("", &initialize(capabilities).to_string());
        let id = reply.header("mcp-session-id").unwrap_or_else(|| panic!("{reply:?}")).to_owned();
        let headers = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&headers, &initialized.to_string()).status, 202);
        headers
    }

    /// A request of 2026-07-28, with the headers that belong to it.
    pub(super) fn stateless(&self, method: &str, params: Value, capabilities: Value) -> Reply {
        let body = stateless(1, method, params.clone(), capabilities);
        self.post(&stateless_headers(method, &params), &body.to_string())
    }
}

pub(super) fn stateless_headers(method: &str, params: &Value) -> String {
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

pub(super) fn read_reply(stream: TcpStream) -> Reply {
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    let _ = reader.read_line(&mut status);
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        headers.push_str(&line);
    }
    let chunked = headers.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { read_chunks(&mut reader) } else { read_to_end(&mut reader) };
    Reply { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

fn read_to_end(reader: &mut impl Read) -> Vec<u8> {
    let mut body = Vec::new();
    let _ = reader.read_to_end(&mut body);
    body
}

fn read_chunks(reader: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        if reader.read_line(&mut size).unwrap_or(0) == 0 {
            return body;
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            return body;
        }
        let mut chunk = vec![0; size + 2];
        if reader.read_exact(&mut chunk).is_err() {
            return body;
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
