//! The worker on its own, and the supervisor of Node processes, so that this crate's tests run the real
//! thing.
//!
//! For the worker, a second argument names something that no worker may do: tried once the worker's own work is
//! over, when the door is closed behind it.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == pinza_host::process::SUPERVISE) {
        return pinza_host::process::supervise(std::env::args_os().skip(2));
    }
    let ended = pinza_js::work();
    match std::env::args().nth(2) {
        None => ended,
        Some(attempt) => attempted(&attempt),
    }
}

/// Succeeds where the attempt does, which no test wants to see.
fn attempted(attempt: &str) -> ExitCode {
    use rustix::process::{Pid, Signal, getppid, kill_process};
    let done = match attempt {
        "nothing" => true,
        "open" => std::fs::File::open("/etc/passwd").is_ok(),
        "create" => std::fs::write("/tmp/pinza-escaped", "x").is_ok(),
        "list" => std::fs::read_dir("/").is_ok(),
        "socket" => std::net::UdpSocket::bind("127.0.0.1:0").is_ok(),
        "connect" => std::net::TcpStream::connect("127.0.0.1:9").is_ok(),
        "pair" => std::os::unix::net::UnixStream::pair().is_ok(),
        "fork" => std::process::Command::new("/bin/true").spawn().is_ok(),
        "thread" => std::thread::Builder::new().spawn(|| ()).is_ok(),
        "exec" => {
            // Comes back only where it failed.
            let _ = std::os::unix::process::CommandExt::exec(&mut std::process::Command::new("/bin/true"));
            false
        }
        "kill" => getppid().is_some_and(|parent: Pid| kill_process(parent, Signal::CONT).is_ok()),
        // Allowed; kernels may not know of it, but none ends the process.
        "name" => {
            let _ = rustix::process::set_virtual_memory_region_name(&[], None);
            true
        }
        // The same system call, with another order.
        "dump" => rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable).is_ok(),
        "chdir" => std::env::set_current_dir("/tmp").is_ok(),
        _ => false,
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
