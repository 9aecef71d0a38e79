//! MCP both ways: Pinza as a server for agents, and as a client of other servers. The only crate that
//! knows `rmcp`; none of its types leave.

pub mod client;
