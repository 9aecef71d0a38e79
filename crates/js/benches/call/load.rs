//! What the pool does when not all is well. Figures are printed, right answers are asserted.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use pinza_core::{ErrorKind, ToolResult};
use pinza_testkit::{
    WireServer,
    wire::{Reply, head},
};
use serde_json::json;

use crate::{cases::Case, workers, world::World};

/// Only the script `swell` ever takes so much.
const SWOLLEN: u64 = 48 << 20;

pub(crate) fn run() {
    println!("\nunder load");
    killed_worker();
    let world = World::new();
    hanging_and_crashing(&world);
    waiting_on_the_network(&world);
    at_rest(&world);
}

/// From the SIGKILL of the one worker that is in use to the next right answer.
fn killed_worker() {
    let (world, case) = (World::new(), Case::trivial());
    let mut times = Vec::new();
    let mut failed = 0;
    for _ in 0..20 {
        world.answer(&case);
        let worker = busiest(&world);
        let begun = Instant::now();
        workers::kill(worker);
        while world.runtime.block_on(world.call(case.tool, case.arguments.clone())).is_err() {
            failed += 1;
            assert!(begun.elapsed() < Duration::from_secs(10), "the worker is not replaced");
        }
        times.push(begun.elapsed());
    }
    times.sort();
    println!(
        "  a killed worker is replaced, kill to next right answer: median {:.1?}, at most {:.1?}; \
         {failed} of 20 calls fell on the dying worker",
        times[10], times[19]
    );
}

/// The worker that calls go to now: the one whose processor time grows with a call.
fn busiest(world: &World) -> i32 {
    let before: HashMap<i32, u64> =
        workers::all().into_iter().filter_map(|pid| Some((pid, workers::ticks(pid)?))).collect();
    world.runtime.block_on(world.call("burn", json!({ "ms": 80 }))).unwrap();
    let grown = |pid: &i32| Some(workers::ticks(*pid)? - before.get(pid).copied().unwrap_or(0));
    workers::all().into_iter().max_by_key(grown).unwrap()
}

/// A thousand calls at once. Every tenth hangs; every tenth crashes, by its memory or by SIGKILL.
fn hanging_and_crashing(world: &World) {
    let one = async |number: u64| match number % 20 {
        0 | 10 => is_error(world.call("hang", json!({})).await, ErrorKind::Timeout),
        1 => is_error(world.call("bomb", json!({})).await, ErrorKind::MemoryLimit),
        11 => is_error(world.call("swell", json!({})).await, ErrorKind::ExecutionError),
        _ => match world.call("trivial", json!({ "a": number, "b": 1 })).await {
            Ok(output) if output.as_text() == (number + 1).to_string() => Ok(()),
            other => Err(format!("{other:?}")),
        },
    };
    let done = AtomicBool::new(false);
    let (answers, time) = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let swollen = |pid: &i32| workers::resident(*pid).is_some_and(|bytes| bytes > SWOLLEN);
                workers::all().into_iter().filter(swollen).for_each(workers::kill);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let begun = Instant::now();
        let answers = world.runtime.block_on(join_all((0..1000).map(one)));
        let time = begun.elapsed();
        done.store(true, Ordering::Relaxed);
        (answers, time)
    });
    let wrong: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    println!(
        "  1000 calls at once, 100 hang for their 1 s, 100 crash: {} right answers in {time:.2?}",
        1000 - wrong.len()
    );
    assert!(wrong.is_empty(), "{} wrong answers, such as {}", wrong.len(), wrong[0]);
}

fn is_error(result: ToolResult, kind: ErrorKind) -> Result<(), String> {
    match result {
        Err(error) if error.kind == kind => Ok(()),
        other => Err(format!("{other:?}, not {kind}")),
    }
}

fn waiting_on_the_network(world: &World) {
    let mut answer = head("200 OK", &[("content-length", "4")]);
    answer.extend_from_slice(b"done");
    let server = WireServer::start(move |_| Reply::Parts(vec![(Duration::from_secs(1), answer.clone())]));
    let url = server.url("/");
    let begun = Instant::now();
    let calls = (0..64).map(|_| world.call("read_page", json!({ "url": url })));
    let answers = world.runtime.block_on(join_all(calls));
    let time = begun.elapsed();
    for answer in answers {
        assert_eq!(answer.unwrap().as_text(), "done");
    }
    println!("  64 calls that each wait 1 s on the network: 64 right answers in {time:.2?}");
}

/// The pool's memory once it has become as small as it gets.
fn at_rest(world: &World) {
    let (begun, mut changed) = (Instant::now(), Instant::now());
    let mut count = workers::all().len();
    let crowd = count;
    while changed.elapsed() < Duration::from_secs(5) && begun.elapsed() < Duration::from_secs(20) {
        // The pool may have work of its own to do meanwhile.
        world.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(200)).await });
        let now = workers::all().len();
        if now != count {
            (count, changed) = (now, Instant::now());
        }
    }
    let pool = workers::all();
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let resident: u64 = pool.iter().filter_map(|pid| workers::resident(*pid)).sum();
    let proportional: Option<u64> = pool.iter().map(|pid| workers::proportional(*pid)).sum();
    let proportional =
        proportional.map_or("unknown".to_owned(), |bytes| format!("{:.1} MB", megabytes(bytes)));
    println!(
        "  the pool at rest: {count} workers (of {crowd} at the end of the load), Pss {proportional}, Rss {:.1} MB",
        megabytes(resident)
    );
}
