//! A `SKILL.md` as text: its two parts, and the blanks in the second.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Skill, SkillFault, SkillParameter};

/// A part of the file, and the line that it begins in.
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

const LONGEST_NAME: usize = 64;

const FENCE: &str = "---";

/// Longer answers go to a file and the model gets their ends only: it would have to read on.
const COMFORTABLE: usize = 60 << 10;

/// Front matter and instructions.
pub(super) fn split(text: &str) -> Result<(Part<'_>, Part<'_>), SkillFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        let message =
            "It must begin with a line '---', the front matter (name, description), and another line '---'";
        return Err(SkillFault::new(1, message));
    };
    let (start, mut end) = (first.len(), first.len());
    for (index, line) in lines.enumerate() {
        if is_fence(line) {
            let front = Part { text: &text[start..end], line: 2 };
            // The fence itself is line `index + 2`.
            let body = Part { text: &text[end + line.len()..], line: index + 3 };
            return Ok((front, body));
        }
        end += line.len();
    }
    Err(SkillFault::new(1, "The front matter has no end: a line '---' is missing"))
}

/// The instructions without the space around them.
pub(super) fn instructions(body: &Part<'_>, faults: &mut Vec<SkillFault>) -> Option<String> {
    for (index, line) in body.text.lines().enumerate() {
        if let Some(c) = line.chars().find(|c| deceives(*c)) {
            let message = format!(
                "It has a character that cannot be seen (U+{:04X}): a model reads what people do not",
                c as u32
            );
            faults.push(SkillFault::warning(body.line + index, message));
        }
    }
    let text = body.text.replace("\r\n", "\n");
    let text = text.trim_matches('\n').trim_end();
    if text.trim().is_empty() {
        faults.push(SkillFault::new(body.line, "There are no instructions below the front matter"));
        return None;
    }
    if text.len() > COMFORTABLE {
        let message =
            "Longer than 60 KB: models get its beginning and its end, and have to read the rest as a file";
        faults.push(SkillFault::warning(body.line, message));
    }
    Some(text.to_owned())
}

/// Controls, bidirectional overrides, invisible letters. Not the joiners and selectors that emoji are made of.
fn deceives(c: char) -> bool {
    let is_part_of_emoji = matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    (c.is_control() && c != '\t') || (crate::visible::is_hidden(c) && !is_part_of_emoji)
}

/// Blanks without a parameter, and parameters without a blank.
pub(super) fn check_placeholders(skill: &Skill, first_line: usize, faults: &mut Vec<SkillFault>) {
    let declared = |name: &str| skill.parameters.iter().any(|parameter| parameter.name == name);
    let mut used = Vec::new();
    // A skill may show others how to write blanks.
    let mut is_example = false;
    for (index, line) in skill.body.lines().enumerate() {
        is_example ^= line.trim_start().starts_with("```");
        for piece in pieces(line) {
            let Piece::Blank { name, whole } = piece else { continue };
            if !declared(name) && !is_example {
                let message = format!("{whole} is no parameter and stays as it is");
                faults.push(SkillFault::warning(first_line + index, message));
            }
            used.push(name);
        }
    }
    for parameter in &skill.parameters {
        if !used.contains(&&*parameter.name) {
            let message = format!("The instructions have no {{{{{}}}}}", parameter.name);
            faults.push(SkillFault::warning(first_line, message));
        }
    }
}

/// Instructions with values in their blanks.
pub(crate) struct Filled {
    pub(crate) text: String,
    /// Values for which there is no parameter.
    pub(crate) unknown: Vec<String>,
}

/// A value that has to be given.
pub(crate) struct MissingValue<'a>(pub(crate) &'a SkillParameter);

impl Skill {
    /// The first parameter that has to be given and is not.
    pub fn missing(&self, values: &Map<String, Value>) -> Option<&SkillParameter> {
        let is_missing = |parameter: &&SkillParameter| {
            parameter.required && parameter.default.is_none() && given(values, parameter).is_none()
        };
        self.parameters.iter().find(is_missing)
    }

    /// Puts values into the blanks. They are not looked at again: a value cannot name another blank.
    pub(crate) fn fill(&self, values: &Map<String, Value>) -> Result<Filled, MissingValue<'_>> {
        if let Some(missing) = self.missing(values) {
            return Err(MissingValue(missing));
        }
        let mut known: Vec<(&str, Cow<'_, str>)> = Vec::new();
        for parameter in &self.parameters {
            let given = given(values, parameter).map(as_text);
            let value = given.or_else(|| parameter.default.as_deref().map(Cow::Borrowed));
            known.push((&parameter.name, value.unwrap_or_default()));
        }
        let text = pieces(&self.body)
            .map(|piece| match piece {
                Piece::Text(text) => Cow::Borrowed(text),
                Piece::Blank { name, whole } => known
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map_or(Cow::Borrowed(whole), |(_, value)| value.clone()),
            })
            .collect();
        let is_unknown = |name: &&String| !known.iter().any(|(known, _)| known == name);
        Ok(Filled { text, unknown: values.keys().filter(is_unknown).cloned().collect() })
    }
}

/// Null means absent, as for every parameter.
fn given<'a>(values: &'a Map<String, Value>, parameter: &SkillParameter) -> Option<&'a Value> {
    values.get(&parameter.name).filter(|value| !value.is_null())
}

fn as_text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

/// What a text is made of.
enum Piece<'a> {
    Text(&'a str),
    Blank { name: &'a str, whole: &'a str },
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, length)) = blank_at(rest) {
            let (whole, after) = rest.split_at(length);
            rest = after;
            return Some(Piece::Blank { name, whole });
        }
        // A brace that begins no blank is text.
        let next = rest.char_indices().skip(1).find(|(at, _)| rest[*at..].starts_with("{{"));
        let (text, after) = rest.split_at(next.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(Piece::Text(text))
    })
}

/// The name of the blank that a text begins with, and how long the whole is.
fn blank_at(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("{{")?;
    // No further than a name goes: a text of nothing but braces must not take its square.
    let end = inner[..inner.floor_char_boundary(LONGEST_NAME + 64)].find("}}")?;
    let name = inner[..end].trim_matches(' ');
    is_parameter_name(name).then_some((name, end + 4))
}

/// As people write variables: letters, digits, `_` and `-`.
pub(super) fn is_parameter_name(name: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.len() <= LONGEST_NAME && name.chars().all(is_fine)
}
