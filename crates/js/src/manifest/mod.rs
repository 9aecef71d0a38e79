//! From the text of a manifest to definitions.
//!
//! An object is one tool, named as its file; an array is a group of them (RFC-018), whose first entry
//! may describe the group (RFC-040). A bad entry is reported with its index and the good ones are kept.

mod entry;
pub(crate) mod fields;
pub(crate) mod json;

use std::{collections::HashSet, time::Duration};

use pinza_core::{Capability, Group, GroupName, ToolDefinition, json_type};
use serde_json::{Map, Value};

use crate::caps::{Asked, Caps};
use entry::Place;
use fields::warn_of_unknown;

pub(crate) use entry::snake_case;
pub(crate) use fields::near;

/// Longer manifests are refused.
pub(crate) const MANIFEST_LIMIT: u64 = 1 << 20;
/// More than this nobody may ask for, whatever policy says.
pub(crate) const MOST: Caps = Caps { heap: 512 << 20, stack: 6144 << 10, timeout: Duration::from_secs(3600) };
/// Tools in a group, `_meta` not counted.
pub(crate) const GROUP_LIMIT: usize = 50;

/// What a manifest says, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// `None` for a single tool.
    pub group: Option<Group>,
    pub entries: Vec<ManifestEntry>,
    /// It is a group that names no tool, which is a fault, and yet what its author wrote.
    pub is_empty: bool,
    pub faults: Vec<ManifestFault>,
}

#[derive(Clone, Debug)]
pub struct ManifestEntry {
    pub definition: ToolDefinition,
    /// The script's function, in a group; a single tool's is `execute`.
    pub function: Option<String>,
    /// The variables that the tool declares to read.
    pub env: Option<Vec<String>>,
    /// The most that its bridges may do.
    pub capabilities: Option<Vec<Capability>>,
    /// Its timeout is in the definition as well.
    pub asked: Asked,
    /// Where it stands in the manifest's array; 0 for a single tool.
    pub index: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFault {
    /// The index in the manifest's array; `None` where the whole file is meant.
    pub entry: Option<usize>,
    pub message: String,
    /// Line and column of a fault in the JSON itself.
    pub position: Option<(usize, usize)>,
    /// What it is about works all the same.
    pub warning: bool,
}

impl Manifest {
    /// Reads the manifest `base`.json.
    pub fn parse(text: &str, base: &str) -> Self {
        let mut manifest = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match json::parse(text) {
            Ok((value, doubles)) => {
                let doubled = |key| format!("The key '{key}' is there twice; the last one counts");
                manifest.warnings(None, doubles.into_iter().map(doubled));
                manifest.take(value, base);
            }
            Err(error) => manifest.faults.push(ManifestFault {
                entry: None,
                message: json::reason(text, &error),
                position: Some(json::position(text, &error)),
                warning: false,
            }),
        }
        manifest
    }

    fn take(&mut self, value: Value, base: &str) {
        match value {
            Value::Object(fields) => self.take_entry(&fields, Place::Single { base }, None),
            Value::Array(values) => self.take_group(&values, base),
            other => self.fault(None, format!("JSON must be an object or array, not {}", json_type(&other))),
        }
    }

    fn take_group(&mut self, values: &[Value], base: &str) {
        let name = match GroupName::new(base) {
            Ok(name) => name,
            Err(error) => return self.fault(None, error.to_string()),
        };
        let mut group = Group::unnamed(name);
        let meta = values.first().and_then(Value::as_object).filter(|fields| fields.contains_key("_meta"));
        if let Some(meta) = meta {
            match describe(&mut group, meta) {
                Ok(warnings) => self.warnings(Some(0), warnings),
                Err(message) => self.fault(Some(0), message),
            }
        }
        self.group = Some(group);
        let first = usize::from(meta.is_some());
        let count = values.len() - first;
        if count > GROUP_LIMIT {
            let message = format!("Tool group in '{base}.json' has {count} entries (maximum: {GROUP_LIMIT})");
            return self.fault(None, message);
        }
        if count == 0 {
            self.is_empty = true;
            // Nothing loads, so it is no warning: somebody waits for this file's tools.
            return self.fault(None, format!("Empty tool group in '{base}.json'"));
        }
        self.take_entries(values.iter().enumerate().skip(first), base);
    }

    fn take_entries<'a>(&mut self, values: impl Iterator<Item = (usize, &'a Value)>, base: &str) {
        let mut names = HashSet::new();
        for (index, value) in values {
            let Some(fields) = value.as_object() else {
                self.fault(Some(index), format!("An entry must be an object, not {}", json_type(value)));
                continue;
            };
            let name = fields.get("name").and_then(Value::as_str);
            if let Some(name) = name.filter(|name| names.contains(*name)) {
                let message =
                    format!("Duplicate tool name '{name}' in group '{base}.json' (entry {index} skipped)");
                self.fault(Some(index), message);
                continue;
            }
            let known = self.entries.len();
            self.take_entry(fields, Place::Group { base, index }, Some(index));
            names.extend(self.entries[known..].iter().map(|entry| entry.definition.name.to_string()));
        }
    }

    fn take_entry(&mut self, fields: &Map<String, Value>, place: Place<'_>, index: Option<usize>) {
        let mut warnings = Vec::new();
        match entry::read(fields, place, &mut warnings) {
            Ok(entry) => self.entries.push(entry),
            Err(message) => self.fault(index, message),
        }
        // A field that is missing may be there under another name.
        self.warnings(index, warnings);
    }

    fn fault(&mut self, entry: Option<usize>, message: String) {
        self.faults.push(ManifestFault { entry, message, position: None, warning: false });
    }

    fn warnings(&mut self, entry: Option<usize>, messages: impl IntoIterator<Item = String>) {
        let warning = |message| ManifestFault { entry, message, position: None, warning: true };
        self.faults.extend(messages.into_iter().map(warning));
    }
}

/// Takes the words of a `_meta` entry.
fn describe(group: &mut Group, meta: &Map<String, Value>) -> Result<Vec<String>, String> {
    if meta.get("_meta") != Some(&Value::Bool(true)) {
        return Err("'_meta' must be true".into());
    }
    for (field, place) in [("display_name", &mut group.display_name), ("description", &mut group.description)]
    {
        match meta.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => place.clone_from(text),
            Some(other) => return Err(format!("'{field}' must be a string, not {}", json_type(other))),
        }
    }
    Ok(warn_of_unknown(meta, &["_meta", "display_name", "description"], ""))
}
