//! Skills: instructions for a kind of task, which a conversation reads when it comes to that task.
//!
//! A skill is a `SKILL.md`: front matter between two lines `---`, then the instructions, in which
//! `{{name}}` stands for a parameter's value. Nothing here reads files: whoever found the text parses
//! it, and is told of every fault with its line.

mod fields;
mod text;
mod yaml;

use std::{fmt, sync::Arc};

use serde::Serialize;

use crate::names::ToolName;

pub(crate) use text::MissingValue;

/// The most that a `SKILL.md` may weigh.
pub const SKILL_LIMIT: usize = 100 << 10;

/// The file's name, in a directory that is named as the skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// What a skill is loaded by: `^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SkillName(Arc<str>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Skill name '{0}' must be 2 to 50 lowercase letters, digits and hyphens, with no hyphen at its start or end"
)]
pub struct SkillNameError(String);

impl SkillName {
    pub fn new(name: &str) -> Result<Self, SkillNameError> {
        let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_good = (2..=50).contains(&name.len())
            && name.bytes().all(is_fine)
            && !name.starts_with('-')
            && !name.ends_with('-');
        if is_good {
            return Ok(Self(name.into()));
        }
        // What is refused may be long, and is shown to people.
        Err(SkillNameError(crate::visible(&name.chars().take(60).collect::<String>())))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For people, where a skill has no other: `weekly-report` becomes "Weekly Report".
    pub fn title(&self) -> String {
        crate::names::title(self.0.split('-').filter(|word| !word.is_empty()))
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for SkillName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Where a skill comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SkillSource {
    Builtin,
    /// The embedding program.
    #[default]
    Native,
    File(String),
}

impl fmt::Display for SkillSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str("builtin"),
            Self::Native => f.write_str("native"),
            Self::File(file) => write!(f, "file:{file}"),
        }
    }
}

impl Serialize for SkillSource {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: SkillName,
    /// For people; made of the name where nobody gave one.
    pub display_name: String,
    /// One line by which a model decides to load it.
    pub description: String,
    pub version: Option<String>,
    /// Tools that the instructions speak of; their groups are loaded with the skill.
    pub tools_required: Vec<ToolName>,
    pub parameters: Vec<SkillParameter>,
    /// The instructions, with `{{name}}` where a parameter's value goes.
    pub body: String,
    pub source: SkillSource,
}

/// A blank in a skill's instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillParameter {
    pub name: String,
    pub description: String,
    pub required: bool,
    /// What stands in its place where nothing is said; nothing, where this says nothing.
    pub default: Option<String>,
}

/// Something wrong with a `SKILL.md`, or (a warning) something to look at in one that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFault {
    /// From 1, where the fault has a place.
    pub line: Option<usize>,
    pub message: String,
    pub warning: bool,
}

impl SkillFault {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into(), warning: false }
    }

    fn warning(line: usize, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::new(line, message) }
    }
}

/// Two skills want one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Skill '{name}' is already registered")]
pub struct SkillClash {
    pub name: SkillName,
}

impl Skill {
    /// Reads a `SKILL.md`. There is no skill where a fault is more than a warning.
    pub fn parse(text: &str) -> (Option<Self>, Vec<SkillFault>) {
        if text.len() > SKILL_LIMIT {
            let message = format!("Longer than {} KB", SKILL_LIMIT >> 10);
            return (None, vec![SkillFault { line: None, message, warning: false }]);
        }
        let (front, body) = match text::split(text) {
            Ok(parts) => parts,
            Err(fault) => return (None, vec![fault]),
        };
        let mut faults = Vec::new();
        let fields = match yaml::parse(front.text, front.line) {
            Ok(map) => fields::read(&map, &mut faults),
            Err(fault) => {
                faults.push(fault);
                None
            }
        };
        let instructions = text::instructions(&body, &mut faults);
        let skill = fields.zip(instructions).map(|(fields, body)| Self { body, ..fields });
        if let Some(skill) = &skill {
            let blank = body.text.lines().take_while(|line| line.is_empty()).count();
            text::check_placeholders(skill, body.line + blank, &mut faults);
        }
        faults.sort_by_key(|fault| fault.line);
        let is_good = faults.iter().all(|fault| fault.warning);
        (skill.filter(|_| is_good), faults)
    }
}

#[cfg(test)]
mod tests;
