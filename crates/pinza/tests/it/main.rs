//! The program from outside, the library through its façade, and the borders between crates.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

// Calling tools.
mod answers;
mod arguments;
mod exec;
mod files;
mod hostile;
mod http;
mod outputs;
mod packages;
mod reload;
mod scripts;
mod upstreams;

// Talking with models.
mod chat;
mod terminal;

// The other commands.
mod bench_tokens;
mod catalog;
mod config;
mod env;
mod first_run;
mod journal;
mod module_examples;
mod module_guide;
mod modules;
mod policy;
mod program;
mod schema;
mod search;
mod skills;

mod approval;
mod borders;
mod compatibility;
mod documents;
mod facade;

// Pinza as a server.
mod mcp_server;
