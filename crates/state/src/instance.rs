//! Which running Pinza wrote something, and whether it still runs.
//!
//! Each holds a lock on a file of its own for as long as it lives, and the kernel lets go of it
//! whatever ends the process. So a file that can be locked belongs to nobody, and calls that are
//! still `running` under its name were interrupted. A process number would be taken again.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use crate::error::StateError;

/// The file whose lock is a turn.
pub(crate) const TURN: &str = "turn";

#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) id: String,
    path: PathBuf,
    /// Locked until it is dropped.
    _lock: File,
}

impl Instance {
    /// Takes a new name in a directory.
    pub(crate) fn new(directory: &Path) -> Result<Self, StateError> {
        let open = |error: std::io::Error| StateError::Open {
            path: directory.to_owned(),
            reason: error.to_string(),
        };
        fs::create_dir_all(directory).map_err(open)?;
        let _turn = turn(directory).map_err(open)?;
        let mut bytes = [0_u8; 8];
        getrandom::fill(&mut bytes).map_err(|error| open(std::io::Error::other(error)))?;
        let id = format!("{}-{:016x}", std::process::id(), u64::from_le_bytes(bytes));
        let path = directory.join(&id);
        let lock = File::create_new(&path).map_err(open)?;
        lock.lock().map_err(open)?;
        Ok(Self { id, path, _lock: lock })
    }

    /// The names of those who are gone. Their files go with [`forget`].
    pub(crate) fn dead(directory: &Path) -> Vec<String> {
        // Without the turn, one that is just being born would look dead.
        let Ok(_turn) = turn(directory) else { return Vec::new() };
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let is_dead = |entry: &fs::DirEntry| match File::open(entry.path()) {
            Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        };
        let names = entries.filter(is_dead).filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name != TURN).collect()
    }

    pub(crate) fn forget(directory: &Path, name: &str) {
        // If it cannot be removed, it is found again, and there is nothing to do about it then.
        let _ = fs::remove_file(directory.join(name));
    }
}

/// Names are taken and looked through one after the other.
pub(crate) fn turn(directory: &Path) -> std::io::Result<File> {
    let file = File::options().create(true).write(true).truncate(false).open(directory.join(TURN))?;
    file.lock()?;
    Ok(file)
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
