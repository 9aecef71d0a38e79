//! Where a `$ref` leads.
//!
//! Only inside the document: nothing is fetched, ever.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::MAX_DEPTH;

/// A schema as its author wrote it, with the names that references may use.
pub(super) struct Document<'a> {
    root: &'a Value,
    /// `$id` → JSON pointer.
    ids: HashMap<&'a str, String>,
    /// `$anchor` → JSON pointer.
    anchors: HashMap<&'a str, String>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut document = Self { root, ids: HashMap::new(), anchors: HashMap::new() };
        document.index(root, String::new(), 0);
        document
    }

    pub(super) fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.root.pointer(pointer)
    }

    /// The JSON pointer of the schema that a reference names; empty for the root.
    pub(super) fn locate(&self, reference: &str) -> Option<String> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if base.is_empty() { "" } else { self.ids.get(base)? };
        let is_schema =
            |pointer: &String| self.at(pointer).is_some_and(|it| it.is_object() || it.is_boolean());
        // Some generators escape the pointer as a URI wants it, some do not.
        [fragment.to_owned(), percent_decoded(fragment)]
            .into_iter()
            .filter_map(|fragment| match fragment.as_str() {
                "" => Some(base.to_owned()),
                pointer if pointer.starts_with('/') => Some(format!("{base}{pointer}")),
                anchor => self.anchors.get(anchor).cloned(),
            })
            .find(is_schema)
    }

    fn index(&mut self, value: &'a Value, pointer: String, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Object(map) => {
                if let Some(id) = map.get("$id").and_then(Value::as_str) {
                    self.ids.entry(id.trim_end_matches('#')).or_insert_with(|| pointer.clone());
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = map.get(keyword).and_then(Value::as_str) {
                        self.anchors.entry(anchor).or_insert_with(|| pointer.clone());
                    }
                }
                for (key, value) in map {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    self.index(value, format!("{pointer}/{key}"), depth + 1);
                }
            }
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    self.index(value, format!("{pointer}/{index}"), depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// The target of a tidy reference.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The references at which cycles close: every cycle has at least one, and cutting there
/// cuts nothing that is not recursive.
pub(super) fn loop_heads(root: &Value) -> HashSet<String> {
    let mut heads = HashSet::new();
    let mut open = HashSet::from(["#"]);
    let mut seen = HashSet::from(["#"]);
    // A stack of its own: a chain of references may be longer than the thread's stack is deep.
    let mut stack = vec![("#", references(root).into_iter())];
    while let Some((reference, below)) = stack.last_mut() {
        match below.next() {
            Some(next) if open.contains(next) => {
                heads.insert(next.to_owned());
            }
            Some(next) if seen.insert(next) => {
                open.insert(next);
                let below = target(root, next).map(references).unwrap_or_default();
                stack.push((next, below.into_iter()));
            }
            Some(_) => {}
            None => {
                open.remove(*reference);
                stack.pop();
            }
        }
    }
    heads
}

/// All references that stand in a schema. Data that looks like one does no harm here.
pub(super) fn references(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str));
                pending.extend(map.values());
            }
            Value::Array(list) => pending.extend(list),
            _ => {}
        }
    }
    found
}

/// What a value weighs, roughly in bytes; `None` above the limit.
pub(super) fn weight(value: &Value, limit: usize) -> Option<usize> {
    let mut weight = 0usize;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        weight += match value {
            Value::String(text) => 8 + text.len(),
            Value::Object(map) => {
                pending.extend(map.values());
                8 + map.keys().map(String::len).sum::<usize>()
            }
            Value::Array(list) => {
                pending.extend(list);
                8
            }
            _ => 8,
        };
        if weight > limit {
            return None;
        }
    }
    Some(weight)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| first == b'%');
        let escaped = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_found_by_pointer_id_and_anchor() {
        let schema = json!({
            "$id": "https://example.com/args",
            "$defs": {
                "a b": { "type": "string" },
                "a/b": { "$anchor": "here" },
                "other": { "$id": "other.json", "$defs": { "x": true } }
            }
        });
        let document = Document::new(&schema);
        let found = |reference: &str| document.locate(reference);
        assert_eq!(found("#"), Some(String::new()));
        assert_eq!(found("https://example.com/args#/$defs/a b").as_deref(), Some("/$defs/a b"));
        assert_eq!(found("#/%24defs/a%20b").as_deref(), Some("/$defs/a b"));
        assert_eq!(found("#here").as_deref(), Some("/$defs/a~1b"));
        assert_eq!(found("other.json#/$defs/x").as_deref(), Some("/$defs/other/$defs/x"));
        for bad in ["#/$defs/none", "https://example.com/else", "#nowhere", "#/$id", "", "#%"] {
            assert_eq!(found(bad).filter(|pointer| !pointer.is_empty()), None, "{bad}");
        }
    }

    #[test]
    fn only_cycles_have_heads() {
        let schema = json!({
            "properties": { "tree": { "$ref": "#/$defs/Tree" }, "leaf": { "$ref": "#/$defs/Leaf" } },
            "$defs": {
                "Tree": { "items": { "$ref": "#/$defs/Branch" } },
                "Branch": { "items": [{ "$ref": "#/$defs/Tree" }, { "$ref": "#/$defs/Leaf" }] },
                "Leaf": {}
            }
        });
        let heads = loop_heads(&schema);
        assert!(heads.contains("#/$defs/Tree") ^ heads.contains("#/$defs/Branch"), "{heads:?}");
        assert_eq!(heads.len(), 1);
    }

    #[test]
    fn weighing_stops_at_the_limit() {
        assert_eq!(weight(&json!({ "ab": "cd" }), 100), Some(20));
        assert_eq!(weight(&json!({ "ab": "cd" }), 19), None);
    }
}
