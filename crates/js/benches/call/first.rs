//! The first call in a process that was just started, as `pinza call` is: from nothing to the answer.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::{cases::Case, lodash, world::World};

/// The first argument of such a process; then come the tool and, perhaps, a cache.
pub(crate) const FIRST: &str = "first-call";

const PROCESSES: usize = 15;

/// What such a process does.
pub(crate) fn answer(arguments: &[String]) {
    let cases = [Case::trivial(), Case::array_chunk()];
    let case = cases.iter().find(|case| Some(case.tool) == arguments.first().map(String::as_str)).unwrap();
    World::of_new_process(arguments.get(1).map(Path::new)).answer(case);
}

pub(crate) fn run() {
    println!("\nfirst call in a new process, median of {PROCESSES}");
    let cases = if lodash::file().is_some() { &["trivial", "array_chunk"][..] } else { &["trivial"] };
    for tool in cases {
        let cache = tempfile::tempdir().unwrap();
        let cache = cache.path().to_str().unwrap();
        // The first of all fills the cache.
        once(&[tool, cache]);
        let (kept, anew) = (median(&[tool, cache]), median(&[tool]));
        println!(
            "  {tool:32} {:8.1} ms  {:8.1} ms without code from an earlier one",
            millis(kept),
            millis(anew)
        );
    }
    println!("aims: array_chunk 60 ms, for the whole program");
}

fn median(arguments: &[&str]) -> Duration {
    let mut times: Vec<Duration> = (0..PROCESSES).map(|_| once(arguments)).collect();
    times.sort();
    times[PROCESSES / 2]
}

fn once(arguments: &[&str]) -> Duration {
    let begun = Instant::now();
    let program = std::env::current_exe().unwrap();
    let status = Command::new(program).arg(FIRST).args(arguments).status().unwrap();
    assert!(status.success());
    begun.elapsed()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
