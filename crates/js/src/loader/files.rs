//! Reads a tool's file: regular files only, never more than a bound, never waiting for a writer.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rustix::fs::OFlags;

/// The text of a file of at most `limit` bytes, or why it cannot be had.
pub(super) fn read(path: &Path, limit: u64) -> Result<String, String> {
    let file = open(path).map_err(|error| format!("Cannot be opened: {}", io_reason(&error)))?;
    let metadata = file.metadata().map_err(|error| format!("Cannot be read: {}", io_reason(&error)))?;
    // A pipe would keep us waiting and a device would never end.
    if !metadata.is_file() {
        return Err("Not a regular file".into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or_default() + 1);
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("Cannot be read: {}", io_reason(&error)))?;
    if bytes.len() as u64 > limit {
        return Err(format!("Longer than {} KiB", limit >> 10));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        format!("Not valid UTF-8 (line {line})")
    })
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// The words of the operating system without its number.
pub(super) fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
