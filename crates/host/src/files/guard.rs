//! What stands inside the workspace and is still not for tools.
//!
//! - Pinza's home holds the key of the variable store: no reading, no writing.
//! - `.pinza` holds a project's configuration and tools: no writing, or a tool could widen
//!   its own rights. `.pinza/out` is free, because results are kept there for tools to use.
//! - Files of the kernel (`/proc`, `/sys` and kin) are not data: reading one may show this
//!   process's environment, and writing one may change the machine.
//! - Devices, FIFOs and sockets; and hard links, whose other name may lie anywhere.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use pinza_core::FsError;
use rustix::fs::{AtFlags, CWD, FileType, Stat, fstat, fstatfs};

use super::{
    Hardlinks,
    beneath::{answer, not_a_file},
    place::{Identity, Place, ancestry},
};

/// The project's directory, and the part of it that is free.
pub(super) const PROJECT: &str = ".pinza";
pub(super) const OUTPUT: &str = "out";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

#[derive(Debug)]
pub(super) struct Guard {
    root: Identity,
    homes: Vec<Home>,
    hardlinks: Hardlinks,
}

/// Known by where it was at the start, and by where its path leads at each check: it may be
/// made later, and a neighbour may move what lies inside the workspace.
#[derive(Debug)]
struct Home {
    path: PathBuf,
    at_start: Place,
}

impl Guard {
    /// `homes` are absolute paths.
    pub(super) fn new(root: Identity, homes: Vec<PathBuf>, hardlinks: Hardlinks) -> Self {
        let home = |path: PathBuf| Home { at_start: Place::find(CWD, &path), path };
        Self { root, homes: homes.into_iter().map(home).collect(), hardlinks }
    }

    /// Whether the whole workspace is a home.
    pub(super) fn is_home(&self) -> bool {
        self.homes.iter().any(|home| home.at_start.is(self.root))
    }

    /// `entry` is a name in `directory`, and what it stands for if that is there; without
    /// one, the directory itself is asked about.
    pub(super) fn check(
        &self,
        workspace: &OwnedFd,
        directory: &OwnedFd,
        entry: Option<(&OsStr, Option<Identity>)>,
        access: Access,
    ) -> Result<(), FsError> {
        let mut chain = ancestry(directory, self.root)?;
        let parent = chain[0];
        let project = Place::find(workspace, Path::new(PROJECT));
        let output = Path::new(PROJECT).join(OUTPUT);
        // Not followed: a link named `out` would free whatever it leads to.
        let output = Identity::at(workspace, &output, AtFlags::SYMLINK_NOFOLLOW);
        if let Some(above) = chain.iter().position(|identity| project.is(*identity))
            && above > 0
            && Some(chain[above - 1]) == output
        {
            chain.truncate(above);
        }
        let holds = |place: &Place| {
            chain.iter().any(|identity| place.is(*identity))
                || entry.is_some_and(|(name, found)| {
                    found.is_some_and(|identity| place.is(identity)) || place.would_be(parent, name)
                })
        };
        if self.homes.iter().any(|home| holds(&home.at_start) || holds(&Place::find(CWD, &home.path))) {
            return Err(belongs_to_pinza("Pinza's home"));
        }
        if access == Access::Write && holds(&project) {
            return Err(belongs_to_pinza(PROJECT));
        }
        Ok(())
    }

    /// Asked of the descriptor that is then read or written.
    pub(super) fn admit(&self, file: impl AsFd) -> Result<Stat, FsError> {
        let stat = fstat(&file).map_err(answer)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(FsError::IsDirectory),
            _ => return Err(not_a_file()),
        }
        refuse_kernel_files(&file)?;
        if stat.st_nlink > 1 && self.hardlinks == Hardlinks::Refuse {
            return Err(FsError::Forbidden {
                reason: format!("the file has {} hard links, and one may lie elsewhere", stat.st_nlink),
                hint: Some("Set `hardlinks = \"allow\"` under `[files]` in config.toml.".into()),
            });
        }
        Ok(stat)
    }
}

pub(super) fn refuse_kernel_files(place: impl AsFd) -> Result<(), FsError> {
    let kind = fstatfs(place).map_err(answer)?.f_type;
    match KERNEL_FILES.contains(&kind) {
        true => Err(FsError::Forbidden { reason: "a file of the kernel, not data".into(), hint: None }),
        false => Ok(()),
    }
}

fn belongs_to_pinza(what: &str) -> FsError {
    FsError::Forbidden {
        reason: format!("{what} belongs to Pinza"),
        hint: Some(format!("Use another place in the workspace; {PROJECT}/{OUTPUT} is free.")),
    }
}

/// From `linux/magic.h`.
const KERNEL_FILES: [rustix::fs::FsWord; 14] = [
    0x0000_9fa0, // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x4249_4e4d, // binfmt_misc
    0x0765_5821, // resctrl
];
