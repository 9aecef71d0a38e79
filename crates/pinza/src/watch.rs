//! Follows the directories of scripts, so that a saved file is live a moment later.
//!
//! An event only says that it is time to look: what changed is found by reading, and a look at what did not change
//! changes nothing. So it does not matter how an editor saves, or whether an event got lost between two others.

mod interest;

use std::{
    collections::BTreeSet,
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode},
};
use tokio::sync::mpsc;

use crate::{Pinza, Reload, live::Live};
use interest::{Interest, interests};

/// A save is several events; a look comes when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(100);
/// Where it is never quiet, a look comes all the same.
const PATIENCE: Duration = Duration::from_millis(400);
/// Without events.
const EVERY: Duration = Duration::from_millis(500);
/// Reports that nobody reads; more are dropped.
const UNREAD: usize = 256;

/// Follows the directories of scripts for as long as it is kept.
#[derive(Debug)]
pub struct Watch {
    signals: Sender<Signal>,
    reports: mpsc::Receiver<Report>,
}

/// What a [`Watch`] has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Tools changed, or what is wrong with them did.
    Reloaded(Reload),
    /// The system does not tell of changes, for this reason; the directories are looked at twice a second instead.
    Looking(String),
}

enum Signal {
    Changed(PathBuf),
    /// Events were lost.
    Lost,
    Stop,
}

impl Pinza {
    /// Follows the directories of scripts. Calls that begin after a save run what was saved; a broken save keeps the last
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
        let (signals, incoming) = channel();
        let notices = Notices::start(signals.clone());
        self.follow(signals, incoming, notices)
    }

    /// As [`watch`](Self::watch), for directories that no events come from, such as those of other machines: looks
    /// twice a second.
    pub fn watch_by_looking(&self) -> io::Result<Watch> {
        let (signals, incoming) = channel();
        self.follow(signals, incoming, Ok(None))
    }

    fn follow(
        &self,
        signals: Sender<Signal>,
        incoming: Receiver<Signal>,
        notices: notify::Result<Option<Notices>>,
    ) -> io::Result<Watch> {
        let (out, reports) = mpsc::channel(UNREAD);
        let mut follower = Follower { live: Arc::clone(self.live()), notices: None, out };
        match notices {
            Ok(notices) => follower.notices = notices,
            Err(error) => follower.look_instead(&error),
        }
        follower.aim();
        let first = follower.live.pin();
        follower.tell(first);
        thread::Builder::new().name("pinza-watch".into()).spawn(move || follower.run(&incoming))?;
        Ok(Watch { signals, reports })
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
        // The thread may have ended already.
        let _ = self.signals.send(Signal::Stop);
    }
}

/// The thread's own: it ends with the watch.
struct Follower {
    live: Arc<Live>,
    /// `None` where events cannot be had.
    notices: Option<Notices>,
    out: mpsc::Sender<Report>,
}

impl Follower {
    fn run(mut self, incoming: &Receiver<Signal>) {
        loop {
            let signal = match &self.notices {
                Some(_) => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
                None => incoming.recv_timeout(EVERY),
            };
            match signal {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(signal) if !self.is_about_us(&signal) => continue,
                Ok(_) => {
                    if !self.wait_for_quiet(incoming) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look();
        }
    }

    /// Waits until a save seems to be complete. Tells whether to go on.
    fn wait_for_quiet(&self, incoming: &Receiver<Signal>) -> bool {
        let latest = Instant::now() + PATIENCE;
        let mut quiet = Instant::now() + QUIET;
        loop {
            let left = quiet.min(latest).saturating_duration_since(Instant::now());
            match incoming.recv_timeout(left) {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(signal) if self.is_about_us(&signal) => quiet = Instant::now() + QUIET,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }

    fn is_about_us(&self, signal: &Signal) -> bool {
        match (signal, &self.notices) {
            (Signal::Changed(path), Some(notices)) => {
                notices.interests.iter().any(|interest| interest.includes(path))
            }
            _ => true,
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

    fn look_instead(&mut self, error: &notify::Error) {
        self.notices = None;
        self.report(Report::Looking(error.to_string()));
    }

    fn report(&self, report: Report) {
        // Full: nobody reads them, and what holds is in the runtime itself.
        let _ = self.out.try_send(report);
    }
}

/// The system's events.
struct Notices {
    watcher: RecommendedWatcher,
    interests: BTreeSet<Interest>,
}

impl Notices {
    fn start(signals: Sender<Signal>) -> notify::Result<Option<Self>> {
        let tell = move |event: notify::Result<Event>| {
            let Ok(event) = event else { return drop(signals.send(Signal::Lost)) };
            if event.need_rescan() {
                return drop(signals.send(Signal::Lost));
            }
            // Our own reading is no news.
            let is_reading =
                matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
            if !is_reading {
                event.paths.into_iter().for_each(|path| drop(signals.send(Signal::Changed(path))));
            }
        };
        let watcher = RecommendedWatcher::new(tell, notify::Config::default())?;
        Ok(Some(Self { watcher, interests: BTreeSet::new() }))
    }

    /// Asks for events from where something may change now.
    fn aim(&mut self, live: &Live) -> notify::Result<()> {
        // A directory may come to exist between finding out and asking: once more, until it is the same twice.
        for _ in 0..5 {
            let records = live.recipe().upstreams.directory();
            let wanted = interests(&live.places(), &live.skill_places(), records);
            // Again those that are known: the directory may be another one of the same name.
            let directories: BTreeSet<_> = wanted.iter().map(|interest| &interest.directory).collect();
            for directory in &directories {
                match self.watcher.watch(directory, RecursiveMode::NonRecursive) {
                    Err(error) if !is_gone(&error) => return Err(error),
                    _ => {}
                }
            }
            for old in self.interests.iter().filter(|old| !directories.contains(&old.directory)) {
                // It may be gone, and its events with it.
                let _ = self.watcher.unwatch(&old.directory);
            }
            let is_settled = wanted == self.interests;
            self.interests = wanted;
            if is_settled {
                break;
            }
        }
        Ok(())
    }
}

fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}
