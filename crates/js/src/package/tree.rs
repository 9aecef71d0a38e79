//! The files below a module's `node_modules`, listed once.
//!
//! Everything else here asks the list and not the disk, so that nothing a package says (a `main`
//! with `..`, a link) can lead outside. Files are opened beneath the directory's descriptor.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

/// A tree with more is no library for a tool call.
pub(super) const MOST_FILES: usize = 20_000;
pub(super) const MOST_BYTES: u64 = 64 << 20;
/// Directories within directories; real trees stay below twenty.
const MOST_DEPTH: usize = 64;

/// Why a tree of packages is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeFault {
    #[error("{path} cannot be read: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("it brings more than {MOST_FILES} files; {largest} has {files} of them")]
    TooManyFiles { largest: String, files: usize },
    #[error("it takes more than {} MB; {largest} alone takes {} MB", MOST_BYTES >> 20, bytes >> 20)]
    TooLarge { largest: String, bytes: u64 },
    #[error("{path} lies too deep")]
    TooDeep { path: String },
}

/// What was found below a `node_modules`; paths are relative to it, with `/` between their parts.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    directory: OwnedFd,
    /// Regular files and their sizes.
    pub(super) files: BTreeMap<String, u64>,
    /// Symbolic links and where they point. They are not followed.
    pub(super) links: BTreeMap<String, String>,
    /// Neither files nor directories nor links: pipes, sockets, devices.
    pub(super) odd: Vec<String>,
    pub(super) bytes: u64,
}

impl Tree {
    pub(super) fn list(root: &Path) -> Result<Self, TreeFault> {
        let fault = |error: &dyn std::fmt::Display| unreadable(root, error);
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(root, flags, Mode::empty()).map_err(|error| fault(&error))?;
        let mut tree = Self {
            root: root.to_owned(),
            directory,
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            odd: Vec::new(),
            bytes: 0,
        };
        tree.walk(root, "", 0)?;
        Ok(tree)
    }

    fn walk(&mut self, directory: &Path, prefix: &str, depth: usize) -> Result<(), TreeFault> {
        if depth > MOST_DEPTH {
            return Err(TreeFault::TooDeep { path: prefix.to_owned() });
        }
        let entries = fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(directory, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
            let name = entry.file_name();
            // A name that is no text cannot be asked for by a script, but it counts.
            let name = name.to_string_lossy();
            let path = if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
            if kind.is_dir() {
                self.walk(&entry.path(), &path, depth + 1)?;
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap_or_default();
                self.links.insert(path, target.to_string_lossy().into_owned());
            } else if kind.is_file() {
                let size = entry.metadata().map_err(|error| unreadable(&entry.path(), &error))?.len();
                self.bytes += size;
                self.files.insert(path, size);
            } else {
                self.odd.push(path);
            }
            self.check_bounds()?;
        }
        Ok(())
    }

    fn check_bounds(&self) -> Result<(), TreeFault> {
        if self.files.len() + self.links.len() + self.odd.len() > MOST_FILES {
            let (largest, files) = self.most(|_| 1);
            return Err(TreeFault::TooManyFiles { largest, files: files as usize });
        }
        if self.bytes > MOST_BYTES {
            let (largest, bytes) = self.most(|size| size);
            return Err(TreeFault::TooLarge { largest, bytes });
        }
        Ok(())
    }

    /// The package that has most of something.
    fn most(&self, weight: impl Fn(u64) -> u64) -> (String, u64) {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (path, size) in &self.files {
            *sums.entry(package_of(path)).or_default() += weight(*size);
        }
        let most = sums.into_iter().max_by_key(|(_, sum)| *sum).unwrap_or_default();
        (most.0.to_owned(), most.1)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Is there a file or link below this directory?
    pub(super) fn has_directory(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        let below = self.files.range(inside.clone()..).next();
        below.is_some_and(|(file, _)| file.starts_with(&inside))
    }

    /// A file's bytes. A link anywhere on the way is refused: what it leads to was not listed.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, TreeFault> {
        let fault = |error: &dyn std::fmt::Display| unreadable(&self.root.join(path), error);
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat2(&self.directory, path, flags, Mode::empty(), resolve);
        let file = fs::File::from(file.map_err(|error| fault(&error))?);
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
        Ok(bytes)
    }

    pub(super) fn text(&self, path: &str) -> Result<String, TreeFault> {
        Ok(match String::from_utf8(self.read(path)?) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// Links that lead out of the tree, with their targets.
    pub(super) fn links_outside(&self) -> impl Iterator<Item = (&String, &String)> {
        self.links.iter().filter(|(path, target)| {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            target.starts_with('/') || join(directory, target).is_none()
        })
    }
}

/// The package that a path belongs to: `@a/b`, `a`, `a/node_modules/b`.
pub(super) fn package_of(path: &str) -> &str {
    let start = path.rfind("/node_modules/").map_or(0, |at| at + "/node_modules/".len());
    let slashes = if path[start..].starts_with('@') { 2 } else { 1 };
    let end = path[start..].match_indices('/').nth(slashes - 1).map_or(path.len(), |(at, _)| start + at);
    &path[..end]
}

/// A relative path seen from a directory, its dots taken away; `None` where it leaves the tree.
pub(super) fn join(directory: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> TreeFault {
    TreeFault::Unreadable { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (directory, relative, expected) in [
            ("a/lib", "./b.js", Some("a/lib/b.js")),
            ("a/lib", "../b", Some("a/b")),
            ("a", "../../b", None),
            ("", "..", None),
            ("a", "x/../../b//c", Some("b/c")),
        ] {
            assert_eq!(join(directory, relative).as_deref(), expected, "{directory} {relative}");
        }
    }

    #[test]
    fn packages_are_told_apart() {
        for (path, package) in [
            ("a/index.js", "a"),
            ("@s/a/lib/x.js", "@s/a"),
            ("a/node_modules/b/x.js", "a/node_modules/b"),
            ("a/node_modules/@s/b/x.js", "a/node_modules/@s/b"),
            ("loose.js", "loose.js"),
        ] {
            assert_eq!(package_of(path), package, "{path}");
        }
    }
}
