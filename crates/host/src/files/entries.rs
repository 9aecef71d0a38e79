//! Names in directories: what there is, taken away, given to another file.
//!
//! These are about names and not about what links lead to, so the last name of a path is never followed. The
//! directory that holds it is opened beneath the workspace, and everything happens on that descriptor.

use std::{
    ffi::{OsStr, OsString},
    os::fd::OwnedFd,
};

use pinza_core::{FileType, FsEntry, FsError, Removal};
use rustix::{
    fs::{self, AtFlags, Dir, OFlags, fstat, renameat, statat, unlinkat},
    io::Errno,
};

use super::{
    beneath::{self, LOOK, answer, not_a_file},
    guard::Access,
    jail::{Jail, Target},
    path,
    place::Identity,
};

/// Names that one look at a directory gives.
const MOST_NAMES: usize = 100_000;

/// A name, the directory that it is in, and what kind of thing has it.
struct Named {
    parent: OwnedFd,
    name: OsString,
    kind: Option<fs::FileType>,
}

impl Jail {
    /// What is in a directory, sorted by name.
    pub fn list(&self, path: &str) -> Result<Vec<FsEntry>, FsError> {
        let directory = match self.locate(path, Access::Read)? {
            Target::Directory(directory) => directory,
            Target::Entry(entry) if entry.is_there() => return Err(FsError::NotADirectory),
            Target::Entry(_) => return Err(FsError::NotFound),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let readable = beneath::open(&directory, OsStr::new("."), flags).map_err(answer)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&readable).map_err(answer)? {
            let entry = entry.map_err(answer)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if entries.len() == MOST_NAMES {
                return Err(FsError::Io(format!("the directory has more than {MOST_NAMES} names")));
            }
            // Some file systems do not tell the kind beside the name.
            let kind = match entry.file_type() {
                fs::FileType::Unknown => statat(&readable, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(fs::FileType::Unknown, |stat| fs::FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let name = String::from_utf8_lossy(name).into_owned();
            entries.push(FsEntry { name, file_type: file_type(kind) });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Takes away a file, a link (not what it leads to) or an empty directory.
    pub fn remove(&self, path: &str, what: Removal) -> Result<(), FsError> {
        let named = self.named(path)?;
        let flags = match (what, named.kind) {
            (_, None) => return Err(FsError::NotFound),
            (Removal::Directory, Some(fs::FileType::Directory)) => AtFlags::REMOVEDIR,
            (Removal::Directory, Some(_)) => return Err(FsError::NotADirectory),
            (Removal::File, Some(fs::FileType::Directory)) => return Err(FsError::IsDirectory),
            (Removal::File, Some(fs::FileType::RegularFile | fs::FileType::Symlink)) => AtFlags::empty(),
            (Removal::File, Some(_)) => return Err(not_a_file()),
        };
        unlinkat(&named.parent, &named.name, flags).map_err(|error| match error {
            Errno::NOTEMPTY | Errno::EXIST => FsError::NotEmpty,
            error => answer(error),
        })
    }

    /// Gives a file another name, and takes that name from whatever file had it. Directories stay where they
    /// are: Pinza's own could be inside.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        let (source, target) = (self.named(from)?, self.named(to)?);
        match source.kind {
            None => return Err(FsError::NotFound),
            Some(fs::FileType::RegularFile | fs::FileType::Symlink) => {}
            Some(fs::FileType::Directory) => {
                return Err(FsError::Forbidden {
                    reason: "directories cannot be renamed by tools".into(),
                    hint: Some("Make the new directory and rename the files in it.".into()),
                });
            }
            Some(_) => return Err(not_a_file()),
        }
        match target.kind {
            None | Some(fs::FileType::RegularFile | fs::FileType::Symlink) => {}
            Some(fs::FileType::Directory) => return Err(FsError::IsDirectory),
            Some(_) => return Err(not_a_file()),
        }
        renameat(&source.parent, &source.name, &target.parent, &target.name).map_err(answer)
    }

    /// The name that a path ends in, which may be written to as far as Pinza's guard is concerned.
    fn named(&self, text: &str) -> Result<Named, FsError> {
        let path = OsString::from(self.inside(text)?.trim_end_matches('/'));
        let Some((directory, name)) = path::split(&path) else {
            return Err(FsError::BadPath(
                "it names no file or directory that could be moved or removed".into(),
            ));
        };
        let parent = self.open_directory(directory)?;
        let found = match beneath::open(&parent, name, LOOK) {
            Ok(found) => Some(fstat(&found).map_err(answer)?),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(answer(error)),
        };
        self.pass(&parent, Some((name, found.as_ref().map(Identity::of))), Access::Write)?;
        let kind = found.map(|stat| fs::FileType::from_raw_mode(stat.st_mode));
        Ok(Named { parent, name: name.to_owned(), kind })
    }
}

pub(super) fn file_type(kind: fs::FileType) -> FileType {
    match kind {
        fs::FileType::RegularFile => FileType::File,
        fs::FileType::Directory => FileType::Directory,
        _ => FileType::Other,
    }
}
