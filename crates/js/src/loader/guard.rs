//! Directories that are read only as long as somebody vouches for what is in them.

use std::path::{Path, PathBuf};

/// Vouches for a directory of tools. It is asked before the directory is read, and once more after that: what changed
/// in between is not loaded.
pub trait Guard: std::fmt::Debug + Send + Sync {
    fn directory(&self) -> &Path;

    /// Files beyond the directory that the answer depends on.
    fn witnesses(&self) -> Vec<PathBuf>;

    fn standing(&self) -> Standing;
}

/// What a guard says of its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Good,
    /// It is not what was vouched for, and the reason. What was loaded before stays.
    Changed(String),
    /// Nobody vouches for it, and the reason. What was loaded before goes.
    Refused(String),
}
