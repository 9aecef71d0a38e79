//! Measures MCP servers side by side, as a client that does nothing else: `./bench mcp`.
//!
//! usage: measure stdio|http|http-session|gateway|gateway-session CONTENDER [, CONTENDER]...
//!        where CONTENDER is NAME TOOL ARGUMENTS PROGRAM ARGUMENT...
//!
//! - stdio: cold start to `tools/list`, a call's time and CPU, a warm `tools/list`'s time, memory.
//! - http: calls of 2026-07-28, each of which stands alone; http-session: calls of 2025-11-25, in sessions. A call's time and
//!   CPU on one connection, calls a second over 64 connections, memory.
//! - gateway: the first contender is a server, the others are ways to the same server: what they add to a call, of
//!   2026-07-28 over HTTP; gateway-session: the same in sessions.
//!
//! A program with `{port}` among its arguments gets a free port there and is reached over HTTP, at `/mcp`; others on stdio.
//!
//! Contenders take turns all the time, so that what else the machine does meets them all alike. CPU and memory are those of a
//! server's whole process tree: Pinza and other gateways are several processes.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program to measure with")]

mod client;
mod figures;
mod rounds;
mod servers;
mod tables;

use serde_json::{Value, json};

use tables::{compare_gateways, compare_http, compare_stdio};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((table, rest)) = arguments.split_first() else {
        println!(
            "usage: measure stdio|http|http-session|gateway|gateway-session NAME TOOL ARGUMENTS PROGRAM ARGUMENT... [, ...]"
        );
        return;
    };
    let contenders: Vec<Contender> = rest.split(|word| word == ",").map(Contender::new).collect();
    match table.as_str() {
        "stdio" => compare_stdio(&contenders),
        "http" => compare_http(&contenders, Revision::Stateless),
        "http-session" => compare_http(&contenders, Revision::Sessions),
        "gateway" => compare_gateways(&contenders, Revision::Stateless),
        "gateway-session" => compare_gateways(&contenders, Revision::Sessions),
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
