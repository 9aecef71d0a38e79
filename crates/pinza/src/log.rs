//! The log of a server: what a person looks at when something went wrong, in `home/logs`.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::Context as _;

use crate::home::Home;

/// A log that has become larger makes room for a new one; the last one is kept.
const LARGEST: u64 = 4 << 20;

/// Appends lines. A line that cannot be written is lost: there is nowhere to say so.
pub(crate) struct Log(Mutex<File>);

impl Log {
    pub(crate) fn open(home: &Home) -> anyhow::Result<Self> {
        let directory = home.path.join("logs");
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let path = directory.join("serve.log");
        if fs::metadata(&path).is_ok_and(|log| log.len() > LARGEST) {
            // Two servers that start at once may both do so; one of them finds nothing to do.
            let _ = fs::rename(&path, directory.join("serve.log.1"));
        }
        Ok(Self(Mutex::new(open(&path)?)))
    }

    pub(crate) fn line(&self, text: &str) {
        let now = pinza_tools::current_time(Some("UTC"), None).unwrap_or_default();
        let line = format!("{now} {}\n", pinza::core::visible(text));
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.open(path).with_context(|| format!("cannot write to {}", path.display()))
}
