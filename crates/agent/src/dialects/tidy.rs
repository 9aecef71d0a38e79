//! One clean form to start from: a well-formed schema of draft 2020-12 whose references all
//! point to `#` or `#/$defs/NAME`.
//!
//! Anthropic refuses a request when a single keyword of a single tool does not fit the
//! draft, so one careless MCP server could take every other tool with it. What older drafts
//! wrote otherwise is rewritten; what is plainly wrong is dropped and reported.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{
    MAX_DEPTH,
    keywords::{self, Holds},
    references::Document,
};
use crate::loss::{Losses, Place};

pub(super) fn tidy(schema: &Value, losses: &mut Losses) -> Value {
    let mut tidy = Tidy { document: Document::new(schema), definitions: Definitions::default(), losses };
    let place = Place::root();
    let mut root = tidy.schema(schema, &place);
    let definitions = tidy.definitions(&place);
    if let Value::Object(root) = &mut root
        && !definitions.is_empty()
    {
        root.insert("$defs".into(), definitions.into());
    }
    root
}

struct Tidy<'a, 'l> {
    document: Document<'a>,
    definitions: Definitions,
    losses: &'l mut Losses,
}

impl Tidy<'_, '_> {
    fn schema(&mut self, schema: &Value, place: &Place<'_>) -> Value {
        let source = match schema {
            Value::Bool(_) => return schema.clone(),
            Value::Object(_) if place.depth() > MAX_DEPTH => {
                self.losses.add(place, "the schema nests too deep; any value is shown from here on");
                return Map::new().into();
            }
            Value::Object(source) => source,
            _ => {
                self.losses.add(place, "it is not a schema; any value is shown instead");
                return Map::new().into();
            }
        };
        let mut tidy = Map::new();
        for (keyword, value) in source {
            self.keyword(source, keyword, value, &mut tidy, &place.at(keyword.as_str()));
        }
        if keywords::types(&tidy).contains(&"array") && !tidy.contains_key("items") {
            tidy.insert("items".into(), Map::new().into());
        }
        tidy.into()
    }

    fn keyword(
        &mut self,
        source: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        tidy: &mut Map<String, Value>,
        place: &Place<'_>,
    ) {
        match (keyword, value) {
            // Only for whoever reads the file, or done with once references are resolved.
            ("$schema" | "$id" | "$comment" | "$vocabulary" | "$defs" | "definitions", _)
            | ("$anchor" | "$dynamicAnchor" | "$recursiveAnchor", _) => {}
            ("$ref", Value::String(reference)) => match self.reference(reference) {
                Some(reference) => {
                    tidy.insert("$ref".into(), reference.into());
                }
                None => self.losses.add(
                    place,
                    format!(
                        "'{}' is not in this schema; any value is shown instead",
                        pinza_core::visible(reference)
                    ),
                ),
            },
            ("$ref" | "$dynamicRef" | "$recursiveRef" | "dependencies", _) => {
                self.losses.add(place, "this form of it is not understood; dropped");
            }
            ("type", _) => self.types(value, tidy, place),
            // Tuples and exclusive bounds as older drafts wrote them.
            ("items", Value::Array(list)) if list.is_empty() => {}
            ("items", Value::Array(_)) => self.held("prefixItems", Holds::Schemas, value, tidy, place),
            ("additionalItems", _) => {
                if source.get("items").is_some_and(Value::is_array) {
                    self.held("items", Holds::Schema, value, tidy, place);
                }
            }
            ("minimum", _) if source.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {}
            ("maximum", _) if source.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {}
            ("exclusiveMinimum", Value::Bool(is_exclusive)) => {
                bound(keyword, *is_exclusive, source.get("minimum"), tidy);
            }
            ("exclusiveMaximum", Value::Bool(is_exclusive)) => {
                bound(keyword, *is_exclusive, source.get("maximum"), tidy);
            }
            ("required", Value::Array(names)) => self.required(names, tidy, place),
            _ => match keywords::holds(keyword) {
                Some(holds) => self.held(keyword, holds, value, tidy, place),
                None => {
                    tidy.insert(keyword.into(), value.clone());
                }
            },
        }
    }

    fn held(
        &mut self,
        keyword: &str,
        holds: Holds,
        value: &Value,
        tidy: &mut Map<String, Value>,
        place: &Place<'_>,
    ) {
        let value = match (holds, value) {
            // A subschema that is none becomes one, and says so itself.
            (Holds::Schema, _) => self.schema(value, place),
            _ if !keywords::fits(holds, value) => {
                self.losses.add(place, "its value is not valid JSON Schema; dropped");
                return;
            }
            (Holds::Schemas, Value::Array(schemas)) => {
                let schemas = schemas.iter().enumerate();
                schemas.map(|(index, schema)| self.schema(schema, &place.index(index))).collect()
            }
            (Holds::NamedSchemas, Value::Object(schemas)) => {
                let schemas = schemas.iter();
                let schemas = schemas
                    .map(|(name, schema)| (name.clone(), self.schema(schema, &place.at(name.as_str()))));
                Value::Object(schemas.collect())
            }
            _ => value.clone(),
        };
        tidy.insert(keyword.into(), value);
    }

    fn types(&mut self, value: &Value, tidy: &mut Map<String, Value>, place: &Place<'_>) {
        let listed = match value {
            Value::Array(kinds) => kinds.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut kinds: Vec<Value> = Vec::new();
        for kind in listed {
            match kind.as_str().map(str::to_ascii_lowercase).as_deref() {
                // A module's word for "no type".
                Some("any") => return,
                Some(kind) if TYPES.contains(&kind) => {
                    if !kinds.iter().any(|known| known == kind) {
                        kinds.push(kind.into());
                    }
                }
                _ => self.losses.add(place, format!("there is no type {kind}; dropped")),
            }
        }
        let kind = match (kinds.as_slice(), value) {
            ([], _) => return,
            ([only], Value::String(_)) => only.clone(),
            _ => kinds.into(),
        };
        tidy.insert("type".into(), kind);
    }

    fn required(&mut self, names: &[Value], tidy: &mut Map<String, Value>, place: &Place<'_>) {
        let mut seen = HashSet::new();
        let unique = names.iter().filter(|name| name.as_str().is_some_and(|name| seen.insert(name)));
        tidy.insert("required".into(), unique.cloned().collect());
        if names.iter().any(|name| !name.is_string()) {
            self.losses.add(place, "it lists something that is no name; dropped");
        }
    }

    fn reference(&mut self, reference: &str) -> Option<String> {
        let pointer = self.document.locate(reference)?;
        if pointer.is_empty() {
            return Some("#".into());
        }
        Some(format!("#/$defs/{}", self.definitions.name(pointer)))
    }

    /// Every schema that something refers to. Tidying one may find more of them.
    fn definitions(&mut self, place: &Place<'_>) -> Map<String, Value> {
        let mut definitions = Map::new();
        let place = place.at("$defs");
        while let Some((pointer, name)) = self.definitions.get(definitions.len()) {
            let target = self.document.at(&pointer).cloned().unwrap_or_default();
            let definition = self.schema(&target, &place.at(name.as_str()));
            definitions.insert(name, definition);
        }
        definitions
    }
}

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

fn bound(keyword: &str, is_exclusive: bool, limit: Option<&Value>, tidy: &mut Map<String, Value>) {
    if let Some(limit) = limit.filter(|limit| is_exclusive && limit.is_number()) {
        tidy.insert(keyword.into(), limit.clone());
    }
}

/// Names for what is referred to, wherever in the document it stands.
#[derive(Default)]
struct Definitions {
    by_pointer: IndexMap<String, String>,
    taken: HashSet<String>,
}

impl Definitions {
    fn name(&mut self, pointer: String) -> String {
        if let Some(name) = self.by_pointer.get(&pointer) {
            return name.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or_default();
        // Plain characters only: a reference is a URI, where others would need escapes.
        let stem: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' })
            .collect();
        let numbered = (self.taken.len()..).map(|number| format!("{stem}_{number}"));
        let free = std::iter::once(stem.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = free.unwrap_or(stem);
        self.taken.insert(name.clone());
        self.by_pointer.insert(pointer, name.clone());
        name
    }

    fn get(&self, index: usize) -> Option<(String, String)> {
        self.by_pointer.get_index(index).map(|(pointer, name)| (pointer.clone(), name.clone()))
    }
}
