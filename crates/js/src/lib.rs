//! JavaScript tools: from a manifest and a script to a call in a sandboxed process.
//!
//! A script runs in a worker ([`work`]), this program started again, which has nothing but a
//! socket. What a script may do, it asks Pinza for, and Pinza decides as for any other tool.

mod awake;
mod bridge;
mod cache;
mod caps;
mod eval;
mod frame;
mod job;
mod loader;
mod manifest;
pub mod module;
mod node;
pub mod package;
mod placement;
mod pool;
mod prelude;
mod source;
mod stand_in;
mod tool;
mod wire;
mod worker;

pub use caps::{Asked, Caps};
pub use eval::JsEval;
pub use loader::{
    Guard, Libraries, Library, Loaded, LoadedTool, Loader, OnClash, Place, Problem, ScriptSource, Standing,
    load,
};
pub use manifest::{Manifest, ManifestEntry, ManifestFault};
pub use pool::{Code, Pool};
pub use source::{Examiner, Script, SourceFault, SourceKind, examine};
pub use stand_in::StandIn;
pub use tool::{Clock, Host, JsTool, Limits};
pub use worker::{WORK, work};
