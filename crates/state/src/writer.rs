//! The one thread that writes. It takes what has come together into one transaction, so that many
//! who wait for the disk wait for it once.

use std::{
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel},
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
    Note(Work),
}

#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` while it is being closed.
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    lost: AtomicU64,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        let thread =
            std::thread::Builder::new().name("pinza-state".into()).spawn(move || work(connection, &queue))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), lost: AtomicU64::new(0) })
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
        loop {
            let jobs = self.jobs.as_ref().ok_or(StateError::Closed)?;
            match jobs.try_send(job) {
                Ok(()) => break,
                Err(TrySendError::Full(back)) => job = back,
                Err(TrySendError::Disconnected(_)) => return Err(StateError::Closed),
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        acked.await.map_err(|_| StateError::Closed)??;
        value.await.map_err(|_| StateError::Closed)
    }

    /// Writes soon, and waits for nothing.
    pub(crate) fn note(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<(), StateError> + Send + 'static,
    ) {
        let sent = self.jobs.as_ref().map(|jobs| jobs.try_send(Job::Note(Box::new(write))));
        if !matches!(sent, Some(Ok(()))) {
            self.lost.fetch_add(1, Relaxed);
        }
    }

    /// How many notes found no place.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

impl Drop for Writer {
    /// What was noted is written before the program ends.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, queue: &Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let batch = gather(first, queue);
        write(&mut connection, batch);
    }
}

/// All that is there, or comes while nobody waits.
fn gather(first: Job, queue: &Receiver<Job>) -> Vec<Job> {
    let until = Instant::now() + PATIENCE;
    let mut somebody_waits = matches!(first, Job::Durable(..));
    let mut batch = vec![first];
    while batch.len() < BATCH {
        let next = if somebody_waits {
            queue.try_recv().map_err(|error| matches!(error, TryRecvError::Disconnected))
        } else {
            let left = until.saturating_duration_since(Instant::now());
            queue.recv_timeout(left).map_err(|error| matches!(error, RecvTimeoutError::Disconnected))
        };
        let Ok(job) = next else { break };
        somebody_waits |= matches!(job, Job::Durable(..));
        batch.push(job);
    }
    batch
}

fn write(connection: &mut Connection, batch: Vec<Job>) {
    let is_durable = batch.iter().any(|job| matches!(job, Job::Durable(..)));
    // Without somebody who waits, the log is enough: it survives the process, if not the power.
    let synchronous = if is_durable { "FULL" } else { "NORMAL" };
    let mut acks = Vec::new();
    let result = connection
        .pragma_update(None, "synchronous", synchronous)
        .and_then(|()| connection.transaction_with_behavior(TransactionBehavior::Immediate))
        .map_err(StateError::from)
        .and_then(|transaction| {
            for job in batch {
                let (work, ack) = match job {
                    Job::Durable(work, ack) => (work, Some(ack)),
                    Job::Note(work) => (work, None),
                };
                let written = one(&transaction, work);
                match (written, ack) {
                    (Ok(()), Some(ack)) => acks.push(ack),
                    (Err(error), Some(ack)) => drop(ack.send(Err(error))),
                    // A row of the journal that cannot be written must not cost the others theirs.
                    (_, None) => {}
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
