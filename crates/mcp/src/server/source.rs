//! What is served beside tools: prompts (skills are such) and resources (kept results are such).
//! Ports, in plain data, so that nobody who fills them needs to know the protocol.

use pinza_core::{BoxFuture, Content};
use serde_json::{Map, Value};

use super::client::Client;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptInfo {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}

/// What a prompt says, as messages of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptText {
    pub description: Option<String>,
    pub messages: Vec<Content>,
}

/// Why something of a source could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// This source does not have it; another one may.
    #[error("not found")]
    NotFound,
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Failed(String),
}

pub trait PromptSource: Send + Sync {
    fn list(&self) -> Vec<PromptInfo>;

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<PromptText, SourceError>>;

    /// Values for an argument that begin with what was typed; `None` where there is nothing to say.
    fn complete(&self, _prompt: &str, _argument: &str, _typed: &str) -> Option<Vec<String>> {
        None
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceInfo {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime_type: Option<String>,
    pub size: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateInfo {
    pub uri_template: String,
    pub name: String,
    pub description: String,
    pub mime_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    Text {
        mime_type: String,
        text: String,
    },
    /// Base64.
    Blob {
        mime_type: String,
        data: String,
    },
}

pub trait ResourceSource: Send + Sync {
    fn list(&self) -> BoxFuture<'_, Vec<ResourceInfo>>;

    fn templates(&self) -> Vec<TemplateInfo> {
        Vec::new()
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<ResourceBody, SourceError>>;

    /// Whether what it has can change after it was read.
    fn changes(&self) -> bool {
        false
    }

    /// Where the text is that this call kept because it was too long, if there is such.
    fn kept_by<'a>(&'a self, _call: &'a str) -> BoxFuture<'a, Option<ResourceInfo>> {
        Box::pin(std::future::ready(None))
    }
}
