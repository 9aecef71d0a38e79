//! The one thread that writes. It takes what has come together into one transaction, so that many
//! who wait for the disk wait for it once.
//!
//! Whoever does not wait must not pay either: waking a thread takes longer than a small call. So a
//! note wakes the writer only out of its sleep; from then on it looks by itself, until nothing has come.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::StateError;

/// How long a write that nobody waits for may lie here.
const PATIENCE: Duration = Duration::from_millis(50);
/// How many writes may lie here. Whoever does not wait is told of a full queue by losing a row, which is counted.
const QUEUE: usize = 8192;
/// One transaction takes no more than this.
const BATCH: usize = 1024;

type Work = Box<dyn FnOnce(&Transaction<'_>) -> Result<(), StateError> + Send>;
type Ack = oneshot::Sender<Result<(), StateError>>;

enum Job {
    /// Somebody waits for the commit.
    Durable(Work, Ack),
    /// Nobody does.
    Note(Option<u64>, Work),
}

#[derive(Debug)]
pub(crate) struct Writer {
    desk: Arc<Desk>,
    /// `None` once it has ended.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where jobs lie until the writer takes them. The lock is held for a few instructions.
#[derive(Debug, Default)]
struct Desk {
    pile: Mutex<Pile>,
    rings: Condvar,
    /// Notes that found no place, or could not be written.
    lost: AtomicU64,
}

#[derive(Default)]
struct Pile {
    jobs: VecDeque<Job>,
    /// How many of them somebody waits for.
    awaited: usize,
    /// The writer sleeps until it is rung for.
    asleep: bool,
    closed: bool,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let theirs = Arc::clone(&desk);
        let thread = std::thread::Builder::new()
            .name("pinza-state".into())
            .spawn(move || work(connection, &theirs))?;
        Ok(Self { desk, thread: Mutex::new(Some(thread)) })
    }

    /// Writes, and comes back when it is on disk.
    pub(crate) async fn durable<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let (answer, value) = oneshot::channel();
        let work: Work = Box::new(move |transaction| {
            let written = write(transaction)?;
            // The caller may have gone; what it wanted written is written all the same.
            let _ = answer.send(written);
            Ok(())
        });
        let (ack, acked) = oneshot::channel();
        let mut job = Job::Durable(work, ack);
        while let Err(refused) = self.desk.put(job) {
            job = refused.ok_or(StateError::Closed)?;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        acked.await.map_err(|_| StateError::Closed)??;
        value.await.map_err(|_| StateError::Closed)
    }

    /// Writes soon, and waits for nothing. It is one statement. Of notes with the same key that come together only
    /// the last is written: it has all that the others have.
    pub(crate) fn note(
        &self,
        key: Option<u64>,
        write: impl FnOnce(&Transaction<'_>) -> Result<(), StateError> + Send + 'static,
    ) {
        if self.desk.put(Job::Note(key, Box::new(write))).is_err() {
            self.desk.lost.fetch_add(1, Relaxed);
        }
    }

    /// How many notes found no place, or could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.desk.lost.load(Relaxed)
    }

    /// Writes what is left, and takes no more.
    pub(crate) fn finish(&self) {
        self.desk.pile().closed = true;
        self.desk.rings.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Desk {
    fn pile(&self) -> MutexGuard<'_, Pile> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the job back if there is no place for it, and nothing if there never will be.
    fn put(&self, job: Job) -> Result<(), Option<Job>> {
        let is_awaited = matches!(job, Job::Durable(..));
        let mut pile = self.pile();
        if pile.closed {
            return Err(None);
        }
        if pile.jobs.len() >= QUEUE {
            return Err(Some(job));
        }
        pile.jobs.push_back(job);
        pile.awaited += usize::from(is_awaited);
        let rings = pile.asleep || is_awaited || pile.jobs.len() == BATCH;
        pile.asleep = false;
        drop(pile);
        if rings {
            self.rings.notify_one();
        }
        Ok(())
    }

    /// The next batch: all that is there when somebody waits, or when it has lain long enough. `None` at the end.
    fn take(&self) -> Option<Vec<Job>> {
        let mut pile = self.pile();
        while pile.jobs.is_empty() {
            if pile.closed {
                return None;
            }
            pile.asleep = true;
            pile = self.rings.wait(pile).unwrap_or_else(PoisonError::into_inner);
        }
        pile.asleep = false;
        let until = Instant::now() + PATIENCE;
        while pile.awaited == 0 && !pile.closed && pile.jobs.len() < BATCH {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (pile, _) = self.rings.wait_timeout(pile, left).unwrap_or_else(PoisonError::into_inner);
        }
        let count = pile.jobs.len().min(BATCH);
        let batch: Vec<Job> = pile.jobs.drain(..count).collect();
        pile.awaited -= batch.iter().filter(|job| matches!(job, Job::Durable(..))).count();
        Some(batch)
    }
}

impl std::fmt::Debug for Pile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pile").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}

fn work(mut connection: Connection, desk: &Desk) {
    let _leaving = Leaving(desk);
    while let Some(batch) = desk.take() {
        let lost = write(&mut connection, batch);
        desk.lost.fetch_add(lost, Relaxed);
    }
}

/// Whoever waits hears of it when the writer ends, however it does.
struct Leaving<'a>(&'a Desk);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut pile = self.0.pile();
        pile.closed = true;
        let left = std::mem::take(&mut pile.jobs);
        drop(pile);
        drop(left);
    }
}

/// Tells how many notes could not be written.
fn write(connection: &mut Connection, batch: Vec<Job>) -> u64 {
    let is_durable = batch.iter().any(|job| matches!(job, Job::Durable(..)));
    // Without somebody who waits, the log is enough: it survives the process, if not the power.
    let synchronous = if is_durable { "FULL" } else { "NORMAL" };
    let last = last_of_each_key(&batch);
    let (mut acks, mut notes, mut lost) = (Vec::new(), 0, 0);
    let result = connection
        .pragma_update(None, "synchronous", synchronous)
        .and_then(|()| connection.transaction_with_behavior(TransactionBehavior::Immediate))
        .map_err(StateError::from)
        .and_then(|transaction| {
            for (index, job) in batch.into_iter().enumerate() {
                match job {
                    Job::Durable(work, ack) => match one(&transaction, work) {
                        Ok(()) => acks.push(ack),
                        Err(error) => drop(ack.send(Err(error))),
                    },
                    Job::Note(Some(key), _) if last.get(&key) != Some(&index) => {}
                    // A row of the journal that cannot be written must not cost the others theirs.
                    Job::Note(_, work) => match work(&transaction) {
                        Ok(()) => notes += 1,
                        Err(_) => lost += 1,
                    },
                }
            }
            Ok(transaction.commit()?)
        });
    let text = result.err().map(|error| error.to_string());
    for ack in acks {
        let answer = match &text {
            None => Ok(()),
            Some(text) => Err(StateError::Commit(text.clone())),
        };
        let _ = ack.send(answer);
    }
    if text.is_some() { notes + lost } else { lost }
}

fn last_of_each_key(batch: &[Job]) -> HashMap<u64, usize> {
    let keys = batch.iter().enumerate().filter_map(|(index, job)| match job {
        Job::Note(key, _) => key.map(|key| (key, index)),
        Job::Durable(..) => None,
    });
    keys.collect()
}

/// One piece of work as a whole or not at all, whatever becomes of the others.
fn one(transaction: &Transaction<'_>, work: Work) -> Result<(), StateError> {
    transaction.execute_batch("SAVEPOINT one")?;
    match work(transaction) {
        Ok(()) => Ok(transaction.execute_batch("RELEASE one")?),
        Err(error) => {
            transaction.execute_batch("ROLLBACK TO one; RELEASE one")?;
            Err(error)
        }
    }
}
