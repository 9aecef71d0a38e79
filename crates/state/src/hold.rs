//! Who has a session open: one Pinza at a time, because each has its messages in memory and goes on from there.
//!
//! As with [`instance`](crate::instance), it is a lock on a file, so that the kernel frees a session whose Pinza
//! crashed. Within one Pinza a session may be held twice: whoever runs it knows of both.

use std::{
    collections::HashMap,
    fmt::Write as _,
    fs::{self, File, TryLockError},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};

use crate::{
    error::StateError,
    instance::{TURN, turn},
    store::Store,
};

/// A session that no other Pinza can open for as long as this lives.
#[derive(Debug)]
pub struct SessionHold {
    holds: Arc<Holds>,
    id: String,
}

/// The sessions that this Pinza has open, and how often. A std lock, held while a file is locked or removed, so that
/// a session that is just being let go of can be taken again.
#[derive(Debug, Default)]
pub(crate) struct Holds(Mutex<HashMap<String, (usize, Held)>>);

#[derive(Debug)]
struct Held {
    directory: PathBuf,
    path: PathBuf,
    /// Locked until it is dropped.
    _lock: File,
}

impl Store {
    /// Takes a session for this Pinza, whether there is one of this id yet or not.
    pub async fn hold_session(&self, id: &str) -> Result<SessionHold, StateError> {
        let (store, id) = (self.clone(), id.to_owned());
        let holding = tokio::task::spawn_blocking(move || {
            let directory = store.path().with_extension("sessions");
            store.holds().take(&directory, id)
        });
        holding.await.map_err(|_| StateError::Closed)?
    }
}

impl Holds {
    fn take(self: &Arc<Self>, directory: &Path, id: String) -> Result<SessionHold, StateError> {
        let mut holds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match holds.get_mut(&id) {
            Some((times, _)) => *times += 1,
            None => drop(holds.insert(id.clone(), (1, Held::new(directory, &id)?))),
        }
        Ok(SessionHold { holds: Arc::clone(self), id })
    }
}

impl Drop for SessionHold {
    fn drop(&mut self) {
        let mut holds = self.holds.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((times, _)) = holds.get_mut(&self.id) else { return };
        *times -= 1;
        if *times == 0 {
            holds.remove(&self.id);
        }
    }
}

impl Held {
    fn new(directory: &Path, id: &str) -> Result<Self, StateError> {
        let open = |error: std::io::Error| StateError::Open {
            path: directory.to_owned(),
            reason: error.to_string(),
        };
        fs::create_dir_all(directory).map_err(open)?;
        // Files are locked and removed by turns: a lock on a file that is just being removed would lock nothing.
        let _turn = turn(directory).map_err(open)?;
        let path = directory.join(file_name(id));
        let options = File::options().create(true).read(true).write(true).truncate(false).clone();
        let mut lock = options.open(&path).map_err(open)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Its number helps to find it; without, the error is as true.
                let _ = lock.take(20).read_to_string(&mut holder);
                return Err(StateError::Busy { session: id.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(open(error)),
        }
        lock.set_len(0).and_then(|()| write!(lock, "{}", std::process::id())).map_err(open)?;
        sweep(directory, &path);
        Ok(Self { directory: directory.to_owned(), path, _lock: lock })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A file that stays is swept away by the next who takes a session.
        let Ok(_turn) = turn(&self.directory) else { return };
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes what crashes have left. Only for whoever has the turn.
fn sweep(directory: &Path, own: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_left = || File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if entry.file_name() != TURN && path != own && is_left() {
            let _ = fs::remove_file(&path);
        }
    }
}

/// An id may be anything; a file's name may not.
fn file_name(id: &str) -> String {
    Sha256::digest(id).iter().fold(String::new(), |mut name, byte| {
        // Writing to a String cannot fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}
