//! The store's files: private to their owner, read within bounds, replaced as a whole.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::SecretsError;

/// Far more than variables need; what is larger is not ours.
pub(super) const LIMIT: u64 = 16 << 20;

/// A writer holds the lock for milliseconds; one that has held it this long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn create_home(home: &Path) -> Result<(), SecretsError> {
    DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(failed("create", home))
}

/// The lock is held until the file is dropped, also by a crash.
pub(super) fn lock(path: &Path) -> Result<File, SecretsError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed("open", path))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Err(SecretsError::Busy { seconds: PATIENCE.as_secs() }),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
        }
    }
}

/// The bytes of a regular file, or `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, SecretsError> {
    Ok(read_with_mode(path)?.map(|(bytes, _mode)| bytes))
}

/// The same with the permission bits of the very file that was read.
pub(super) fn read_with_mode(path: &Path) -> Result<Option<(Vec<u8>, u32)>, SecretsError> {
    let read = || {
        // Without O_NONBLOCK, opening a FIFO would wait for its writer.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > LIMIT {
            return Err(io::Error::other("not a file of a sensible size"));
        }
        let mut bytes = Vec::new();
        file.take(LIMIT).read_to_end(&mut bytes)?;
        Ok((bytes, metadata.mode() & 0o777))
    };
    match read() {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// Writes a file so that `path` holds the old or the new content at every moment, also
/// after a power failure. The caller holds the lock, so the temporary name is free to take:
/// what a crashed writer left there goes.
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<(), SecretsError> {
    let temporary = write_temporary(path, content)?;
    fs::rename(&temporary, path).and_then(|()| sync_directory(path)).map_err(failed("write", path))
}

/// Like [`replace`], but never over a file that is there.
pub(super) fn create(path: &Path, content: &[u8]) -> Result<(), SecretsError> {
    let temporary = write_temporary(path, content)?;
    let linked = fs::hard_link(&temporary, path).and_then(|()| sync_directory(path));
    // A leftover name would do no harm.
    let _ = fs::remove_file(&temporary);
    linked.map_err(failed("create", path))
}

fn write_temporary(path: &Path, content: &[u8]) -> Result<std::path::PathBuf, SecretsError> {
    let temporary = path.with_added_extension("tmp");
    let write = || {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().map_err(failed("write", &temporary))?;
    Ok(temporary)
}

/// A name is on disk only once its directory is.
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

fn failed(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SecretsError {
    move |source| SecretsError::Io { verb, path: path.to_owned(), source }
}
