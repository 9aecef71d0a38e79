//! The descendants of a supervisor: finding, ending and collecting them.
//!
//! A supervisor is a *subreaper*: whoever loses its parent becomes the supervisor's own
//! child. So "no child left" is the same as "no descendant left", and the kernel says so.

use std::{
    collections::HashMap,
    fs,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, pidfd_open, pidfd_send_signal,
    wait,
};

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Tree {
    main: Pid,
    main_status: Option<WaitStatus>,
}

impl Tree {
    /// The tree of this process, whose child `main` is what it was started for.
    pub(super) fn new(main: Pid) -> Self {
        Self { main, main_status: None }
    }

    pub(super) fn main_status(&self) -> Option<WaitStatus> {
        self.main_status
    }

    /// Collects children that have ended; false once there is none left at all.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.main => self.main_status = Some(status),
                Ok(Some(_orphan)) => {}
                Ok(None) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_no_child) => return false,
            }
        }
    }

    /// Asks every descendant to end, and kills those that have not within `grace`.
    pub(super) fn end(&mut self, grace: Duration) {
        if !self.reap() {
            return;
        }
        for descendant in descendants() {
            descendant.terminate();
        }
        let deadline = Instant::now() + grace;
        let mut pause = FIRST_PAUSE;
        while self.reap() && Instant::now() < deadline {
            std::thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        // Each round frees the next generation, which becomes ours. Nothing but a process
        // that the kernel itself holds, or one of another user, can make this long.
        pause = FIRST_PAUSE;
        while self.reap() {
            kill_children();
            std::thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }
}

/// What `/proc` says about a process.
struct Process {
    pid: Pid,
    parent: i32,
    /// Tells a process from a later one with the same id.
    started: u64,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before the last parenthesis may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(Self {
            pid: Pid::from_raw(pid)?,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// Sends SIGTERM to this process and to no other that has got its id meanwhile.
    fn terminate(&self) {
        let Ok(handle) = pidfd_open(self.pid, PidfdFlags::empty()) else { return };
        let same = Self::read(self.pid.as_raw_pid()).is_some_and(|now| now.started == self.started);
        if same {
            // It may have ended by itself.
            let _ = pidfd_send_signal(&handle, Signal::TERM);
        }
    }
}

fn all_processes() -> impl Iterator<Item = Process> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
        Process::read(pid)
    })
}

fn descendants() -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all_processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&getpid().as_raw_pid()).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children.remove(&process.pid.as_raw_pid()).unwrap_or_default());
        next += 1;
    }
    found
}

/// Kills our own children, each as soon as it is seen: chains of processes that fork and end
/// are caught in the act, where a list would be out of date. A child's id cannot pass to
/// another process before we have collected it, so this never hits a stranger.
fn kill_children() {
    let us = getpid().as_raw_pid();
    for child in all_processes().filter(|process| process.parent == us) {
        // It may have ended by itself.
        let _ = kill_process(child.pid, Signal::KILL);
    }
}
