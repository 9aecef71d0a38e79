//! The supervisor's own program: starts the command, waits, and leaves nothing of it behind.
//!
//! It is two processes that watch each other. A supervisor that is killed could end nothing
//! any more, and a command knows its parent's process id. So the *outer* one, Pinza's child,
//! supervises an *inner* one exactly as the inner one supervises the command: if the inner
//! is killed, its orphans fall to the outer; if the outer is killed, the inner's control
//! socket closes. This takes the place of signal handlers too: whatever signal hits
//! one of them, the other ends the tree.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Child, Command, ExitCode, Stdio},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper, setsid},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    flag::register_conditional_default,
};

use super::{
    SUPERVISE, Wiring,
    handing::{hand_over, take_over},
    outcome::Outcome,
    tree::Tree,
};

/// Resolved by the new process itself, which runs the same program until it has become it.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// Background children of a command that ended need no time to save anything.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// How often the dead among adopted orphans are collected while the command runs.
const HOUSEKEEPING: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Outer,
    Inner,
}

/// The arguments that make this program a supervisor of `argv`.
pub(super) fn arguments(grace: Duration, wiring: Wiring, argv: &[OsString]) -> Vec<OsString> {
    half_arguments(Half::Outer, grace, wiring, argv)
}

/// The supervisor's `main`: takes the arguments after [`SUPERVISE`], and expects Pinza's
/// control socket as its standard input. Must run before the program starts any thread.
pub fn supervise(args: impl Iterator<Item = OsString>) -> ExitCode {
    let outcome = match Job::parse(args) {
        Some(job) => job.run().unwrap_or_else(Outcome::NotStarted),
        None => Outcome::NotStarted("a supervisor is started by Pinza only".into()),
    };
    // Nobody may be listening any more.
    let _ = rustix::io::write(rustix::stdio::stdin(), outcome.line().as_bytes());
    outcome.exit_code()
}

struct Job {
    half: Half,
    grace: Duration,
    wiring: Wiring,
    argv: Vec<OsString>,
}

impl Job {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let half = match args.next()?.to_str()? {
            "outer" => Half::Outer,
            "inner" => Half::Inner,
            _ => return None,
        };
        let grace = Duration::from_millis(args.next()?.to_str()?.parse().ok()?);
        let wiring = match args.next()?.to_str()? {
            "output" => Wiring::Output,
            "channel" => Wiring::Channel,
            "dialogue" => Wiring::Dialogue,
            _ => return None,
        };
        let argv: Vec<OsString> = args.collect();
        (!argv.is_empty()).then_some(Self { half, grace, wiring, argv })
    }

    fn run(&self) -> Result<Outcome, String> {
        self.prepare().map_err(|error| format!("cannot supervise processes: {error}"))?;
        match self.half {
            Half::Outer => {
                let (inner, mut link) = self.start_inner().map_err(|error| error.to_string())?;
                let outcome = self.attend(&inner)?;
                // The inner half knows more than its exit status says, unless it was killed.
                let mut report = String::new();
                let _ = link.read_to_string(&mut report);
                Ok(Outcome::parse(&report).unwrap_or(outcome))
            }
            Half::Inner => self.attend(&self.start_command()?),
        }
    }

    fn prepare(&self) -> io::Result<()> {
        close_inherited()?;
        // `killall pinza` shall hit Pinza and not those who clean up after it.
        rustix::thread::set_name(c"supervisor")?;
        set_child_subreaper(Some(getpid()))?;
        // Whoever is started in the background ignores some of these, and a command would, too. A handler is no
        // longer there after exec, so the command has the default; this one does what the default would.
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            register_conditional_default(signal, Arc::new(AtomicBool::new(true)))?;
        }
        if self.half == Half::Outer {
            // No terminal: its signals go to Pinza, and the command cannot prompt on it.
            setsid()?;
        }
        Ok(())
    }

    fn start_inner(&self) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let inner = Command::new(THIS_PROGRAM)
            .arg0("pinza-supervisor")
            .args(half_arguments(Half::Inner, self.grace, self.wiring, &self.argv))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        if self.wiring == Wiring::Dialogue {
            hand_over(&ours, take_over(rustix::stdio::stdin())?.as_fd())?;
        }
        Ok((inner, ours))
    }

    fn start_command(&self) -> Result<Child, String> {
        let [program, args @ ..] = self.argv.as_slice() else { return Err("there is no command".into()) };
        let mut command = Command::new(program);
        command.args(args).process_group(0);
        match self.wiring {
            Wiring::Output => command.stdin(Stdio::null()),
            Wiring::Channel => {
                let streams = channel_streams();
                let (channel, log) = streams.map_err(|error| format!("cannot pass on a channel: {error}"))?;
                command.stdin(channel).stdout(log)
            }
            Wiring::Dialogue => {
                let input = take_over(rustix::stdio::stdin());
                // What comes as standard output is passed on as such.
                command.stdin(input.map_err(|error| format!("cannot pass on a channel: {error}"))?)
            }
        };
        command.spawn().map_err(|error| {
            let program = program.display();
            match error.kind() {
                io::ErrorKind::NotFound => format!("'{program}' was not found; is it installed and on PATH?"),
                _ => format!("cannot start '{program}': {error}"),
            }
        })
    }

    /// Waits for the child's end or for the order to stop, then ends the tree.
    fn attend(&self, child: &Child) -> Result<Outcome, String> {
        let main = Pid::from_child(child);
        let mut tree = Tree::new(main);
        // Whatever fails from here on, the tree ends.
        let grace = match release_output().and_then(|()| watch(main, &mut tree)) {
            Ok(Event::Ended) => LEFTOVER_GRACE.min(self.grace),
            Ok(Event::Stop) => self.grace,
            Err(error) => {
                tree.end(self.grace);
                return Err(format!("cannot watch the command: {error}"));
            }
        };
        tree.end(grace);
        tree.main_status().map(Outcome::of).ok_or_else(|| "the command's end was not seen".into())
    }
}

/// Whoever started Pinza may have left descriptors open for it, and they are not a command's business. A supervisor
/// itself has nothing but its standard streams at this point.
fn close_inherited() -> io::Result<()> {
    let numbers: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        // One of them was the list itself, and is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

enum Event {
    Ended,
    Stop,
}

fn watch(main: Pid, tree: &mut Tree) -> io::Result<Event> {
    let main_ended = pidfd_open(main, PidfdFlags::empty())?;
    let control = rustix::stdio::stdin();
    loop {
        let mut watched = [
            PollFd::new(&control, PollFlags::IN),
            PollFd::from_borrowed_fd(main_ended.as_fd(), PollFlags::IN),
        ];
        match poll(&mut watched, Some(&HOUSEKEEPING)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // Nothing is ever sent to a supervisor: all that can come is the end.
        let stop = !watched[0].revents().is_empty();
        tree.reap();
        if tree.main_status().is_some() {
            return Ok(Event::Ended);
        }
        if stop {
            return Ok(Event::Stop);
        }
    }
}

/// What comes to a supervisor as standard output is the command's standard input, where it is a channel;
/// what the command prints joins its errors.
fn channel_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let channel = rustix::stdio::stdout().try_clone_to_owned()?;
    let log = rustix::stdio::stderr().try_clone_to_owned()?;
    Ok((channel, log))
}

/// Lets go of the command's streams, so that they end when the command's tree has ended.
fn release_output() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

fn half_arguments(half: Half, grace: Duration, wiring: Wiring, argv: &[OsString]) -> Vec<OsString> {
    let half = match half {
        Half::Outer => "outer",
        Half::Inner => "inner",
    };
    let wiring = match wiring {
        Wiring::Output => "output",
        Wiring::Channel => "channel",
        Wiring::Dialogue => "dialogue",
    };
    let mut arguments: Vec<OsString> =
        vec![SUPERVISE.into(), half.into(), grace.as_millis().to_string().into(), wiring.into()];
    arguments.extend_from_slice(argv);
    arguments
}
