//! What is wrong with a `module.json`, and where.
//!
//! A reader goes down the document with a [`Spot`], which knows the way it came and writes it down only when
//! there is something to say. Lines and columns are looked up at the end, all in one pass, and not at all for a
//! good file.

use std::{
    cell::{Cell, RefCell},
    fmt,
};

use pinza_core::visible;

use super::{
    Mode,
    places::{self, Part},
};

/// More would hide the rest.
const LIMIT: usize = 100;

/// Of a key, so many bytes are part of a path.
const KEY: usize = 128;

/// Something that is wrong, or, as a warning, could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `tools[2].parameters.properties.url`; empty where the whole file is meant.
    pub path: String,
    /// From 1, as the column, which counts characters.
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// What it is about works all the same.
    pub warning: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if self.warning {
            f.write_str("warning: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", visible(&self.path))?;
        }
        f.write_str(&self.message)
    }
}

struct Found {
    path: String,
    part: Part,
    message: String,
    warning: bool,
}

/// Everything found so far. Readers share it, so that each can go on after a fault.
pub(crate) struct Faults {
    mode: Mode,
    found: RefCell<Vec<Found>>,
    errors: Cell<usize>,
    left_out: Cell<usize>,
}

impl Faults {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, found: RefCell::default(), errors: Cell::new(0), left_out: Cell::new(0) }
    }

    /// How many errors there are, to see whether a part of the file had any.
    pub(crate) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// Warns of the keys that stand twice in one object.
    pub(crate) fn doubles(&self, text: &str) {
        for path in places::doubles(text) {
            let message = "This key is there twice; the last one counts".to_owned();
            self.add(path, Part::Key, message, true);
        }
    }

    fn add(&self, path: String, part: Part, message: String, warning: bool) {
        if !warning {
            self.errors.set(self.errors.get() + 1);
        }
        if self.found.borrow().len() < LIMIT {
            self.found.borrow_mut().push(Found { path, part, message, warning });
        } else {
            self.left_out.set(self.left_out.get() + 1);
        }
    }

    /// The faults with their places in `text`.
    pub(crate) fn place(self, text: &str) -> Vec<Fault> {
        let found = self.found.into_inner();
        if found.is_empty() {
            return Vec::new();
        }
        let places = places::find(text, found.iter().map(|found| (found.path.as_str(), found.part)));
        let mut faults: Vec<Fault> = found
            .into_iter()
            .zip(places)
            .map(|(Found { path, message, warning, .. }, (line, column))| Fault {
                path,
                line,
                column,
                message,
                warning,
            })
            .collect();
        if let count @ 1.. = self.left_out.get() {
            let message = format!("{count} more faults are not shown");
            faults.push(Fault { path: String::new(), line: 1, column: 1, message, warning: true });
        }
        faults
    }
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

/// A place in the document.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    parent: Option<&'a Spot<'a>>,
    step: Step<'a>,
    faults: &'a Faults,
}

impl<'a> Spot<'a> {
    pub(crate) fn root(faults: &'a Faults) -> Self {
        Self { parent: None, step: Step::Root, faults }
    }

    pub(crate) fn key(&'a self, key: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Key(key), faults: self.faults }
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index), faults: self.faults }
    }

    pub(crate) fn faults(&self) -> &'a Faults {
        self.faults
    }

    pub(crate) fn error(&self, message: impl Into<String>) {
        self.faults.add(self.path(), Part::Value, message.into(), false);
    }

    pub(crate) fn warning(&self, message: impl Into<String>) {
        self.faults.add(self.path(), Part::Value, message.into(), true);
    }

    /// An error that lenient loading can live with.
    pub(crate) fn forgivable(&self, message: impl Into<String>) {
        self.faults.add(self.path(), Part::Value, message.into(), self.faults.mode == Mode::Lenient);
    }

    /// A warning about the key, not about what it holds.
    pub(crate) fn key_warning(&self, message: impl Into<String>) {
        self.faults.add(self.path(), Part::Key, message.into(), true);
    }

    fn path(&self) -> String {
        let mut path = self.parent.map(Spot::path).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Key(key) => push_key(&mut path, key),
            Step::Index(index) => push_index(&mut path, index),
        }
        path
    }
}

/// `a.b`, and `a["x-y"]` where the key is no plain word. A path is for people: of a key without end, its beginning
/// will do.
pub(crate) fn push_key(path: &mut String, key: &str) {
    let key = &key[..key.floor_char_boundary(KEY)];
    if oxc_syntax::identifier::is_identifier_name(key) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    } else {
        path.push_str(&format!("[{key:?}]"));
    }
}

pub(crate) fn push_index(path: &mut String, index: usize) {
    path.push_str(&format!("[{index}]"));
}
