//! What a conversation has been given so far: tools, loaded groups, the listing.
//!
//! It only ever grows at its end, and keeps what it has shown word for word: providers cache a
//! prompt by its beginning, and a tool that is renamed or reordered in it costs the whole cache.
//! So definitions are copied when they are shown, and a reload changes none of them.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

use crate::{
    definition::{Parameters, ToolDefinition},
    meta::MetaTool,
    names::{GroupName, ToolName},
    output::Effect,
    registry::Entry,
    scope::Visibility,
    view::{Loading, View},
};

/// A tool as a model was shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownTool {
    pub name: ToolName,
    pub description: String,
    pub parameters: Parameters,
}

impl ShownTool {
    pub fn of(entry: &Entry) -> Self {
        let ToolDefinition { name, description, parameters, .. } = entry.definition().clone();
        Self { name, description, parameters }
    }

    pub fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(self.name.clone(), self.description.clone()).parameters(self.parameters.clone())
    }
}

/// What an effect did to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The tools of this group can be used from now on.
    Loaded { group: GroupName },
    /// They could be used already.
    Nothing,
    /// There is no such group any more, or not for this caller.
    Gone { group: GroupName },
}

/// Plain data: serialise it to keep it, or make it anew from the effects that it went through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    tools: Vec<ShownTool>,
    /// How many of the tools it began with.
    core: usize,
    groups: Vec<GroupName>,
    listing: String,
    /// The part of it that is about skills.
    #[serde(default)]
    skills_listing: String,
    /// Tools that may be called without having been shown, because they were described.
    described: Vec<ToolName>,
    /// How often each blind call was tried.
    pub(crate) blind: BTreeMap<String, u8>,
}

impl Conversation {
    /// Begins with the core tools, and the listing of skills and groups as it is now.
    pub fn start(view: &View) -> Self {
        let tools: Vec<ShownTool> = view.core().map(ShownTool::of).collect();
        Self {
            core: tools.len(),
            tools,
            groups: Vec::new(),
            listing: listing(view),
            skills_listing: skills_listing(view).unwrap_or_default(),
            described: Vec::new(),
            blind: BTreeMap::new(),
        }
    }

    /// Begins anew and goes through the effects of a history. What no longer applies is left out and
    /// comes back as [`Applied::Gone`].
    pub fn restore<'a>(view: &View, effects: impl IntoIterator<Item = &'a Effect>) -> (Self, Vec<Applied>) {
        let mut conversation = Self::start(view);
        let applied = effects.into_iter().map(|effect| conversation.apply(effect, view));
        let gone = applied.filter(|applied| matches!(applied, Applied::Gone { .. })).collect();
        (conversation, gone)
    }

    /// Takes in what a call changed.
    pub fn apply(&mut self, effect: &Effect, view: &View) -> Applied {
        match effect {
            Effect::ActivateGroup { group } => self.load(group, view),
        }
    }

    fn load(&mut self, group: &GroupName, view: &View) -> Applied {
        // Also of a group that is loaded: it may have got more tools since.
        let known = self.visible();
        let new: Vec<&Entry> =
            view.group_tools(group.as_str()).filter(|entry| !known.contains(&entry.meta().id)).collect();
        if new.is_empty() && view.group_tools(group.as_str()).next().is_none() {
            return Applied::Gone { group: group.clone() };
        }
        match view.loading {
            Loading::Grows => self.tools.extend(new.iter().map(|entry| ShownTool::of(entry))),
            Loading::Describes => self.described.extend(new.iter().map(|entry| entry.meta().id.clone())),
        }
        if !self.groups.contains(group) {
            self.groups.push(group.clone());
        } else if new.is_empty() {
            return Applied::Nothing;
        }
        Applied::Loaded { group: group.clone() }
    }

    /// The tools that the model is given, in the order in which it was given them.
    pub fn tools(&self) -> &[ShownTool] {
        &self.tools
    }

    /// The tools that it began with.
    pub fn core(&self) -> &[ShownTool] {
        &self.tools[..self.core.min(self.tools.len())]
    }

    /// The tools that loads have shown since.
    pub fn loaded(&self) -> &[ShownTool] {
        &self.tools[self.core.min(self.tools.len())..]
    }

    /// The groups that were loaded, in this order.
    pub fn groups(&self) -> &[GroupName] {
        &self.groups
    }

    /// What the system prompt says of skills and groups; empty where there is nothing to load.
    pub fn listing(&self) -> &str {
        &self.listing
    }

    /// What it says of skills alone, for providers that are told of groups in another way.
    pub fn skills_listing(&self) -> &str {
        &self.skills_listing
    }

    /// What a call of this conversation sees.
    pub fn visibility(&self) -> Visibility {
        Visibility::only(self.visible())
    }

    /// Loaded groups of which there is nothing now, after a restart or a reload.
    pub fn gone(&self, view: &View) -> Vec<GroupName> {
        let is_gone = |group: &&GroupName| view.group_tools(group.as_str()).next().is_none();
        self.groups.iter().filter(is_gone).cloned().collect()
    }

    fn visible(&self) -> std::collections::HashSet<ToolName> {
        self.tools.iter().map(|tool| &tool.name).chain(&self.described).cloned().collect()
    }
}

/// What there is to load: RFC-040's listing of groups, and before it one of skills in the same form.
fn listing(view: &View) -> String {
    let sections: Vec<String> = [skills_listing(view), groups_listing(view)].into_iter().flatten().collect();
    // The line between the parts of a system prompt, as the seed draws it.
    sections.join("\n\n---\n\n")
}

fn skills_listing(view: &View) -> Option<String> {
    view.meta_tool(MetaTool::LoadSkill)?;
    let heading = "## Available Skills\n\nUse `load_skill` to load a skill's instructions before a task that it is about.\n";
    section(heading, view.skills().map(|skill| (skill.name.as_str(), skill.description.as_str())))
}

fn groups_listing(view: &View) -> Option<String> {
    view.meta_tool(MetaTool::LoadToolGroup)?;
    let heading =
        "## Available Tool Groups\n\nUse `load_tool_group` to load tools from a group before using them.\n";
    section(heading, view.groups().map(|group| (group.name.as_str(), group.description.as_str())))
}

/// A heading and one line for each; `None` where there is none.
fn section<'a>(heading: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let mut rows = rows.peekable();
    rows.peek()?;
    let mut text = heading.to_owned();
    for (name, description) in rows {
        // A summary is one line, whoever wrote it.
        let summary = description.split_whitespace().collect::<Vec<_>>().join(" ");
        // Writing to a String cannot fail.
        let _ = write!(text, "\n- {name}: {summary}");
    }
    Some(text)
}
