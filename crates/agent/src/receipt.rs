//! What a session's tools cost, against sending all of them with every request.
//!
//! Everything is taken from what was written down when it was sent (`talk/sent.rs`), nothing from the tools of today.
//! The comparison is with a conversation that has every permitted tool in every request and loads nothing: so our side
//! has the tools as they were sent, the listing, the calls of loaders with their results in every request that
//! has them, what `call_tool` adds to a call, and of a request that brought nothing but loads all that was sent again.

mod sums;

use pinza_state::Store;
use serde::Serialize;

use crate::{
    event::Usage,
    providers::ProviderKind,
    reveal::Reveal,
    talk::{Talk, TalkError},
};

/// Tokens are counted with a tokenizer (o200k); `provider` has what the provider itself says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub session: String,
    pub requests: usize,
    /// Answers of this session of which there is no record, because an older Pinza asked for them.
    pub unrecorded: usize,
    pub spent: Spent,
    pub everything: Everything,
    /// How much less it was than everything; negative where it was more.
    pub saved_tokens: i64,
    /// Of everything, in percent.
    pub saved_percent: f64,
    /// Caches that had to be written again because a load changed the array of tools.
    pub rewrites: Rewrites,
    /// As the provider counts; none where it reports nothing.
    pub provider: Option<Provided>,
    pub groups: Vec<GroupCost>,
    pub tools: Vec<ToolCost>,
    pub each: Vec<RequestCost>,
    /// The vocabulary that tokens are counted with.
    pub counted: &'static str,
    /// Whether the provider has another vocabulary.
    pub approximate: bool,
}

/// What tools cost, over all requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Definitions that the model read. One that is deferred is not read until it is loaded.
    pub definitions: usize,
    /// Of groups and skills.
    pub listing: usize,
    /// Calls that find and load, as they were written and read again, and their results.
    pub loading: usize,
    /// What `call_tool` adds to calls.
    pub wrapping: usize,
    /// What requests that brought nothing but loads sent again: the prompt and all that was said.
    pub again: usize,
    /// How many such requests there were.
    pub loading_requests: usize,
    pub total: usize,
}

/// Every permitted tool with every request, and no loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Everything {
    /// How many tools there were at the last request.
    pub tools: usize,
    pub requests: usize,
    pub tokens: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rewrites {
    pub times: usize,
    /// What had been sent before and stood behind the change.
    pub tokens: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provided {
    /// How many requests it reported on.
    pub requests: usize,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCost {
    pub tool: String,
    /// None for core tools.
    pub group: Option<String>,
    pub calls: usize,
    /// In how many requests its definition was read.
    pub requests: usize,
    /// In all of them together.
    pub definition_tokens: usize,
    /// Its calls as they were written, each once.
    pub call_tokens: usize,
    /// Its results, each once; they are read again with every later request.
    pub result_tokens: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupCost {
    pub group: Option<String>,
    pub tools: usize,
    pub calls: usize,
    pub definition_tokens: usize,
    pub call_tokens: usize,
    pub result_tokens: usize,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestCost {
    pub created: i64,
    pub provider: ProviderKind,
    pub model: String,
    pub reveal: Reveal,
    /// The tools whose definitions the model read.
    pub tools: Vec<String>,
    pub definitions: usize,
    pub listing: usize,
    pub loading: usize,
    pub wrapping: usize,
    pub prompt: usize,
    /// What was said, without loads.
    pub messages: usize,
    /// What the model wrote.
    pub answer: usize,
    /// Whether the answer was nothing but loads.
    pub loading_only: bool,
    /// What the definitions of every tool would have been.
    pub everything: usize,
    pub usage: Option<Usage>,
}

impl Receipt {
    /// Of a stored session; none where nothing of it was written down.
    pub async fn of_session(store: &Store, session: &str) -> Result<Option<Self>, TalkError> {
        let (requests, pieces) = store.requests(session).await?;
        if requests.is_empty() {
            return Ok(None);
        }
        let paid = |message: &pinza_state::Message| message.body.get("usage").is_some();
        let answers = store.messages(session, 0).await?.iter().filter(|message| paid(message)).count();
        let session = session.to_owned();
        // Counting takes a while, and nothing else should wait for it.
        let counting = tokio::task::spawn_blocking(move || sums::receipt(session, answers, requests, pieces));
        let receipt = counting.await.map_err(|_| TalkError::State(pinza_state::StateError::Closed))?;
        receipt.map(Some).map_err(TalkError::Unreadable)
    }
}

impl Talk {
    /// What its tools cost so far; none before the first answer.
    pub async fn receipt(&self) -> Result<Option<Receipt>, TalkError> {
        Receipt::of_session(self.store(), self.id()).await
    }
}
