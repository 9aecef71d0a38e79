//! The file system as a package's resolver sees it: with a lock, every look and every reading is compared with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use oxc_resolver::{FileMetadata, FileSystem, FileSystemOs, ResolveError};

use crate::package::{Found, LockedFiles};

pub(super) struct Disk {
    pub(super) locked: Option<Arc<LockedFiles>>,
}

impl FileSystem for Disk {
    fn new() -> Self {
        Self { locked: None }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = fs::read(path)?;
        if let Some(locked) = &self.locked {
            locked.read(path, &bytes)?;
        }
        Ok(bytes)
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        FileSystemOs::validate_string(self.read(path)?)
    }

    fn metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let metadata = FileSystemOs::metadata(path);
        if let Some(locked) = &self.locked {
            locked.looked(path, found(metadata.as_ref().ok()));
        }
        metadata
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileMetadata> {
        let metadata = FileSystemOs::symlink_metadata(path);
        if let Some(locked) = &self.locked {
            match &metadata {
                Ok(link) if link.is_symlink() => {
                    let target = fs::read_link(path).unwrap_or_default();
                    locked.looked_at_link(path, Some(&target));
                }
                other => {
                    locked.looked_at_link(path, None);
                    locked.looked(path, found(other.as_ref().ok()));
                }
            }
        }
        metadata
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, ResolveError> {
        FileSystemOs::read_link(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        FileSystemOs::canonicalize(path)
    }
}

fn found(metadata: Option<&FileMetadata>) -> Found {
    match metadata {
        Some(metadata) if metadata.is_file() => Found::File,
        Some(metadata) if metadata.is_dir() => Found::Directory,
        _ => Found::Nothing,
    }
}
