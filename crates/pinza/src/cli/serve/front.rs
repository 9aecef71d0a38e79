//! What `serve --stdio` said the last time, in `home/cache/front`, for as long as nothing has changed that it came from.
//!
//! Agents start servers again and again and wait for the list of tools each time. Whether a thousand tools are
//! still what they were is told by looking at their files, without reading them.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use pinza::mcp::server::Front;
use sha2::{Digest as _, Sha256};

use crate::{
    cli::{Global, args::Serve, session},
    config::write_whole,
    home::Home,
    project::{Project, hex},
};

/// What of a home decides about tools.
const OF_HOME: [&str; 6] = ["config.toml", "trust.json", "tools", "skills", "modules", "mcp"];
/// What lies there is read when a library is called, not when it is listed.
const LIBRARIES: &str = "node_modules";
/// With more files than this, looking at them is no faster than it is worth.
const MOST_FILES: usize = 5000;
const DEEPEST: usize = 8;
/// Clocks of file systems are coarse: what was just written could be written again in the same moment.
const SETTLED: Duration = Duration::from_secs(2);
/// Fronts that are kept; each is for other options, or another project.
const MOST_FRONTS: usize = 32;

/// A file that is still being written after this time is not being written any more.
const ABANDONED: Duration = Duration::from_secs(60);

/// The place of one front, and what it has to fit to.
#[derive(Clone, Debug)]
pub(super) struct FrontFile {
    path: PathBuf,
    looked_at: Places,
    stamp: Option<Stamp>,
}

/// Where everything is that decides about tools.
#[derive(Clone, Debug)]
struct Places {
    own: Vec<PathBuf>,
    /// Nobody may trust it yet, so no link leads out of it.
    project: Vec<PathBuf>,
}

/// Everything that decides about tools, as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    digest: String,
    /// When the last of it changed.
    last: Duration,
}

impl FrontFile {
    /// `None` where there is no front to be had.
    pub(super) fn find(global: &Global, arguments: &Serve) -> Option<Self> {
        if arguments.conformance {
            return None;
        }
        let home = Home::find(global.home.as_deref()).ok()?;
        let (workspace, _) = session::workspace(global, &home).ok()?;
        let project = Project::find(&workspace, &home).map(|project| project.path);
        let mut looked_at: Vec<PathBuf> = OF_HOME.iter().map(|part| home.path.join(part)).collect();
        for directory in &global.tools {
            looked_at.push(std::path::absolute(directory).ok()?);
        }
        looked_at.push(std::env::current_exe().ok()?);
        let own = looked_at.len();
        looked_at.extend(project.iter().flat_map(|project| Project::parts(project)));
        let whose = format!("{global:?}{arguments:?}{workspace:?}{looked_at:?}");
        let name = hex(&Sha256::digest(whose.as_bytes()));
        let path = home.path.join("cache/front").join(&name[..32]);
        let looked_at = Places { project: looked_at.split_off(own), own: looked_at };
        let stamp = looked_at.stamp().ok();
        Some(Self { path, looked_at, stamp })
    }

    /// What was said when everything was as it is now.
    pub(super) fn read(&self) -> Option<Front> {
        let bytes = fs::read(&self.path).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let is_same = bytes[..end] == *self.stamp.as_ref()?.digest.as_bytes();
        is_same.then(|| Front::from_bytes(bytes, end + 1)).flatten()
    }

    /// Keeps it, if nothing has changed since this program began. What cannot be kept is made again.
    pub(super) fn keep(&self, front: &Front) {
        let Some(stamp) = self.stamp.as_ref().filter(|stamp| stamp.is_settled()) else { return };
        if self.looked_at.stamp().ok().as_ref() != Some(stamp) {
            return;
        }
        let bytes = [stamp.digest.as_bytes(), b"\n", front.bytes()].concat();
        if fs::read(&self.path).is_ok_and(|known| known == bytes) {
            return;
        }
        let _ = write(&self.path, &bytes);
    }
}

impl Stamp {
    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.checked_sub(self.last).is_some_and(|age| age > SETTLED)
    }
}

impl Places {
    /// Times, sizes and numbers of all files; no two states of them have the same.
    fn stamp(&self) -> io::Result<Stamp> {
        let mut look =
            Look { hash: Sha256::new(), last: Duration::ZERO, left: MOST_FILES, follows_links: true };
        self.own.iter().try_for_each(|path| look.at(path, DEEPEST))?;
        look.follows_links = false;
        self.project.iter().try_for_each(|path| look.at(path, DEEPEST))?;
        Ok(Stamp { digest: hex(&look.hash.finalize()), last: look.last })
    }
}

struct Look {
    hash: Sha256,
    last: Duration,
    left: usize,
    follows_links: bool,
}

impl Look {
    fn at(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let too_many = || io::Error::other("too many files");
        self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
        let name = path.as_os_str().as_encoded_bytes();
        self.hash.update((name.len() as u64).to_le_bytes());
        self.hash.update(name);
        let meta = if self.follows_links { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let meta = match meta {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if meta.is_dir() {
            let depth = depth.checked_sub(1).ok_or_else(too_many)?;
            let mut inside: Vec<PathBuf> = fs::read_dir(path)?
                .take(self.left + 1)
                .map(|entry| Ok(entry?.path()))
                .collect::<io::Result<_>>()?;
            inside.retain(|path| path.file_name().is_some_and(|name| name != LIBRARIES));
            inside.sort_unstable();
            return inside.iter().try_for_each(|path| self.at(path, depth));
        }
        let changed = Duration::new(
            meta.ctime().try_into().unwrap_or_default(),
            meta.ctime_nsec().try_into().unwrap_or_default(),
        );
        self.last = self.last.max(changed);
        for number in [meta.dev(), meta.ino(), meta.size(), meta.mtime() as u64, meta.mtime_nsec() as u64] {
            self.hash.update(number.to_le_bytes());
        }
        self.hash.update(changed.as_nanos().to_le_bytes());
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut others: Vec<(SystemTime, PathBuf)> = fs::read_dir(directory)?
        .filter_map(|entry| {
            entry.ok().and_then(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        })
        .collect();
    // The last first; and what somebody did not come to write to its end is nobody's.
    others.sort_unstable_by(|one, other| other.cmp(one));
    let is_left = |(written, path): &(SystemTime, PathBuf)| {
        path.extension().is_some() && written.elapsed().is_ok_and(|age| age > ABANDONED)
    };
    for (place, other) in others.iter().enumerate() {
        if place >= MOST_FRONTS - 1 || is_left(other) {
            let _ = fs::remove_file(&other.1);
        }
    }
    write_whole(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_leads_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let (outside, link) = (directory.path().join("outside"), directory.path().join("link"));
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let of_project = Places { own: Vec::new(), project: vec![link.clone()] };
        let of_home = Places { own: vec![link], project: Vec::new() };
        let before = (of_project.stamp().unwrap(), of_home.stamp().unwrap());
        fs::write(outside.join("tool.json"), "{}").unwrap();
        let after = (of_project.stamp().unwrap(), of_home.stamp().unwrap());
        assert_eq!(before.0, after.0);
        assert_ne!(before.1, after.1);
    }

    #[test]
    fn what_is_endless_has_no_stamp() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(directory.path(), directory.path().join("again")).unwrap();
        let places = Places { own: vec![directory.path().to_owned()], project: Vec::new() };
        assert!(places.stamp().is_err());
        for number in 0..=MOST_FILES {
            fs::write(directory.path().join(number.to_string()), "").unwrap();
        }
        fs::remove_file(directory.path().join("again")).unwrap();
        assert!(places.stamp().is_err());
    }
}
