//! The HTTP listener, its guards, and what it serves: MCP, health, metrics, and a page that says so.
//!
//! The only crate that binds a port. It knows nothing of tools: the endpoint comes from the crate `mcp`, and
//! what the page and the metrics show is handed in.

mod guard;
mod lanes;
mod listen;
mod metrics;
mod page;
mod routes;

pub use guard::{Guard, Token};
pub use listen::{Bound, Stop, bind};
pub use metrics::CallMeter;
pub use routes::{About, Site};
