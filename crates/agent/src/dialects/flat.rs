//! Schemas without indirection: references inlined, `allOf` merged, and variants either
//! standing alone or merged into one object.
//!
//! Gemini and strict OpenAI know no conjunctions, and every provider wants a plain object at
//! the root. Inlining can grow a schema without bound, so it is paid for from a budget;
//! recursion is cut where it closes.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{MAX_DEPTH, keywords, merge, references};
use crate::loss::{Losses, Place};

/// How much may be copied into one tool's schema, roughly in bytes. More than any model
/// could want to read about one tool; a small file of references to references can ask for
/// terabytes.
const BUDGET: usize = 256 * 1024;

/// A schema of which every keyword applies at once.
#[derive(Default)]
pub(super) struct Flat {
    /// All but references, `allOf` and variants; `const` is written as `enum`.
    pub(super) own: Map<String, Value>,
    /// Each `anyOf` or `oneOf` that was met.
    pub(super) groups: Vec<Group>,
    /// The references that were inlined on the way.
    pub(super) entered: Vec<String>,
}

pub(super) struct Group {
    pub(super) keyword: &'static str,
    pub(super) variants: Vec<Value>,
}

pub(super) struct Flattener<'a, 'l> {
    root: &'a Value,
    loop_heads: HashSet<String>,
    budget: usize,
    pub(super) losses: &'l mut Losses,
}

impl<'a, 'l> Flattener<'a, 'l> {
    pub(super) fn new(root: &'a Value, losses: &'l mut Losses) -> Self {
        Self { root, loop_heads: references::loop_heads(root), budget: BUDGET, losses }
    }

    pub(super) fn flatten(&mut self, schema: &Value, place: &Place<'_>) -> Flat {
        let mut flat = Flat::default();
        self.absorb(schema, &mut flat, place);
        flat
    }

    /// Adds a schema that must hold at the same time.
    pub(super) fn absorb(&mut self, schema: &Value, flat: &mut Flat, place: &Place<'_>) {
        let Value::Object(schema) = schema else { return };
        if place.depth() > MAX_DEPTH {
            self.losses.add(place, "the schema nests too deep; left out from here on");
            return;
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("$ref" | "$defs" | "allOf", _) => {}
                ("anyOf", Value::Array(variants)) => {
                    flat.groups.push(Group { keyword: "anyOf", variants: variants.clone() });
                }
                ("oneOf", Value::Array(variants)) => {
                    flat.groups.push(Group { keyword: "oneOf", variants: variants.clone() });
                }
                ("const", _) => self.keep_both(flat, "enum", &json!([value]), &place.at("const")),
                _ => self.keep_both(flat, keyword, value, &place.at(keyword.as_str())),
            }
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            self.enter(reference, flat, &place.at("$ref"));
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            let place = place.at("allOf");
            for (index, part) in parts.iter().enumerate() {
                self.absorb(part, flat, &place.index(index));
            }
        }
    }

    /// Gives what stands beside variants its place, because neither Gemini nor strict OpenAI
    /// takes both: an object with properties of its own takes theirs in, anything else goes
    /// into each of them. Returns the variants that remain.
    pub(super) fn settle(&mut self, flat: &mut Flat, place: &Place<'_>) -> Vec<Value> {
        let is_objects = flat.groups.len() > 1 && flat.groups.iter().any(Group::has_properties);
        if place.is_root() || keywords::has_properties(&flat.own) || is_objects {
            self.one_object(flat, place);
        }
        let mut groups = std::mem::take(&mut flat.groups).into_iter();
        let Some(first) = groups.next() else { return Vec::new() };
        for group in groups {
            self.losses.add(&place.at(group.keyword), "it stands beside other variants; dropped");
        }
        self.distribute(&flat.own, first, place)
    }

    /// Merges the variants of an object into it: all their properties, but required only
    /// what every one of them requires.
    pub(super) fn one_object(&mut self, flat: &mut Flat, place: &Place<'_>) {
        // Variants are no part of each other: each has only the object's own references behind it.
        let entered = flat.entered.clone();
        for group in std::mem::take(&mut flat.groups) {
            let place = place.through(&entered);
            let place = place.at(group.keyword);
            self.losses.add(&place, "its variants are shown merged into one object");
            let mut properties: Map<String, Value> = Map::new();
            let mut required: Option<Vec<String>> = None;
            for (index, variant) in group.variants.iter().enumerate() {
                let place = place.index(index);
                let mut variant = self.flatten(variant, &place);
                self.one_object(&mut variant, &place);
                let types = keywords::types(&variant.own);
                if !types.is_empty() && !types.contains(&"object") {
                    continue;
                }
                let names = keywords::names(&variant.own, "required");
                required = Some(match required {
                    None => names.into_iter().map(String::from).collect(),
                    Some(known) => known.into_iter().filter(|name| names.contains(&name.as_str())).collect(),
                });
                for (name, schema) in
                    variant.own.get("properties").and_then(Value::as_object).into_iter().flatten()
                {
                    let schema = match properties.get_mut(name) {
                        Some(known) => merge::either(known.take(), schema),
                        None => schema.clone(),
                    };
                    properties.insert(name.clone(), schema);
                }
                flat.entered.extend(variant.entered);
            }
            if !properties.is_empty() {
                merge::both(&mut flat.own, "properties", &properties.into());
            }
            if let Some(required) = required.filter(|names| !names.is_empty()) {
                merge::both(&mut flat.own, "required", &required.into());
            }
        }
    }

    /// The schema behind a bare reference, for a look without inlining it.
    pub(super) fn peek<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let bare = schema.as_object().filter(|schema| schema.len() == 1);
        let reference = bare.and_then(|schema| schema.get("$ref")).and_then(Value::as_str);
        reference.and_then(|reference| references::target(self.root, reference)).unwrap_or(schema)
    }

    fn keep_both(&mut self, flat: &mut Flat, keyword: &str, value: &Value, place: &Place<'_>) {
        if !merge::both(&mut flat.own, keyword, value) {
            self.losses.add(place, "another part of the schema says something else; dropped");
        }
    }

    fn enter(&mut self, reference: &str, flat: &mut Flat, place: &Place<'_>) {
        // The same thing said twice is said once.
        if flat.entered.iter().any(|entered| entered == reference) {
            return;
        }
        if self.loop_heads.contains(reference) && place.is_inside(reference) {
            self.cut(
                flat,
                place,
                "it leads back into itself; an object without details is shown from here on",
            );
            return;
        }
        let Some(target) = references::target(self.root, reference) else { return };
        match references::weight(target, self.budget) {
            Some(weight) => {
                self.budget -= weight;
                flat.entered.push(reference.to_owned());
                self.absorb(target, flat, place);
            }
            None => self.cut(
                flat,
                place,
                "the references of this tool grow too large; an object is shown instead",
            ),
        }
    }

    fn cut(&mut self, flat: &mut Flat, place: &Place<'_>, reason: &str) {
        self.losses.add(place, reason);
        flat.own.entry("type").or_insert_with(|| "object".into());
    }

    fn distribute(&mut self, own: &Map<String, Value>, group: Group, place: &Place<'_>) -> Vec<Value> {
        let rest = own.iter().filter(|(keyword, _)| !keywords::is_annotation(keyword));
        let rest: Map<String, Value> =
            rest.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        if rest.is_empty() {
            return group.variants;
        }
        let rest = Value::Object(rest);
        let copies = group.variants.len().saturating_sub(1);
        let cost = references::weight(&rest, self.budget).and_then(|weight| weight.checked_mul(copies));
        match cost.and_then(|cost| self.budget.checked_sub(cost)) {
            Some(budget) => {
                self.budget = budget;
                group.variants.into_iter().map(|variant| json!({ "allOf": [rest, variant] })).collect()
            }
            None => {
                self.losses
                    .add(&place.at(group.keyword), "the variants of this tool grow too large; dropped");
                Vec::new()
            }
        }
    }
}

impl Group {
    fn has_properties(&self) -> bool {
        self.variants.iter().filter_map(Value::as_object).any(keywords::has_properties)
    }
}
