//! On which processor a worker runs.
//!
//! Waking a process on another processor takes longer than a small call does, where processors are
//! virtual ones many times longer. So a worker with small calls, one at a time, runs where its
//! caller does: it runs while the caller sleeps. Everything else runs wherever there is room.

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
};

/// A call that was over within this time is a small one, and so, it is hoped, is the next.
pub(crate) const SMALL: std::time::Duration = std::time::Duration::from_micros(250);

/// One that takes longer than was hoped is let go.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Placement {
    /// `None` where the system does not tell what is allowed: then nothing is changed.
    process: Option<(Pid, CpuSet)>,
    /// Where it is held.
    at: Option<usize>,
}

impl Placement {
    pub(crate) fn of(process: Option<Pid>) -> Self {
        let process = process.and_then(|process| Some((process, sched_getaffinity(None).ok()?)));
        Self { process, at: None }
    }

    /// Holds it where the caller is now.
    pub(crate) fn hold(&mut self) {
        let here = sched_getcpu();
        if self.at == Some(here) {
            return;
        }
        let Some((process, everywhere)) = &self.process else { return };
        let mut only = CpuSet::new();
        // A processor beyond what a set can name, or that this program may not use.
        if here >= CpuSet::MAX_CPU || !everywhere.is_set(here) {
            return;
        }
        only.set(here);
        if sched_setaffinity(Some(*process), &only).is_ok() {
            self.at = Some(here);
        }
    }

    /// Lets it run anywhere.
    pub(crate) fn release(&mut self) {
        if self.at.take().is_some()
            && let Some((process, everywhere)) = &self.process
        {
            // A process that is gone needs no place.
            let _ = sched_setaffinity(Some(*process), everywhere);
        }
    }
}
