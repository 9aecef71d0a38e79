//! Follows the directories of scripts and the files of settings, so that a saved file is live a moment later.
//!
//! An event only says that it is time to look: what changed is found by reading, and a look at what did not change
//! changes nothing. So it does not matter how an editor saves, or whether an event got lost between two others.

mod interest;
mod notices;

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use tokio::sync::mpsc;

use crate::{Pinza, Reload, live::Live};
use notices::Notices;

/// A save is several events; a look comes when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(100);
/// Where it is never quiet, a look comes all the same.
const PATIENCE: Duration = Duration::from_millis(400);
/// Without events.
const EVERY: Duration = Duration::from_millis(500);
/// Reports that nobody reads; more are dropped.
const UNREAD: usize = 256;

/// Follows the directories of scripts and the files of settings for as long as it is kept.
#[derive(Debug)]
pub struct Watch {
    stop: Arc<OwnedFd>,
    reports: mpsc::Receiver<Report>,
}

/// What a [`Watch`] has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Tools or rules changed, or what is wrong with them did.
    Reloaded(Reload),
    /// The system does not tell of changes, for this reason; the directories are looked at twice a second instead.
    Looking(String),
}

/// Why the thread has something to do.
#[derive(PartialEq, Eq)]
enum Woken {
    /// Something happened that scripts may depend on.
    Told,
    Late,
    Stopped,
}

impl Pinza {
    /// Follows the directories of scripts and the files of settings. Calls that begin after a save run what was saved; a broken save keeps the last
    /// good version, and says so. Ends when the watch is dropped. Blocking for a first look at all files.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use pinza::{Pinza, js::Place};
    ///
    /// let tools = Place::Optional("tools".into());
    /// let pinza = Pinza::builder().workspace("work").helper(pinza::THIS_PROGRAM).scripts([tools]).build()?;
    /// let mut watch = pinza.watch()?;
    /// while let Some(report) = watch.next().await {
    ///     println!("{report:?}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn watch(&self) -> io::Result<Watch> {
        self.follow(Notices::start().map(Some))
    }

    /// As [`watch`](Self::watch), for directories that no events come from, such as those of other machines: looks
    /// twice a second.
    pub fn watch_by_looking(&self) -> io::Result<Watch> {
        self.follow(Ok(None))
    }

    fn follow(&self, notices: io::Result<Option<Notices>>) -> io::Result<Watch> {
        let (out, reports) = mpsc::channel(UNREAD);
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let mut follower =
            Follower { live: Arc::clone(self.live()), notices: None, stop: Arc::clone(&stop), out };
        match notices {
            Ok(notices) => follower.notices = notices,
            Err(error) => follower.look_instead(&error),
        }
        follower.aim();
        let first = follower.live.pin();
        follower.tell(first);
        thread::Builder::new().name("pinza-watch".into()).spawn(move || follower.run())?;
        Ok(Watch { stop, reports })
    }
}

impl Watch {
    /// The next report; `None` when there can be none any more. Reports that nobody takes are dropped after 256.
    pub async fn next(&mut self) -> Option<Report> {
        self.reports.recv().await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Written once, so that there is room for it.
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
    }
}

/// The thread's own: it ends with the watch.
struct Follower {
    live: Arc<Live>,
    /// `None` where events cannot be had.
    notices: Option<Notices>,
    stop: Arc<OwnedFd>,
    out: mpsc::Sender<Report>,
}

impl Follower {
    fn run(mut self) {
        loop {
            let patience = if self.notices.is_some() { None } else { Some(EVERY) };
            let woken = self.wait(patience);
            if woken == Woken::Stopped || (woken == Woken::Told && self.wait_for_quiet() == Woken::Stopped) {
                return;
            }
            self.look();
        }
    }

    /// Waits until a save seems to be complete.
    fn wait_for_quiet(&self) -> Woken {
        let latest = Instant::now() + PATIENCE;
        loop {
            let left = QUIET.min(latest.saturating_duration_since(Instant::now()));
            match self.wait(Some(left)) {
                Woken::Told if Instant::now() < latest => {}
                woken => return woken,
            }
        }
    }

    /// Waits for an event that is about us.
    fn wait(&self, patience: Option<Duration>) -> Woken {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let stop = PollFd::new(&self.stop, PollFlags::IN);
            let events =
                self.notices.as_ref().map(|notices| PollFd::from_borrowed_fd(notices.as_fd(), PollFlags::IN));
            let mut watched: Vec<PollFd<'_>> = std::iter::once(stop).chain(events).collect();
            let ready = poll(&mut watched, left.as_ref());
            if !watched[0].revents().is_empty() {
                return Woken::Stopped;
            }
            if self.notices.as_ref().is_some_and(Notices::take) {
                return Woken::Told;
            }
            if ready == Ok(0) || until.is_some_and(|until| Instant::now() >= until) {
                return Woken::Late;
            }
        }
    }

    fn look(&mut self) {
        self.aim();
        let reload = self.live.reload();
        self.tell(reload);
    }

    /// Before files are read: what changes after that brings the next look.
    fn aim(&mut self) {
        if let Some(notices) = &mut self.notices
            && let Err(error) = notices.aim(&self.live)
        {
            self.look_instead(&error);
        }
    }

    fn tell(&self, reload: Reload) {
        if !reload.is_empty() {
            self.report(Report::Reloaded(reload));
        }
    }

    fn look_instead(&mut self, error: &io::Error) {
        self.notices = None;
        self.report(Report::Looking(error.to_string()));
    }

    fn report(&self, report: Report) {
        // Full: nobody reads them, and what holds is in the runtime itself.
        let _ = self.out.try_send(report);
    }
}
