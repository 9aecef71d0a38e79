//! Pinza and its alternatives in one run. They take turns in short blocks, so that whatever else
//! the machine does hits all of them alike. Where they run is left to the kernel, as it is for a
//! user, and it matters: a call of Node took two to four times as long across two processors as on one.

use std::time::{Duration, Instant};

use crate::{
    cases::Case,
    node::{NewContexts, NoIsolation},
    world::World,
};

const ROUNDS: usize = 16;
/// A block ends after so many calls, or after this time.
const CALLS: usize = 200;
const TIME: Duration = Duration::from_millis(100);
/// One part in so many, at the start of a block, is not counted: the processor has done something else before.
const UNCOUNTED: usize = 20;

/// One way to run a case, and how long its calls took.
struct Runner {
    name: &'static str,
    way: Way,
    times: Vec<Duration>,
}

enum Way {
    Pinza,
    NewContexts(NewContexts),
    NoIsolation(NoIsolation),
}

pub(crate) fn run() {
    let world = World::new();
    let cases = Case::all();
    let mut runners = vec![Runner { name: "pinza", way: Way::Pinza, times: Vec::new() }];
    world.runtime.block_on(async {
        match (NewContexts::start(&cases).await, NoIsolation::start(&cases).await) {
            (Ok(contexts), Ok(child)) => {
                let way = Way::NewContexts(contexts);
                runners.push(Runner { name: "node:vm, new contexts", way, times: Vec::new() });
                let way = Way::NoIsolation(child);
                runners.push(Runner { name: "node, no isolation", way, times: Vec::new() });
            }
            (Err(error), _) | (_, Err(error)) => {
                println!("\nnode cannot be started ({error}): its figures are left out");
            }
        }
    });
    println!("\nside by side                                p50          p99   p50 to pinza's");
    for case in &cases {
        let expected = world.answer(case);
        // The first round is for Node's compiler to see what is hot.
        for round in 0..=ROUNDS {
            for runner in &mut runners {
                let times = world.runtime.block_on(runner.block(&world, case, &expected));
                if round > 0 {
                    runner.times.extend_from_slice(&times[times.len() / UNCOUNTED..]);
                }
            }
        }
        print(&world, case, &mut runners);
    }
    println!(
        "aims: trivial 60 µs, five_kb 180 µs, with_lodash 90 µs, array_chunk 120 µs; node:vm 10 times, node at least once"
    );
}

fn print(world: &World, case: &Case, runners: &mut [Runner]) {
    println!("{} (its own work, in a loop: {:.1} µs)", case.tool, world.own_work(case));
    let mut ours = None;
    for runner in runners {
        let mut times = std::mem::take(&mut runner.times);
        times.sort();
        let (median, late) = (percentile(&times, 50), percentile(&times, 99));
        let ours = *ours.get_or_insert(median);
        println!("  {:32} {median:8.1} µs  {late:8.1} µs  {:7.2}", runner.name, median / ours);
    }
}

impl Runner {
    /// Some calls, each of which must answer as expected.
    async fn block(&mut self, world: &World, case: &Case, expected: &str) -> Vec<Duration> {
        match &mut self.way {
            Way::Pinza => timed(expected, async || world.answer_async(case).await).await,
            Way::NoIsolation(child) => timed(expected, async || child.call(case).await).await,
            Way::NewContexts(contexts) => {
                let (times, result) = contexts.block(case, CALLS, TIME).await;
                assert_eq!(result, expected);
                times
            }
        }
    }
}

async fn timed(expected: &str, mut call: impl AsyncFnMut() -> String) -> Vec<Duration> {
    let mut times = Vec::with_capacity(CALLS);
    let begun = Instant::now();
    while times.len() < CALLS && begun.elapsed() < TIME {
        let before = Instant::now();
        let text = call().await;
        times.push(before.elapsed());
        assert_eq!(text, expected);
    }
    times
}

/// In microseconds; the times are in order.
fn percentile(times: &[Duration], share: usize) -> f64 {
    let rank = (times.len() * share / 100).min(times.len() - 1);
    times[rank].as_secs_f64() * 1e6
}
