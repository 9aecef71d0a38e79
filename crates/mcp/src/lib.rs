//! MCP both ways: Pinza as a server for agents, and as a client of other servers.
//!
//! The only crate that knows rmcp: what it hands out and takes in is Pinza's own vocabulary,
//! and an HTTP endpoint for whoever binds the port.

pub mod client;
pub mod conformance;
mod lines;
mod object;
#[expect(deprecated, reason = "logging, sampling and roots are deprecated, and part of both revisions")]
pub mod server;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
