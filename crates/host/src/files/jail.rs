//! The operations, blocking, each on descriptors from first to last.

use std::{
    ffi::{OsStr, OsString},
    fs::{DirBuilder, File},
    io::{Read as _, Write as _},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use pinza_core::{FsError, FsStat, WriteMode};
use rustix::{
    fs::{self, AtFlags, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, readlinkat},
    io::Errno,
};

use super::{
    WorkspaceError, WorkspaceOptions,
    beneath::{self, DIRECTORY, LOOK, MOST_LINKS, answer, answer_io},
    entries::file_type,
    guard::{Access, Guard, OUTPUT, PROJECT, refuse_kernel_files},
    path,
    place::Identity,
    replace::{replace, replace_private},
};

/// How often a file may be replaced, by a neighbour's honest writing, before that is an error.
const REPLACED: usize = 16;

const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o755);

/// One directory tree that nothing leads out of.
#[derive(Debug)]
pub struct Jail {
    descriptor: OwnedFd,
    /// Without links; `given` is what the user wrote, and tools may write that too.
    root: PathBuf,
    given: PathBuf,
    guard: Guard,
}

/// A directory of the workspace, held open: renaming or replacing what its path names does
/// not change where a child process starts.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
}

impl Directory {
    /// A path that means this very directory in this process and, until it executes another
    /// program, in a child: give it to [`std::process::Command::current_dir`] and keep `self`
    /// until the child is spawned.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl From<Directory> for OwnedFd {
    fn from(directory: Directory) -> Self {
        directory.descriptor
    }
}

/// What a path leads to once every link is followed. Pinza's guard has let it pass.
pub(super) enum Target {
    Directory(OwnedFd),
    Entry(Entry),
}

/// A name in a directory, and what is there: anything but a directory or a link.
pub(super) struct Entry {
    parent: OwnedFd,
    name: OsString,
    found: Option<OwnedFd>,
}

impl Entry {
    pub(super) fn is_there(&self) -> bool {
        self.found.is_some()
    }
}

impl Jail {
    /// Creates the directory where there is none, for its owner alone: the first one made may
    /// be Pinza's home.
    pub fn open(root: &Path, options: WorkspaceOptions) -> Result<Self, WorkspaceError> {
        let unusable = |source| WorkspaceError::Unusable { path: root.to_owned(), source };
        let given = std::path::absolute(root).map_err(unusable)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&given).map_err(unusable)?;
        let root = given.canonicalize().map_err(unusable)?;
        let descriptor = fs::open(&root, DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| unusable(error.into()))?;
        let homes = options.protected.iter().map(std::path::absolute);
        let homes: Vec<PathBuf> = homes.collect::<Result<_, _>>().map_err(unusable)?;
        let identity = Identity::of(&fstat(&descriptor).map_err(|error| unusable(error.into()))?);
        let guard = Guard::new(identity, homes, options.hardlinks);
        if guard.is_home() {
            return Err(WorkspaceError::IsHome { path: root });
        }
        if let Err(Errno::NOSYS) = beneath::open(&descriptor, OsStr::new("."), DIRECTORY) {
            return Err(WorkspaceError::OldKernel);
        }
        Ok(Self { descriptor, root, given, guard })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `None` where nothing is there.
    pub fn stat(&self, path: &str) -> Result<Option<FsStat>, FsError> {
        let found = match self.locate(path, Access::Read) {
            Ok(Target::Directory(directory)) => Some(directory),
            Ok(Target::Entry(entry)) => entry.found,
            Err(FsError::NotFound | FsError::NotADirectory) => None,
            Err(error) => return Err(error),
        };
        found.map(|found| fstat(found).map(|stat| describe(&stat)).map_err(answer)).transpose()
    }

    /// The whole file, if it has at most `limit` bytes, also where it grows meanwhile.
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FsError> {
        let entry = self.locate_file(path, Access::Read)?;
        if entry.found.is_none() {
            return Err(FsError::NotFound);
        }
        let (file, stat) = self.open_file(&entry, OFlags::RDONLY)?;
        let size = size(&stat);
        if size > limit {
            return Err(FsError::TooLarge { size, limit });
        }
        let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        (&file).take(limit.saturating_add(1)).read_to_end(&mut data).map_err(answer_io)?;
        let read = data.len() as u64;
        if read > limit {
            let size = fstat(&file).map_or(read, |stat| read.max(self::size(&stat)));
            return Err(FsError::TooLarge { size, limit });
        }
        Ok(data)
    }

    /// Writes a file; its parent directory must exist.
    pub fn write(&self, path: &str, data: &[u8], mode: WriteMode) -> Result<(), FsError> {
        let entry = self.locate_file(path, Access::Write)?;
        match mode {
            WriteMode::Replace => {
                let old = entry.found.as_ref().map(fstat).transpose().map_err(answer)?;
                replace(&entry.parent, &entry.name, data, old.as_ref())
            }
            WriteMode::Append => {
                let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
                let (mut file, _) = self.open_file(&entry, flags)?;
                file.write_all(data).map_err(answer_io)
            }
        }
    }

    /// The directory and all its parents.
    pub fn mkdirp(&self, path: &str) -> Result<(), FsError> {
        let path = self.inside(path)?;
        let mut parts = path::parts(path);
        if parts.next() == Some(PROJECT) && parts.next() == Some(OUTPUT) {
            self.make_output()?;
        }
        match self.open_directory(path) {
            Ok(directory) => self.pass(&directory, None, Access::Write),
            Err(FsError::NotFound) => self.make_missing(path),
            Err(error) => Err(error),
        }
    }

    /// A directory for a child process to work in.
    pub fn directory(&self, path: &str) -> Result<Directory, FsError> {
        match self.locate(path, Access::Read)? {
            Target::Directory(descriptor) => Ok(Directory { descriptor }),
            Target::Entry(Entry { found: None, .. }) => Err(FsError::NotFound),
            Target::Entry(_) => Err(FsError::NotADirectory),
        }
    }

    /// Pinza's own way to keep an outsized result where tools can read it. Returns the path
    /// relative to the workspace.
    pub fn keep_output(&self, name: &str, text: &[u8]) -> Result<String, FsError> {
        if name.contains('/') || path::split(OsStr::new(name)).is_none() {
            return Err(FsError::BadPath("a result's name is one plain name".into()));
        }
        let name = self.inside(name)?;
        replace_private(&self.make_output()?, OsStr::new(name), text)?;
        Ok(format!("{PROJECT}/{OUTPUT}/{name}"))
    }

    pub(super) fn inside<'a>(&self, text: &'a str) -> Result<&'a str, FsError> {
        path::inside(text, &[&self.root, &self.given])
    }

    pub(super) fn open_directory(&self, path: impl AsRef<OsStr>) -> Result<OwnedFd, FsError> {
        beneath::open(&self.descriptor, path.as_ref(), DIRECTORY).map_err(answer)
    }

    /// Follows the last name's links one by one, so that the parent of what is used, and not
    /// of a link to it, is held and checked.
    pub(super) fn locate(&self, text: &str, access: Access) -> Result<Target, FsError> {
        let mut path = OsString::from(self.inside(text)?);
        for _ in 0..MOST_LINKS {
            let Some((directory, name)) = path::split(&path) else {
                let directory = self.open_directory(&path)?;
                self.pass(&directory, None, access)?;
                return Ok(Target::Directory(directory));
            };
            let parent = self.open_directory(directory)?;
            let found = match beneath::open(&parent, name, LOOK) {
                Ok(found) => found,
                Err(Errno::NOENT) => {
                    self.pass(&parent, Some((name, None)), access)?;
                    return Ok(Target::Entry(Entry { parent, name: name.to_owned(), found: None }));
                }
                Err(error) => return Err(answer(error)),
            };
            let stat = fstat(&found).map_err(answer)?;
            let kind = fs::FileType::from_raw_mode(stat.st_mode);
            if kind == fs::FileType::Symlink {
                let target = readlinkat(&found, "", Vec::new()).map_err(answer)?;
                path = path::follow(directory, target.as_bytes())?;
                continue;
            }
            self.pass(&parent, Some((name, Some(Identity::of(&stat)))), access)?;
            // What is found may be another file system's root.
            refuse_kernel_files(&found)?;
            return Ok(match kind {
                fs::FileType::Directory => Target::Directory(found),
                _ => Target::Entry(Entry { parent, name: name.to_owned(), found: Some(found) }),
            });
        }
        Err(answer(Errno::LOOP))
    }

    /// A regular file that may be used, or a name where one may be made.
    fn locate_file(&self, path: &str, access: Access) -> Result<Entry, FsError> {
        let Target::Entry(entry) = self.locate(path, access)? else { return Err(FsError::IsDirectory) };
        if let Some(found) = &entry.found {
            self.guard.admit(found)?;
        }
        Ok(entry)
    }

    /// What was looked at may have been replaced since, so all is asked again of what is
    /// opened. A hard link must not slip through by losing its name here between the opening
    /// and the counting of its names: the one name that is left has to be this one, and nothing
    /// may have happened to the inode since they were counted. Every link and unlink moves the
    /// change time (to the nanosecond since Linux 6.13; before, a swap within one tick of the
    /// clock is only unlikely).
    fn open_file(&self, entry: &Entry, flags: OFlags) -> Result<(File, Stat), FsError> {
        let mut written_to = 0;
        for _ in 0..REPLACED {
            let file = beneath::open_file(&entry.parent, &entry.name, flags)?;
            let stat = self.guard.admit(&file)?;
            wait_for_renames(&entry.parent)?;
            let named = Identity::at(&entry.parent, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
            let again = self.guard.admit(&file)?;
            if named != Some(Identity::of(&stat)) {
                continue;
            }
            let changed = |stat: &Stat| (stat.st_ctime, stat.st_ctime_nsec);
            if changed(&again) == changed(&stat) {
                return Ok((file, again));
            }
            // Somebody may be writing to it all the time. A link would have to come and go in
            // the same few steps every single time.
            written_to += 1;
            if written_to == REPLACED {
                return Ok((file, again));
            }
        }
        Err(beneath::replaced_meanwhile())
    }

    pub(super) fn pass(
        &self,
        directory: &OwnedFd,
        entry: Option<(&OsStr, Option<Identity>)>,
        access: Access,
    ) -> Result<(), FsError> {
        refuse_kernel_files(directory)?;
        self.guard.check(&self.descriptor, directory, entry, access)
    }

    fn make_missing(&self, path: &str) -> Result<(), FsError> {
        let mut parent = self.open_directory(".")?;
        let mut reached = String::from(".");
        for name in path::parts(path) {
            reached = format!("{reached}/{name}");
            parent = match self.open_directory(&reached) {
                Err(FsError::NotFound) => {
                    self.pass(&parent, Some((OsStr::new(name), None)), Access::Write)?;
                    make(&parent, name)?;
                    self.open_directory(&reached).map_err(|error| match error {
                        FsError::NotFound => FsError::BadPath(format!("the link '{name}' leads nowhere")),
                        other => other,
                    })?
                }
                opened => opened?,
            };
        }
        Ok(())
    }

    /// Step by step and through no link, or Pinza itself would be led astray.
    fn make_output(&self) -> Result<OwnedFd, FsError> {
        let step = |parent: &OwnedFd, name: &str| {
            make(parent, name)?;
            let plain = ResolveFlags::NO_SYMLINKS;
            match beneath::open_with(parent, OsStr::new(name), DIRECTORY, Mode::empty(), plain) {
                Err(Errno::LOOP) => Err(FsError::Forbidden {
                    reason: format!("'{name}' on the way to {PROJECT}/{OUTPUT} is a symbolic link"),
                    hint: Some("Remove the link.".into()),
                }),
                opened => opened.map_err(answer),
            }
        };
        step(&step(&self.descriptor, PROJECT)?, OUTPUT)
    }
}

/// Makes a directory, or finds that the name is taken; the caller looks by what.
fn make(parent: &OwnedFd, name: &str) -> Result<(), FsError> {
    match mkdirat(parent, name, NEW_DIRECTORY) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(answer(error)),
    }
}

/// A rename takes a file's name away before the kernel's look-ups know of it, and holds the
/// directory's lock in between. Removing a name that is not there waits for that lock and
/// changes nothing; the name is random, so nobody can have put a file there.
fn wait_for_renames(directory: &OwnedFd) -> Result<(), FsError> {
    let random = getrandom::u64().map_err(|error| FsError::Io(error.to_string()))?;
    // Whatever it answers, it has waited; where nothing can be written, nothing is renamed.
    let _ = fs::unlinkat(directory, format!(".pinza-{random:016x}"), AtFlags::empty());
    Ok(())
}

fn describe(stat: &Stat) -> FsStat {
    let file_type = file_type(fs::FileType::from_raw_mode(stat.st_mode));
    let modified = u64::try_from(stat.st_mtime).ok().and_then(|seconds| {
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, stat.st_mtime_nsec as u32))
    });
    FsStat { file_type, size: size(stat), modified }
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}
