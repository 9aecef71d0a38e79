//! Lines as the terminal hands them out, for screen readers and terminals that cannot do more.

use std::{
    io::BufRead as _,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::Context as _;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

use super::Typed;
use crate::terminal::write_stdout;

/// How often the one who waits for a line looks whether it was interrupted.
const LOOK: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A line, and those that follow a backslash at its end.
pub(super) fn read(prompt: &str, begun: &str, interrupted: &AtomicBool) -> anyhow::Result<Typed> {
    if !begun.is_empty() {
        // It cannot be put on the line for them to change.
        write_stdout(format!("it was: {}\n", pinza::core::visible(begun)).as_bytes());
    }
    write_stdout(prompt.as_bytes());
    let mut text = String::new();
    loop {
        let Some(line) = line(interrupted)? else { return Ok(Typed::Interrupted) };
        let Some(line) = line.strip_suffix('\n') else {
            text.push_str(&line);
            return Ok(if text.is_empty() { Typed::End } else { Typed::Line(text) });
        };
        match line.strip_suffix('\\') {
            Some(line) => text.push_str(&format!("{line}\n")),
            None => {
                text.push_str(line);
                return Ok(Typed::Line(text));
            }
        }
    }
}

/// `None` if somebody interrupts; without its end at the end of the input.
fn line(interrupted: &AtomicBool) -> anyhow::Result<Option<String>> {
    let stdin = std::io::stdin();
    loop {
        if interrupted.swap(false, Ordering::Relaxed) {
            write_stdout(b"\n");
            return Ok(None);
        }
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK));
        if ready.is_ok_and(|count| count > 0) {
            let mut bytes = Vec::new();
            match stdin.lock().read_until(b'\n', &mut bytes) {
                // A terminal that is gone has no more to say.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::IO) => {}
                read => drop(read.context("cannot read from the terminal")?),
            }
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}
