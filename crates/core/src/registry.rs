//! Which tools there are: registered ones and those that factories make for a context, their
//! groups, and the immutable snapshot that calls look into.

use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use serde::Serialize;

use crate::{
    arguments::Checker,
    catalog::{CUSTOM_SECTION, CatalogRow, Profile, SECTIONS},
    context::ToolContext,
    definition::ToolDefinition,
    meta::MetaTool,
    names::{self, GroupName, ToolName},
    search::{Document, Index, WordTable},
    skill::{Skill, SkillClash, SkillName},
    tool::Tool,
};

/// Makes tools for a context: one, several or none. An error says why it cannot.
pub type Factory = Arc<dyn Fn(&ToolContext) -> Result<Vec<Arc<dyn Tool>>, String> + Send + Sync>;

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Builtin,
    /// A Rust tool of the embedding program.
    Native,
    Js(String),
    Module(String),
    Mcp(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Native => f.write_str("native"),
            Self::Js(file) => write!(f, "js:{file}"),
            Self::Module(name) => write!(f, "module:{name}"),
            Self::Mcp(name) => write!(f, "mcp:{name}"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is known of a tool without making it.
#[derive(Clone, Debug)]
pub struct ToolMeta {
    pub id: ToolName,
    pub label: String,
    pub description: String,
    pub section: String,
    pub profiles: Vec<Profile>,
    pub source: Source,
    /// `None` for a core tool.
    pub group: Option<GroupName>,
    /// Set for the tools about tools.
    pub meta_tool: Option<MetaTool>,
}

impl ToolMeta {
    /// The default: section `custom`, profile `full`, no group.
    pub fn new(id: ToolName, description: impl Into<String>) -> Self {
        Self {
            label: id.to_string(),
            id,
            description: description.into(),
            section: CUSTOM_SECTION.into(),
            profiles: vec![Profile::Full],
            source: Source::Native,
            group: None,
            meta_tool: None,
        }
    }

    /// A built-in tool of the catalog, with its row's words.
    pub fn catalogued(row: &'static CatalogRow) -> Self {
        Self {
            section: row.section.into(),
            profiles: row.profiles.to_vec(),
            source: Source::Builtin,
            ..Self::new(ToolName::known(row.id), row.description)
        }
    }

    /// A built-in tool that is in no table of the catalog.
    pub fn builtin(id: &'static str, description: &str, section: &str) -> Self {
        let meta = Self::new(ToolName::known(id), description);
        Self { source: Source::Builtin, section: section.into(), ..meta }
    }

    #[must_use]
    pub fn group(mut self, group: GroupName) -> Self {
        self.group = Some(group);
        self
    }

    /// Whether a profile includes this tool.
    pub fn is_in(&self, profile: Profile) -> bool {
        profile == Profile::Full || self.profiles.contains(&profile)
    }
}

/// A named set of tools that is loaded on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: GroupName,
    pub display_name: String,
    pub description: String,
}

impl Group {
    pub fn new(name: GroupName, display_name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name, display_name: display_name.into(), description: description.into() }
    }

    /// For a group that nobody described: `my_tools` becomes "My Tools".
    pub fn unnamed(name: GroupName) -> Self {
        let display_name = names::title(name.as_str().split('_'));
        Self { description: format!("Tools from {name} group"), display_name, name }
    }
}

/// Two tools want one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool '{name}' is already registered")]
pub struct Clash {
    pub name: ToolName,
}

/// A tool that could not be had, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub id: ToolName,
    pub reason: String,
}

#[derive(Clone)]
enum Maker {
    Ready(Arc<dyn Tool>),
    Factory(Factory),
}

/// The mutable catalog. Calls never look here: they look into a [`Snapshot`].
#[derive(Clone, Default)]
pub struct Registry {
    makers: IndexMap<ToolName, (ToolMeta, Maker)>,
    groups: IndexMap<GroupName, Group>,
    word_table: Option<Arc<dyn WordTable>>,
    skills: IndexMap<SkillName, Arc<Skill>>,
}

impl Registry {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool under its own name, with default meta where none is given.
    pub fn register(&mut self, tool: Arc<dyn Tool>, meta: Option<ToolMeta>) -> Result<(), Clash> {
        let definition = tool.definition();
        let meta =
            meta.unwrap_or_else(|| ToolMeta::new(definition.name.clone(), definition.description.clone()));
        let meta = ToolMeta { id: definition.name.clone(), ..meta };
        self.add(meta, Maker::Ready(tool))
    }

    /// Adds a factory, which runs only when tools are resolved.
    pub fn register_factory(&mut self, factory: Factory, meta: ToolMeta) -> Result<(), Clash> {
        self.add(meta, Maker::Factory(factory))
    }

    /// Puts a tool in the place of one of the same name, keeping its group.
    pub fn replace(&mut self, tool: Arc<dyn Tool>, meta: Option<ToolMeta>) {
        let definition = tool.definition();
        let meta =
            meta.unwrap_or_else(|| ToolMeta::new(definition.name.clone(), definition.description.clone()));
        let replaced = self.makers.get(definition.name.as_str());
        let group = replaced.map_or_else(|| meta.group.clone(), |(old, _)| old.group.clone());
        let meta = ToolMeta { id: definition.name.clone(), group, ..meta };
        self.makers.insert(meta.id.clone(), (meta, Maker::Ready(tool)));
    }

    fn add(&mut self, meta: ToolMeta, maker: Maker) -> Result<(), Clash> {
        if self.makers.contains_key(&meta.id) {
            return Err(Clash { name: meta.id });
        }
        self.makers.insert(meta.id.clone(), (meta, maker));
        Ok(())
    }

    pub fn register_group(&mut self, group: Group) {
        self.groups.insert(group.name.clone(), group);
    }

    /// Lets searches use word vectors as well.
    pub fn set_word_table(&mut self, table: Arc<dyn WordTable>) {
        self.word_table = Some(table);
    }

    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.get(name)
    }

    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    pub fn register_skill(&mut self, skill: impl Into<Arc<Skill>>) -> Result<(), SkillClash> {
        let skill = skill.into();
        if self.skills.contains_key(&skill.name) {
            return Err(SkillClash { name: skill.name.clone() });
        }
        self.skills.insert(skill.name.clone(), skill);
        Ok(())
    }

    /// Puts a skill in the place of one of the same name.
    pub fn replace_skill(&mut self, skill: impl Into<Arc<Skill>>) {
        let skill = skill.into();
        self.skills.insert(skill.name.clone(), skill);
    }

    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values().map(|skill| &**skill)
    }

    /// Meta of every tool, in the order of registration. Runs no factory.
    pub fn list(&self) -> impl Iterator<Item = &ToolMeta> {
        self.makers.values().map(|(meta, _)| meta)
    }

    /// The same under its sections: (id, label, tools), empty sections left out.
    pub fn list_by_section(&self) -> Vec<(String, String, Vec<&ToolMeta>)> {
        let mut sections: IndexMap<&str, (String, Vec<&ToolMeta>)> =
            SECTIONS.iter().map(|section| (section.id, (section.label.to_owned(), Vec::new()))).collect();
        for meta in self.list() {
            let section = sections.entry(&meta.section);
            section.or_insert_with(|| (meta.section.clone(), Vec::new())).1.push(meta);
        }
        let filled = sections.into_iter().filter(|(_, (_, tools))| !tools.is_empty());
        filled.map(|(id, (label, tools))| (id.to_owned(), label, tools)).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.makers.contains_key(name)
    }

    /// Removes a tool; tells whether it was there.
    pub fn unregister(&mut self, name: &str) -> bool {
        self.makers.shift_remove(name).is_some()
    }

    pub fn clear(&mut self) {
        self.makers.clear();
        self.groups.clear();
        self.skills.clear();
    }

    pub fn len(&self) -> usize {
        self.makers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.makers.is_empty()
    }

    /// Makes every tool for a context.
    pub fn resolve_all(&self, context: &ToolContext) -> Resolution {
        self.resolve_where(context, |_| true)
    }

    /// Makes the tools of a profile; `full` is everything.
    pub fn resolve_by_profile(&self, profile: Profile, context: &ToolContext) -> Resolution {
        self.resolve_where(context, |meta| meta.is_in(profile))
    }

    /// Makes one tool. `None` if it is not registered.
    pub fn resolve(&self, name: &str, context: &ToolContext) -> Option<Result<Arc<dyn Tool>, Failure>> {
        let (meta, maker) = self.makers.get(name)?;
        let tool = make(maker, context).and_then(|tools| {
            let found = tools.into_iter().find(|tool| tool.definition().name == name);
            found.ok_or_else(|| format!("its factory made no tool called '{name}'"))
        });
        Some(tool.map_err(|reason| Failure { id: meta.id.clone(), reason }))
    }

    fn resolve_where(&self, context: &ToolContext, wanted: impl Fn(&ToolMeta) -> bool) -> Resolution {
        let mut resolution = Resolution { tools: IndexMap::new(), failures: Vec::new() };
        for (meta, maker) in self.makers.values().filter(|(meta, _)| wanted(meta)) {
            match make(maker, context) {
                Ok(tools) => tools.into_iter().for_each(|tool| resolution.take(meta, tool)),
                Err(reason) => resolution.failures.push(Failure { id: meta.id.clone(), reason }),
            }
        }
        resolution
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("tools", &self.makers.keys()).field("groups", &self.groups).finish()
    }
}

fn make(maker: &Maker, context: &ToolContext) -> Result<Vec<Arc<dyn Tool>>, String> {
    match maker {
        Maker::Ready(tool) => Ok(vec![Arc::clone(tool)]),
        // A factory is foreign code: its panic is its own failure, not the registry's.
        Maker::Factory(factory) => {
            let make = || {
                let tools = factory(context)?;
                // Looked at here for the first time, so that a bad definition is caught as well.
                tools.iter().for_each(|tool| drop(tool.definition().name.clone()));
                Ok(tools)
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(make))
                .unwrap_or_else(|panic| Err(format!("its factory panicked: {}", panic_text(&*panic))))
        }
    }
}

/// The words of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown panic")
}

/// What resolved, and what did not and why.
#[derive(Debug)]
pub struct Resolution {
    tools: IndexMap<ToolName, (ToolMeta, Arc<dyn Tool>)>,
    pub failures: Vec<Failure>,
}

impl Resolution {
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values().map(|(_, tool)| tool)
    }

    fn take(&mut self, meta: &ToolMeta, tool: Arc<dyn Tool>) {
        let name = tool.definition().name.clone();
        if self.tools.contains_key(&name) {
            let reason = format!("another tool is already called '{name}'");
            self.failures.push(Failure { id: meta.id.clone(), reason });
            return;
        }
        let mut meta = meta.clone();
        if meta.id != name {
            // One factory, several tools: each stands under its own name.
            meta = ToolMeta {
                id: name.clone(),
                label: name.to_string(),
                description: tool.definition().description.clone(),
                ..meta
            };
        }
        self.tools.insert(name, (meta, tool));
    }

    /// The immutable form that calls look into.
    pub fn into_snapshot(self, registry: &Registry, is_enabled: impl Fn(&ToolMeta) -> bool) -> Snapshot {
        let mut groups = registry.groups.clone();
        for (meta, _) in self.tools.values() {
            if let Some(group) = &meta.group {
                groups.entry(group.clone()).or_insert_with(|| Group::unnamed(group.clone()));
            }
        }
        let entry = |(name, (meta, tool)): (ToolName, (ToolMeta, Arc<dyn Tool>))| {
            let enabled = is_enabled(&meta);
            (name, Entry { tool, meta, enabled, checker: Checker::default() })
        };
        let word_table = registry.word_table.clone();
        let entries = self.tools.into_iter().map(entry).collect();
        Snapshot { entries, groups, skills: registry.skills.clone(), word_table, index: OnceLock::new() }
    }
}

/// A tool in a snapshot.
pub struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    meta: ToolMeta,
    enabled: bool,
    pub(crate) checker: Checker,
}

impl Entry {
    pub fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    pub fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    pub fn is_enabled(&self) -> bool {
        self.enabled
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("meta", &self.meta)
            .field("enabled", &self.enabled)
            .finish_non_exhaustive()
    }
}

/// All tools at one moment. A conversation pins one per turn, so that a reload cannot change
/// the code behind a schema that the model has seen.
#[derive(Debug, Default)]
pub struct Snapshot {
    entries: IndexMap<ToolName, Entry>,
    groups: IndexMap<GroupName, Group>,
    word_table: Option<Arc<dyn WordTable>>,
    /// Made by the first search.
    index: OnceLock<Index>,
    skills: IndexMap<SkillName, Arc<Skill>>,
}

impl Snapshot {
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub fn tools(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tools of a group; none for an unknown group.
    pub fn group_tools(&self, group: &str) -> impl Iterator<Item = &Entry> {
        self.tools().filter(move |entry| entry.meta.group.as_ref().is_some_and(|name| *name == *group))
    }

    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.get(name)
    }

    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// The index over these tools; its documents are numbered as the tools are.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let group = |entry: &Entry| entry.meta.group.as_ref().and_then(|name| self.groups.get(name));
            let documents: Vec<Document> =
                self.tools().map(|entry| Document::of(entry, group(entry))).collect();
            Index::new(&documents, self.word_table.clone())
        })
    }

    /// A tool by its number.
    pub fn nth(&self, number: usize) -> Option<&Entry> {
        self.entries.get_index(number).map(|(_, entry)| entry)
    }

    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name).map(|skill| &**skill)
    }

    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values().map(|skill| &**skill)
    }

    /// Known names that look like `name`, the closest first.
    pub fn near_names(&self, name: &str) -> Vec<&str> {
        self.near_names_where(name, |_| true)
    }

    pub(crate) fn near_names_where(&self, name: &str, wanted: impl Fn(&Entry) -> bool) -> Vec<&str> {
        // Longer than any name, it is like none; and comparing it would take its time.
        if name.len() > 4 * names::LIMIT {
            return Vec::new();
        }
        let name = name.to_lowercase();
        let likeness = |known: &str| strsim::jaro_winkler(&name, &known.to_lowercase());
        let mut near: Vec<(f64, &str)> = self
            .entries
            .iter()
            .filter(|(_, entry)| wanted(entry))
            .map(|(known, _)| (likeness(known.as_str()), known.as_str()))
            .filter(|(likeness, _)| *likeness > 0.85)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, known)| known).collect()
    }
}
