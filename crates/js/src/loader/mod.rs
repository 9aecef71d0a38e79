//! From directories of tools to what can be registered, and a list of what cannot and why.
//!
//! Nothing here stops at a fault: a broken file is a [`Problem`] and the others load. Places come in the
//! order of their rank (built-in, home, project, `--tools`), files in the order of their names, so that the
//! same files always give the same tools.
//!
//! A [`Loader`] remembers what it loaded, for whoever loads again when files change.

mod files;
mod gather;
mod guard;
mod library;
mod listing;
mod memory;
mod read;
mod unit;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use pinza_core::{Capability, Group, ToolDefinition, ToolMeta};
use serde::Serialize;

use crate::{
    caps::{Asked, Caps},
    tool::Limits,
};

use memory::Memory;
use read::Reading;

pub use guard::{Guard, Standing};
pub use library::{Libraries, Library};

/// Where tools are looked for.
#[derive(Clone, Debug)]
pub enum Place {
    /// Manifests and scripts directly in a directory. One that is not there is a problem.
    Directory(PathBuf),
    /// The same, and none the worse for not being there, or not yet.
    Optional(PathBuf),
    /// The same, as long as somebody vouches for it.
    Guarded(Arc<dyn Guard>),
    /// The program's own: (file name, text).
    Builtin(&'static [(&'static str, &'static str)]),
}

impl Place {
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory(directory) | Self::Optional(directory) => Some(directory),
            Self::Guarded(guard) => Some(guard.directory()),
            Self::Builtin(_) => None,
        }
    }
}

/// Which tool stays when a later place has one of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnClash {
    /// The first; the other is a problem.
    #[default]
    KeepFirst,
    /// The later one, in the group of the first (`--allow-override`).
    Replace,
}

/// What the places hold.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub tools: Vec<LoadedTool>,
    /// Groups that have a tool, each once.
    pub groups: Vec<Group>,
    pub problems: Vec<Problem>,
    /// Files of pinned libraries that came, went or changed since the last load.
    pub libraries: Vec<String>,
}

/// A tool that is ready to be registered.
#[derive(Clone, Debug)]
pub struct LoadedTool {
    pub definition: ToolDefinition,
    pub meta: ToolMeta,
    /// Shared by all tools of a group.
    pub script: Arc<ScriptSource>,
    /// The name of its function inside the script.
    pub function: String,
    /// The variables that it declares to read; `None` where it declares nothing.
    pub env: Option<Vec<String>>,
    /// The most that its bridges may do; `None` where the manifest says nothing.
    pub capabilities: Option<Vec<Capability>>,
    pub limits: Limits,
    /// What its manifest asks for, of which it may not have got everything.
    pub asked: Asked,
    /// Scripts beside it, for `lib(name)`. Another `Arc` whenever one of them may be another.
    pub libraries: Arc<Libraries>,
    /// Its manifest, and its index there if that is a group.
    pub manifest: String,
    pub entry: Option<usize>,
    /// Another one whenever its manifest or its script is not what it was.
    pub version: u64,
}

impl LoadedTool {
    /// For whoever finds that the name is already taken.
    pub fn clash(&self) -> Problem {
        let message = format!("Name conflict with existing tool '{}' (skipped)", self.definition.name);
        Problem { entry: self.entry, ..Problem::new(&self.manifest, message) }
    }
}

/// A script as the worker takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptSource {
    /// For stack traces and messages.
    pub file: String,
    pub code: String,
    /// See [`crate::Script::lines`].
    pub lines: Vec<u32>,
}

/// Something that did not load, or (a warning) that loaded and should be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub file: String,
    /// The index in a group's manifest.
    pub entry: Option<usize>,
    pub message: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub warning: bool,
}

impl Problem {
    pub(crate) fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        let (file, message) = (file.into(), message.into());
        Self { file, entry: None, message, line: None, column: None, warning: false }
    }

    fn warning(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::new(file, message) }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file)?;
        for number in [self.line, self.line.and(self.column)].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        if let Some(entry) = self.entry {
            write!(f, " (entry {entry})")?;
        }
        write!(f, ": {}{}", if self.warning { "warning: " } else { "" }, self.message)
    }
}

/// Loads every tool of the places. Blocking: it reads files.
pub fn load(places: &[Place], on_clash: OnClash) -> Loaded {
    Loader::new(places.to_vec(), on_clash).load()
}

/// Loads the same places again and again. A script that did not change is not parsed again and stays the same
/// [`ScriptSource`]; a file that was good and is broken now stays as it was, and a problem says so.
#[derive(Debug)]
pub struct Loader {
    places: Vec<Place>,
    on_clash: OnClash,
    caps: Caps,
    libraries: Reading,
    /// Of each place.
    memories: Vec<Memory>,
}

impl Loader {
    pub fn new(places: Vec<Place>, on_clash: OnClash) -> Self {
        let memories = places.iter().map(|_| Memory::default()).collect();
        Self { places, on_clash, caps: Caps::default(), libraries: Reading::Later, memories }
    }

    /// The most that manifests get. One that asks for more loads with this, and a warning says so.
    #[must_use]
    pub fn caps(self, caps: Caps) -> Self {
        Self { caps, ..self }
    }

    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Reads libraries with everything else from now on, not when a script asks for one: so they too change only with
    /// a load, and stay good.
    pub fn pin_libraries(&mut self) {
        self.libraries = Reading::Now;
    }

    /// Blocking: it reads files.
    pub fn load(&mut self) -> Loaded {
        gather::gather(&self.places, self.on_clash, self.caps, &mut self.memories, self.libraries)
    }
}
