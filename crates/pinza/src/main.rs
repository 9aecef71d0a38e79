//! The program `pinza`.

use std::process::ExitCode;

mod cli;
mod config;
mod home;
mod log;
mod project;
mod terminal;
mod upstreams;

fn main() -> ExitCode {
    match pinza::run_if_helper() {
        Some(code) => code,
        None => cli::main(),
    }
}
