//! The fields of an object in a `module.json`, each read with words about itself.

use pinza_core::{json_type, visible};
use serde_json::{Map, Value};

use crate::manifest::fields::{did_you_mean, optional};

use super::faults::Spot;

/// Unknown fields of one object that are told of.
const UNKNOWN: usize = 20;

#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) map: &'a Map<String, Value>,
    pub(super) spot: &'a Spot<'a>,
}

impl<'a> Fields<'a> {
    /// The fields of a value that must be an object.
    pub(super) fn of(value: &'a Value, what: &str, spot: &'a Spot<'a>) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self { map, spot }),
            other => {
                spot.error(format!("{what} must be an object, not {}", json_type(other)));
                None
            }
        }
    }

    /// Null counts as left out.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        optional(self.map, name)
    }

    /// What one of the readers of [`crate::manifest::fields`] made of the field `name`.
    pub(super) fn checked<T>(&self, name: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.spot.key(name).error(message)).ok()
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.checked(name, crate::manifest::fields::text(self.map, name)).flatten()
    }

    pub(super) fn required_text(&self, name: &str) -> Option<&'a str> {
        if self.get(name).is_none() {
            self.spot.error(missing(name));
        }
        self.text(name)
    }

    pub(super) fn boolean(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            None => default,
            Some(_) => {
                self.checked(name, crate::manifest::fields::boolean(self.map, name)).unwrap_or(default)
            }
        }
    }

    pub(super) fn strings(&self, name: &str) -> Vec<String> {
        self.checked(name, crate::manifest::fields::strings(self.map, name)).flatten().unwrap_or_default()
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let near = did_you_mean(text, words.iter().map(|(word, _)| *word));
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message =
                format!("'{name}' must be one of {}, not '{}'{near}", words.join(", "), visible(text));
            self.spot.key(name).error(message);
        }
        found.map(|(_, value)| *value)
    }

    /// A warning for each field that nothing reads, with a known name that looks like it.
    pub(super) fn warn_of_unknown(&self, known: &[&str]) {
        let unknown = self.map.keys().filter(|name| !known.contains(&name.as_str()));
        for name in unknown.take(UNKNOWN) {
            let near = did_you_mean(name, known.iter().copied());
            self.spot.key(name).key_warning(format!("Unknown field '{}'{near}", visible(name)));
        }
    }
}

pub(super) fn missing(name: &str) -> String {
    format!("Missing required field: '{name}'")
}
