//! The threads that connections are served on, each with a runtime of its own.
//!
//! A call goes through several tasks: its connection, its session, a server behind it. Where threads share their tasks,
//! each step may wake another thread, and that takes longer than a small call. Here whatever a connection begins stays
//! on its thread. The first lane is the runtime that serves: while there is one client, nobody is woken but that.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use pinza_core::CancellationToken;
use tokio::runtime::{Builder, Handle};

pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    threads: Vec<JoinHandle<()>>,
    stop: CancellationToken,
}

struct Lane {
    runtime: Handle,
    open: Arc<AtomicUsize>,
}

/// One connection's place on a lane.
pub(crate) struct Place {
    pub(crate) runtime: Handle,
    open: Arc<AtomicUsize>,
}

impl Lanes {
    /// As many as there are processors: the runtime that this is called on, and a thread for each of the others.
    pub(crate) fn start() -> Self {
        let first = Lane::new(Handle::current());
        let mut lanes = Self { lanes: vec![first], threads: Vec::new(), stop: CancellationToken::new() };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..processors {
            // Those that are there will do.
            let Ok((lane, thread)) = lanes.start_one() else { break };
            lanes.lanes.push(lane);
            lanes.threads.push(thread);
        }
        lanes
    }

    fn start_one(&self) -> io::Result<(Lane, JoinHandle<()>)> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, stop) = (runtime.handle().clone(), self.stop.clone());
        let thread = thread::Builder::new().name("pinza-lane".into()).spawn(move || {
            runtime.block_on(stop.cancelled());
            // What still runs on a blocking thread must not keep the end back.
            runtime.shutdown_background();
        })?;
        Ok((Lane::new(handle), thread))
    }

    /// How many connections there are.
    pub(crate) fn open(&self) -> usize {
        self.lanes.iter().map(|lane| lane.open.load(Ordering::Relaxed)).sum()
    }

    /// Where the fewest connections are.
    pub(crate) fn take_place(&self) -> Place {
        let open = |lane: &&Lane| lane.open.load(Ordering::Relaxed);
        // There is always the first.
        let lane = self.lanes.iter().min_by_key(open).unwrap_or(&self.lanes[0]);
        lane.open.fetch_add(1, Ordering::Relaxed);
        Place { runtime: lane.runtime.clone(), open: Arc::clone(&lane.open) }
    }
}

impl Drop for Lanes {
    /// Whatever was begun on a lane has come to its end, and is noted, before anything else ends.
    fn drop(&mut self) {
        self.stop.cancel();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Lane {
    fn new(runtime: Handle) -> Self {
        Self { runtime, open: Arc::default() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_where_the_fewest_are() {
        let lanes = Lanes::start();
        let open = || lanes.lanes.iter().map(|lane| lane.open.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let count = lanes.lanes.len();
        let mut places: Vec<Place> = (0..count * 2).map(|_| lanes.take_place()).collect();
        assert_eq!(open(), vec![2; count]);
        // The first place was on the first lane; it is free again, and taken again.
        drop(places.remove(0));
        assert_eq!(open()[0], 1);
        places.push(lanes.take_place());
        assert_eq!(open(), vec![2; count]);
        drop(places);
        assert_eq!(open(), vec![0; count]);
    }
}
