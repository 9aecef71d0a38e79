//! A program that is nothing but a supervisor: what the tests run commands under.

fn main() -> std::process::ExitCode {
    pinza_host::process::supervise(std::env::args_os().skip(2))
}
