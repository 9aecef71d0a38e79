//! `load_skill`: gives the model instructions for a kind of task, and the tools that they speak of.

use std::{fmt::Write as _, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::load_tool_group::describe;
use crate::{
    definition::ToolDefinition,
    error::{ErrorKind, ToolError},
    names::{GroupName, ToolName},
    output::{Effect, ToolOutput},
    registry::Entry,
    skill::{MissingValue, Skill, SkillParameter},
    tool::{CallContext, ToolResult},
    typed::NativeTool,
    view::{Loading, View},
};

pub(super) struct LoadSkill;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    name: String,
    parameters: Option<Map<String, Value>>,
}

impl NativeTool for LoadSkill {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        let description = "Load a skill: instructions for a kind of task.";
        ToolDefinition::new(ToolName::known("load_skill"), description)
            .title("Load skill")
            .timeout(Duration::from_secs(5))
            .read_only()
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        load(&context.view(), &parameters.name, &parameters.parameters.unwrap_or_default())
    }
}

fn load(view: &View, name: &str, values: &Map<String, Value>) -> ToolResult {
    let skill = view.skill(name).ok_or_else(|| unknown_skill(view, name))?;
    let filled = skill.fill(values).map_err(|missing| missing_value(skill, &missing))?;
    let needs = Needs::of(skill, view);
    let mut text = header(skill);
    needs.describe(view, &mut text);
    if !filled.unknown.is_empty() {
        let unknown: Vec<String> = filled.unknown.iter().map(|name| crate::visible(name)).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "It has no parameters: {}", unknown.join(", "));
    }
    let _ = write!(text, "\n{}", filled.text);
    let details = json!({ "skill": skill.name, "groups": needs.groups, "notAvailable": needs.missing });
    let mut output = ToolOutput::text(text).details(details);
    output.effects.extend(needs.groups.into_iter().map(|group| Effect::ActivateGroup { group }));
    Ok(output)
}

fn header(skill: &Skill) -> String {
    let version = skill.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
    format!("Loaded skill '{}' ({}{version}): {}\n", skill.display_name, skill.name, skill.description)
}

/// What a skill's tools come to for this caller.
struct Needs {
    /// In the order in which the skill names their tools.
    groups: Vec<GroupName>,
    missing: Vec<ToolName>,
}

impl Needs {
    fn of(skill: &Skill, view: &View) -> Self {
        let mut needs = Self { groups: Vec::new(), missing: Vec::new() };
        for tool in &skill.tools_required {
            match view.get(tool.as_str()).map(|entry| &entry.meta().group) {
                None => needs.missing.push(tool.clone()),
                Some(Some(group)) if !needs.groups.contains(group) => needs.groups.push(group.clone()),
                Some(_) => {}
            }
        }
        needs
    }

    fn describe(&self, view: &View, text: &mut String) {
        for group in &self.groups {
            let tools: Vec<&Entry> = view.group_tools(group.as_str()).collect();
            let Some(group) = view.group(group.as_str()) else { continue };
            let _ = match view.loading {
                // The model is shown them whole.
                Loading::Grows => {
                    writeln!(text, "Loaded {} tools from group '{}'.", tools.len(), group.display_name)
                }
                Loading::Describes => writeln!(text, "{}", describe(group, &tools, view.loading)),
            };
        }
        if !self.missing.is_empty() {
            let missing: Vec<&str> = self.missing.iter().map(ToolName::as_str).collect();
            let _ = writeln!(text, "Not available here: {}. Do without, or say so.", missing.join(", "));
        }
    }
}

/// The answer to a skill that there is not.
fn unknown_skill(view: &View, name: &str) -> ToolError {
    let known: Vec<&str> = view.skills().map(|skill| skill.name.as_str()).collect();
    let available = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let message = format!("Skill '{}' not found. Available skills: {available}", crate::visible(name));
    ToolError::new(ErrorKind::NotFound, message)
}

fn missing_value(skill: &Skill, MissingValue(missing): &MissingValue<'_>) -> ToolError {
    let word = |parameter: &SkillParameter| {
        let required = if parameter.required { ", required" } else { "" };
        match parameter.description.as_str() {
            "" => format!("{}{required}", parameter.name),
            description => format!("{} ({description}{required})", parameter.name),
        }
    };
    let takes: Vec<String> = skill.parameters.iter().map(word).collect();
    ToolError::validation(format!("Missing required parameter: '{}'", missing.name)).hint(format!(
        "Give it in 'parameters'. Skill '{}' takes: {}",
        skill.name,
        takes.join("; ")
    ))
}
