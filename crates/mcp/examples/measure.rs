//! Measures MCP servers side by side, as a client that does nothing else: `./bench mcp`.
//!
//! usage: measure stdio|http|http-session|gateway CONTENDER [, CONTENDER]...
//!        where CONTENDER is NAME TOOL ARGUMENTS PROGRAM ARGUMENT...
//!
//! - stdio: cold start to `tools/list`, a call's time and CPU, a warm `tools/list`'s time, memory.
//! - http: calls of 2026-07-28, each of which stands alone; http-session: calls of 2025-11-25, in sessions. A call's time and
//!   CPU on one connection, calls a second over 64 connections, memory.
//! - gateway: the first contender is a server on stdio, the others are ways to the same server: what they add to a call.
//!
//! A program with `{port}` among its arguments gets a free port there and is reached over HTTP, at `/mcp`; others on stdio.
//!
//! Contenders take turns all the time, so that what else the machine does meets them all alike. CPU and memory are those of a
//! server's whole process tree: Pinza and other gateways are several processes.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program to measure with")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const START_ROUNDS: usize = 3;
const STARTS_A_ROUND: usize = 4;
/// Many and short: where the kernel puts client and server decides about a round, and is another matter in the next.
const ROUNDS: usize = 25;
const CALLS_A_ROUND: usize = 200;
const LISTS_A_ROUND: usize = 4;
/// Until a server that compiles what is called often has done so.
const FIRST_CALLS: usize = 500;
const CONNECTIONS: usize = 64;
const SPANS: usize = 5;
const SPAN: Duration = Duration::from_secs(1);
/// Between turns. What a server puts off until it has answered, or its children until they notice its end, is not to be the
/// next one's loss.
const REST: Duration = Duration::from_millis(60);
/// For a server to start and for any answer. Nothing is timed by it.
const PATIENCE: Duration = Duration::from_secs(60);
/// For a server on stdio to end by itself, as clients let it; it may have something to keep for its next start.
const FAREWELL: Duration = Duration::from_secs(2);

/// What Pinza is compared with: its SDK without anything on top.
const BASE: &str = "bare rmcp";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((table, rest)) = arguments.split_first() else {
        println!(
            "usage: measure stdio|http|http-session|gateway NAME TOOL ARGUMENTS PROGRAM ARGUMENT... [, ...]"
        );
        return;
    };
    let contenders: Vec<Contender> = rest.split(|word| word == ",").map(Contender::new).collect();
    match table.as_str() {
        "stdio" => compare_stdio(&contenders),
        "http" => compare_http(&contenders, Revision::Stateless),
        "http-session" => compare_http(&contenders, Revision::Sessions),
        "gateway" => compare_gateways(&contenders),
        other => panic!("no such table: {other}"),
    }
}

struct Contender {
    name: String,
    call: Value,
    command: Vec<String>,
}

impl Contender {
    fn new(words: &[String]) -> Self {
        let [name, tool, arguments, command @ ..] = words else { panic!("not a contender: {words:?}") };
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let call = json!({ "name": tool, "arguments": arguments });
        Self { name: name.clone(), call, command: command.to_vec() }
    }

    fn over_http(&self) -> bool {
        self.command.iter().any(|word| word.contains("{port}"))
    }

    fn way(&self) -> &'static str {
        if self.over_http() { "HTTP" } else { "stdio" }
    }
}

/// How a client over HTTP speaks; on stdio it is always the older way.
#[derive(Clone, Copy)]
enum Revision {
    /// 2026-07-28
    Stateless,
    /// 2025-11-25
    Sessions,
}

// ---- The tables

fn compare_stdio(contenders: &[Contender]) {
    let colds = measure_starts(contenders);
    let mut servers = start_all(contenders, Revision::Sessions);
    let tools: Vec<usize> =
        servers.iter_mut().map(|server| server.ask(Ask::List).matches("\"inputSchema\"").count()).collect();
    let lists = alternate(&mut servers, LISTS_A_ROUND, Ask::List);
    let calls = measure_calls(&mut servers);

    let mut rows = vec![header(&[
        "stdio",
        "tools",
        "cold median ms",
        "cold best ms",
        "call p50 µs",
        "best round µs",
        "CPU µs",
        "list p50 µs",
        "RSS with children MB",
    ])];
    for (index, server) in servers.iter().enumerate() {
        rows.push(vec![
            contenders[index].name.clone(),
            tools[index].to_string(),
            format!("{:.1}", millis(median(&colds[index]))),
            format!("{:.1}", millis(colds[index][0])),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", calls[index].cpu),
            format!("{:.1}", lists[index].median),
            format!("{:.1}", server.memory()),
        ]);
    }
    print_table(&rows);
    for (ours, base) in compared(contenders) {
        let pair = format!("{} / {BASE}", contenders[ours].name);
        println!(
            "{pair}: cold {:.2}x by median, {:.2}x by best (target 1.3x at most)",
            ratio(median(&colds[ours]), median(&colds[base])),
            ratio(colds[ours][0], colds[base][0]),
        );
        println!(
            "{pair}: call {:+.1} µs by p50, {:+.1} µs by best round (target +10 µs at most); list {:.2}x (target 1x at most, \
             0.33x from cached bytes)",
            calls[ours].median - calls[base].median,
            calls[ours].best - calls[base].best,
            lists[ours].median / lists[base].median,
        );
    }
}

fn compare_http(contenders: &[Contender], revision: Revision) {
    let mut servers = start_all(contenders, revision);
    let calls = measure_calls(&mut servers);
    let rates = measure_rates(contenders, &servers, revision);

    let way = match revision {
        Revision::Stateless => "HTTP",
        Revision::Sessions => "HTTP sessions",
    };
    let many = format!("{CONNECTIONS} connections calls/s");
    let columns = [
        way,
        "1 connection p50 µs",
        "best round µs",
        "CPU µs",
        &many,
        "best calls/s",
        "RSS with children MB",
    ];
    let mut rows = vec![header(&columns)];
    for (index, server) in servers.iter().enumerate() {
        rows.push(vec![
            contenders[index].name.clone(),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", calls[index].cpu),
            format!("{:.0}", rates[index][SPANS / 2]),
            format!("{:.0}", rates[index][SPANS - 1]),
            format!("{:.1}", server.memory()),
        ]);
    }
    print_table(&rows);
    for (ours, base) in compared(contenders) {
        println!(
            "{} / {BASE}: {:.2}x the calls/s by median, {:.2}x by best (target 0.9x at least)",
            contenders[ours].name,
            rates[ours][SPANS / 2] / rates[base][SPANS / 2],
            rates[ours][SPANS - 1] / rates[base][SPANS - 1],
        );
    }
}

fn compare_gateways(contenders: &[Contender]) {
    let mut servers = start_all(contenders, Revision::Sessions);
    let calls = measure_calls(&mut servers);
    // Before the many connections, for which some gateways start as many servers.
    let memory: Vec<f64> = servers.iter().map(Server::memory).collect();
    let rates = measure_rates(contenders, &servers, Revision::Sessions);

    let many = format!("{CONNECTIONS} connections calls/s");
    let mut rows = vec![header(&[
        "gateway",
        "over",
        "call p50 µs",
        "adds µs",
        "best round µs",
        "adds µs",
        "CPU µs",
        &many,
        "RSS with children MB",
    ])];
    for (index, contender) in contenders.iter().enumerate() {
        let added = calls[index].beyond(&calls[0]);
        rows.push(vec![
            contender.name.clone(),
            contender.way().to_owned(),
            format!("{:.1}", calls[index].median),
            format!("{:.1}", added.median),
            format!("{:.1}", calls[index].best),
            format!("{:.1}", added.best),
            format!("{:.1}", calls[index].cpu),
            rates[index].get(SPANS / 2).map_or("-".to_owned(), |rate| format!("{rate:.0}")),
            format!("{:.1}", memory[index]),
        ]);
    }
    print_table(&rows);
    for (contender, measured) in contenders.iter().zip(&calls) {
        if !contender.name.starts_with("pinza") {
            continue;
        }
        // The server itself, reached in the same way.
        let direct = contenders
            .iter()
            .position(|other| other.name == contenders[0].name && other.way() == contender.way());
        let Some(direct) = direct else { continue };
        let added = measured.beyond(&calls[direct]);
        println!(
            "{} adds {:.1} µs by p50, {:.1} µs by best round to {} over {} (target 60 µs at most)",
            contender.name,
            added.median,
            added.best,
            contenders[direct].name,
            contender.way(),
        );
    }
}

fn start_all(contenders: &[Contender], revision: Revision) -> Vec<Server> {
    contenders.iter().map(|contender| Server::start(contender, revision)).collect()
}

/// Pinza's lines beside the base's, where a table has both.
fn compared(contenders: &[Contender]) -> impl Iterator<Item = (usize, usize)> {
    let base = contenders.iter().position(|contender| contender.name == BASE);
    let ours = (0..contenders.len()).filter(|&index| contenders[index].name.starts_with("pinza"));
    ours.filter_map(move |ours| Some((ours, base?)))
}

// ---- What is measured

/// In microseconds.
struct Measured {
    median: f64,
    /// The lowest of the rounds' medians: undisturbed, with client and server where the kernel should have put them.
    best: f64,
    cpu: f64,
}

impl Measured {
    fn beyond(&self, other: &Self) -> Self {
        Self { median: self.median - other.median, best: self.best - other.best, cpu: self.cpu - other.cpu }
    }
}

/// From nothing to the list of tools; sorted.
fn measure_starts(contenders: &[Contender]) -> Vec<Vec<Duration>> {
    let mut spans = vec![Vec::new(); contenders.len()];
    for _ in 0..START_ROUNDS {
        for (contender, spans) in contenders.iter().zip(&mut spans) {
            // The first one of a round finds nothing in caches, its own, the kernel's or the processor's: it is not counted.
            for start in 0..=STARTS_A_ROUND {
                let begun = Instant::now();
                let mut server = Server::start(contender, Revision::Sessions);
                server.ask(Ask::List);
                if start > 0 {
                    spans.push(begun.elapsed());
                }
                drop(server);
                thread::sleep(REST);
            }
        }
    }
    spans.iter_mut().for_each(|spans| spans.sort_unstable());
    spans
}

fn measure_calls(servers: &mut [Server]) -> Vec<Measured> {
    for server in &mut *servers {
        // An error could be faster than an answer.
        let answer = server.ask(Ask::Call);
        assert!(!answer.replace(' ', "").contains("\"isError\":true"), "{answer}");
        for _ in 0..FIRST_CALLS {
            server.ask(Ask::Call);
        }
    }
    alternate(servers, CALLS_A_ROUND, Ask::Call)
}

/// Asks each server in turn, so many times a round.
fn alternate(servers: &mut [Server], times: usize, ask: Ask) -> Vec<Measured> {
    let mut spans = vec![Vec::new(); servers.len()];
    let mut cpu = vec![0.0; servers.len()];
    let mut best = vec![Duration::MAX; servers.len()];
    let warm = times.div_ceil(10);
    for _ in 0..ROUNDS {
        for (index, server) in servers.iter_mut().enumerate() {
            let before = server.cpu();
            // After the others' turns, nothing of it is in the processor's caches: these are not timed. Their CPU is counted,
            // as it is known in hundredths of a second only, and what a round is short of has to be the next one's.
            for _ in 0..warm {
                server.ask(ask);
            }
            for _ in 0..times {
                let request = server.prepare(ask);
                let begun = Instant::now();
                server.link.exchange(&request);
                spans[index].push(begun.elapsed());
            }
            let round = spans[index].len() - times;
            spans[index][round..].sort_unstable();
            best[index] = best[index].min(median(&spans[index][round..]));
            thread::sleep(REST);
            cpu[index] += server.cpu() - before;
        }
    }
    let each = 1e6 / (ROUNDS * (warm + times)) as f64;
    (0..servers.len())
        .map(|index| {
            spans[index].sort_unstable();
            Measured {
                median: micros(median(&spans[index])),
                best: micros(best[index]),
                cpu: cpu[index] * each,
            }
        })
        .collect()
}

/// Calls a second over many connections in a few spans, for those that are reached over HTTP; sorted.
fn measure_rates(contenders: &[Contender], servers: &[Server], revision: Revision) -> Vec<Vec<f64>> {
    let mut rates = vec![Vec::new(); servers.len()];
    for _ in 0..SPANS {
        for ((contender, server), rates) in contenders.iter().zip(servers).zip(&mut rates) {
            if let Some(address) = &server.address {
                rates.push(calls_in_a_span(address, revision, &contender.call) as f64 / SPAN.as_secs_f64());
            }
        }
    }
    rates.iter_mut().for_each(|rates| rates.sort_unstable_by(f64::total_cmp));
    rates
}

fn calls_in_a_span(address: &str, revision: Revision, call: &Value) -> usize {
    let mut connections: Vec<Connection> =
        (0..CONNECTIONS).map(|_| Connection::open(address, revision)).collect();
    let begun = Instant::now();
    let calls = thread::scope(|scope| {
        let callers: Vec<_> = connections
            .iter_mut()
            .map(|connection| {
                scope.spawn(move || {
                    let mut calls = 0;
                    while begun.elapsed() < SPAN {
                        connection.request("tools/call", call);
                        calls += 1;
                    }
                    calls
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    connections.into_iter().for_each(Connection::close);
    thread::sleep(REST);
    calls
}

// ---- Servers

struct Server {
    /// Dropped before the process: a server on stdio ends when its client hangs up.
    link: Box<dyn Link>,
    process: Process,
    /// Where it is reached over HTTP.
    address: Option<String>,
    call: Value,
}

#[derive(Clone, Copy)]
enum Ask {
    List,
    Call,
}

impl Server {
    /// Starts it and shakes hands, as far as the revision has that.
    fn start(contender: &Contender, revision: Revision) -> Self {
        let call = contender.call.clone();
        if contender.over_http() {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut process = Process::start(contender, &port.to_string(), Stdio::null);
            let address = format!("127.0.0.1:{port}");
            process.wait_for(&address);
            let link = Box::new(Connection::open(&address, revision));
            Self { link, process, address: Some(address), call }
        } else {
            let mut process = Process::start(contender, "", Stdio::piped);
            let link = Box::new(Pipes::open(&mut process));
            Self { link, process, address: None, call }
        }
    }

    fn prepare(&mut self, ask: Ask) -> String {
        match ask {
            Ask::List => self.link.prepare("tools/list", &json!({})),
            Ask::Call => self.link.prepare("tools/call", &self.call),
        }
    }

    fn ask(&mut self, ask: Ask) -> &str {
        let request = self.prepare(ask);
        self.link.exchange(&request)
    }

    /// CPU time so far in seconds, with that of descendants that have ended.
    fn cpu(&self) -> f64 {
        // utime, stime, cutime and cstime, which the kernel shows in hundredths of a second: proc_pid_stat(5).
        let ticks =
            |stat: &Stat| stat.fields[11..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>();
        self.process.tree().iter().map(ticks).sum::<f64>() / 100.0
    }

    /// Resident memory in MB.
    fn memory(&self) -> f64 {
        let resident = |stat: &Stat| {
            let status = fs::read_to_string(format!("/proc/{}/status", stat.pid)).ok()?;
            let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
            line.split_whitespace().nth(1)?.parse::<f64>().ok()
        };
        self.process.tree().iter().filter_map(resident).sum::<f64>() / 1024.0
    }
}

/// A server's first process. The others end when it does: their stdin closes.
struct Process {
    name: String,
    child: Child,
    on_stdio: bool,
}

impl Process {
    fn start(contender: &Contender, port: &str, streams: fn() -> Stdio) -> Self {
        let words: Vec<String> = contender.command.iter().map(|word| word.replace("{port}", port)).collect();
        let child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(streams())
            .stdout(streams())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
        Self { name: contender.name.clone(), child, on_stdio: !contender.over_http() }
    }

    fn wait_for(&mut self, address: &str) {
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(self.child.try_wait().unwrap().is_none(), "{} ended before it listened", self.name);
            assert!(begun.elapsed() < PATIENCE, "{} does not listen", self.name);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// This process and all its descendants.
    fn tree(&self) -> Vec<Stat> {
        let mut others: Vec<Stat> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Stat::read)
            .collect();
        let mut tree: Vec<Stat> = others.extract_if(.., |stat| stat.pid == self.child.id()).collect();
        let mut next = 0;
        while let Some(parent) = tree.get(next).map(|stat| stat.pid) {
            tree.extend(others.extract_if(.., |stat| stat.parent == parent));
            next += 1;
        }
        tree
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let begun = Instant::now();
        while self.on_stdio && begun.elapsed() < FAREWELL && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the kernel tells of a process.
struct Stat {
    pid: u32,
    parent: u32,
    /// From the state on, which is behind the name.
    fields: Vec<String>,
}

impl Stat {
    /// Nothing if it has just ended.
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<String> = stat.rsplit(')').next()?.split_whitespace().map(str::to_owned).collect();
        Some(Self { pid, parent: fields[1].parse().ok()?, fields })
    }
}

// ---- The client

/// Requests go out one after the other, each with an id of its own.
trait Link {
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

struct Pipes {
    name: String,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
    line: String,
}

impl Pipes {
    fn open(process: &mut Process) -> Self {
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

struct Connection {
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
    fn open(address: &str, revision: Revision) -> Self {
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
    fn close(mut self) {
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

// ---- Figures

/// Of sorted spans.
fn median(spans: &[Duration]) -> Duration {
    spans[spans.len() / 2]
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn header(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&column| column.to_owned()).collect()
}

/// Prints rows in columns, all but the first of them to the right.
fn print_table(rows: &[Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<0$}", width(column)),
            _ => format!("{cell:>0$}", width(column)),
        });
        println!("{}", cells.collect::<Vec<_>>().join("  "));
    }
}
