//! Opening beneath a directory descriptor, and what the kernel's refusals mean.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
};

use pinza_core::FsError;
use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat2},
    io::{Errno, Result, retry_on_intr},
};

/// As many links as the kernel itself follows.
pub(super) const MOST_LINKS: usize = 40;

/// openat2 says "try again" whenever a rename anywhere comes between it and a `..`.
const TRIES: usize = 128;

/// A directory to open other things beneath; not readable itself.
pub(super) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// What a name stands for, without opening it: a device or a FIFO never notices.
pub(super) const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);

pub(super) fn open(directory: impl AsFd, path: &OsStr, flags: OFlags) -> Result<OwnedFd> {
    open_with(directory, path, flags, Mode::empty(), ResolveFlags::empty())
}

/// Every path that a tool has a say in is opened here.
pub(super) fn open_with(
    directory: impl AsFd,
    path: &OsStr,
    flags: OFlags,
    mode: Mode,
    resolve: ResolveFlags,
) -> Result<OwnedFd> {
    // NONBLOCK and NOCTTY: a FIFO or a terminal that was slipped in must neither hang nor
    // adopt this process. They mean nothing together with PATH, which openat2 would refuse.
    let flags = match flags.contains(OFlags::PATH) {
        true => flags,
        false => flags | OFlags::NONBLOCK | OFlags::NOCTTY,
    };
    let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let attempt = || openat2(&directory, path, flags | OFlags::CLOEXEC, mode, resolve);
    let mut result = retry_on_intr(attempt);
    for _ in 1..TRIES {
        if !matches!(result, Err(Errno::AGAIN)) {
            break;
        }
        result = retry_on_intr(attempt);
    }
    result
}

/// A file that appears or changes its kind between a look and the opening is answered, not
/// followed.
pub(super) fn open_file(parent: &OwnedFd, name: &OsStr, flags: OFlags) -> std::result::Result<File, FsError> {
    // openat2 refuses a mode where nothing can be created.
    let mode = if flags.contains(OFlags::CREATE) { NEW_FILE } else { Mode::empty() };
    match open_with(parent, name, flags | OFlags::NOFOLLOW, mode, ResolveFlags::empty()) {
        Ok(file) => Ok(file.into()),
        Err(Errno::LOOP) => Err(replaced_meanwhile()),
        Err(error) => Err(answer(error)),
    }
}

/// For files that tools create; the umask takes its part.
pub(super) const NEW_FILE: Mode = Mode::from_raw_mode(0o644);

pub(super) fn answer(error: Errno) -> FsError {
    match error {
        Errno::XDEV => FsError::Outside,
        Errno::NOENT => FsError::NotFound,
        Errno::NOTDIR => FsError::NotADirectory,
        Errno::ISDIR => FsError::IsDirectory,
        Errno::ACCESS | Errno::PERM => FsError::PermissionDenied,
        Errno::LOOP => FsError::BadPath("its symbolic links form a loop, or are the kernel's own".into()),
        Errno::NAMETOOLONG => FsError::BadPath("it is too long, or one of its names is".into()),
        // A FIFO without a reader, or a socket, opened for writing.
        Errno::NXIO => not_a_file(),
        Errno::AGAIN => FsError::Io("the directories on the way keep changing; try again".into()),
        Errno::NOSYS => FsError::Io("the system call openat2 is missing (Linux 5.6 or later has it)".into()),
        other => FsError::Io(io::Error::from(other).to_string()),
    }
}

/// The same for errors that come through the standard library.
pub(super) fn answer_io(error: io::Error) -> FsError {
    match Errno::from_io_error(&error) {
        Some(error) => answer(error),
        None => FsError::Io(error.to_string()),
    }
}

pub(super) fn replaced_meanwhile() -> FsError {
    FsError::Io("the file was replaced while it was opened; try again".into())
}

pub(super) fn not_a_file() -> FsError {
    FsError::Forbidden { reason: "not a regular file (a device, FIFO or socket)".into(), hint: None }
}
