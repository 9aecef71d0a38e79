//! Pinza as an MCP server, through the program: both transports, both revisions, good clients and bad ones.

mod approvals;
mod conformance;
mod exposure;
mod frames;
mod front;
mod gateway;
mod guards;
mod hangups;
mod pipe;
mod plain;
mod requests;
mod results;
mod session;
mod settings;
mod web;
mod web_session;

use serde_json::{Value, json};

/// What a stateless request says of its client.
fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

fn initialize(capabilities: Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": "init",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
}

/// A request of the revision that is told apart by its `_meta`.
fn stateless(id: u32, method: &str, mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = meta(capabilities);
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The texts of a tool's result, one after the other.
fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}
