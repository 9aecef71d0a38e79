//! The providers: how conversations, tools and results look to OpenAI, Anthropic and Gemini, and
//! the streams in which they answer.
//!
//! A tool is defined once, with a full JSON Schema; each provider accepts another part of
//! JSON Schema in another frame. [`tool_schemas`] writes the definitions as one provider
//! wants them and says what it could not express; [`tool_result`] does the same for the way
//! back. Nothing here decides whether arguments are valid: the engine validates every call
//! against the original schema, so a keyword that a provider cannot take weakens only what
//! the model is told.
//!
//! ```
//! use pinza_agent::{Provider, SchemaOptions, tool_schemas};
//! use pinza_core::{Parameter, Parameters, ToolDefinition, ToolName};
//!
//! let read_file = ToolDefinition::new(ToolName::known("read_file"), "Read a file")
//!     .parameters(Parameters::build().required("path", Parameter::string("The file to read")).done());
//!
//! let schemas = tool_schemas(Provider::Anthropic, [&read_file], SchemaOptions::default());
//! assert_eq!(
//!     schemas.value.to_string(),
//!     r#"[{"name":"read_file","description":"Read a file","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"The file to read"}},"required":["path"]}}]"#,
//! );
//! assert!(schemas.losses.is_empty());
//!
//! // Names that a provider would refuse travel under another one, and come back.
//! assert_eq!(schemas.names.to_wire("read_file"), "read_file");
//! assert_eq!(schemas.names.from_wire("read_file"), Some("read_file"));
//! ```

mod provider;

mod dialects;
mod loss;
mod names;
mod schemas;

mod image;
mod results;

// A conversation with a model.
mod event;
mod message;
mod reveal;

mod client;
mod providers;

// What a request costs.
mod read;
mod tokens;

// The loop, and what it cost.
mod receipt;
mod talk;

pub use client::{EventStream, ProviderClient, ProviderConfig, Retries, read_answer};
pub use event::{StopReason, StreamEvent, Usage};
pub use loss::Loss;
pub use message::{Call, CallResult, Message, Opaque, Part};
pub use names::NameMap;
pub use provider::{Provider, UnknownProvider};
pub use providers::{
    Adapter, Asked, Decoder, Effort, Encoded, ProviderError, ProviderErrorKind, ProviderKind, Request,
    UnknownProviderKind, adapter,
};
pub use read::{Block, BlockKind, Listed, Read, ReadMessage, ReadTool, as_read};
pub use receipt::{Everything, GroupCost, Provided, Receipt, RequestCost, Rewrites, Spent, ToolCost};
pub use results::{envelope, tool_result, tool_results_message};
pub use reveal::{Offer, Reveal, ToolGroup, UnknownReveal};
pub use schemas::{SchemaOptions, ToolSchemas, tool_schemas};
pub use talk::{Event, Events, Finish, Inbox, Limits, Setup, Stage, Talk, TalkError};
pub use tokens::TokenCounter;
