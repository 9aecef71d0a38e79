//! Pinza's heart: the vocabulary, the registry, policy and the engine.
//!
//! Nothing here does I/O: files, the network, processes and storage are ports that other
//! crates implement. Read the modules in this order.

// The vocabulary.
mod definition;
mod error;
mod names;
mod output;
mod tool;
mod typed;
mod visible;

// Which tools there are.
mod catalog;
mod context;
mod registry;
pub mod search;
mod selection;
mod skill;
mod view;

// What a conversation has of them.
mod conversation;
pub mod meta;
mod round;

// The way of a call.
mod engine;
mod scope;

mod arguments;

mod approval;
mod gate;
mod glob;
mod policy;

mod admission;
mod bounds;
mod stopwatch;

// Ports.
mod fs;
mod observer;

pub use approval::{Answer, Approver, Prompt, PromptDesk, YesApprover};
pub use arguments::schema_fault;
pub use bounds::{OUTPUT_LIMIT, OutputStore, TextLimit};
pub use catalog::{
    CATALOG, CUSTOM_SECTION, CatalogRow, Profile, SECTIONS, Section, catalog_row, catalog_set, catalog_sets,
};
pub use context::{MissingField, ToolContext, need};
pub use conversation::{Applied, Conversation, ShownTool};
pub use definition::{
    DEFAULT_TIMEOUT, Hints, Parameter, ParameterType, Parameters, ParametersBuilder, ParametersError,
    ToolDefinition, json_type,
};
pub use engine::{Engine, Outcome};
pub use error::{ErrorKind, ToolError};
pub use fs::{FileType, FsBridge, FsEntry, FsError, FsStat, FsVerb, Removal, WriteMode, write_with_parents};
pub use gate::DecisionRecord;
pub use glob::Glob;
pub use meta::MetaTool;
pub use names::{Capability, GroupName, NameError, ToolName, capability};
pub use observer::{CallObserver, Finished, Of, Started};
pub use output::{Content, Effect, ToolOutput};
pub use policy::{Because, Decision, Policy, Rule, RuleSource, Verdict, default_verdict};
pub use registry::{Clash, Entry, Factory, Failure, Group, Registry, Resolution, Snapshot, Source, ToolMeta};
pub use round::{Round, Stop};
pub use scope::{CallScope, Caller, Visibility};
pub use selection::{Selection, selects};
pub use skill::{
    SKILL_FILE, SKILL_LIMIT, Skill, SkillClash, SkillFault, SkillName, SkillNameError, SkillParameter,
    SkillSource,
};
pub use tokio_util::sync::CancellationToken;
pub use tool::{
    Arguments, BoxFuture, CallContext, CallId, Forward, Permission, Permits, ProgressSink, Step, Subject,
    Tool, ToolCall, ToolResult, declared_permissions,
};
pub use typed::{NativeTool, Typed};
pub use view::{Loading, View};
pub use visible::visible;
