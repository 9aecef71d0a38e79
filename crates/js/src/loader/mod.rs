//! From directories of tools to what can be registered, and a list of what cannot and why.
//!
//! Nothing here stops at a fault: a broken file is a [`Problem`] and the others load. Places come in the
//! order of their rank (built-in, home, project, `--tools`), files in the order of their names, so that the
//! same files always give the same tools.

mod files;
mod gather;
mod library;
mod listing;

use std::{path::PathBuf, sync::Arc};

use pinza_core::{Capability, Group, ToolDefinition, ToolMeta};
use serde::Serialize;

use crate::tool::Limits;

pub use library::{Libraries, Library};

/// Where tools are looked for.
#[derive(Clone, Debug)]
pub enum Place {
    /// Manifests and scripts directly in a directory. One that cannot be read is a problem: leave out
    /// those that need not be there.
    Directory(PathBuf),
    /// The program's own: (file name, text).
    Builtin(&'static [(&'static str, &'static str)]),
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
    /// Scripts beside it, for `lib(name)`.
    pub libraries: Arc<Libraries>,
    /// Its manifest, and its index there if that is a group.
    pub manifest: String,
    pub entry: Option<usize>,
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
    fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
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
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(entry) = self.entry {
            write!(f, " (entry {entry})")?;
        }
        write!(f, ": {}{}", if self.warning { "warning: " } else { "" }, self.message)
    }
}

/// Loads every tool of the places. Blocking: it reads files.
pub fn load(places: &[Place], on_clash: OnClash) -> Loaded {
    gather::gather(places, on_clash)
}
