//! The program `pinza`.

use std::process::ExitCode;

mod cli;
mod config;
mod home;
mod terminal;

fn main() -> ExitCode {
    match pinza::supervise_if_asked() {
        Some(code) => code,
        None => cli::main(),
    }
}
