//! What a caller may ever use: the tools of a snapshot that are switched on, in the caller's
//! tool set, and not denied by policy or beyond a ceiling whatever their arguments.
//!
//! Listing, loading, searching and the lists of MCP all look through a view, so that what
//! one of them hides no other shows.

use std::sync::Arc;

use crate::{
    meta::MetaTool,
    names::Capability,
    policy::Policy,
    registry::{Entry, Group, Snapshot},
    selection::Selection,
    skill::Skill,
    tool::Arguments,
};

/// How tools of a loaded group reach the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loading {
    /// They join the tools that the model is given.
    #[default]
    Grows,
    /// The model is given the same tools for ever: it reads of the loaded ones, and reaches
    /// them through `call_tool`.
    Describes,
}

#[derive(Clone, Debug)]
pub struct View {
    pub snapshot: Arc<Snapshot>,
    pub policy: Arc<Policy>,
    pub toolset: Arc<Selection>,
    pub loading: Loading,
    /// The most that the caller's calls may use, where it is a tool that declares it.
    pub ceiling: Option<Arc<[Capability]>>,
}

impl View {
    /// Whether the caller may use this tool at all. With which arguments is decided by the call.
    pub fn permits(&self, entry: &Entry) -> bool {
        entry.is_enabled() && self.grants(entry)
    }

    fn grants(&self, entry: &Entry) -> bool {
        in_toolset(&self.toolset, entry) && self.reaches(entry) && !self.policy.forbids(entry)
    }

    /// Whether no ceiling, the caller's or the tool's own, is below what every call of the tool needs.
    fn reaches(&self, entry: &Entry) -> bool {
        let mut ceilings = self.ceiling.iter().chain(&entry.definition().ceiling).peekable();
        // Most callers and tools have none, and then no tool is asked what it needs.
        if ceilings.peek().is_none() {
            return true;
        }
        let needed = entry.tool.permissions(&Arguments::new());
        ceilings.all(|ceiling| needed.iter().all(|permission| ceiling.contains(&permission.capability)))
    }

    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.snapshot.get(name).filter(|entry| self.permits(entry))
    }

    pub fn tools(&self) -> impl Iterator<Item = &Entry> {
        self.snapshot.tools().filter(|entry| self.permits(entry))
    }

    /// The tools that a conversation begins with.
    pub fn core(&self) -> impl Iterator<Item = &Entry> {
        let needed = |entry: &&Entry| match entry.meta().meta_tool {
            Some(MetaTool::CallTool) => self.loading == Loading::Describes,
            Some(MetaTool::LoadSkill) => self.skills().next().is_some(),
            _ => true,
        };
        self.tools().filter(|entry| entry.meta().group.is_none()).filter(needed)
    }

    /// Groups with a tool for this caller.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.snapshot.groups().filter(|group| self.group_tools(group.name.as_str()).next().is_some())
    }

    /// A group that the caller may know of. One whose tools are all switched off, or that has none,
    /// is there and empty; one whose tools are all forbidden is not there.
    pub fn group(&self, name: &str) -> Option<&Group> {
        let group = self.snapshot.group(name)?;
        let mut tools = self.snapshot.group_tools(name).peekable();
        (tools.peek().is_none() || tools.any(|entry| self.grants(entry))).then_some(group)
    }

    pub fn group_tools(&self, group: &str) -> impl Iterator<Item = &Entry> {
        self.snapshot.group_tools(group).filter(|entry| self.permits(entry))
    }

    /// A tool set is about tools: it hides no skill.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.snapshot.skills()
    }

    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.snapshot.skill(name)
    }

    /// The one of the meta-tools, if the caller may use it.
    pub fn meta_tool(&self, which: MetaTool) -> Option<&Entry> {
        self.tools().find(|entry| entry.meta().meta_tool == Some(which))
    }
}

/// A tool set chooses from what there is to do; the means to find and load it come along,
/// unless they are excluded by name.
pub(crate) fn in_toolset(toolset: &Selection, entry: &Entry) -> bool {
    let meta = entry.meta();
    match meta.meta_tool {
        Some(_) => !toolset.excludes(meta),
        None => toolset.contains(meta),
    }
}
