//! What was typed before, kept in home for the next time.
//!
//! One JSON string a line: a message has line breaks. Lines are only added, under a lock, so that two chats at once lose
//! nothing; now and then the file is written anew with the newest ones.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use rustix::fs::{FlockOperation, flock};

/// How many are kept.
pub(super) const MOST: usize = 1000;
/// How many more there may be before the file is written anew.
const SLACK: usize = 200;
/// Longer ones were pasted, and are no history.
const LONGEST: usize = 16 * 1024;

pub(super) struct History {
    path: PathBuf,
}

impl History {
    pub(super) fn new(home: &Path) -> Self {
        Self { path: home.join("history") }
    }

    /// The newest last.
    pub(super) fn read(&self) -> Result<Vec<String>> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| self.cannot("read")),
        };
        // A line that a crash cut short is no history any more.
        let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let mut entries: Vec<String> = lines.collect();
        entries.drain(..entries.len().saturating_sub(MOST));
        Ok(entries)
    }

    pub(super) fn add(&self, text: &str) -> Result<()> {
        if text.len() > LONGEST {
            return Ok(());
        }
        let _turn = self.turn()?;
        let add = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            // A line that a crash cut short must not spoil this one.
            let line = format!("\n{}\n", serde_json::Value::from(text));
            file.write_all(line.as_bytes())
        };
        add().with_context(|| self.cannot("write"))?;
        self.shorten()
    }

    fn shorten(&self) -> Result<()> {
        let bytes = fs::read(&self.path).with_context(|| self.cannot("read"))?;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        if lines <= MOST + SLACK {
            return Ok(());
        }
        let entries = self.read()?;
        let text: String =
            entries.iter().map(|entry| format!("{}\n", serde_json::Value::from(entry.as_str()))).collect();
        crate::config::write_whole(&self.path, &text)
    }

    /// Those who write take turns.
    fn turn(&self) -> Result<File> {
        let path = self.path.with_extension("lock");
        let lock = OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(path);
        let lock = lock.with_context(|| self.cannot("write"))?;
        flock(&lock, FlockOperation::LockExclusive).with_context(|| self.cannot("write"))?;
        Ok(lock)
    }

    fn cannot(&self, what: &str) -> String {
        format!("cannot {what} {}", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_once_lose_nothing_and_only_so_much_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &'static str| {
            let history = History::new(home.path());
            move || (0..450).for_each(|number| history.add(&format!("{name}\n{number}\\")).unwrap())
        };
        let both = [std::thread::spawn(write("a")), std::thread::spawn(write("b"))];
        both.into_iter().for_each(|thread| thread.join().unwrap());
        let history = History::new(home.path());
        let entries = history.read().unwrap();
        assert_eq!(entries.len(), 900);
        let of =
            |name: &str| entries.iter().filter(|entry| entry.starts_with(name)).cloned().collect::<Vec<_>>();
        assert_eq!(of("a"), (0..450).map(|number| format!("a\n{number}\\")).collect::<Vec<_>>());
        assert_eq!(of("b").len(), 450);
        for number in 0..400 {
            history.add(&format!("c{number}")).unwrap();
        }
        let entries = history.read().unwrap();
        assert_eq!((entries.len(), entries.last().map(String::as_str)), (MOST, Some("c399")));
        let lines = fs::read_to_string(home.path().join("history")).unwrap().lines().count();
        assert!(lines <= 2 * (MOST + SLACK) + 2, "{lines}");
        let mode = fs::metadata(home.path().join("history")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_was_cut_short_spoils_no_other() {
        let home = tempfile::tempdir().unwrap();
        let history = History::new(home.path());
        history.add("one").unwrap();
        let path = home.path().join("history");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"\"half \xff");
        fs::write(&path, bytes).unwrap();
        history.add("two").unwrap();
        history.add(&"long".repeat(LONGEST)).unwrap();
        assert_eq!(history.read().unwrap(), ["one", "two"]);
    }
}
