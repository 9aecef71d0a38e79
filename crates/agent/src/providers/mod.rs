//! The providers' APIs, one small adapter each: how a request is written, how a stream is read.
//!
//! An adapter is pure: data in, data out. Connections, retries and keys are the client's. That
//! is what lets tests cut every stream at every byte, and compare requests byte for byte.

mod anthropic;
mod asked;
mod assembly;
mod error;
mod gemini;
mod kind;
mod openai;
mod openai_responses;
mod wire;

use std::fmt;

use serde_json::Value;

pub use asked::Asked;
pub use error::{ProviderError, ProviderErrorKind};
pub use kind::{ProviderKind, UnknownProviderKind};

pub(crate) use error::answered;

use crate::{
    event::StreamEvent,
    message::Message,
    reveal::{Offer, Reveal},
};

/// What is asked of a model. Over a conversation, everything but the end of `messages` and of
/// `tools.loaded` should stay as it was: that is what providers cache.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub model: &'a str,
    pub system: &'a str,
    pub messages: &'a [Message],
    pub tools: Offer<'a>,
    pub reveal: Reveal,
    /// The most that may be generated, thinking included; the provider's own limit without it.
    pub max_tokens: Option<u32>,
    /// How hard the model should think; its own default without it.
    pub effort: Option<Effort>,
    /// The same for all requests of a conversation, so that a provider can route them to one cache.
    pub cache_key: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    Low,
    Medium,
    High,
}

impl Effort {
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A request as it goes over the wire, but for the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// Below the base URL.
    pub path: String,
    pub query: Option<&'static str>,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Value,
}

/// One provider's API.
pub trait Adapter: fmt::Debug + Send + Sync {
    fn kind(&self) -> ProviderKind;

    fn encode(&self, request: &Request<'_>) -> Result<Encoded, ProviderError>;

    /// Reads one answer.
    fn decoder(&self, asked: &Asked) -> Box<dyn Decoder>;

    /// The header that carries a key: its name, and what stands before the key.
    fn authorization(&self) -> (&'static str, &'static str);

    /// The request for the list of models, as other servers of this kind have it.
    fn models(&self) -> Encoded {
        Encoded { path: "/models".into(), query: None, headers: Vec::new(), body: Value::Null }
    }

    /// Rewrites a request that the server refused with this complaint, if the complaint is about
    /// something that servers of this kind disagree on.
    fn relax(&self, _body: &mut Value, _complaint: &str) -> bool {
        false
    }
}

/// Reads one stream, event by event.
pub trait Decoder: Send {
    /// Takes the data of one server-sent event.
    fn event(&mut self, data: &str) -> Result<Vec<StreamEvent>, ProviderError>;

    /// The stream is over. The last of the events is `Done`, unless it was given before; a stream
    /// that ends too early is an error.
    fn end(&mut self) -> Result<Vec<StreamEvent>, ProviderError>;
}

/// The adapter of an API.
pub fn adapter(kind: ProviderKind) -> &'static dyn Adapter {
    match kind {
        ProviderKind::OpenAi => &openai::OpenAi,
        ProviderKind::OpenAiResponses => &openai_responses::OpenAiResponses,
        ProviderKind::Anthropic => &anthropic::Anthropic,
        ProviderKind::Gemini => &gemini::Gemini,
    }
}
