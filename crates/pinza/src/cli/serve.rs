//! `pinza serve`: says what to run until there is a server.

use super::{Result, args::Serve};

pub(crate) fn run(arguments: Serve) -> Result {
    let wanted = match (arguments.stdio, arguments.http) {
        (true, _) => "MCP over stdio".to_owned(),
        (false, Some(address)) => format!("the console and MCP on {address}"),
        (false, None) => "the console and MCP".to_owned(),
    };
    anyhow::bail!(
        "serving {wanted} is not built yet\nhint: call tools from here: pinza tools list, \
         pinza call get_current_time timezone=Asia/Tokyo"
    )
}
