//! What a session keeps beside its messages: all that was sent with them and must not change.

use pinza_core::{Conversation, Effect, Loading, MetaTool, View};
use serde::{Deserialize, Serialize};

use super::{Setup, prompt};
use crate::{
    event::Usage,
    message::Message,
    providers::ProviderKind,
    reveal::{Offer, Reveal, ToolGroup},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub kind: ProviderKind,
    pub model: String,
    pub reveal: Reveal,
    pub system: String,
    pub conversation: Conversation,
    /// Only where the provider has all of them from the beginning.
    pub groups: Vec<ToolGroup>,
    pub summary: Option<Summary>,
    /// What requests cost whose answers are no messages: summaries, answers that broke off or were taken back.
    #[serde(default)]
    pub aside: Usage,
}

/// What took the place of older messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The place of the last message that it stands for.
    pub upto: i64,
    pub text: String,
}

/// A message as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) message: Message,
    /// What it cost to get, for one of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
}

impl Record {
    pub(super) fn new(setup: &Setup, view: &View, memories: &[String]) -> Self {
        let conversation = Conversation::start(view);
        let groups = match setup.reveal {
            Reveal::Native => ToolGroup::all(view),
            Reveal::Append | Reveal::Stable => Vec::new(),
        };
        let listing = setup.reveal.listing(setup.client.kind(), &conversation);
        let system = prompt::system(&setup.prompt, memories, listing);
        Self {
            kind: setup.client.kind(),
            model: setup.model.clone(),
            reveal: setup.reveal,
            system,
            conversation,
            groups,
            summary: None,
            aside: Usage::default(),
        }
    }

    /// Goes on with another provider, model or way to reveal. What was cached is lost with it, so the tools may be
    /// written anew; the groups stay loaded.
    pub(super) fn moved_to(&self, setup: &Setup, view: &View) -> Option<Self> {
        let same =
            self.kind == setup.client.kind() && self.model == setup.model && self.reveal == setup.reveal;
        if same {
            return None;
        }
        let mut moved =
            Self { summary: self.summary.clone(), aside: self.aside, ..Self::new(setup, view, &[]) };
        // All that was said at the beginning stays, but for the listing, which may have to say more or less now.
        moved.system = prompt::relisted(&self.system, self.listing(), moved.listing());
        for group in self.conversation.groups() {
            moved.conversation.apply(&Effect::ActivateGroup { group: group.clone() }, view);
        }
        Some(moved)
    }

    pub(super) fn listing(&self) -> &str {
        self.reveal.listing(self.kind, &self.conversation)
    }

    pub(super) fn offer<'a>(&'a self, view: &'a View) -> Offer<'a> {
        let loader = view.meta_tool(MetaTool::LoadToolGroup).map(|entry| entry.definition().name.as_str());
        Offer {
            core: self.conversation.core(),
            groups: &self.groups,
            loaded: self.conversation.loaded(),
            loader,
        }
    }
}

/// How a load reaches the model.
pub(super) fn loading(reveal: Reveal) -> Loading {
    match reveal {
        Reveal::Append | Reveal::Native => Loading::Grows,
        Reveal::Stable => Loading::Describes,
    }
}
