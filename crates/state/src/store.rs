//! The file, its writer and its readers.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::{error::StateError, hold::Holds, instance::Instance, migrations::migrate, writer::Writer};

/// How long one Pinza waits while another one writes.
const BUSY: Duration = Duration::from_secs(10);
/// Before it is tried again where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// What happens at run time. Cheap to clone; the last one to go writes what is left.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// A std lock, held while one query is answered, on a blocking thread. Dropped before the writer, because the
    /// last to close moves the log into the file, which a reader may not.
    reader: Mutex<Connection>,
    writer: Writer,
    holds: Arc<Holds>,
    /// Dropped last: until then this Pinza lives.
    instance: Instance,
}

impl Store {
    /// Opens the file, makes or brings up its tables, and marks what a dead Pinza left running.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let directory = path.with_extension("instances");
        let mut connection = connect(path, OpenFlags::default())?;
        use_log(&connection)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        migrate(&mut connection, path)?;
        let instance = Instance::new(&directory)?;
        bury(&mut connection, &directory)?;
        let reader = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let writer = Writer::start(connection).map_err(|error| unopened(path, &error))?;
        Ok(Self(Arc::new(Inner {
            path: path.to_owned(),
            writer,
            reader: Mutex::new(reader),
            holds: Arc::default(),
            instance,
        })))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Rows of the journal that were given up: there were too many at once, or they could not be written.
    pub fn lost(&self) -> u64 {
        self.0.writer.lost()
    }

    /// Writes what is left, and takes no more: for the end of a program, where somebody may still hold the store.
    pub fn finish(&self) {
        self.0.writer.finish();
    }

    pub(crate) fn holds(&self) -> &Arc<Holds> {
        &self.0.holds
    }

    pub(crate) fn instance(&self) -> &str {
        &self.0.instance.id
    }

    pub(crate) async fn durable<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        self.0.writer.durable(write).await
    }

    pub(crate) fn note(
        &self,
        key: Option<u64>,
        write: impl FnOnce(&Transaction<'_>) -> Result<(), StateError> + Send + 'static,
    ) {
        self.0.writer.note(key, write);
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let store = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let reader = store.0.reader.lock().unwrap_or_else(PoisonError::into_inner);
            query(&reader)
        });
        reading.await.map_err(|_| StateError::Closed)?
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StateError> {
    let connection = Connection::open_with_flags(path, flags).map_err(|error| unopened(path, &error))?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Several that begin with a new file at once stand in each other's way here, and SQLite gives up without waiting.
fn use_log(connection: &Connection) -> Result<(), StateError> {
    let begun = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && begun.elapsed() < BUSY =>
            {
                std::thread::sleep(PAUSE);
            }
            done => return Ok(done?),
        }
    }
}

fn unopened(path: &Path, error: &dyn std::fmt::Display) -> StateError {
    StateError::Open { path: path.to_owned(), reason: error.to_string() }
}

/// Calls of a Pinza that is no more were interrupted.
fn bury(connection: &mut Connection, directory: &Path) -> Result<(), StateError> {
    let dead = Instance::dead(directory);
    if dead.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for name in &dead {
        transaction.execute(
            "UPDATE calls SET status = 'interrupted', ended = ?2 WHERE instance = ?1 AND status = 'running'",
            (name, now()),
        )?;
    }
    transaction.commit()?;
    dead.iter().for_each(|name| Instance::forget(directory, name));
    Ok(())
}
