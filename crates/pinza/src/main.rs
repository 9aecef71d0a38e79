//! The program `pinza`.

use std::process::ExitCode;

mod cli;
mod config;
mod follow;
mod home;
mod log;
mod project;
mod terminal;
mod upstreams;

/// Calls are many small allocations on several threads, which the system's allocator has them wait for each other for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match pinza::run_if_helper() {
        Some(code) => code,
        None => cli::main(),
    }
}
