//! Pinza's heart: the vocabulary, the registry, policy and the engine.
//!
//! Nothing here does I/O: files, the network, processes and storage are ports that other
//! crates implement.

mod names;
mod visible;

mod definition;
mod error;
mod output;
mod tool;

mod context;
mod fs;

mod gate;

pub use context::{MissingField, ToolContext, need};
pub use definition::{
    DEFAULT_TIMEOUT, Parameter, ParameterType, Parameters, ParametersBuilder, ParametersError,
    ToolDefinition, json_type,
};
pub use error::{ErrorKind, ToolError};
pub use fs::{FileType, FsBridge, FsError, FsStat, FsVerb, WriteMode};
pub use names::{Capability, GroupName, NameError, ToolName, capability};
pub use output::{Content, Effect, ToolOutput};
pub use tool::{
    Arguments, BoxFuture, CallContext, CallId, Permission, Permits, ProgressSink, Subject, Tool, ToolCall,
    ToolResult,
};
pub use visible::visible;
