//! What the fields of front matter mean, and what is wrong with them.

use super::{
    Skill, SkillFault, SkillName, SkillParameter, SkillSource,
    text::is_parameter_name,
    yaml::{Map, Node, Value},
};
use crate::names::ToolName;

const KNOWN: [&str; 6] = ["name", "display_name", "description", "version", "tools_required", "parameters"];
const OF_PARAMETER: [&str; 4] = ["name", "description", "required", "default"];

/// A description is a line in every system prompt.
const LONGEST_LINE: usize = 1024;
const MOST_ITEMS: usize = 100;

/// Everything but the instructions. `None` where a required field is missing or wrong.
pub(super) fn read(map: &Map, faults: &mut Vec<SkillFault>) -> Option<Skill> {
    unknown(map, &KNOWN, "", faults);
    let name = required(map, "name", faults).and_then(|(text, line)| match SkillName::new(&text) {
        Ok(name) => Some(name),
        Err(error) => {
            faults.push(SkillFault::new(line, error.to_string()));
            None
        }
    });
    // Skills of other programs have none.
    let display_name = match field(map, "display_name") {
        Some(node) => one_line(node, "display_name", faults).map(|(text, _)| text),
        None => name.as_ref().map(SkillName::title),
    };
    let description = required(map, "description", faults).map(|(text, _)| text);
    let version = field(map, "version").and_then(|node| one_line(node, "version", faults));
    let tools_required = field(map, "tools_required").map(|node| tools(node, faults)).unwrap_or_default();
    let parameters = field(map, "parameters").map(|node| parameters(node, faults)).unwrap_or_default();
    Some(Skill {
        name: name?,
        display_name: display_name?,
        description: description?,
        version: version.map(|(text, _)| text),
        tools_required,
        parameters,
        body: String::new(),
        source: SkillSource::default(),
    })
}

fn unknown(map: &Map, known: &[&str], of: &str, faults: &mut Vec<SkillFault>) {
    for (name, line, _) in map.iter().filter(|(name, ..)| !known.contains(&name.as_str())) {
        let near = known.iter().find(|known| strsim::jaro_winkler(known, name) > 0.85);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        let message = format!("Unknown field '{}'{of} is ignored{hint}", crate::visible(name));
        faults.push(SkillFault::warning(*line, message));
    }
}

/// A field that says something; `key:` and `key: null` do not.
fn field<'a>(map: &'a Map, name: &str) -> Option<&'a Node> {
    let node = map.iter().find(|(known, ..)| known == name).map(|(_, _, node)| node)?;
    let is_null =
        matches!(&node.value, Value::Text { text, plain: true } if matches!(&**text, "" | "~" | "null"));
    (!is_null).then_some(node)
}

fn required(map: &Map, name: &str, faults: &mut Vec<SkillFault>) -> Option<(String, usize)> {
    match field(map, name) {
        Some(node) => one_line(node, name, faults),
        None => {
            let line = map.iter().find(|(known, ..)| known == name).map_or(1, |(_, line, _)| *line);
            faults.push(SkillFault::new(line, format!("Missing required field '{name}'")));
            None
        }
    }
}

/// A text as one line, however it was folded.
fn one_line(node: &Node, name: &str, faults: &mut Vec<SkillFault>) -> Option<(String, usize)> {
    let mut fault = |message: String| {
        faults.push(SkillFault::new(node.line, message));
        None
    };
    let Value::Text { text, .. } = &node.value else { return fault(format!("'{name}' must be a text")) };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return fault(format!("'{name}' is empty"));
    }
    if line.chars().count() > LONGEST_LINE {
        return fault(format!("'{name}' is longer than {LONGEST_LINE} characters"));
    }
    if line
        .chars()
        .any(|c| c.is_control() || crate::visible::is_hidden(c) && c != '\u{fe0f}' && c != '\u{200d}')
    {
        return fault(format!("'{name}' has characters that cannot be seen: {}", crate::visible(&line)));
    }
    Some((line, node.line))
}

/// A list; one text alone is a list of one.
fn items<'a>(node: &'a Node, name: &str, faults: &mut Vec<SkillFault>) -> &'a [Node] {
    match &node.value {
        Value::List(items) if items.len() <= MOST_ITEMS => items,
        Value::List(_) => {
            faults.push(SkillFault::new(node.line, format!("'{name}' has more than {MOST_ITEMS} entries")));
            &[]
        }
        Value::Text { .. } => std::slice::from_ref(node),
        Value::Map(_) => {
            faults.push(SkillFault::new(node.line, format!("'{name}' must be a list")));
            &[]
        }
    }
}

fn tools(node: &Node, faults: &mut Vec<SkillFault>) -> Vec<ToolName> {
    let mut tools: Vec<ToolName> = Vec::new();
    for item in items(node, "tools_required", faults) {
        let Some((text, line)) = one_line(item, "tools_required", faults) else { continue };
        match ToolName::new(&text) {
            Ok(name) if tools.contains(&name) => {}
            Ok(name) => tools.push(name),
            Err(error) => faults.push(SkillFault::new(line, error.to_string())),
        }
    }
    tools
}

fn parameters(node: &Node, faults: &mut Vec<SkillFault>) -> Vec<SkillParameter> {
    let mut parameters: Vec<SkillParameter> = Vec::new();
    for item in items(node, "parameters", faults) {
        let Some(parameter) = parameter(item, faults) else { continue };
        if parameters.iter().any(|known| known.name == parameter.name) {
            let message = format!("Parameter '{}' is there twice", parameter.name);
            faults.push(SkillFault::new(item.line, message));
        }
        parameters.push(parameter);
    }
    parameters
}

/// `- name: city` with description, required and default; or only `- city`.
fn parameter(item: &Node, faults: &mut Vec<SkillFault>) -> Option<SkillParameter> {
    let nothing = Map::new();
    let (map, name) = match &item.value {
        Value::Map(map) => (map, required(map, "name", faults)?),
        _ => (&nothing, one_line(item, "parameters", faults)?),
    };
    unknown(map, &OF_PARAMETER, " of a parameter", faults);
    let (name, line) = name;
    if !is_parameter_name(&name) {
        let message = format!(
            "Parameter name '{}' must be letters, digits, '_' and '-', with a letter first",
            crate::visible(&name)
        );
        faults.push(SkillFault::new(line, message));
        return None;
    }
    let description = field(map, "description").and_then(|node| one_line(node, "description", faults));
    let required = field(map, "required").is_some_and(|node| is_true(node, faults));
    let default = field(map, "default").and_then(|node| match &node.value {
        Value::Text { text, .. } => Some(text.clone()),
        _ => {
            faults.push(SkillFault::new(node.line, "'default' must be a text"));
            None
        }
    });
    if required && default.is_some() {
        let message = format!("Parameter '{name}' has a default, so it is never missing");
        faults.push(SkillFault::warning(line, message));
    }
    let description = description.map(|(text, _)| text).unwrap_or_default();
    Some(SkillParameter { name, description, required, default })
}

fn is_true(node: &Node, faults: &mut Vec<SkillFault>) -> bool {
    match &node.value {
        Value::Text { text, plain: true } if matches!(&**text, "true" | "True" | "TRUE") => true,
        Value::Text { text, plain: true } if matches!(&**text, "false" | "False" | "FALSE") => false,
        _ => {
            faults.push(SkillFault::new(node.line, "'required' must be true or false"));
            false
        }
    }
}
