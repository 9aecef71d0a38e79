//! The worker processes of this program, as the kernel sees them.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Every process below this one that has not ended.
pub(crate) fn all() -> Vec<i32> {
    let mut found = Vec::new();
    let mut unseen = children("self");
    while let Some(pid) = unseen.pop() {
        unseen.extend(children(&pid.to_string()));
        // A zombie has no memory.
        if resident(pid).is_some() {
            found.push(pid);
        }
    }
    found
}

fn children(process: &str) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

/// Bytes in memory, those that it shares with others too.
pub(crate) fn resident(pid: i32) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Bytes in memory, shared ones divided among those that share them. Not every kernel lets everyone see this.
pub(crate) fn proportional(pid: i32) -> Option<u64> {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Processor time so far, in the kernel's ticks.
pub(crate) fn ticks(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the bracket may hold anything; utime and stime are the 14th and 15th of all fields.
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// SIGKILL. One that has ended in the meantime is fine too.
pub(crate) fn kill(pid: i32) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}
