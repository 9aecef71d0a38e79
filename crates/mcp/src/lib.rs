//! MCP both ways: Pinza as a server for agents, and as a client of other servers.
