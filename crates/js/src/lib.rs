//! JavaScript tools: from a manifest and a script to a call in a sandboxed process.
//!
//! A script runs in a worker ([`work`]), this program started again, which has nothing but a
//! socket. What a script may do, it asks Pinza for, and Pinza decides as for any other tool.

mod bridge;
mod frame;
mod pool;
mod prelude;
mod tool;
mod worker;


pub use pool::{Code, Pool};
pub use tool::{Host, JsTool, Limits};
pub use worker::{WORK, work};
