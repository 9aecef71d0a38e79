//! The port through which file tools reach files.
//!
//! A bridge stands for one tree of files: the jailed workspace, a container, a virtual
//! store. Paths are given as the model wrote them; the bridge alone decides what they mean
//! and whether they may be touched.

use std::time::SystemTime;

use crate::{
    error::{ErrorKind, ToolError},
    tool::BoxFuture,
};

pub trait FsBridge: Send + Sync + std::fmt::Debug {
    /// `None` where nothing is there.
    fn stat<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<FsStat>, FsError>>;

    /// The whole file, if it has at most `limit` bytes; the limit holds while reading.
    fn read<'a>(&'a self, path: &'a str, limit: u64) -> BoxFuture<'a, Result<Vec<u8>, FsError>>;

    /// The directory and all its parents.
    fn mkdirp<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FsError>>;

    /// Writes a file; its parent directory must exist.
    fn write<'a>(
        &'a self,
        path: &'a str,
        data: &'a [u8],
        mode: WriteMode,
    ) -> BoxFuture<'a, Result<(), FsError>>;

    /// What is in a directory, by name.
    fn list<'a>(&'a self, _path: &'a str) -> BoxFuture<'a, Result<Vec<FsEntry>, FsError>> {
        Box::pin(std::future::ready(Err(FsError::Unsupported("list directories"))))
    }

    /// Takes away a file, a link (not what it leads to) or an empty directory.
    fn remove<'a>(&'a self, _path: &'a str, _what: Removal) -> BoxFuture<'a, Result<(), FsError>> {
        Box::pin(std::future::ready(Err(FsError::Unsupported("remove files"))))
    }

    /// Gives a file another name, and takes that name from whatever file had it.
    fn rename<'a>(&'a self, _from: &'a str, _to: &'a str) -> BoxFuture<'a, Result<(), FsError>> {
        Box::pin(std::future::ready(Err(FsError::Unsupported("rename files"))))
    }
}

/// Writes a file and makes the directories above it.
pub async fn write_with_parents(
    bridge: &dyn FsBridge,
    path: &str,
    data: &[u8],
    mode: WriteMode,
) -> Result<(), FsError> {
    let parent = std::path::Path::new(path).parent().and_then(std::path::Path::to_str);
    if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
        bridge.mkdirp(parent).await?;
    }
    bridge.write(path, data, mode).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// All or nothing: a reader sees the old file or the new one.
    Replace,
    Append,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    File,
    Directory,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsStat {
    pub file_type: FileType,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsEntry {
    pub name: String,
    pub file_type: FileType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    File,
    Directory,
}

/// What a file operation was trying to do; it words the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsVerb {
    Read,
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    #[error("path is outside the workspace")]
    Outside,
    /// Inside the workspace, but not for tools: Pinza's own files, hard links, devices.
    #[error("{reason}")]
    Forbidden { reason: String, hint: Option<String> },
    #[error("no such file or directory")]
    NotFound,
    #[error("is a directory")]
    IsDirectory,
    #[error("a part of the path is not a directory")]
    NotADirectory,
    #[error("{size} bytes, more than {limit}")]
    TooLarge { size: u64, limit: u64 },
    #[error("not a usable path: {0}")]
    BadPath(String),
    #[error("permission denied")]
    PermissionDenied,
    #[error("the directory is not empty")]
    NotEmpty,
    /// A store of files need not be able to do everything.
    #[error("this store of files cannot {0}")]
    Unsupported(&'static str),
    #[error("{0}")]
    Io(String),
}

impl FsError {
    /// The answer for the model, in RFC-004's words.
    pub fn answer(self, verb: FsVerb, path: &str) -> ToolError {
        let path = crate::visible::visible(path);
        match self {
            Self::Outside => {
                ToolError::new(ErrorKind::PathNotAllowed, "Access denied: path is outside the workspace")
                    .hint("Use a path relative to the workspace.")
            }
            Self::Forbidden { reason, hint } => {
                let error = ToolError::new(ErrorKind::PathNotAllowed, format!("Access denied: {reason}"));
                ToolError { hint, ..error }
            }
            Self::NotFound => ToolError::new(ErrorKind::FileNotFound, format!("File not found: {path}")),
            Self::IsDirectory => ToolError::validation(format!("Path is a directory, not a file: {path}")),
            Self::NotADirectory => {
                ToolError::validation(format!("A part of the path is a file, not a directory: {path}"))
            }
            Self::TooLarge { size, limit } => ToolError::new(
                ErrorKind::FileTooLarge,
                format!(
                    "File is too large ({size} bytes). Maximum supported size is {limit} bytes ({}MB).",
                    limit >> 20
                ),
            ),
            Self::NotEmpty => ToolError::validation(format!("The directory is not empty: {path}")),
            Self::Unsupported(what) => ToolError::execution(format!("This store of files cannot {what}")),
            Self::BadPath(reason) => ToolError::validation(format!("Invalid path: {reason}")),
            Self::PermissionDenied => {
                let what = match verb {
                    FsVerb::Read => "read",
                    FsVerb::Write => "write to",
                };
                ToolError::new(
                    ErrorKind::PermissionDenied,
                    format!("Permission denied: cannot {what} {path}"),
                )
            }
            Self::Io(reason) => {
                let what = match verb {
                    FsVerb::Read => "read",
                    FsVerb::Write => "write",
                };
                ToolError::execution(format!("Failed to {what} file: {reason}"))
            }
        }
    }
}
