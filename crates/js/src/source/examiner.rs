//! The thread on which scripts are parsed.
//!
//! The parser recurses once for each operator of `!!!!…`, so it needs more stack than other threads
//! have. It cannot be told to stop either: should a script that the scan let through take too long, its
//! thread is left behind, the script is refused, and the next one gets a new thread.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use oxc_allocator::Allocator;

use super::{Script, SourceFault, SourceKind, fault_at, read};

/// Address space only: pages are used as deep as a script really goes. The deepest known script that
/// the scan lets through takes 60 MiB of it, an unoptimised parser several times as much.
const STACK: usize = 512 << 20;
/// A megabyte of ordinary code takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);

type Job = (SourceKind, Arc<str>);
type Finding = Result<Script, Vec<SourceFault>>;

/// Examines one script.
pub fn examine(kind: SourceKind, text: &str) -> Finding {
    let mut examiner = Examiner::default();
    examiner.submit(kind, text);
    examiner.finding().unwrap_or_else(|| Err(vec![fault_at(text, 0, NO_THREAD)]))
}

/// Examines many scripts one after the other, while its owner reads the next ones.
#[derive(Debug, Default)]
pub struct Examiner {
    /// Not answered yet, the oldest first.
    waiting: VecDeque<Job>,
    thread: Option<(Sender<Job>, Receiver<Finding>)>,
}

impl Examiner {
    pub fn submit(&mut self, kind: SourceKind, text: impl Into<Arc<str>>) {
        let job: Job = (kind, text.into());
        self.waiting.push_back(job.clone());
        match &self.thread {
            // A thread that has died is noticed when its answer is due.
            Some((jobs, _)) => drop(jobs.send(job)),
            None => self.thread = start(&self.waiting),
        }
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What was found in the oldest script; `None` where none waits.
    pub fn finding(&mut self) -> Option<Finding> {
        let (_, text) = self.waiting.front()?;
        let text = Arc::clone(text);
        if self.thread.is_none() {
            self.thread = start(&self.waiting);
        }
        let finding = match &self.thread {
            Some((_, findings)) => findings.recv_timeout(PATIENCE).map_err(|error| match error {
                RecvTimeoutError::Timeout => "parsing the script takes too long",
                RecvTimeoutError::Disconnected => "the parser failed on this script",
            }),
            None => Err(NO_THREAD),
        };
        self.waiting.pop_front();
        Some(finding.unwrap_or_else(|message| {
            self.thread = None;
            Err(vec![fault_at(&text, 0, message)])
        }))
    }
}

const NO_THREAD: &str = "no memory for a thread to parse the script on";

fn start(waiting: &VecDeque<Job>) -> Option<(Sender<Job>, Receiver<Finding>)> {
    let (jobs, to_do) = channel::<Job>();
    let (found, findings) = channel();
    for job in waiting {
        jobs.send(job.clone()).ok()?;
    }
    let work = move || {
        let mut allocator = Allocator::default();
        for (kind, text) in to_do {
            // The parser is foreign code: where it panics, only this script is lost.
            let finding = catch_unwind(AssertUnwindSafe(|| read(&allocator, kind, &text)));
            let Ok(finding) = finding else { return };
            if found.send(finding).is_err() {
                return;
            }
            allocator.reset();
        }
    };
    let builder = thread::Builder::new().name("pinza-js-parse".into()).stack_size(STACK);
    builder.spawn(work).ok()?;
    Some((jobs, findings))
}
