//! A client that does nothing else: on pipes, and over HTTP in both revisions.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{ChildStdin, ChildStdout},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Revision, servers::Process};

/// For a server to start and for any answer. Nothing is timed by it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Requests go out one after the other, each with an id of its own.
pub(crate) trait Link {
    /// The bytes of a request, made before the clock runs.
    fn prepare(&mut self, method: &str, params: &Value) -> String;

    /// Sends a request and waits for its whole answer.
    fn exchange(&mut self, request: &str) -> &str;

    fn request(&mut self, method: &str, params: &Value) -> &str {
        let request = self.prepare(method, params);
        self.exchange(&request)
    }
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "measure", "version": "1" },
    })
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) struct Pipes {
    name: String,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
    line: String,
}

impl Pipes {
    pub(crate) fn open(process: &mut Process) -> Self {
        let name = process.name.clone();
        let stdin = process.child.stdin.take().unwrap();
        // As large as a pipe: a long list is not to be measured by the client's reads.
        let stdout = BufReader::with_capacity(1 << 16, process.child.stdout.take().unwrap());
        let mut pipes = Self { name, stdin, stdout, id: 0, line: String::new() };
        pipes.request("initialize", &hello());
        writeln!(pipes.stdin, "{INITIALIZED}").unwrap();
        pipes
    }
}

impl Link for Pipes {
    fn prepare(&mut self, method: &str, params: &Value) -> String {
        self.id += 1;
        json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }).to_string() + "\n"
    }

    fn exchange(&mut self, request: &str) -> &str {
        self.stdin.write_all(request.as_bytes()).unwrap();
        loop {
            self.line.clear();
            assert!(self.stdout.read_line(&mut self.line).unwrap() > 0, "{} is gone", self.name);
            // Parsing would take longer than the answer took.
            if self.line.contains("\"result\"") {
                return &self.line;
            }
            assert!(!self.line.contains("\"error\""), "{}: {}", self.name, self.line);
        }
    }
}

pub(crate) struct Connection {
    address: String,
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    revision: Revision,
    /// The headers of a request in the session.
    session: String,
    id: u64,
    answer: String,
}

impl Connection {
    pub(crate) fn open(address: &str, revision: Revision) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Self {
            address: address.to_owned(),
            reader: BufReader::new(stream.try_clone().unwrap()),
            stream,
            revision,
            session: String::new(),
            id: 0,
            answer: String::new(),
        };
        if let Revision::Sessions = revision {
            connection.begin_session();
        }
        connection
    }

    fn begin_session(&mut self) {
        let request = self.prepare("initialize", &hello());
        let response = self.send(&request);
        let answer: Value = serde_json::from_str(&response.answer_to(self.id)).unwrap();
        let version = answer["result"]["protocolVersion"].as_str().unwrap();
        self.session = format!("MCP-Protocol-Version: {version}\r\n");
        if let Some(id) = response.session {
            self.session += &format!("Mcp-Session-Id: {id}\r\n");
        }
        let response = self.send(&self.written("POST", &self.session, INITIALIZED));
        assert!(response.status.contains(" 202 "), "{}{}", response.status, response.body);
    }

    /// Ends the session, as clients should; servers may refuse that.
    pub(crate) fn close(mut self) {
        if let Revision::Sessions = self.revision {
            self.send(&self.written("DELETE", &self.session, ""));
        }
    }

    fn written(&self, verb: &str, headers: &str, body: &str) -> String {
        format!(
            "{verb} /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
    }

    fn send(&mut self, request: &str) -> Response {
        self.stream.write_all(request.as_bytes()).unwrap();
        Response::read(&mut self.reader)
    }
}

impl Link for Connection {
    fn prepare(&mut self, method: &str, params: &Value) -> String {
        self.id += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        let mut headers = self.session.clone();
        if let Revision::Stateless = self.revision {
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "measure", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            if let Some(name) = params["name"].as_str() {
                headers += &format!("Mcp-Name: {name}\r\n");
            }
        }
        self.written("POST", &headers, &message.to_string())
    }

    fn exchange(&mut self, request: &str) -> &str {
        let response = self.send(request);
        self.answer = response.answer_to(self.id);
        &self.answer
    }
}

/// What a client needs of an HTTP response, read as a whole so that the connection can be used again.
#[derive(Default)]
struct Response {
    status: String,
    /// Whether the body is server-sent events; if not, it is the answer.
    events: bool,
    session: Option<String>,
    body: String,
}

impl Response {
    fn read(reader: &mut BufReader<TcpStream>) -> Self {
        let mut response = Self { status: read_line(reader), ..Self::default() };
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = read_line(reader);
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "content-type" => response.events = value.starts_with("text/event-stream"),
                "mcp-session-id" => response.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = usize::from_str_radix(read_line(reader).trim(), 16).unwrap();
                read_exact(reader, size, &mut body);
                read_line(reader);
                if size == 0 {
                    break;
                }
            }
        } else {
            read_exact(reader, length, &mut body);
        }
        response.body = String::from_utf8(body).unwrap();
        response
    }

    /// The message with this id. Events before it may be notifications, or empty.
    fn answer_to(&self, id: u64) -> String {
        let mut messages: Vec<&str> = vec![&self.body];
        if self.events {
            messages = self.body.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        }
        let answers = |message: &&&str| {
            serde_json::from_str::<Value>(message)
                .is_ok_and(|message| message["id"] == id && message.get("result").is_some())
        };
        let answer = messages.iter().find(answers);
        answer.unwrap_or_else(|| panic!("no answer: {}{}", self.status, self.body)).to_string()
    }
}

fn read_line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    assert!(reader.read_line(&mut line).unwrap() > 0, "the server hung up");
    line
}

fn read_exact(reader: &mut BufReader<TcpStream>, size: usize, body: &mut Vec<u8>) {
    let before = body.len();
    body.resize(before + size, 0);
    reader.read_exact(&mut body[before..]).unwrap();
}
