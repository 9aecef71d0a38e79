//! The agent loop: ask the model, run all calls of its turn, answer all of them, ask again.
//!
//! A talk is a session with its messages. What somebody was told is on disk before they are told
//! it: the user's message before the model is asked, the model's calls before they run, all their
//! results before the model sees one. So after `kill -9` a talk goes on where it was, and a call
//! whose result is missing was interrupted and is not run again.

mod asking;
mod by_hand;
mod compaction;
mod error;
mod event;
mod prompt;
mod record;
mod repeated;
mod results;
mod resume;
mod rounds;
pub(crate) mod sent;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use pinza_core::{CallScope, Content, Engine};
use pinza_state::{SessionHold, Store};

pub use error::TalkError;
pub use event::{Event, Events, Finish};

use self::{record::Record, repeated::Repeated};
use crate::{client::ProviderClient, event::Usage, message::Message, providers::Effort, reveal::Reveal};

/// Whom to ask, and how.
#[derive(Clone, Debug)]
pub struct Setup {
    pub client: ProviderClient,
    pub model: String,
    pub reveal: Reveal,
    /// What the agent is told about itself.
    pub prompt: String,
    pub limits: Limits,
    /// The most that one answer may have.
    pub max_tokens: Option<u32>,
    pub effort: Option<Effort>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked for one message of the user.
    pub rounds: u32,
    /// What a session may cost in tokens, all requests together.
    pub tokens: Option<u64>,
    /// How many tokens the model's window has.
    pub window: u64,
}

impl Limits {
    pub const ROUNDS: u32 = 100;
}

/// Where calls run and who hears of what goes on.
#[derive(Clone)]
pub struct Stage {
    pub engine: Arc<Engine>,
    /// Pinned for one message of the user. Its caller and what it sees are the talk's own.
    pub scope: CallScope,
    pub events: Events,
    pub inbox: Inbox,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// Messages of the user that came while the agent was at work; they go in between rounds.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<VecDeque<Vec<Content>>>>);

impl Inbox {
    pub fn put(&self, content: Vec<Content>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(content);
    }

    /// What has not gone in yet.
    pub fn take(&self) -> Vec<Vec<Content>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

/// One session, open.
#[derive(Debug)]
pub struct Talk {
    store: Store,
    _hold: SessionHold,
    id: String,
    record: Record,
    messages: Vec<Message>,
    /// The place of each message in the session; 0 for a summary, which is none of them.
    places: Vec<i64>,
    usage: Usage,
    /// How many tokens the last request and its answer had.
    filled: u64,
    repeated: Repeated,
    /// Whether the record differs from what is kept.
    unsaved: bool,
}

impl Talk {
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many messages the session has before one of [`messages`](Self::messages), also those that a summary stands
    /// for. Results that were kept one by one count one by one.
    pub fn before(&self, index: usize) -> usize {
        let upto = self.record.summary.as_ref().map_or(0, |summary| summary.upto);
        let last = index.checked_sub(1).and_then(|index| self.places.get(index));
        last.and_then(|place| usize::try_from(upto.max(*place)).ok()).unwrap_or(0)
    }

    /// All requests of the session together.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn groups(&self) -> &[pinza_core::GroupName] {
        self.record.conversation.groups()
    }

    pub fn record(&self) -> &Record {
        &self.record
    }
}
