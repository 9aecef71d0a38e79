//! Waiting for a server without going to sleep.
//!
//! A server on this machine answers a small call in less time than it takes to go to sleep and to be woken. So where small
//! calls come one at a time, this side stays awake for a moment: for the answer, and after it for the next call.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::yield_now,
};

/// A call that took less than this is a small one, and so, it is hoped, is the next, whose answer is waited for awake
/// as long. So a server that takes longer costs this once, and not with every call.
const SMALL: Duration = Duration::from_micros(300);
/// How long the next call is waited for awake.
const FOR_NEXT: Duration = Duration::from_micros(200);

/// What is known of the calls on one connection.
#[derive(Debug)]
pub(crate) struct Vigil {
    running: AtomicUsize,
    /// How many have begun.
    begun: Arc<AtomicUsize>,
    /// How long the last call took, in microseconds.
    last: AtomicU64,
}

impl Vigil {
    pub(crate) fn new() -> Self {
        Self { running: AtomicUsize::new(0), begun: Arc::default(), last: AtomicU64::new(u64::MAX) }
    }

    pub(crate) fn begin(&self) -> Watch<'_> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let is_alone = self.running.fetch_add(1, Ordering::Relaxed) == 0;
        let was_small = u128::from(self.last.load(Ordering::Relaxed)) < SMALL.as_micros();
        // Where several threads share the work, another one is awake, or they would wake each other.
        let is_one_thread =
            Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::CurrentThread);
        Watch { vigil: self, begun: Instant::now(), is_kept: is_alone && was_small && is_one_thread }
    }
}

/// One call, from its beginning to its end.
pub(crate) struct Watch<'a> {
    vigil: &'a Vigil,
    begun: Instant,
    is_kept: bool,
}

impl Watch<'_> {
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept && self.begun.elapsed() < SMALL
    }

    /// Lets everything else have its turn.
    pub(crate) async fn pass(&self) {
        pass().await;
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.vigil.running.fetch_sub(1, Ordering::Relaxed);
        let took = self.begun.elapsed();
        self.vigil.last.store(took.as_micros().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        // Whoever drops a call may do so outside of any runtime.
        if self.is_kept
            && took < SMALL
            && let Ok(runtime) = Handle::try_current()
        {
            let until = Instant::now() + FOR_NEXT;
            let begun = Arc::clone(&self.vigil.begun);
            let so_far = begun.load(Ordering::Relaxed);
            runtime.spawn(async move {
                while begun.load(Ordering::Relaxed) == so_far && Instant::now() < until {
                    pass().await;
                }
            });
        }
    }
}

/// The server may be waiting for this very processor, so others go first there, too.
async fn pass() {
    std::thread::yield_now();
    yield_now().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_kept_after_a_small_call_by_one_thread_that_is_alone() {
        let vigil = Vigil::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let kept = runtime.block_on(async {
            assert!(!vigil.begin().is_kept, "nothing is known of the first");
            let second = vigil.begin();
            assert!(second.is_kept && !vigil.begin().is_kept, "two are not alone");
            second
        });
        assert!(!vigil.begin().is_kept, "there is no runtime here");
        // Nobody is there to stay awake, and nothing comes of it.
        drop(kept);
    }

    #[test]
    fn nobody_stays_awake_for_a_call_that_is_there() {
        let vigil = Vigil::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            drop(vigil.begin());
            drop(vigil.begin());
            let _next = vigil.begin();
            pass().await;
            assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
        });
    }
}
