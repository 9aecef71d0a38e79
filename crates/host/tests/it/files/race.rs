//! A hostile neighbour inside the workspace: while one thread works through the jail, another
//! keeps exchanging a directory for a link to one outside, and the file in it for a link to
//! a secret outside, or for other traps. Whatever the moment, no secret may be read or changed.
//!
//! Each verb runs 5,000 operations; `PINZA_RACE_OPS=1000000` raises that. Replacing waits for
//! the disk, so a long run wants a directory in memory: `TMPDIR=/dev/shm`.

use std::{
    collections::BTreeMap,
    fs,
    os::{fd::OwnedFd, unix::fs::symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use pinza_core::{FsError, WriteMode};
use pinza_host::files::{Jail, WorkspaceOptions};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, mkfifoat, renameat, renameat_with, symlinkat, unlinkat,
};
use tempfile::TempDir;

/// Longer than anything written inside, so that a size alone tells where it came from.
const SECRET: [u8; 7_777] = [b'S'; 7_777];
const LEAK: &str = "reached the outside";

struct Arena {
    base: TempDir,
    /// The real directory, wherever its name leads at the moment.
    real: OwnedFd,
    /// The real directory in it.
    deep: OwnedFd,
}

impl Arena {
    fn build() -> Self {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        fs::create_dir_all(at("ws/dir/deep")).unwrap();
        fs::create_dir_all(at("outside/deep")).unwrap();
        fs::write(at("outside/file"), SECRET).unwrap();
        fs::write(at("ws/dir/file"), "inside").unwrap();
        fs::create_dir(at("ws/dir/home")).unwrap();
        fs::write(at("ws/dir/home/key"), SECRET).unwrap();
        symlink(at("outside"), at("ws/dir-link")).unwrap();
        symlink("../../outside/deep", at("ws/dir/deep-link")).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let hold = |path: &str| rustix::fs::open(at(path), flags, Mode::empty()).unwrap();
        let (real, deep) = (hold("ws/dir"), hold("ws/dir/deep"));
        Self { base, real, deep }
    }

    fn jail(&self) -> Jail {
        let protected = vec![self.base.path().join("ws/dir/home")];
        let options = WorkspaceOptions { protected, ..Default::default() };
        Jail::open(&self.base.path().join("ws"), options).unwrap()
    }

    /// One round of leading outside; the exchanges are out of step, so every mixture occurs.
    fn lead_outside(&self, round: usize) {
        let ws = self.base.path().join("ws");
        exchange(CWD, &ws.join("dir"), &ws.join("dir-link"));
        if round.is_multiple_of(2) {
            exchange(&self.real, Path::new("deep"), Path::new("deep-link"));
        }
        self.put_in_place(match round % 4 {
            0 => Trap::Link("../../outside/file".into()),
            1 => Trap::Link(self.base.path().join("outside/file")),
            _ => Trap::None,
        });
    }

    /// One round of traps that no path shows: all of them lie inside the workspace.
    fn lay_traps(&self, round: usize) {
        self.put_in_place(match round % 8 {
            0 => Trap::Link("home/key".into()),
            2 => Trap::Hardlink,
            4 => Trap::Fifo,
            _ => Trap::None,
        });
    }

    /// Made anew each time, because a replace puts a file in the trap's place.
    fn put_in_place(&self, trap: Trap) {
        let secret = self.base.path().join("outside/file");
        match trap {
            Trap::None => {
                let flags = OFlags::CREATE | OFlags::WRONLY;
                drop(rustix::fs::openat(&self.real, "fresh", flags, Mode::RWXU).unwrap());
            }
            Trap::Link(target) => symlinkat(target, &self.real, "fresh").unwrap(),
            Trap::Hardlink => linkat(CWD, secret, &self.real, "fresh", AtFlags::empty()).unwrap(),
            Trap::Fifo => mkfifoat(&self.real, "fresh", Mode::RWXU).unwrap(),
        }
        renameat(&self.real, "fresh", &self.real, "file").unwrap();
        // Two names of one file: the rename did nothing.
        let _ = unlinkat(&self.real, "fresh", AtFlags::empty());
    }

    fn assert_untouched(&self) {
        let home = rustix::fs::openat(&self.real, "home/key", OFlags::RDONLY, Mode::empty()).unwrap();
        assert_eq!(std::io::read_to_string(fs::File::from(home)).unwrap().as_bytes(), SECRET, "{LEAK}");
        assert_eq!(fs::read(self.base.path().join("outside/file")).unwrap(), SECRET, "{LEAK}");
        assert_eq!(fs::read_dir(self.base.path().join("outside")).unwrap().count(), 2, "{LEAK}");
        assert_eq!(fs::read_dir(self.base.path().join("outside/deep")).unwrap().count(), 0, "{LEAK}");
    }
}

enum Trap {
    None,
    Link(PathBuf),
    Hardlink,
    Fifo,
}

fn exchange(base: impl std::os::fd::AsFd, one: &Path, other: &Path) {
    renameat_with(&base, one, &base, other, RenameFlags::EXCHANGE).unwrap();
}

/// Ends the mischief, also where a leak ends the test.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `operation` against a neighbour who keeps making `mischief`. It must sometimes get
/// through and sometimes be refused, or there was no race at all.
fn race(
    name: &str,
    mischief: impl Fn(&Arena, usize) + Sync,
    operation: impl Fn(&Arena, &Jail, usize) -> Result<(), FsError>,
) {
    let operations: usize =
        std::env::var("PINZA_RACE_OPS").map_or(5_000, |count| count.parse().expect("a number"));
    let arena = Arena::build();
    let jail = arena.jail();
    let done = AtomicBool::new(false);
    let (mut passed, mut refused, mut rounds, mut performed) = (0_usize, 0_usize, 0, 0);
    let mut others = BTreeMap::new();
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut rounds = 0_usize;
            while !done.load(Ordering::Relaxed) {
                mischief(&arena, rounds);
                if rounds % 4 == 3 {
                    // All is as it should be: a pause, of ever another length, lets an operation
                    // begin, so that each of its steps is once the one interrupted.
                    (0..rounds * 37 % 1_000).for_each(|_| std::hint::spin_loop());
                }
                rounds += 1;
            }
            rounds
        });
        let stop = Stop(&done);
        // A busy machine may give the neighbour its turn late.
        while performed < operations || ((passed == 0 || refused == 0) && performed < operations + 1_000_000)
        {
            match operation(&arena, &jail, performed) {
                Ok(()) => passed += 1,
                Err(FsError::Outside | FsError::Forbidden { .. }) => refused += 1,
                Err(other) => *others.entry(other.to_string()).or_insert(0_usize) += 1,
            }
            performed += 1;
        }
        drop(stop);
        rounds = swapper.join().unwrap();
    });
    arena.assert_untouched();
    super::assert_no_temporary_files(&arena.base.path().join("ws"));
    assert!(passed > 0 && refused > 0, "{name}: {passed} passed, {refused} refused");
    println!(
        "{name}: {performed} operations against {rounds} swaps, {passed} passed, {refused} refused, 0 leaks; {others:?}"
    );
}

fn read(jail: &Jail) -> Result<(), FsError> {
    let data = jail.read("dir/file", 1 << 20)?;
    assert!(!data.contains(&b'S'), "{LEAK}");
    Ok(())
}

fn replace(jail: &Jail) -> Result<(), FsError> {
    jail.write("dir/file", b"new", WriteMode::Replace)
}

fn append(jail: &Jail) -> Result<(), FsError> {
    jail.write("dir/file", b"more", WriteMode::Append)
}

#[test]
fn reads_stay_inside() {
    race("read", Arena::lead_outside, |_, jail, _| read(jail));
}

#[test]
fn stats_stay_inside() {
    race("stat", Arena::lead_outside, |_, jail, _| {
        let stat = jail.stat("dir/file")?;
        assert!(stat.is_none_or(|stat| stat.size != SECRET.len() as u64), "{LEAK}");
        Ok(())
    });
}

#[test]
fn replaces_stay_inside() {
    race("replace", Arena::lead_outside, |_, jail, _| replace(jail));
}

#[test]
fn appends_stay_inside() {
    race("append", Arena::lead_outside, |_, jail, _| append(jail));
}

#[test]
fn new_directories_stay_inside() {
    race("mkdirp", Arena::lead_outside, |arena, jail, _| {
        jail.mkdirp("dir/deep/new/two")?;
        // Removed again, so that the next round has something to make.
        for made in ["new/two", "new"] {
            let _ = unlinkat(&arena.deep, made, AtFlags::REMOVEDIR);
        }
        Ok(())
    });
}

#[test]
fn traps_inside_are_seen_at_the_last_moment() {
    race("traps", Arena::lay_traps, |_, jail, turn| match turn % 4 {
        0 => replace(jail),
        1 => append(jail),
        _ => read(jail),
    });
}

/// The kernel gives a path with `..` up whenever something is renamed anywhere meanwhile.
#[test]
fn a_busy_neighbour_disturbs_nobody() {
    let arena = Arena::build();
    let jail = arena.jail();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                exchange(&arena.real, Path::new("deep"), Path::new("deep-link"));
            }
        });
        let stop = Stop(&done);
        let path = "dir/home/../../dir/file";
        let failed: Vec<_> = (0..5_000).filter_map(|_| jail.read(path, 100).err()).collect();
        drop(stop);
        assert!(failed.is_empty(), "{} failed, first: {}", failed.len(), failed[0]);
    });
}
