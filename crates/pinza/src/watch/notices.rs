//! The system's events.
//!
//! Asked of the kernel itself: what stands beside the scripts is written all the time, Pinza's own state with every call, so
//! a directory of which only some names matter must not tell of every write in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch},
    io::Errno,
};

use super::interest::{Interest, interests};
use crate::live::Live;

/// What is told of a directory of which some names matter: they come, go, change, or a writer has done its work.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);
/// And where everything matters, also of a writer that is still at it.
const ALL: WatchFlags = NAMES.union(WatchFlags::MODIFY);

/// Bytes that are read at once.
const ROOM: usize = 4096;
/// Events that are taken at once; whoever writes without end is not to keep anybody here.
const MOST: usize = 1000;

pub(super) struct Notices {
    inotify: OwnedFd,
    /// By the kernel's number of it. One directory may have several paths.
    directories: BTreeMap<i32, Vec<PathBuf>>,
    interests: BTreeSet<Interest>,
}

impl Notices {
    pub(super) fn start() -> io::Result<Self> {
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(explain)?;
        Ok(Self { inotify, directories: BTreeMap::new(), interests: BTreeSet::new() })
    }

    /// Asks for events from where something may change now.
    pub(super) fn aim(&mut self, live: &Live) -> io::Result<()> {
        // A directory may come to exist between finding out and asking: once more, until it is the same twice.
        for _ in 0..5 {
            let records = live.recipe().upstreams.directory();
            let settings = live.recipe().settings.files();
            let wanted = interests(&live.places(), &live.skill_places(), records, &settings);
            self.follow(&wanted)?;
            let is_settled = wanted == self.interests;
            self.interests = wanted;
            if is_settled {
                break;
            }
        }
        Ok(())
    }

    /// Also those that are known: the directory may be another one of the same name.
    fn follow(&mut self, wanted: &BTreeSet<Interest>) -> io::Result<()> {
        let mut flags: BTreeMap<&Path, WatchFlags> = BTreeMap::new();
        for interest in wanted {
            let told = if interest.is_whole() { ALL } else { NAMES };
            flags.entry(&interest.directory).or_insert(told).insert(told);
        }
        let mut directories: BTreeMap<i32, Vec<PathBuf>> = BTreeMap::new();
        for (directory, flags) in flags {
            match add_watch(&self.inotify, directory, flags | WatchFlags::MASK_ADD) {
                Ok(number) => directories.entry(number).or_default().push(directory.to_owned()),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(explain(error)),
            }
        }
        for number in self.directories.keys().filter(|number| !directories.contains_key(number)) {
            // It may be gone, and its events with it.
            let _ = remove_watch(&self.inotify, *number);
        }
        self.directories = directories;
        Ok(())
    }

    /// Takes events that are there, without waiting; tells whether one of them is about us.
    pub(super) fn take(&self) -> bool {
        let mut room = [MaybeUninit::uninit(); ROOM];
        let mut events = Reader::new(&self.inotify, &mut room);
        let mut is_about_us = false;
        for _ in 0..MOST {
            match events.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => is_about_us = true,
                Ok(event) => {
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    let directories = self.directories.get(&event.wd()).into_iter().flatten();
                    let mut paths = directories
                        .map(|directory| name.map_or_else(|| directory.clone(), |name| directory.join(name)));
                    is_about_us |=
                        paths.any(|path| self.interests.iter().any(|interest| interest.includes(&path)));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return is_about_us,
                // Events may be lost, so it is time to look.
                Err(_) => return true,
            }
        }
        is_about_us
    }
}

impl AsFd for Notices {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

fn explain(error: Errno) -> io::Error {
    let limit = match error {
        Errno::NOSPC => "fs.inotify.max_user_watches",
        Errno::MFILE => "fs.inotify.max_user_instances",
        _ => return error.into(),
    };
    io::Error::new(io::Error::from(error).kind(), format!("the system tells of no more changes ({limit})"))
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use pinza_js::Place;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn has_events(notices: &Notices) -> bool {
        poll(&mut [PollFd::new(&notices.inotify, PollFlags::IN)], Some(&Timespec::default())) == Ok(1)
    }

    #[test]
    fn a_directory_with_two_paths_is_followed_under_both() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("inner")).unwrap();
        let paths = [home.path().to_owned(), home.path().join("inner/..")];
        let mut notices = Notices::start().unwrap();
        notices.interests = paths
            .into_iter()
            .zip(["a", "b"])
            .map(|(directory, name)| Interest { directory, name: Some(name.into()) })
            .collect();
        notices.follow(&notices.interests.clone()).unwrap();
        for (name, is_ours) in [("a", true), ("other", false), ("b", true)] {
            fs::create_dir(home.path().join(name)).unwrap();
            assert_eq!(notices.take(), is_ours, "{name}");
        }
    }

    #[test]
    fn a_flood_is_taken_in_parts() {
        let tools = tempfile::tempdir().unwrap();
        let mut notices = Notices::start().unwrap();
        notices.interests = interests(&[Place::Directory(tools.path().to_owned())], &[], None, &[]);
        notices.follow(&notices.interests.clone()).unwrap();
        for number in 0..=MOST {
            fs::write(tools.path().join(number.to_string()), "").unwrap();
        }
        assert!(notices.take() && has_events(&notices));
    }

    #[test]
    fn writes_beside_what_matters_are_not_told() {
        let home = tempfile::tempdir().unwrap();
        let tools = home.path().join("tools");
        let mut notices = Notices::start().unwrap();
        let aim = |notices: &mut Notices| {
            notices.interests = interests(&[Place::Optional(tools.clone())], &[], None, &[]);
            notices.follow(&notices.interests.clone()).unwrap();
        };
        aim(&mut notices);
        let mut state = fs::File::create(home.path().join("state.db-wal")).unwrap();
        assert!(!notices.take(), "its name is not ours");
        state.write_all(b"a call").unwrap();
        assert!(!has_events(&notices));

        fs::create_dir(&tools).unwrap();
        assert!(notices.take());
        aim(&mut notices);
        let mut script = fs::File::create(tools.join("t.js")).unwrap();
        assert!(notices.take());
        script.write_all(b"half of it").unwrap();
        assert!(notices.take(), "where all matters, so does what is not finished");
        fs::rename(&tools, home.path().join("away")).unwrap();
        assert!(notices.take());
        aim(&mut notices);
        notices.take();
        script.write_all(b"and the rest").unwrap();
        assert!(!has_events(&notices), "it is followed where it should be, and not where it is");
    }
}
