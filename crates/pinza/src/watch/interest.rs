//! Where something may happen that scripts or settings depend on.
//!
//! Directories are named by their real path, as events are: one directory under two names would have its events under
//! one of them only.

use std::collections::BTreeSet;
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf, absolute},
};

use pinza_core::SKILL_FILE;
use pinza_js::Place;

/// Everything in a directory, or one name in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Interest {
    pub(super) directory: PathBuf,
    pub(super) name: Option<OsString>,
}

impl Interest {
    /// Whether everything in the directory matters.
    pub(super) fn is_whole(&self) -> bool {
        self.name.is_none()
    }

    pub(super) fn includes(&self, path: &Path) -> bool {
        if path == self.directory {
            return true;
        }
        let is_wanted = self.name.is_none() || self.name.as_deref() == path.file_name();
        is_wanted && path.parent() == Some(&self.directory)
    }
}

/// `records` is where it is written down what other servers show, if there are any.
pub(super) fn interests(
    places: &[Place],
    skills: &[Place],
    records: Option<&Path>,
    settings: &[PathBuf],
) -> BTreeSet<Interest> {
    let mut interests = BTreeSet::new();
    if let Some(records) = records {
        interests.extend(entry(records));
        interests.extend(records.canonicalize().ok().map(|directory| Interest { directory, name: None }));
    }
    for file in settings {
        interests.extend(entry(file));
        // Where it is a link, what it leads to changes elsewhere.
        interests.extend(file.canonicalize().ok().and_then(|file| entry(&file)));
    }
    for directory in skills.iter().filter_map(Place::directory) {
        interests.extend(inner(directory).into_iter().map(|directory| {
            let name = Some(OsString::from(SKILL_FILE));
            Interest { directory, name }
        }));
    }
    for place in places.iter().chain(skills) {
        let Some(directory) = place.directory() else { continue };
        // It may be removed, replaced, or come to exist.
        interests.extend(entry(directory));
        if let Ok(directory) = directory.canonicalize() {
            // A file may be a link; what it leads to changes elsewhere.
            interests.extend(linked(&directory).iter().flat_map(|target| entry(target)));
            interests.insert(Interest { directory, name: None });
        }
        if let Place::Guarded(guard) = place {
            interests.extend(guard.witnesses().iter().flat_map(|witness| entry(witness)));
        }
    }
    interests
}

/// A path as an entry of the directory above it, or as much of it as there is.
fn entry(path: &Path) -> Option<Interest> {
    let path = absolute(path).ok()?;
    path.ancestors().find_map(|path| {
        let (above, name) = (path.parent()?, path.file_name()?);
        Some(Interest { directory: above.canonicalize().ok()?, name: Some(name.to_owned()) })
    })
}

/// The directories of a directory, which links are not.
fn inner(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.canonicalize().and_then(fs::read_dir);
    let entries = entries.into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).collect()
}

fn linked(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let links = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.filter_map(|link| link.path().canonicalize().ok()).collect()
}
