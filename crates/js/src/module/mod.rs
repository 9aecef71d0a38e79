//! JSON modules: any npm library as tools, without code.
//!
//! A `module.json` says which package, how it is made ready, and which of its functions are tools
//! ([`ModuleManifest::parse`]). A call becomes a *plan*, plain JSON that says what to call with which
//! arguments; a *runner* carries it out where the library is loaded, in a worker of this crate or in a
//! Node process; [`ToolEntry::succeeded`] and [`ToolEntry::failed`] shape what comes back.

mod arguments;
mod discover;
mod disk;
mod embedded;
mod graph;
mod manifest;
mod mapping;
mod node;
mod outcome;
mod output;
mod package;
mod plan;
pub(crate) mod runner;
mod template;
mod tool;

pub use arguments::{CallArguments, Calling};
pub use discover::discover;
pub(crate) use embedded::Embedded;
pub(crate) use graph::{Kind, OwnFile, Package};
pub use manifest::{
    Dependency, DependencyError, DependencyType, Fault, FunctionPath, FunctionPathError, Initialization,
    LibraryType, MissingDependency, Mode, ModuleManifest, Parsed, Resolved, Runtime, Segment, State,
    ToolEntry,
};
pub use mapping::{Mapped, Transform};
pub use template::{Item, Piece, Reference, Template};
pub use tool::{LoadedModules, Module, ModuleCheck, ModuleTool, load_modules};

/// The JSON Schema of `module.json`, for editors.
pub const SCHEMA: &str = include_str!("module.schema.json");
