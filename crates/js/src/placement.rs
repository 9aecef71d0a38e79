//! On which processor a worker runs while both sides stay awake ([`awake`](crate::awake)): not on its caller's.
//!
//! The kernel likes to wake a process where its waker is. Two that spin in turns on one processor cost each other
//! their caches, which more than doubles the time of a call with a large image.

use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
};

#[derive(Debug)]
pub(crate) struct Placement {
    /// The process, and where it may run otherwise; `None` where the system does not tell.
    process: Option<(Pid, CpuSet)>,
    /// The processor that it keeps off.
    off: Option<usize>,
}

impl Placement {
    pub(crate) fn of(process: Option<Pid>) -> Self {
        let process = process.and_then(|process| Some((process, sched_getaffinity(None).ok()?)));
        Self { process, off: None }
    }

    /// Keeps it off the processor that the caller is on now, if there is another.
    pub(crate) fn keep_off(&mut self) {
        let here = sched_getcpu();
        let Some((process, everywhere)) = &self.process else { return };
        if self.off == Some(here) || here >= CpuSet::MAX_CPU || everywhere.count() < 2 {
            return;
        }
        let mut others = *everywhere;
        others.unset(here);
        if sched_setaffinity(Some(*process), &others).is_ok() {
            self.off = Some(here);
        }
    }

    /// Lets it run anywhere again.
    pub(crate) fn release(&mut self) {
        if self.off.take().is_some()
            && let Some((process, everywhere)) = &self.process
        {
            // A process that is gone needs no place.
            let _ = sched_setaffinity(Some(*process), everywhere);
        }
    }
}
