//! One server as another program has it, as an entry of ours; or the reason why it cannot be one.

use std::path::Path;

use pinza::{
    core::visible,
    mcp::client::{Origin, UpstreamName},
};
use serde_json::Value;
use toml_edit::{Array, Item, Table};

use super::{super::add, secrets};
use crate::upstreams::ServerTable;

/// All that is understood of an entry.
const KEYS: [&str; 9] = ["command", "args", "env", "cwd", "url", "headers", "type", "disabled", "enabled"];

pub(super) struct Converted {
    pub(super) name: String,
    /// Values of `env` and `headers` still stand in it, until their variables have names.
    pub(super) entry: Table,
    /// Values to be kept encrypted: table, key, value.
    pub(super) values: Vec<(&'static str, String, String)>,
    pub(super) wanted: Vec<String>,
    pub(super) notes: Vec<String>,
}

pub(super) fn convert(written: &str, server: &Value) -> Result<Converted, String> {
    let name = upstream_name(written)?;
    if server.get("disabled") == Some(&Value::Bool(true))
        || server.get("enabled") == Some(&Value::Bool(false))
    {
        return Err("it is switched off there".into());
    }
    let mut converted =
        Converted { name, entry: Table::new(), values: Vec::new(), wanted: Vec::new(), notes: Vec::new() };
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    match (text("command"), text("url")) {
        (Some(command), _) => converted.command(command, server)?,
        (None, Some(_)) if text("type") == Some("sse") => {
            return Err("it speaks the old HTTP+SSE transport, which has no successor here".into());
        }
        (None, Some(url)) => {
            let url = converted.plain("url", url)?;
            converted.entry.insert("url", url.into());
            converted.pairs("headers", server.get("headers"))?;
        }
        (None, None) => return Err("it has neither command nor url".into()),
    }
    converted.check()?;
    let other = server.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let other: Vec<String> = other.filter(|key| !KEYS.contains(key)).map(visible).collect();
    if !other.is_empty() {
        converted.notes.push(format!("not taken over, as Pinza has no such setting: {}", other.join(", ")));
    }
    if secrets::stand_in(&converted.entry) {
        let note = "its command or address seems to hold a secret, which stands in config.toml in plain text; hand it over in env or headers if you can";
        converted.notes.push(note.into());
    }
    Ok(converted)
}

fn upstream_name(written: &str) -> Result<String, String> {
    let name: String = written
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .collect();
    let name = name.trim_matches(['-', '_']).to_owned();
    UpstreamName::new(&name)?;
    Ok(name)
}

impl Converted {
    fn command(&mut self, command: &str, server: &Value) -> Result<(), String> {
        let given = match server.get("args") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(arguments)) => arguments,
            Some(_) => return Err("its args are no list".into()),
        };
        let mut words = vec![self.plain("command", command)?];
        for (index, argument) in given.iter().enumerate() {
            let place = format!("args[{index}]");
            let text = scalar(argument).ok_or_else(|| format!("{place} is neither text nor a number"))?;
            words.push(self.plain(&place, &text)?);
        }
        let is_pinza = Path::new(command).file_name().is_some_and(|file| file == "pinza");
        if is_pinza && words.iter().any(|word| word == "serve") {
            return Err("it is Pinza itself".into());
        }
        self.entry.insert("command", Item::Value(words.iter().collect::<Array>().into()));
        match server.get("cwd") {
            None | Some(Value::Null) => {}
            Some(Value::String(directory)) => {
                let directory = self.plain("cwd", directory)?;
                self.entry.insert("directory", directory.into());
            }
            Some(_) => return Err("its cwd is no text".into()),
        }
        self.pairs("env", server.get("env"))
    }

    /// A text that cannot refer to variables here.
    fn plain(&mut self, place: &str, text: &str) -> Result<String, String> {
        let Text { text, wanted, defaults } = read(text).map_err(|odd| unknown(place, &odd))?;
        if let Some(name) = wanted.first() {
            return Err(format!(
                "its {place} refers to ${{{name}}}; here only env and headers can refer to variables"
            ));
        }
        self.note_defaults(&defaults);
        Ok(text)
    }

    fn pairs(&mut self, table: &'static str, given: Option<&Value>) -> Result<(), String> {
        let given = match given {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(format!("its {table} is no object")),
        };
        let mut pairs = Vec::new();
        for (key, value) in given {
            let place = format!("{table}.{}", visible(key));
            let value = scalar(value).ok_or_else(|| format!("{place} is neither text nor a number"))?;
            let Text { text, wanted, defaults } = read(&value).map_err(|odd| unknown(&place, &odd))?;
            self.note_defaults(&defaults);
            if wanted.is_empty() {
                self.values.push((table, key.clone(), text.clone()));
            }
            self.wanted.extend(wanted);
            pairs.push((key.clone(), text));
        }
        add::insert_pairs(&mut self.entry, table, pairs.into_iter());
        Ok(())
    }

    fn note_defaults(&mut self, names: &[String]) {
        let note = |name: &String| {
            format!("{name} has its default now, as there are no defaults in Pinza's entries")
        };
        self.notes.extend(names.iter().map(note));
    }

    /// As `mcp add` would read it.
    fn check(&self) -> Result<(), String> {
        // An error's text would quote the line, with its values.
        let mut entry = self.entry.clone();
        for (table, key, _) in &self.values {
            let values = entry.get_mut(table).and_then(Item::as_inline_table_mut);
            if let Some(value) = values.and_then(|values| values.get_mut(key)) {
                *value = "".into();
            }
        }
        let checked: ServerTable =
            toml_edit::de::from_str(&entry.to_string()).map_err(|error| error.to_string())?;
        checked.spec(&self.name, Path::new("/"), Origin::User).map_err(|error| format!("{error:#}"))?;
        Ok(())
    }
}

fn unknown(place: &str, odd: &str) -> String {
    format!("its {place} refers to ${{{}}}, which Pinza does not know", visible(odd))
}

/// Text, and numbers and switches as text; nothing of what has parts.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text with references as we write them.
struct Text {
    text: String,
    /// The variables that it refers to.
    wanted: Vec<String>,
    /// Those that became their default.
    defaults: Vec<String>,
}

/// `${NAME}` and `${env:NAME}` as ours, `${NAME:-default}` as its default. The error is a reference of another kind.
fn read(text: &str) -> Result<Text, String> {
    let mut found = Text { text: String::new(), wanted: Vec::new(), defaults: Vec::new() };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        // Without an end it is just text.
        let Some((inner, behind)) = after.split_once('}') else { break };
        found.text.push_str(before);
        let name = inner.strip_prefix("env:").unwrap_or(inner);
        let (name, default) =
            name.split_once(":-").map_or((name, None), |(name, default)| (name, Some(default)));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(inner.to_owned());
        }
        match default {
            Some(default) => {
                found.text.push_str(default);
                found.defaults.push(name.to_owned());
            }
            None => {
                found.text.push_str(&format!("${{env.{name}}}"));
                found.wanted.push(name.to_owned());
            }
        }
        rest = behind;
    }
    found.text.push_str(rest);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_the_environment_stay_references() {
        let ours = |text: &str| read(text).map(|read| read.text);
        assert_eq!(ours("Bearer ${TOKEN}").as_deref(), Ok("Bearer ${env.TOKEN}"));
        assert_eq!(ours("${env:A}${B:-x}").as_deref(), Ok("${env.A}x"));
        assert_eq!(ours("sk-${123").as_deref(), Ok("sk-${123"));
        assert_eq!(ours("${input:key}"), Err("input:key".to_owned()));
    }
}
