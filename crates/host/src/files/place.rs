//! Places by identity: device and inode, which no renaming, link or spelling changes.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Path, PathBuf},
};

use pinza_core::FsError;
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};

use super::beneath::{DIRECTORY, MOST_LINKS, answer};

/// Deeper than any path that fits a system call.
const DEEPEST: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }

    pub(super) fn at(base: impl AsFd, path: impl rustix::path::Arg, flags: AtFlags) -> Option<Self> {
        statat(base, path, flags).ok().map(|stat| Self::of(&stat))
    }
}

/// Where a protected directory is, or will be.
#[derive(Debug)]
pub(super) enum Place {
    There(Identity),
    NotYet {
        parent: Identity,
        name: OsString,
    },
    /// Not even its parent exists, so nothing can be made there.
    Nowhere,
}

impl Place {
    /// Looks now, because others may have made or moved it since. A link that leads nowhere
    /// stands for the place that it names.
    pub(super) fn find(base: impl AsFd, path: &Path) -> Self {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            if let Some(identity) = Identity::at(&base, &path, AtFlags::empty()) {
                return Self::There(identity);
            }
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { break };
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            match readlinkat(&base, &path, Vec::new()) {
                Ok(target) => path = parent.join(PathBuf::from(OsString::from_vec(target.into_bytes()))),
                Err(_) => {
                    let name = name.to_owned();
                    let parent = Identity::at(&base, parent, AtFlags::empty());
                    return parent.map_or(Self::Nowhere, |parent| Self::NotYet { parent, name });
                }
            }
        }
        Self::Nowhere
    }

    pub(super) fn is(&self, identity: Identity) -> bool {
        matches!(self, Self::There(place) if *place == identity)
    }

    /// Whether making `name` in `parent` would make this place. Some file systems do not
    /// tell case apart.
    pub(super) fn would_be(&self, parent: Identity, name: &OsStr) -> bool {
        matches!(self, Self::NotYet { parent: at, name: due }
            if *at == parent && due.eq_ignore_ascii_case(name))
    }
}

/// The identities of `directory` and of everything above it, up to and with `root`.
pub(super) fn ancestry(directory: &OwnedFd, root: Identity) -> Result<Vec<Identity>, FsError> {
    let mut chain = vec![Identity::of(&fstat(directory).map_err(answer)?)];
    let mut above: Option<OwnedFd> = None;
    while chain.len() < DEEPEST {
        if chain.last() == Some(&root) {
            return Ok(chain);
        }
        let below = above.as_ref().unwrap_or(directory);
        let next = openat(below, "..", DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(answer)?;
        let identity = Identity::of(&fstat(&next).map_err(answer)?);
        if chain.last() == Some(&identity) {
            // The top of all files, and the workspace was not on the way: moved out meanwhile.
            break;
        }
        chain.push(identity);
        above = Some(next);
    }
    Err(FsError::Outside)
}
