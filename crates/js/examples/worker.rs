//! The worker on its own, so that this crate's tests run the real thing.

fn main() -> std::process::ExitCode {
    pinza_js::work()
}
