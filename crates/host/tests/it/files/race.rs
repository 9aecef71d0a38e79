//! A hostile neighbour inside the workspace: while one thread works through the jail, another
//! keeps exchanging a directory for a link to one outside, and the file in it for a link to
//! a secret outside. Whatever the moment, nothing outside may be read or changed.
//!
//! Each verb runs 5,000 operations; `PINZA_RACE_OPS=1000000` raises that. Replacing waits for
//! the disk, so a long run wants a directory in memory: `TMPDIR=/dev/shm`.

use std::{
    collections::BTreeMap,
    fs,
    os::{fd::OwnedFd, unix::fs::symlink},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use pinza_core::{FsError, WriteMode};
use pinza_host::files::{Jail, WorkspaceOptions};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, renameat, renameat_with, symlinkat, unlinkat};
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
        symlink(at("outside"), at("ws/dir-link")).unwrap();
        symlink("../../outside/deep", at("ws/dir/deep-link")).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let hold = |path: &str| rustix::fs::open(at(path), flags, Mode::empty()).unwrap();
        let (real, deep) = (hold("ws/dir"), hold("ws/dir/deep"));
        Self { base, real, deep }
    }

    fn jail(&self) -> Jail {
        Jail::open(&self.base.path().join("ws"), WorkspaceOptions::default()).unwrap()
    }

    /// One round of mischief; the two exchanges are out of step, so every mixture occurs.
    fn swap(&self, round: usize) {
        let ws = self.base.path().join("ws");
        exchange(CWD, &ws.join("dir"), &ws.join("dir-link"));
        if round.is_multiple_of(2) {
            exchange(&self.real, Path::new("deep"), Path::new("deep-link"));
        }
        // Made anew each time, because a replace may put a file in the link's place.
        match round % 4 {
            0 => symlinkat("../../outside/file", &self.real, "fresh").unwrap(),
            1 => symlinkat(self.base.path().join("outside/file"), &self.real, "fresh").unwrap(),
            _ => drop(
                rustix::fs::openat(&self.real, "fresh", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap(),
            ),
        }
        renameat(&self.real, "fresh", &self.real, "file").unwrap();
    }

    fn assert_untouched(&self) {
        assert_eq!(fs::read(self.base.path().join("outside/file")).unwrap(), SECRET, "{LEAK}");
        assert_eq!(fs::read_dir(self.base.path().join("outside")).unwrap().count(), 2, "{LEAK}");
        assert_eq!(fs::read_dir(self.base.path().join("outside/deep")).unwrap().count(), 0, "{LEAK}");
    }
}

fn exchange(base: impl std::os::fd::AsFd, one: &Path, other: &Path) {
    renameat_with(&base, one, &base, other, RenameFlags::EXCHANGE).unwrap();
}

/// Runs `operation` against the swapping neighbour. It must sometimes get through and
/// sometimes be refused, or there was no race at all.
fn race(name: &str, operation: impl Fn(&Arena, &Jail, usize) -> Result<(), FsError>) {
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
                arena.swap(rounds);
                if rounds % 4 == 3 {
                    // All is as it should be: a pause, of ever another length, lets an operation
                    // begin, so that each of its steps is once the one interrupted.
                    (0..rounds * 37 % 1_000).for_each(|_| std::hint::spin_loop());
                }
                rounds += 1;
            }
            rounds
        });
        // A busy machine may give the neighbour its turn late.
        while performed < operations || ((passed == 0 || refused == 0) && performed < operations + 1_000_000)
        {
            match operation(&arena, &jail, performed) {
                Ok(()) => passed += 1,
                Err(FsError::Outside) => refused += 1,
                Err(other) => *others.entry(other.to_string()).or_insert(0_usize) += 1,
            }
            performed += 1;
        }
        done.store(true, Ordering::Relaxed);
        rounds = swapper.join().unwrap();
    });
    arena.assert_untouched();
    super::assert_no_temporary_files(&arena.base.path().join("ws"));
    assert!(passed > 0 && refused > 0, "{name}: {passed} passed, {refused} refused");
    println!(
        "{name}: {performed} operations against {rounds} swaps, {passed} passed, {refused} refused, 0 leaks; {others:?}"
    );
}

#[test]
fn reads_stay_inside() {
    race("read", |_, jail, _| {
        let data = jail.read("dir/file", 1 << 20)?;
        assert!(data.len() < SECRET.len() && !data.contains(&b'S'), "{LEAK}");
        Ok(())
    });
}

#[test]
fn stats_stay_inside() {
    race("stat", |_, jail, _| {
        let stat = jail.stat("dir/file")?;
        assert!(stat.is_none_or(|stat| stat.size != SECRET.len() as u64), "{LEAK}");
        Ok(())
    });
}

#[test]
fn replaces_stay_inside() {
    race("replace", |_, jail, _| jail.write("dir/file", b"new", WriteMode::Replace));
}

#[test]
fn appends_stay_inside() {
    race("append", |_, jail, _| jail.write("dir/file", b"more", WriteMode::Append));
}

#[test]
fn new_directories_stay_inside() {
    race("mkdirp", |arena, jail, _| {
        jail.mkdirp("dir/deep/new/two")?;
        // Removed again, so that the next round has something to make.
        for made in ["new/two", "new"] {
            let _ = unlinkat(&arena.deep, made, AtFlags::REMOVEDIR);
        }
        Ok(())
    });
}
