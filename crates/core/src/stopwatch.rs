//! A tool's timeout, which stands still while a person is asked.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

#[derive(Debug)]
pub(crate) struct Stopwatch {
    /// A std lock, held for a few instructions.
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    /// Time spent before `since`.
    spent: Duration,
    since: Instant,
    /// How many prompts are open; the watch runs at zero.
    holds: u32,
}

impl Stopwatch {
    pub(crate) fn start(since: Instant) -> Self {
        let state = State { spent: Duration::ZERO, since, holds: 0 };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Begins again at zero: the clock of a tool starts when it runs.
    pub(crate) fn restart(&self) {
        self.with(|state| {
            state.spent = Duration::ZERO;
            state.since = Instant::now();
        });
    }

    /// Stops the watch until the guard is dropped.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.with(|state| {
            if state.holds == 0 {
                state.spent += state.since.elapsed();
            }
            state.holds += 1;
        });
        self.changed.notify_waiters();
        Hold(self)
    }

    /// Returns when `limit` has been spent.
    pub(crate) async fn expired(&self, limit: Duration) {
        loop {
            // Registered before looking, so that a change in between is not missed.
            let changed = self.changed.notified();
            match self.left(limit) {
                Some(Duration::ZERO) => return,
                Some(left) => tokio::select! {
                    () = sleep(left) => {}
                    () = changed => {}
                },
                None => changed.await,
            }
        }
    }

    /// `None` while held.
    fn left(&self, limit: Duration) -> Option<Duration> {
        self.with(|state| {
            let spent = || state.spent + state.since.elapsed();
            (state.holds == 0).then(|| limit.saturating_sub(spent()))
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug)]
pub(crate) struct Hold<'a>(&'a Stopwatch);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.holds -= 1;
            if state.holds == 0 {
                state.since = Instant::now();
            }
        });
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn holds_do_not_count() {
        let watch = Stopwatch::start(Instant::now());
        let begun = Instant::now();
        let waiting = async {
            sleep(Duration::from_secs(3)).await;
            let hold = watch.hold();
            let inner = watch.hold();
            sleep(Duration::from_secs(100)).await;
            drop(hold);
            sleep(Duration::from_secs(100)).await;
            drop(inner);
        };
        tokio::join!(watch.expired(Duration::from_secs(5)), waiting);
        assert_eq!(begun.elapsed(), Duration::from_secs(205));
    }
}
