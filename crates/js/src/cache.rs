//! Compiled code that outlives a process, in Pinza's own directory.
//!
//! The engine trusts bytecode, so this is as sensitive as the program itself. The directory is one that no tool
//! can write to, and is not used if anybody but its owner could; what is in it is for one program file, and
//! told by a digest from what a crash or a full disk left behind. Nothing here is ever needed: without it, code is
//! compiled again.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::frame::LIMIT;

const DIGEST: usize = 32;

#[derive(Debug)]
pub(crate) struct Cache {
    /// For all programs.
    root: PathBuf,
    /// For this one; none if it cannot be told from others.
    own: Option<PathBuf>,
}

impl Cache {
    pub(crate) fn new(root: PathBuf, program: &Path) -> Self {
        let own = fs::metadata(program).ok().map(|program| root.join(identity(&program)));
        Self { root, own }
    }

    /// What was kept under a name, if it is whole.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let own = self.own.as_ref().filter(|own| is_private(own))?;
        let file = fs::OpenOptions::new().read(true).custom_flags(no_link()).open(own.join(name)).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok().filter(|length| *length <= LIMIT)?;
        let mut bytes = Vec::with_capacity(length + 1);
        file.take(LIMIT as u64).read_to_end(&mut bytes).ok()?;
        let digest = *bytes.first_chunk::<DIGEST>()?;
        bytes.drain(..DIGEST);
        (Sha256::digest(&bytes)[..] == digest).then_some(bytes)
    }

    /// Keeps bytes under a name. Where that fails, they are made again.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let Some(own) = &self.own else { return };
        let _ = self.make(own).and_then(|()| put(own, name, bytes));
    }

    /// Makes the directory, and takes away those of programs that were here before.
    fn make(&self, own: &Path) -> io::Result<()> {
        if own.is_dir() {
            return if is_private(own) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) };
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(own)?;
        for entry in fs::read_dir(&self.root)?.flatten().filter(|entry| entry.path() != own) {
            fs::remove_dir_all(entry.path())?;
        }
        Ok(())
    }
}

/// Written beside and renamed, so that a file is whole or not there.
fn put(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = directory.join(format!(".{name}.{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let written = options.write(true).create_new(true).mode(0o600).open(&draft).and_then(|mut file| {
        file.write_all(&Sha256::digest(bytes))?;
        file.write_all(bytes)
    });
    let kept = written.and_then(|()| fs::rename(&draft, directory.join(name)));
    if kept.is_err() {
        let _ = fs::remove_file(draft);
    }
    kept
}

/// Bytecode is for the program that wrote it: another build may have another engine.
fn identity(program: &fs::Metadata) -> String {
    let parts =
        [program.dev(), program.ino(), program.size(), program.mtime() as u64, program.mtime_nsec() as u64];
    hex(&parts.map(u64::to_le_bytes).concat())
}

/// A name of moderate length for anything.
pub(crate) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether it is a directory of ours that nobody else can write to.
fn is_private(directory: &Path) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory)
        .is_ok_and(|found| found.is_dir() && found.uid() == ours && found.mode() & 0o022 == 0)
}

fn no_link() -> i32 {
    OFlags::NOFOLLOW.bits() as i32
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_comes_back_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("program");
        fs::write(&program, "1").unwrap();
        let root = home.path().join("cache");
        let cache = Cache::new(root.clone(), &program);
        assert_eq!(cache.read("a"), None);
        cache.write("a", b"code");
        cache.write("a", b"more code");
        assert_eq!(cache.read("a").as_deref(), Some(&b"more code"[..]));
        let own = cache.own.clone().unwrap();
        assert_eq!(fs::metadata(own.join("a")).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);

        let whole = fs::read(own.join("a")).unwrap();
        for damage in [&whole[..whole.len() - 1], &whole[..10], &[], &[&whole[..], b"x"].concat()[..]] {
            fs::write(own.join("a"), damage).unwrap();
            assert_eq!(cache.read("a"), None, "{damage:?}");
        }
        fs::write(own.join("b"), &whole).unwrap();
        std::os::unix::fs::symlink(own.join("b"), own.join("c")).unwrap();
        assert_eq!((cache.read("b").is_some(), cache.read("c")), (true, None));

        // Somebody else could have written it.
        fs::set_permissions(&own, fs::Permissions::from_mode(0o720)).unwrap();
        assert_eq!(cache.read("b"), None);
        cache.write("d", b"code");
        assert!(!own.join("d").exists());
        fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();

        // Another program file has its own, and the old one's goes.
        fs::write(&program, "22").unwrap();
        let newer = Cache::new(root, &program);
        assert_eq!(newer.read("b"), None);
        newer.write("b", b"newer");
        assert_eq!((newer.read("b").as_deref(), own.exists()), (Some(&b"newer"[..]), false));
    }
}
