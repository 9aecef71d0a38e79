//! OpenAI and Anthropic: JSON Schema as it is, below a root that is a plain object.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{flat::Flattener, references};
use crate::loss::{Losses, Place};

/// Converts a tidy schema.
pub(super) fn convert(tidy: &Value, losses: &mut Losses) -> Value {
    let place = Place::root();
    let mut root = tidy.as_object().cloned().unwrap_or_default();
    let definitions = root.shift_remove("$defs");
    if ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| root.contains_key(*keyword)) {
        let mut flattener = Flattener::new(tidy, losses);
        let mut flat = flattener.flatten(tidy, &place);
        flattener.one_object(&mut flat, &place);
        root = flat.own;
    }
    for keyword in ["not", "enum", "const"] {
        if root.shift_remove(keyword).is_some() {
            losses.add(&place.at(keyword), "the parameters as a whole cannot be restricted so; dropped");
        }
    }
    if let Some(Value::Object(definitions)) = definitions {
        let used = used_definitions(&root, definitions);
        if !used.is_empty() {
            root.insert("$defs".into(), used.into());
        }
    }
    root.into()
}

/// The definitions that are still referred to once the root is merged: the others would
/// only cost tokens.
fn used_definitions(root: &Map<String, Value>, mut definitions: Map<String, Value>) -> Map<String, Value> {
    let mut used: HashSet<&str> = HashSet::new();
    let mut pending: Vec<&Value> = root.values().collect();
    while let Some(schema) = pending.pop() {
        for reference in references::references(schema) {
            if let Some(name) = reference.strip_prefix("#/$defs/")
                && let Some(definition) = definitions.get(name)
                && used.insert(name)
            {
                pending.push(definition);
            }
        }
    }
    let used: HashSet<String> = used.into_iter().map(String::from).collect();
    definitions.retain(|name, _| used.contains(name));
    definitions
}
