//! All or nothing: a reader sees the old file or the new one, also after a crash.

use std::{
    ffi::OsStr,
    fs::File,
    io::Write as _,
    os::fd::{AsFd, OwnedFd},
};

use pinza_core::FsError;
use rustix::{
    fs::{Access, AtFlags, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, accessat, fchmod, fchown, fstat},
    fs::{renameat, unlinkat},
    io::Errno,
};

use super::beneath::{NEW_FILE, answer, answer_io, open_with};

/// Only the person who runs Pinza may read it, until it takes its place.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// Puts `data` in the place of `name`, which is `old` if it is there.
pub(super) fn replace(
    directory: &OwnedFd,
    name: &OsStr,
    data: &[u8],
    old: Option<&Stat>,
) -> Result<(), FsError> {
    if old.is_some() {
        // A rename asks only for the directory's permission; the file's own still counts.
        accessat(directory, name, Access::WRITE_OK, AtFlags::empty()).map_err(answer)?;
    }
    write_aside(directory, name, data, old, if old.is_some() { PRIVATE } else { NEW_FILE })
}

/// The same for a file of Pinza's own.
pub(super) fn replace_private(directory: &OwnedFd, name: &OsStr, data: &[u8]) -> Result<(), FsError> {
    write_aside(directory, name, data, None, PRIVATE)
}

fn write_aside(
    directory: &OwnedFd,
    name: &OsStr,
    data: &[u8],
    old: Option<&Stat>,
    mode: Mode,
) -> Result<(), FsError> {
    let mut aside = Aside::create(directory, name, mode)?;
    aside.file.write_all(data).map_err(answer_io)?;
    if let Some(old) = old {
        keep_owner_and_mode(&aside.file, old)?;
    }
    aside.file.sync_data().map_err(answer_io)?;
    aside.take_place_of(name)
}

/// The new file beside the old one, gone again unless it takes its place.
struct Aside<'a> {
    directory: &'a OwnedFd,
    name: Option<String>,
    file: File,
}

impl<'a> Aside<'a> {
    fn create(directory: &'a OwnedFd, target: &OsStr, mode: Mode) -> Result<Self, FsError> {
        // Shortened, so that the name fits whatever the target's length.
        let short: String = target.to_string_lossy().chars().take(48).collect();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        for _ in 0..8 {
            let random = getrandom::u32().map_err(|error| FsError::Io(error.to_string()))?;
            let name = format!(".{short}.pinza-{random:08x}");
            match open_with(directory, OsStr::new(&name), flags, mode, ResolveFlags::empty()) {
                Ok(file) => return Ok(Self { directory, name: Some(name), file: file.into() }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(answer(error)),
            }
        }
        Err(FsError::Io("every temporary name is taken".into()))
    }

    fn take_place_of(mut self, target: &OsStr) -> Result<(), FsError> {
        if let Some(name) = &self.name {
            renameat(self.directory, name, self.directory, target).map_err(answer)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Where even this fails, the first error is the one to tell.
            let _ = unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Set-user-id bits go, as they do when a file is written in place.
fn keep_owner_and_mode(file: impl AsFd, old: &Stat) -> Result<(), FsError> {
    let new = fstat(&file).map_err(answer)?;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        // Only root may give files away; everyone else becomes the new file's owner.
        let _ = fchown(&file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
    }
    fchmod(file, Mode::from_raw_mode(old.st_mode & 0o777)).map_err(answer)
}
