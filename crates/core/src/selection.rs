//! Choosing tools: a profile, names and sets to include, names and sets to exclude.

use crate::{
    catalog::{Profile, catalog_set},
    registry::{Entry, Snapshot, ToolMeta},
};

/// A choice of tools. Empty means everything; a profile and inclusions add up; exclusions
/// have the last word.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub profile: Option<Profile>,
    /// Tool names and sets (`group:fs`, `group:pdf`).
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

impl Selection {
    pub fn contains(&self, meta: &ToolMeta) -> bool {
        let everything = self.profile.is_none() && self.include.is_empty();
        let included = everything
            || self.profile.is_some_and(|profile| meta.is_in(profile))
            || self.include.iter().any(|selector| selects(selector, meta));
        included && !self.excludes(meta)
    }

    pub(crate) fn excludes(&self, meta: &ToolMeta) -> bool {
        self.exclude.iter().any(|selector| selects(selector, meta))
    }

    /// The chosen tools, in the snapshot's order.
    pub fn of<'a>(&self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a Entry> {
        snapshot.tools().filter(|entry| self.contains(entry.meta()))
    }

    /// Names and sets that choose nothing: a typing error, most likely.
    pub fn idle<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a str> {
        let chooses = |selector: &str| snapshot.tools().any(|entry| selects(selector, entry.meta()));
        let selectors = self.include.iter().chain(&self.exclude).map(String::as_str);
        selectors.filter(move |selector| !chooses(selector))
    }
}

/// Whether a tool's name or a set (`group:NAME`: a table's set or a group) means this tool.
pub fn selects(selector: &str, meta: &ToolMeta) -> bool {
    match selector.strip_prefix("group:") {
        None => meta.id == selector,
        Some(group) => {
            meta.group.as_ref().is_some_and(|name| *name == group)
                || catalog_set(selector).is_some_and(|ids| ids.iter().any(|id| meta.id == *id))
        }
    }
}
