//! Gemini: the `Schema` type of its API, a small part of OpenAPI's.
//!
//! It refuses every keyword that it does not know, anything beside `anyOf`, and an `enum` of
//! anything but texts; it has no references. Null is left out: a parameter that may be null
//! reads like an optional one, and the engine takes null for absent.

mod kind;

use serde_json::{Map, Value, json};

use self::kind::Kind;
use super::{
    MAX_DEPTH,
    flat::{Flat, Flattener},
    keywords::{self, is_annotation, is_vendors},
    merge,
};
use crate::loss::{Losses, Place};

/// Converts a tidy schema.
pub(super) fn convert(tidy: &Value, losses: &mut Losses) -> Value {
    let mut gemini = Gemini { flattener: Flattener::new(tidy, losses) };
    let mut root = gemini.schema(tidy, &Place::root());
    if !root.contains_key("properties") {
        root.shift_insert(1, "properties".into(), Map::new().into());
    }
    root.into()
}

struct Gemini<'a, 'l> {
    flattener: Flattener<'a, 'l>,
}

impl Gemini<'_, '_> {
    fn schema(&mut self, schema: &Value, place: &Place<'_>) -> Map<String, Value> {
        if place.depth() > MAX_DEPTH {
            self.lose(place, "the schema nests too deep; an object without details is shown instead");
            return Kind::Object.schema();
        }
        let mut flat = self.flattener.flatten(schema, place);
        self.settle_simple_groups(&mut flat, place);
        let variants = self.flattener.settle(&mut flat, place);
        let place = place.through(&flat.entered);
        if variants.is_empty() {
            return self.typed(&flat.own, &place);
        }
        let inside = place.at("anyOf");
        let variants = variants.iter().enumerate();
        let variants = variants.map(|(index, variant)| self.schema(variant, &inside.index(index))).collect();
        self.any_of(&flat.own, variants, &place)
    }

    /// Deals with the variants that need no `anyOf`: null, a single one, and literals.
    fn settle_simple_groups(&mut self, flat: &mut Flat, place: &Place<'_>) {
        let mut kept = Vec::new();
        let mut pending = std::mem::take(&mut flat.groups);
        pending.reverse();
        while let Some(mut group) = pending.pop() {
            group.variants.retain(|variant| !is_null(self.flattener.peek(variant)));
            if let [only] = group.variants.as_slice() {
                self.flattener.absorb(only, flat, &place.at(group.keyword));
                pending.append(&mut flat.groups);
            } else if let Some((values, notes)) = self.literals(&group.variants) {
                if !merge::both(&mut flat.own, "enum", &values.into()) {
                    self.lose(
                        &place.at(group.keyword),
                        "another part of the schema says something else; dropped",
                    );
                }
                append_description(&mut flat.own, "\n", &notes);
            } else if !group.variants.is_empty() {
                kept.push(group);
            }
        }
        flat.groups = kept;
    }

    /// The values of variants that are all literals, and what is said about each of them.
    fn literals(&self, variants: &[Value]) -> Option<(Vec<Value>, String)> {
        let (mut values, mut notes) = (Vec::new(), Vec::new());
        for variant in variants {
            let variant = self.flattener.peek(variant).as_object()?;
            let is_other =
                |keyword: &str| !is_annotation(keyword) && !matches!(keyword, "type" | "const" | "enum");
            if variant.keys().any(|keyword| is_other(keyword)) {
                return None;
            }
            let listed = match (variant.get("const"), variant.get("enum")) {
                (Some(value), None) => std::slice::from_ref(value),
                (None, Some(Value::Array(values))) => values.as_slice(),
                _ => return None,
            };
            if let ([value], Some(Value::String(note))) = (listed, variant.get("description")) {
                notes.push(format!("{}: {note}", shown(value)));
            }
            values.extend(listed.iter().cloned());
        }
        // An empty group says nothing.
        (!values.is_empty()).then(|| (values, notes.join("\n")))
    }

    fn typed(&mut self, own: &Map<String, Value>, place: &Place<'_>) -> Map<String, Value> {
        let kinds = kind::kinds(own).unwrap_or_else(|| {
            self.lose(&place.at("type"), "the schema does not say its type; STRING is shown");
            vec![Kind::String]
        });
        if let [kind] = kinds.as_slice() {
            return self.single(*kind, own, place);
        }
        let mut bare = own.clone();
        bare.retain(|keyword, _| !is_annotation(keyword));
        let variants = kinds.into_iter().map(|kind| self.single(kind, &bare, place)).collect();
        self.any_of(own, variants, place)
    }

    /// `anyOf` stands alone: what is said about all variants moves into them.
    fn any_of(
        &mut self,
        own: &Map<String, Value>,
        converted: Vec<Map<String, Value>>,
        place: &Place<'_>,
    ) -> Map<String, Value> {
        let mut variants: Vec<Value> = Vec::new();
        for mut variant in converted {
            let nested = match variant.shift_remove("anyOf") {
                Some(Value::Array(nested)) => nested,
                _ => vec![variant.into()],
            };
            for variant in nested {
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
        }
        let annotations = ["title", "description", "default", "example"];
        let annotations = annotations.iter().filter_map(|keyword| Some((*keyword, own.get(*keyword)?)));
        let annotations: Vec<(&str, &Value)> = annotations.filter(|(_, value)| !value.is_null()).collect();
        if let [Value::Object(only)] = variants.as_mut_slice() {
            let mut only = std::mem::take(only);
            for (keyword, value) in annotations {
                only.insert(keyword.into(), value.clone());
            }
            return only;
        }
        for (keyword, value) in annotations {
            if keyword != "description" {
                self.lose(&place.at(keyword), "Gemini takes nothing beside anyOf; dropped");
                continue;
            }
            for variant in variants.iter_mut().filter_map(Value::as_object_mut) {
                variant.entry(keyword).or_insert_with(|| value.clone());
            }
        }
        Map::from_iter([("anyOf".to_owned(), variants.into())])
    }

    fn single(&mut self, kind: Kind, own: &Map<String, Value>, place: &Place<'_>) -> Map<String, Value> {
        let mut schema = kind.schema();
        let mut one_of = String::new();
        for (keyword, value) in own {
            let here = place.at(keyword.as_str());
            match keyword.as_str() {
                // `items` is written whenever there is an array, from whatever says what it holds.
                "type" | "nullable" | "items" => {}
                "default" | "example" if value.is_null() => {}
                "title" | "description" | "default" | "example" => {
                    schema.insert(keyword.clone(), value.clone());
                }
                "enum" => one_of = self.enumeration(kind, value, &mut schema, &here),
                "format" => self.format(kind, value, &mut schema, &here),
                "properties" if kind == Kind::Object => self.properties(value, &mut schema, &here),
                "required" | "propertyOrdering" if kind == Kind::Object => {
                    self.property_names(keyword, own, &mut schema, &here);
                }
                "prefixItems" if kind == Kind::Array => {
                    self.lose(&here, "Gemini has no tuples; every item may be any of these");
                }
                keyword => match kind::applies_to(keyword) {
                    Some(kinds) if kinds.contains(&kind) => {
                        schema.insert(keyword.into(), value.clone());
                    }
                    // It says nothing about a value of this type.
                    Some(_) => {}
                    None if is_vendors(keyword) => {}
                    None if keyword == "additionalProperties" && *value == json!(true) => {}
                    None => self.lose(&here, "Gemini does not know this keyword; dropped"),
                },
            }
        }
        if kind == Kind::Array {
            let items = self.items(own, place);
            schema.insert("items".into(), items.into());
        }
        append_description(&mut schema, " ", &one_of);
        schema
    }

    /// Texts stay an `enum`; other values are told in words, which are returned.
    fn enumeration(
        &mut self,
        kind: Kind,
        values: &Value,
        schema: &mut Map<String, Value>,
        place: &Place<'_>,
    ) -> String {
        let values = values.as_array().into_iter().flatten().filter(|value| kind.admits(value));
        let mut values: Vec<&Value> = values.collect();
        if kind == Kind::String {
            let all = values.len();
            values.retain(|value| **value != json!(""));
            if values.len() < all {
                self.lose(place, "Gemini refuses the empty text as a choice; dropped");
            }
            if !values.is_empty() {
                schema.insert("enum".into(), values.into_iter().cloned().collect());
            }
            return String::new();
        }
        if values.is_empty() {
            return String::new();
        }
        self.lose(place, "Gemini lists only texts as choices; told in the description instead");
        let values: Vec<String> = values.into_iter().map(shown).collect();
        format!("One of: {}.", values.join(", "))
    }

    fn format(&mut self, kind: Kind, value: &Value, schema: &mut Map<String, Value>, place: &Place<'_>) {
        if value.as_str().is_some_and(|format| FORMATS.contains(&format)) {
            schema.insert("format".into(), value.clone());
        } else if matches!(kind, Kind::String | Kind::Number | Kind::Integer) {
            self.lose(place, format!("Gemini does not know the format {value}; dropped"));
        }
    }

    fn properties(&mut self, value: &Value, schema: &mut Map<String, Value>, place: &Place<'_>) {
        let properties = value.as_object().into_iter().flatten();
        let properties = properties
            .map(|(name, schema)| (name.clone(), self.schema(schema, &place.at(name.as_str())).into()));
        let properties: Map<String, Value> = properties.collect();
        if !properties.is_empty() {
            schema.insert("properties".into(), properties.into());
        }
    }

    /// A list of names may only name what is there.
    fn property_names(
        &mut self,
        keyword: &str,
        own: &Map<String, Value>,
        schema: &mut Map<String, Value>,
        place: &Place<'_>,
    ) {
        let properties = own.get("properties").and_then(Value::as_object);
        let is_property = |name: &&str| properties.is_some_and(|properties| properties.contains_key(*name));
        let (names, others): (Vec<&str>, Vec<&str>) =
            keywords::names(own, keyword).into_iter().partition(is_property);
        if !others.is_empty() {
            self.lose(place, "it names something that is no property; dropped");
        }
        if !names.is_empty() {
            schema.insert(keyword.into(), names.into());
        }
    }

    fn items(&mut self, own: &Map<String, Value>, place: &Place<'_>) -> Map<String, Value> {
        let items = own.get("items").filter(|items| items.as_object().is_some_and(|items| !items.is_empty()));
        let Some(Value::Array(tuple)) = own.get("prefixItems") else {
            return self.schema(items.unwrap_or(&Value::Bool(true)), &place.at("items"));
        };
        let inside = place.at("prefixItems");
        let tuple = tuple.iter().enumerate();
        let mut variants: Vec<_> =
            tuple.map(|(index, item)| self.schema(item, &inside.index(index))).collect();
        variants.extend(items.map(|items| self.schema(items, &place.at("items"))));
        self.any_of(&Map::new(), variants, place)
    }

    fn lose(&mut self, place: &Place<'_>, reason: impl Into<String>) {
        self.flattener.losses.add(place, reason);
    }
}

const FORMATS: [&str; 6] = ["enum", "date-time", "float", "double", "int32", "int64"];

fn is_null(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let has_only_null = |keyword: &str| match schema.get(keyword) {
        Some(Value::Array(values)) => !values.is_empty() && values.iter().all(Value::is_null),
        _ => false,
    };
    keywords::types(schema) == ["null"]
        || schema.get("const").is_some_and(Value::is_null)
        || has_only_null("enum")
}

/// A value as a model would write it among words.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn append_description(schema: &mut Map<String, Value>, separator: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let description = match schema.get("description").and_then(Value::as_str) {
        Some(known) if !known.is_empty() => format!("{known}{separator}{text}"),
        _ => text.to_owned(),
    };
    schema.insert("description".into(), description.into());
}
