//! The fields of an entry, each checked with words about itself.

use std::time::Duration;

use pinza_core::{Capability, Parameters, json_type, visible};
use serde_json::{Map, Value};

use super::MOST;
use crate::caps::Asked;

/// The types of JSON Schema.
pub(crate) const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];
pub(crate) const LIMITS: [&str; 2] = ["heapMb", "stackKb"];
const NEAR: usize = 3;
/// So many are compared: a script may bind a hundred thousand names.
const KNOWN: usize = 1000;
/// Names longer than this look like none.
const NAME: usize = 128;

type Fields = Map<String, Value>;

/// A field that may be left out; null counts as left out.
pub(crate) fn optional<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

pub(crate) fn text<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, String> {
    let Some(value) = optional(fields, name) else { return Ok(None) };
    value.as_str().map(Some).ok_or_else(|| format!("'{name}' must be a string, not {}", json_type(value)))
}

pub(crate) fn boolean(fields: &Fields, name: &str) -> Result<bool, String> {
    let Some(value) = optional(fields, name) else { return Ok(false) };
    value.as_bool().ok_or_else(|| format!("'{name}' must be true or false, not {}", json_type(value)))
}

pub(crate) fn strings(fields: &Fields, name: &str) -> Result<Option<Vec<String>>, String> {
    let Some(value) = optional(fields, name) else { return Ok(None) };
    let wrong = || format!("'{name}' must be a list of strings");
    let values = value.as_array().ok_or_else(wrong)?;
    let strings: Option<Vec<String>> = values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
    strings.map(Some).ok_or_else(wrong)
}

pub(crate) fn capabilities(fields: &Fields, name: &str) -> Result<Option<Vec<Capability>>, String> {
    let Some(names) = strings(fields, name)? else { return Ok(None) };
    let parsed: Result<Vec<_>, _> = names.iter().map(Capability::new).collect();
    parsed.map(Some).map_err(|error| format!("'{name}': {error}"))
}

pub(crate) fn env(fields: &Fields) -> Result<Option<Vec<String>>, String> {
    let names = strings(fields, "env")?;
    match names.iter().flatten().find(|name| !is_variable(name)) {
        Some(name) => Err(format!("'env' names '{}', which is no name of a variable", visible(name))),
        None => Ok(names),
    }
}

pub(crate) fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

pub(crate) fn timeout(fields: &Fields) -> Result<Option<Duration>, String> {
    let Some(value) = optional(fields, "timeoutSeconds") else { return Ok(None) };
    let most = MOST.timeout.as_secs_f64();
    let seconds = value.as_f64().filter(|seconds| (0.1..=most).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("'timeoutSeconds' must be a number from 0.1 to {most}"))?;
    Ok(Some(Duration::from_secs_f64(seconds)))
}

/// What `limits` asks for, with warnings about what is not known in it.
pub(crate) fn limits(fields: &Fields) -> Result<(Asked, Vec<String>), String> {
    let mut asked = Asked::default();
    let Some(value) = optional(fields, "limits") else { return Ok((asked, Vec::new())) };
    let value =
        value.as_object().ok_or_else(|| format!("'limits' must be an object, not {}", json_type(value)))?;
    asked.heap = whole(value, "heapMb", 1..=MOST.heap >> 20)?.map(|megabytes| megabytes << 20);
    asked.stack = whole(value, "stackKb", 64..=MOST.stack >> 10)?.map(|kilobytes| kilobytes << 10);
    Ok((asked, warn_of_unknown(value, &LIMITS, " in 'limits'")))
}

fn whole(
    fields: &Fields,
    name: &str,
    range: std::ops::RangeInclusive<usize>,
) -> Result<Option<usize>, String> {
    let Some(value) = optional(fields, name) else { return Ok(None) };
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    let wrong = || format!("'{name}' must be a whole number from {} to {}", range.start(), range.end());
    number.filter(|number| range.contains(number)).map(Some).ok_or_else(wrong)
}

/// The schema of the parameters, with warnings about what a model will miss in it.
pub(crate) fn parameters(fields: &Fields) -> Result<(Parameters, Vec<String>), String> {
    let Some(schema) = optional(fields, "parameters") else { return Ok((Parameters::none(), Vec::new())) };
    if let Some(properties) = schema.get("properties").filter(|properties| !properties.is_object()) {
        return Err(format!("'parameters.properties' must be an object, not {}", json_type(properties)));
    }
    let required = schema.get("required").filter(|required| !required.is_null());
    let is_list = |list: &Vec<Value>| list.iter().all(Value::is_string);
    if required.is_some_and(|required| !required.as_array().is_some_and(is_list)) {
        return Err("'parameters.required' must be a list of names".into());
    }
    let parameters = Parameters::from_schema(schema.clone()).map_err(|error| error.to_string())?;
    let mut warnings = Vec::new();
    if let Some(name) = misplaced(schema) {
        warnings.push(format!(
            "'parameters' has '{}' but no 'properties', where parameters stand",
            visible(name)
        ));
    }
    for (name, schema) in parameters.properties() {
        warnings.extend(parameter(&visible(name), schema)?);
    }
    for name in parameters.required().filter(|name| parameters.property(name).is_none()) {
        warnings.push(format!("Required parameter '{}' is not among the properties", visible(name)));
    }
    Ok((parameters, warnings))
}

/// A parameter that stands beside the schema's keywords, as if the schema were a list of parameters.
pub(crate) fn misplaced(schema: &Value) -> Option<&String> {
    let fields = schema.as_object().filter(|fields| !fields.contains_key("properties"))?;
    let says_type = |value: &Value| value.get("type").is_some_and(Value::is_string);
    fields.iter().find(|(name, value)| !name.starts_with('$') && says_type(value)).map(|(name, _)| name)
}

fn parameter(name: &str, schema: &Value) -> Result<Option<String>, String> {
    let missing = || Some(format!("Parameter '{name}' has no description"));
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Bool(_) => return Ok(missing()),
        other => return Err(format!("Parameter '{name}' must be a schema object, not {}", json_type(other))),
    };
    let kinds: Vec<&Value> = match fields.get("type") {
        None => Vec::new(),
        Some(Value::Array(kinds)) => kinds.iter().collect(),
        Some(kind) => vec![kind],
    };
    for kind in kinds {
        let word = kind.as_str().unwrap_or_default();
        if !TYPES.contains(&word) {
            let near = did_you_mean(word, TYPES);
            return Err(format!(
                "Parameter '{name}' has the unknown type {}{near}",
                visible(&kind.to_string())
            ));
        }
    }
    let described = fields.get("description").and_then(Value::as_str);
    Ok(if described.is_none_or(|text| text.trim().is_empty()) { missing() } else { None })
}

/// `{"alias": "parameter"}`.
pub(crate) fn aliases(fields: &Fields, parameters: &Parameters) -> Result<Vec<(String, String)>, String> {
    let Some(value) = optional(fields, "aliases") else { return Ok(Vec::new()) };
    let wrong = || "'aliases' must be an object of names: {\"alias\": \"parameter\"}".to_owned();
    let mut aliases = Vec::new();
    for (alias, parameter) in value.as_object().ok_or_else(wrong)? {
        let parameter = parameter.as_str().ok_or_else(wrong)?;
        if parameters.property(parameter).is_none() {
            let (alias, parameter) = (visible(alias), visible(parameter));
            return Err(format!("The alias '{alias}' stands for '{parameter}', which is no parameter"));
        }
        aliases.push((alias.clone(), parameter.to_owned()));
    }
    Ok(aliases)
}

/// One warning for each field that nothing reads, with a known name that looks like it.
pub(crate) fn warn_of_unknown(fields: &Fields, known: &[&str], place: &str) -> Vec<String> {
    let unknown = fields.keys().filter(|name| !known.contains(&name.as_str()));
    unknown
        .take(20)
        .map(|name| {
            let near = did_you_mean(name, known.iter().copied());
            format!("Unknown field '{}'{place}{near}", visible(name))
        })
        .collect()
}

pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = near(name, known);
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

/// Known names that look like `name`, the closest first.
pub(crate) fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > NAME {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&name, &known.to_lowercase());
    let short = known.into_iter().filter(|known| known.len() <= NAME).take(KNOWN);
    let mut near: Vec<(f64, &str)> = short.map(|known| (likeness(known), known)).collect();
    near.retain(|(likeness, _)| *likeness > 0.8);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(NEAR).map(|(_, known)| known).collect()
}
