//! Lines and columns of parts of a JSON text.
//!
//! Parsed values have forgotten where they stood. This walks a text that is known to be JSON and notes where
//! the wanted paths are.

use std::collections::{HashMap, HashSet};

use super::faults::{push_index, push_key};

/// After so many, the author has understood.
const DOUBLES: usize = 20;

/// What of a member of an object is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Key,
    Value,
}

/// A line and a column for each wanted path, in order; the beginning of the text for a path that is not there.
pub(super) fn find<'a>(text: &str, wanted: impl Iterator<Item = (&'a str, Part)>) -> Vec<(usize, usize)> {
    let wanted: Vec<(&str, Part)> = wanted.collect();
    let mut walk = Walk::new(text);
    for (path, part) in &wanted {
        walk.noted(*part).insert(path, 0);
    }
    walk.value();
    wanted
        .into_iter()
        .map(|(path, part)| position(text, walk.noted(part).get(path).copied().unwrap_or_default()))
        .collect()
}

/// The paths of keys that stand in their object a second time.
pub(super) fn doubles(text: &str) -> Vec<String> {
    let mut walk = Walk::new(text);
    walk.seen = Some(Vec::new());
    walk.value();
    walk.doubles
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

struct Walk<'t, 'w> {
    text: &'t str,
    at: usize,
    path: String,
    keys: HashMap<&'w str, usize>,
    values: HashMap<&'w str, usize>,
    /// The keys of the objects around this place so far, while doubles are looked for.
    seen: Option<Vec<HashSet<String>>>,
    doubles: Vec<String>,
}

impl<'t, 'w> Walk<'t, 'w> {
    fn new(text: &'t str) -> Self {
        let (keys, values) = (HashMap::new(), HashMap::new());
        Self { text, at: 0, path: String::new(), keys, values, seen: None, doubles: Vec::new() }
    }

    fn noted(&mut self, part: Part) -> &mut HashMap<&'w str, usize> {
        match part {
            Part::Key => &mut self.keys,
            Part::Value => &mut self.values,
        }
    }
}

impl Walk<'_, '_> {
    fn value(&mut self) {
        self.skip_space();
        Self::note(&mut self.values, &self.path, self.at);
        match self.peek() {
            Some(b'{') => {
                self.seen.iter_mut().for_each(|seen| seen.push(HashSet::new()));
                self.members(b'}', Self::member);
                self.seen.iter_mut().for_each(|seen| drop(seen.pop()));
            }
            Some(b'[') => self.members(b']', Self::element),
            Some(b'"') => drop(self.string()),
            _ => {
                self.at +=
                    self.rest().find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(self.rest().len())
            }
        }
    }

    fn members(&mut self, end: u8, member: fn(&mut Self, usize)) {
        self.at += 1;
        for index in 0.. {
            self.skip_space();
            match self.peek() {
                None => return,
                Some(byte) if byte == end => break,
                Some(b',') => self.at += 1,
                Some(_) => {}
            }
            let length = self.path.len();
            member(self, index);
            self.path.truncate(length);
        }
        self.at += 1;
    }

    fn member(&mut self, _: usize) {
        self.skip_space();
        let start = self.at;
        let key = self.string();
        push_key(&mut self.path, &key);
        Self::note(&mut self.keys, &self.path, start);
        self.note_double(key);
        self.skip_space();
        // The colon.
        self.at += 1;
        self.value();
    }

    fn element(&mut self, index: usize) {
        push_index(&mut self.path, index);
        self.value();
    }

    fn string(&mut self) -> String {
        let start = self.at;
        let mut bytes = self.rest().bytes().enumerate().skip(1);
        let mut end = self.rest().len();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'"' => {
                    end = at + 1;
                    break;
                }
                _ => {}
            }
        }
        self.at += end;
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    /// Of a key that stands twice, the last one counts.
    fn note(notes: &mut HashMap<&str, usize>, path: &str, offset: usize) {
        if let Some(noted) = notes.get_mut(path) {
            *noted = offset;
        }
    }

    fn note_double(&mut self, key: String) {
        let seen = self.seen.as_mut().and_then(|seen| seen.last_mut());
        if seen.is_some_and(|seen| !seen.insert(key)) && self.doubles.len() < DOUBLES {
            self.doubles.push(self.path.clone());
        }
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }
}
