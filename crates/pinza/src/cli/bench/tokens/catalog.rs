//! The tools of the measure: the built-in ones, and a catalog of groups as JavaScript manifests.
//!
//! Nothing is run: what counts is what a model reads, so a tool answers what its scenario says.

use std::{path::Path, sync::Arc};

use anyhow::{Context, bail, ensure};
use pinza::{
    core::{
        Arguments, BoxFuture, CallContext, Registry, Snapshot, Source, Tool, ToolContext, ToolDefinition,
        ToolError, ToolMeta, ToolOutput, ToolResult, meta,
    },
    js,
};
use serde_json::Value;

use super::{super::super::Result, scenario::Scenario};

/// A group's manifest: its name and its text.
pub(super) struct Manifest {
    name: String,
    text: String,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../../fixtures/catalogs/google/", $name, ".json")))),*]
    };
}

/// RFC-040's groups, in its order.
const EMBEDDED: [(&str, &str); 14] = embedded![
    "config",
    "pdf",
    "scheduled_tasks",
    "js_tool_management",
    "google_gmail",
    "google_gmail_settings",
    "google_drive",
    "google_calendar",
    "google_contacts",
    "google_docs",
    "google_sheets",
    "google_slides",
    "google_forms",
    "google_tasks",
];

pub(super) fn embedded() -> Vec<Manifest> {
    EMBEDDED.map(|(name, text)| Manifest { name: name.into(), text: text.into() }).into()
}

/// The manifests of a directory, in the order of their names.
pub(super) fn read(directory: &Path) -> Result<Vec<Manifest>> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read the catalog {}", directory.display()))?;
    let mut manifests = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if path.extension().is_some_and(|extension| extension == "json") {
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            manifests.push(Manifest { name: name.to_owned(), text });
        }
    }
    ensure!(!manifests.is_empty(), "{} has no manifests of groups (NAME.json)", directory.display());
    manifests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(manifests)
}

/// Built-in tools and those of the manifests, all of which answer as the scenarios say.
pub(super) fn build(
    builtin: &Snapshot,
    manifests: Vec<Manifest>,
    scenarios: &[Scenario],
) -> Result<Arc<Snapshot>> {
    let uses = || scenarios.iter().flat_map(|scenario| scenario.steps.iter().flatten());
    let answers: Answers = uses().map(|used| (used.tool, &used.arguments, used.answer)).collect();
    let mut registry = Registry::new();
    meta::register(&mut registry)?;
    let own = builtin.tools().filter(|entry| entry.meta().source == Source::Builtin);
    for entry in own.filter(|entry| entry.meta().meta_tool.is_none()) {
        let tool = StandIn::new(entry.definition().clone(), &answers);
        registry.register(Arc::new(tool), Some(entry.meta().clone()))?;
    }
    builtin.groups().for_each(|group| registry.register_group(group.clone()));
    for skill in builtin.skills() {
        registry.register_skill(skill.clone())?;
    }
    for manifest in manifests {
        add(&mut registry, &manifest, &answers)?;
    }
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    for tool in uses().map(|used| used.tool) {
        ensure!(snapshot.get(tool).is_some(), "the catalog has no tool '{tool}', which a conversation uses");
    }
    Ok(Arc::new(snapshot))
}

/// Tool, arguments, answer.
type Answers<'a> = Vec<(&'a str, &'a Value, &'a str)>;

fn add(registry: &mut Registry, manifest: &Manifest, answers: &Answers<'_>) -> Result<()> {
    let Manifest { name, text } = manifest;
    let parsed = js::Manifest::parse(text, name);
    if let Some(fault) = parsed.faults.iter().find(|fault| !fault.warning) {
        bail!("{name}.json: {}", fault.message);
    }
    let Some(group) = parsed.group else { bail!("{name}.json is one tool; a catalog is made of groups") };
    for entry in parsed.entries {
        // One that is built in by now is measured as it is.
        if registry.has(entry.definition.name.as_str()) {
            continue;
        }
        let meta = ToolMeta::new(entry.definition.name.clone(), entry.definition.description.clone())
            .group(group.name.clone());
        registry.register(Arc::new(StandIn::new(entry.definition, answers)), Some(meta))?;
    }
    if registry.group(group.name.as_str()).is_none() {
        registry.register_group(group);
    }
    Ok(())
}

/// A tool's words without its work.
struct StandIn {
    definition: ToolDefinition,
    answers: Vec<(Value, String)>,
}

impl StandIn {
    fn new(definition: ToolDefinition, answers: &Answers<'_>) -> Self {
        let own = answers.iter().filter(|(tool, ..)| definition.name == *tool);
        let answers =
            own.map(|(_, arguments, answer)| ((*arguments).clone(), (*answer).to_owned())).collect();
        // It does nothing, so it needs no rights.
        Self { definition: ToolDefinition { capabilities: Vec::new(), ..definition }, answers }
    }
}

impl Tool for StandIn {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        let known = self.answers.iter().find(|(known, _)| known.as_object() == Some(arguments));
        let answer = known.map(|(_, answer)| ToolOutput::text(answer.as_str()));
        let result = answer.ok_or_else(|| ToolError::execution("No conversation calls it like this"));
        Box::pin(std::future::ready(result))
    }
}

/// The embedded catalog: groups, with the names and the JSON of their tools.
#[cfg(test)]
pub(super) fn described() -> Vec<(&'static str, Vec<(String, String)>)> {
    let described = |(name, text): (&'static str, &str)| {
        let parsed = js::Manifest::parse(text, name);
        assert!(parsed.faults.is_empty(), "{name}: {:?}", parsed.faults);
        let tool = |entry: &js::ManifestEntry| {
            let ToolDefinition { name, description, parameters, .. } = &entry.definition;
            let json = serde_json::json!({ "name": name, "description": description, "parameters": parameters.schema() });
            (name.to_string(), json.to_string())
        };
        (name, parsed.entries.iter().map(tool).collect())
    };
    EMBEDDED.map(described).into()
}
