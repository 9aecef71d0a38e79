//! Reveal: how the tools of a loaded group reach a model, and what a request offers it.
//!
//! A provider caches a prompt by its beginning, and tools stand at the very beginning. So the
//! three ways differ in what a load does to the array of tools: it grows at its end, or nothing
//! that was sent changes at all.

use std::{collections::HashSet, fmt, str::FromStr};

use pinza_core::{Conversation, GroupName, ShownTool, View};
use serde::{Deserialize, Serialize};

use crate::{names::NameMap, providers::ProviderKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reveal {
    /// Loaded tools join the array at its end. Works everywhere; a load costs one cache rewrite.
    Append,
    /// All tools are sent from the beginning, and the provider keeps them out of the prompt until
    /// a load names them.
    Native,
    /// The array never changes: the load's result describes the tools, `call_tool` reaches them.
    Stable,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown way to reveal tools '{0}'; use append, native or stable")]
pub struct UnknownReveal(String);

impl Reveal {
    pub const ALL: [Self; 3] = [Self::Append, Self::Native, Self::Stable];

    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Native => "native",
            Self::Stable => "stable",
        }
    }

    /// What is best where nobody says otherwise.
    pub fn default_for(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::OpenAi => Self::Append,
            ProviderKind::OpenAiResponses | ProviderKind::Anthropic => Self::Native,
            ProviderKind::Gemini => Self::Stable,
        }
    }

    /// What the system prompt has to say of skills and groups. The namespaces of Responses say of groups what the
    /// listing would, so that it would be read twice.
    pub fn listing(self, kind: ProviderKind, conversation: &Conversation) -> &str {
        match (self, kind) {
            (Self::Native, ProviderKind::OpenAiResponses) => conversation.skills_listing(),
            _ => conversation.listing(),
        }
    }

    /// Whether this API has what it takes.
    pub fn works_with(self, kind: ProviderKind) -> bool {
        self != Self::Native || matches!(kind, ProviderKind::Anthropic | ProviderKind::OpenAiResponses)
    }
}

impl fmt::Display for Reveal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Reveal {
    type Err = UnknownReveal;

    fn from_str(name: &str) -> Result<Self, UnknownReveal> {
        let known = Self::ALL.into_iter().find(|reveal| reveal.name() == name);
        known.ok_or_else(|| UnknownReveal(pinza_core::visible(name)))
    }
}

/// A group with its tools, as they were when the conversation began. Keep it with the
/// conversation: with `native` it is part of what was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolGroup {
    pub name: GroupName,
    pub description: String,
    pub tools: Vec<ShownTool>,
}

impl ToolGroup {
    /// All groups that a caller may use, as they are now.
    pub fn all(view: &View) -> Vec<Self> {
        let group = |group: &pinza_core::Group| Self {
            name: group.name.clone(),
            description: group.description.split_whitespace().collect::<Vec<_>>().join(" "),
            tools: view.group_tools(group.name.as_str()).map(ShownTool::of).collect(),
        };
        view.groups().map(group).collect()
    }
}

/// The tools that a request has to offer. Over a conversation `core` and `groups` stay as they
/// were, and `loaded` grows at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'a> {
    pub core: &'a [ShownTool],
    pub groups: &'a [ToolGroup],
    /// What loads have shown so far.
    pub loaded: &'a [ShownTool],
    /// The one of the core tools that loads groups.
    pub loader: Option<&'a str>,
}

/// An offer, arranged as one way to reveal wants it.
pub(crate) struct Lineup<'a> {
    /// Sent as they are, first.
    pub(crate) plain: Vec<&'a ShownTool>,
    /// Sent from the beginning, and kept out of the prompt until a load names them.
    pub(crate) deferred: Vec<Deferred<'a>>,
    /// Sent as they are, after everything that was there at the beginning: tools that a group
    /// has got since.
    pub(crate) late: Vec<&'a ShownTool>,
    pub(crate) names: NameMap,
    /// Stands for the provider's own way to load, with `native`.
    pub(crate) loader: Option<&'a str>,
}

pub(crate) struct Deferred<'a> {
    pub(crate) group: &'a ToolGroup,
    pub(crate) tools: Vec<&'a ShownTool>,
}

impl<'a> Lineup<'a> {
    pub(crate) fn new(offer: &Offer<'a>, reveal: Reveal) -> Self {
        let mut seen = HashSet::new();
        let mut fresh = |tool: &&'a ShownTool| seen.insert(tool.name.as_str());
        let mut plain: Vec<&ShownTool> = offer.core.iter().filter(&mut fresh).collect();
        let mut deferred = Vec::new();
        let mut late = Vec::new();
        match reveal {
            Reveal::Append => plain.extend(offer.loaded.iter().filter(&mut fresh)),
            Reveal::Stable => {}
            Reveal::Native => {
                for group in offer.groups {
                    let tools = group.tools.iter().filter(&mut fresh).collect();
                    deferred.push(Deferred { group, tools });
                }
                late = offer.loaded.iter().filter(&mut fresh).collect();
            }
        }
        let loader = offer.loader.filter(|_| reveal == Reveal::Native && !deferred.is_empty());
        Self { plain, deferred, late, names: names(offer), loader }
    }

    /// The deferred tools of a group.
    pub(crate) fn group(&self, name: &GroupName) -> Option<&Deferred<'a>> {
        self.deferred.iter().find(|deferred| &deferred.group.name == name)
    }
}

/// The wire names of everything that is or may be offered, whatever the way to reveal: a load must
/// not rename what was sent.
fn names(offer: &Offer<'_>) -> NameMap {
    let grouped = offer.groups.iter().flat_map(|group| &group.tools);
    let mut names = NameMap::new(offer.core.iter().chain(grouped).map(|tool| tool.name.as_str()));
    for tool in offer.loaded {
        names.add(tool.name.as_str());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_defaults() {
        for reveal in Reveal::ALL {
            assert_eq!(reveal.to_string().parse(), Ok(reveal));
        }
        let error = "magic".parse::<Reveal>().unwrap_err();
        assert_eq!(error.to_string(), "unknown way to reveal tools 'magic'; use append, native or stable");
        for kind in ProviderKind::ALL {
            assert!(Reveal::default_for(kind).works_with(kind));
        }
        assert!(!Reveal::Native.works_with(ProviderKind::Gemini));
        assert!(!Reveal::Native.works_with(ProviderKind::OpenAi));
    }
}
