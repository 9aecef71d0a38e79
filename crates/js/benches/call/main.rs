//! An isolated call of a script, through the engine and a sandboxed worker process, beside what
//! else a user would pick: Node with a new context a call, and a Node child without isolation.
//! Then what happens under load: scripts that hang or crash, slow networks, killed workers.
//!
//! The benchmark is its own worker program. `cargo bench -p pinza-js -- NAME` runs only divan's
//! benchmarks of that name.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot start should stop and say so"
)]

mod cases;
mod first;
mod load;
mod lodash;
mod node;
mod side_by_side;
mod workers;
mod world;

use divan::Bencher;
use pinza_js::WORK;

use crate::{cases::Case, world::World};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == WORK) {
        let _ = pinza_js::work();
        return;
    }
    if arguments.first().is_some_and(|argument| argument == first::FIRST) {
        first::answer(&arguments[1..]);
        return;
    }
    // Fetched before the table begins.
    lodash::file();
    divan::main();
    // `cargo test --benches` gives no argument at all, `cargo bench -- NAME` one more.
    if arguments == ["--bench"] {
        side_by_side::run();
        first::run();
        load::run();
    }
}

#[divan::bench(sample_count = 2000, sample_size = 1, max_time = 3)]
fn trivial(bencher: Bencher) {
    calls_of(&Case::trivial(), bencher);
}

#[divan::bench(sample_count = 2000, sample_size = 1, max_time = 3)]
fn five_kb(bencher: Bencher) {
    calls_of(&Case::five_kb(), bencher);
}

#[divan::bench(sample_count = 2000, sample_size = 1, max_time = 3, ignore = lodash::file().is_none())]
fn with_lodash(bencher: Bencher) {
    calls_of(&Case::with_lodash(), bencher);
}

#[divan::bench(sample_count = 2000, sample_size = 1, max_time = 3, ignore = lodash::file().is_none())]
fn array_chunk(bencher: Bencher) {
    calls_of(&Case::array_chunk(), bencher);
}

fn calls_of(case: &Case, bencher: Bencher) {
    let world = World::new();
    world.answer(case);
    bencher.bench_local(|| world.answer(case));
}

/// From nothing: a new pool, so a new process.
#[divan::bench(sample_count = 100, sample_size = 1, max_time = 3)]
fn cold_worker(bencher: Bencher) {
    first_call_of(&Case::trivial(), bencher);
}

/// The same, and the library is loaded.
#[divan::bench(sample_count = 100, sample_size = 1, max_time = 5, ignore = lodash::file().is_none())]
fn cold_library(bencher: Bencher) {
    first_call_of(&Case::array_chunk(), bencher);
}

fn first_call_of(case: &Case, bencher: Bencher) {
    // The first world of all reads the tools.
    World::new().answer(case);
    bencher.bench_local(|| {
        let world = World::new();
        world.answer(case);
        world
    });
}
