//! Tool names as providers accept them, and the way back.
//!
//! Our names may be as long and as odd as an MCP server's; the providers agree only on
//! `[a-zA-Z_][a-zA-Z0-9_-]{0,63}`. One rule for all three keeps a conversation portable.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

const LIMIT: usize = 64;

/// Maps each tool's name to the one it has on the wire, and back. The same set of names
/// always gives the same map, in whatever order they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    to_wire: BTreeMap<String, String>,
    from_wire: BTreeMap<String, String>,
}

impl NameMap {
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        // Safe names are placed first and odd ones in sorted order, so that neither the order
        // of the tools nor a name made to look like a mapped one changes what the others get.
        let names: BTreeSet<&str> = names.into_iter().collect();
        let (safe, odd): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_safe(name));
        let mut map = Self::default();
        for name in safe {
            map.insert(name, name.to_owned());
        }
        for name in odd {
            let free = (0u32..).map(|attempt| wire_name(name, attempt));
            if let Some(wire) = free.into_iter().find(|wire| !map.from_wire.contains_key(wire)) {
                map.insert(name, wire);
            }
        }
        map
    }

    /// Adds a name that came later. It takes what is left: a wire name that was given stays given.
    pub fn add(&mut self, name: &str) {
        if self.to_wire.contains_key(name) {
            return;
        }
        let own = Some(name.to_owned()).filter(|name| is_safe(name));
        let made = (0u32..).map(|attempt| wire_name(name, attempt));
        let free = own.into_iter().chain(made).find(|wire| !self.from_wire.contains_key(wire));
        if let Some(wire) = free {
            self.insert(name, wire);
        }
    }

    /// A name as a provider takes it, also one that a model made up.
    pub(crate) fn safe<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        match self.to_wire(name) {
            wire if is_safe(wire) => wire.into(),
            odd => wire_name(odd, 0).into(),
        }
    }

    /// The provider-safe name of a tool. A name that is not in the map stays as it is.
    pub fn to_wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.to_wire.get(name).map_or(name, String::as_str)
    }

    /// The tool that a model means; `None` for a name that was never sent.
    pub fn from_wire(&self, wire: &str) -> Option<&str> {
        self.from_wire.get(wire).map(String::as_str)
    }

    fn insert(&mut self, name: &str, wire: String) {
        self.from_wire.insert(wire.clone(), name.to_owned());
        self.to_wire.insert(name.to_owned(), wire);
    }
}

fn is_safe(name: &str) -> bool {
    name.len() <= LIMIT
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_safe_character)
}

fn is_safe_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A readable stem and a hash of the whole name, which keeps names apart that look alike
/// once they are sanitised or cut.
fn wire_name(name: &str, attempt: u32) -> String {
    let mut stem = String::new();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        stem.push('_');
    }
    stem.extend(name.chars().map(|c| if is_safe_character(c) { c } else { '_' }));
    stem.truncate(LIMIT - 9);
    let mut hash = fnv1a(name.as_bytes());
    if attempt > 0 {
        hash = fnv1a_on(&attempt.to_le_bytes(), hash);
    }
    format!("{stem}_{:08x}", (hash ^ (hash >> 32)) as u32)
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, written out because a wire name that was sent must mean the same tool after an
/// update: the standard library's hasher may change, and a session may be old.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_on(bytes, FNV_OFFSET)
}

fn fnv1a_on(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Vectors of the algorithm's own description.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn safe_names_stay_and_odd_ones_come_back() {
        let long = "server__".to_owned() + &"x".repeat(100);
        let names = ["read_file", "files__do.it", "3d", "größe", &long];
        let map = NameMap::new(names);
        assert_eq!(map.to_wire("read_file"), "read_file");
        // Part of what old sessions rely on.
        assert_eq!(map.to_wire("files__do.it"), "files__do_it_6528fc38");
        for name in names {
            let wire = map.to_wire(name);
            assert!(is_safe(wire), "{wire}");
            assert_eq!(map.from_wire(wire), Some(name));
        }
        assert_eq!(map.from_wire("files__do.it"), None);
        assert_eq!(map.to_wire("never.seen"), "never.seen");
    }

    #[test]
    fn names_that_look_alike_stay_apart_in_any_order() {
        let taken = wire_name("a.b", 0);
        let names = ["a.b", "a:b", "a b", taken.as_str()];
        let map = NameMap::new(names);
        assert_eq!(map.to_wire(&taken), taken, "a safe name is never renamed");
        assert_eq!(map.to_wire("a.b"), wire_name("a.b", 1));
        assert_eq!(map.from_wire.len(), names.len());
        assert_eq!(map, NameMap::new(names.into_iter().rev()));
    }

    #[test]
    fn what_comes_later_takes_what_is_left() {
        let mut map = NameMap::new(["a.b"]);
        let given = map.to_wire("a.b").to_owned();
        let before = map.clone();
        // A tool made to look like one that was sent.
        map.add(&given);
        map.add("c");
        map.add("a.b");
        assert_eq!(map.to_wire("a.b"), given);
        assert_ne!(map.to_wire(&given), given);
        assert_eq!(map.from_wire(map.to_wire(&given)), Some(given.as_str()));
        assert_eq!(map.to_wire("c"), "c");
        assert!(before.to_wire.iter().all(|(name, wire)| map.to_wire(name) == wire));
    }

    #[test]
    fn a_name_that_a_model_made_up_is_made_safe() {
        let map = NameMap::new(["a.b"]);
        assert_eq!(map.safe("a.b"), map.to_wire("a.b"));
        assert_eq!(map.safe("read_file"), "read_file");
        assert!(is_safe(&map.safe("rm -rf /")));
        assert!(is_safe(&map.safe("")));
    }
}
