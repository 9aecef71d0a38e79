//! Pinza, the tool runtime for AI agents, as a library.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let pinza = pinza::Pinza::builder().workspace("work").build()?;
//! let outcome = pinza.call("get_current_time", serde_json::json!({"timezone": "Asia/Tokyo"})).await;
//! println!("{}", outcome.result?.as_text());
//! # Ok(()) }
//! ```
//!
//! `examples/embed` adds a tool of its own. The crates behind this façade are re-exported for
//! whoever needs more of them.

mod live;
mod runtime;
mod served;
mod settings;
mod skills;
mod watch;
mod words;

pub use pinza_agent as agent;
pub use pinza_core as core;
pub use pinza_host as host;
pub use pinza_js as js;
pub use pinza_mcp as mcp;
pub use pinza_state as state;
pub use pinza_web as web;

pub use live::Reload;
pub use pinza_agent::{Provider, SchemaOptions, tool_schemas};
pub use pinza_core::{
    CallContext, Capability, NativeTool, Outcome, Policy, Rule, Selection, ToolDefinition, ToolError,
    ToolName, ToolOutput, ToolResult, Verdict,
};
pub use pinza_tools::{Agents, NewAgent, OpenState, image_type};
pub use runtime::{BuildError, Builder, Pinza, THIS_PROGRAM, UpstreamSettings, run_if_helper};
pub use served::ServeOptions;
pub use settings::{Settings, SettingsSource};
pub use skills::{LoadedSkills, load_skills};
pub use watch::{Report, Watch};
pub use words::{WordFile, WordFileError};
