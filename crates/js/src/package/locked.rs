//! What a lock says of single files, asked when a file is looked for or read.
//!
//! Hashing a whole tree takes longer than a first call may. What runs is what was read, so it is enough that each file is
//! compared when it is read, each time; and that what is looked for is there if it was there when the lock was
//! written, and only then, because a file more or less leads to others. The first difference is kept: from
//! then on nothing of the module is right.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use sha2::{Digest, Sha256};

use super::{
    lock::{Difference, LINK, Lock, LockFault, LockState, counts, hex},
    tree::package_of,
};

/// The files that one lock knows.
#[derive(Debug)]
pub(crate) struct LockedFiles {
    /// `node_modules` as the module names it, and as it is with all links followed.
    roots: [PathBuf; 2],
    /// By place below `node_modules`; what it is, as the lock writes it.
    files: BTreeMap<String, String>,
    difference: OnceLock<Difference>,
}

/// How reading a module's package begins.
#[derive(Debug)]
pub(crate) enum Locked {
    /// There is no lock, or an old one that names no files: what is installed has just been compared with it.
    Whole,
    /// What is read is to be compared as it is read.
    Files(LockedFiles),
    /// It need not even begin.
    Differs(Vec<Difference>),
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File,
    Directory,
    Nothing,
}

impl Locked {
    pub(crate) fn of(directory: &Path) -> Result<Self, LockFault> {
        let Some(lock) = Lock::read(directory)? else { return Ok(Self::Whole) };
        if lock.packages.values().any(|package| package.files.is_empty()) {
            return Ok(match super::check_lock(directory)? {
                LockState::Free | LockState::Same => Self::Whole,
                LockState::Differs(differences) => Self::Differs(differences),
            });
        }
        let modules = directory.join("node_modules");
        // Where there is none, everything that is locked is missing.
        let real = fs::canonicalize(&modules).unwrap_or_else(|_| modules.clone());
        let mut files = BTreeMap::new();
        for (package, locked) in lock.packages {
            for (path, what) in locked.files {
                let path = if path.is_empty() { package.clone() } else { format!("{package}/{path}") };
                files.insert(path, what);
            }
        }
        Ok(Self::Files(LockedFiles { roots: [modules, real], files, difference: OnceLock::new() }))
    }
}

impl LockedFiles {
    /// The first difference that was met.
    pub(crate) fn difference(&self) -> Option<&Difference> {
        self.difference.get()
    }

    /// A file's bytes were read. They are not to be used if they are not the locked ones.
    pub(crate) fn read(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let Some(place) = self.place(path) else { return Ok(()) };
        match self.files.get(&place) {
            Some(digest) if *digest == hex(&Sha256::digest(bytes)) => Ok(()),
            Some(_) => Err(self.differs(&place)),
            None => Err(self.is_new(&place)),
        }
    }

    /// Somebody looked at a path, links followed.
    pub(crate) fn looked(&self, path: &Path, found: Found) {
        if found == Found::Nothing && self.roots.iter().any(|root| root == path) {
            // Packages could then be found further up.
            let first = self.files.keys().next().map(|place| package_of(place).to_owned());
            return first.into_iter().for_each(|package| drop(self.keep(Difference::Missing { package })));
        }
        let Some(place) = self.place(path) else { return };
        match (self.files.get(&place), found) {
            // Where a link leads is its own matter; the link itself is looked at, too.
            (Some(what), _) if what.starts_with(LINK) => {}
            (Some(_), Found::File) => {}
            (Some(_), _) => drop(self.differs(&place)),
            (None, Found::File) => drop(self.is_new(&place)),
            (None, Found::Nothing) if self.is_directory(&place) && package_of(&place) == place => {
                drop(self.keep(Difference::Missing { package: place }));
            }
            (None, Found::Nothing) if self.is_directory(&place) => drop(self.differs(&place)),
            (None, Found::Directory | Found::Nothing) => {}
        }
    }

    /// Somebody looked at a path itself: whether it is a link, and where that points.
    pub(crate) fn looked_at_link(&self, path: &Path, target: Option<&Path>) {
        let Some(place) = self.place(path) else { return };
        let locked = self.files.get(&place).and_then(|what| what.strip_prefix(LINK));
        let found = target.map(|target| target.to_string_lossy());
        if locked != found.as_deref() {
            drop(self.differs(&place));
        }
    }

    /// Where a path is below `node_modules`, if the lock has a say in it.
    fn place(&self, path: &Path) -> Option<String> {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        // As the lock has it.
        let place = &*below.to_string_lossy();
        let is_linked =
            |(at, _): (usize, &str)| self.files.get(&place[..at]).is_some_and(|what| what.starts_with(LINK));
        // What lies beyond a locked link has another path, which is asked for as well.
        let is_covered = !place.is_empty() && counts(place) && !place.match_indices('/').any(is_linked);
        is_covered.then(|| place.to_owned())
    }

    fn is_directory(&self, place: &str) -> bool {
        let inside = format!("{place}/");
        self.files.range(inside.clone()..).next().is_some_and(|(file, _)| file.starts_with(&inside))
    }

    fn is_new(&self, place: &str) -> io::Error {
        let package = package_of(place);
        if self.is_directory(package) {
            return self.differs(place);
        }
        self.keep(Difference::Added { package: package.to_owned() })
    }

    fn differs(&self, place: &str) -> io::Error {
        self.keep(Difference::Changed { package: package_of(place).to_owned() })
    }

    fn keep(&self, difference: Difference) -> io::Error {
        io::Error::other(self.difference.get_or_init(|| difference).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> tempfile::TempDir {
        let module = tempfile::TempDir::new().unwrap();
        let package = module.path().join("node_modules/a");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("index.js"), "1").unwrap();
        std::os::unix::fs::symlink("a", module.path().join("node_modules/b")).unwrap();
        Lock::of(module.path()).unwrap().write(module.path()).unwrap();
        module
    }

    fn locked(module: &tempfile::TempDir) -> LockedFiles {
        match Locked::of(module.path()).unwrap() {
            Locked::Files(files) => files,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_compared_each_time() {
        let module = module();
        let files = locked(&module);
        let file = module.path().join("node_modules/a/index.js");
        assert!(files.read(&file, b"1").is_ok() && files.read(&file, b"1").is_ok());
        assert!(files.difference().is_none());
        assert!(files.read(&file, b"2").is_err());
        // What was wrong once stays wrong.
        assert_eq!(files.difference(), Some(&Difference::Changed { package: "a".into() }));
    }

    #[test]
    fn only_what_was_there_is_there() {
        let check = |place: &str, found: Found, expected: Option<&str>| {
            let module = module();
            let files = locked(&module);
            files.looked(&module.path().join(place), found);
            assert_eq!(files.difference().map(ToString::to_string).as_deref(), expected, "{place} {found:?}");
        };
        let changed = Some("the files of a are not the locked ones");
        check("node_modules/a/index.js", Found::File, None);
        check("node_modules/a/index.js", Found::Nothing, changed);
        check("node_modules/a/index.js", Found::Directory, changed);
        check("node_modules/a/package.json", Found::File, changed);
        check("node_modules/a/package.json", Found::Nothing, None);
        check("node_modules/a", Found::Nothing, Some("a is locked, but not installed"));
        check("node_modules", Found::Nothing, Some("a is locked, but not installed"));
        check("node_modules/c", Found::Directory, None);
        check("node_modules/c/index.js", Found::File, Some("c is installed, but not locked"));
        // Beyond a link it has another name, and beside the packages there is no lock.
        check("node_modules/b/index.js", Found::Nothing, None);
        check("lib.js", Found::File, None);
        check("node_modules/.bin/a", Found::File, None);
    }

    #[test]
    fn links_point_where_they_did() {
        let check = |place: &str, target: Option<&str>, is_same: bool| {
            let module = module();
            let files = locked(&module);
            files.looked_at_link(&module.path().join(place), target.map(Path::new));
            assert_eq!(files.difference().is_none(), is_same, "{place} {target:?}");
        };
        check("node_modules/b", Some("a"), true);
        check("node_modules/b", Some("c"), false);
        check("node_modules/b", None, false);
        check("node_modules/a", None, true);
        check("node_modules/a", Some("elsewhere"), false);
        check("node_modules/a/index.js", Some("elsewhere"), false);
    }

    #[test]
    fn without_digests_of_files_everything_is_compared_at_once() {
        let module = module();
        let mut lock = Lock::read(module.path()).unwrap().unwrap();
        lock.packages.values_mut().for_each(|package| package.files.clear());
        lock.write(module.path()).unwrap();
        assert!(matches!(Locked::of(module.path()), Ok(Locked::Whole)));
        fs::write(module.path().join("node_modules/a/more.js"), "").unwrap();
        assert!(matches!(Locked::of(module.path()), Ok(Locked::Differs(_))));
        fs::remove_file(module.path().join("module.lock.json")).unwrap();
        assert!(matches!(Locked::of(module.path()), Ok(Locked::Whole)));
    }
}
