//! Supervised processes: a command runs, its output comes back, and nothing of it stays.
//!
//! A command can leave children behind in every way that Unix knows: background jobs,
//! daemons that fork twice, new sessions, ignored signals. None of them can be found again
//! from Pinza once their parents are gone. So every command hangs under a *supervisor*, this
//! program started again with [`SUPERVISE`] as its first argument: the kernel hands all
//! orphans of the tree to it, and it ends them when the command ends or when its control
//! socket to Pinza closes. The socket closes when the future of [`Supervisor::run`] is
//! dropped, and also when Pinza itself is killed.

mod companion;
mod env;
mod handing;
mod outcome;
mod running;
mod supervise;
mod tree;

use std::{ffi::OsString, path::PathBuf, time::Duration};

pub use companion::{Companion, CompanionEnd, Dialogue, Keeper};
pub use env::check_env_name;
pub(crate) use env::is_name as is_env_name;
pub use supervise::supervise;

use running::{Ended, Running};

/// The hidden first argument that turns this program into a supervisor. The program's `main`
/// looks for it before anything else and hands the remaining arguments to [`supervise`].
pub const SUPERVISE: &str = "__supervise";

/// How many bytes of output a command may write when nothing else is said.
pub const DEFAULT_OUTPUT_LIMIT: usize = 16 << 20;

/// How long a stopped tree may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// What a command's streams are connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wiring {
    /// No input; two streams of output.
    Output,
    /// A socket as standard input, written and read; both streams of output are one log.
    Channel,
    /// Pipes as standard input and standard output; standard error is the log. The first of them is handed
    /// to the supervisor over its control socket.
    Dialogue,
}

/// Starts commands under the program that can supervise them.
#[derive(Clone, Debug)]
pub struct Supervisor {
    program: PathBuf,
}

/// What to run, and within which bounds.
#[derive(Clone, Debug)]
pub struct Command {
    pub argv: Vec<OsString>,
    /// Where it starts. The path is resolved in the new process, before anything runs there;
    /// so `/proc/self/fd/N` names the directory behind Pinza's own descriptor N, whatever
    /// has been renamed since, as long as the caller keeps the descriptor open.
    pub directory: PathBuf,
    /// Added to the clean environment. [`check_env_name`] says which names are safe to take
    /// from a model.
    pub env: Vec<(String, String)>,
    pub timeout: Duration,
    /// Bytes of both streams together.
    pub output_limit: usize,
}

impl Command {
    /// A command with the default bounds and no variables of its own.
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>, directory: impl Into<PathBuf>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            directory: directory.into(),
            env: Vec::new(),
            timeout: pinza_core::DEFAULT_TIMEOUT,
            output_limit: DEFAULT_OUTPUT_LIMIT,
        }
    }
}

/// Which stream a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// A command that ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The exit code, or 128 + the signal, as shells count.
    pub code: i32,
    /// The signal that ended the command, if one did.
    pub signal: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    /// Carries what the command wrote until then.
    #[error("the command did not end within {}s and was stopped", .limit.as_secs_f64())]
    Timeout { limit: Duration, stdout: Vec<u8>, stderr: Vec<u8> },
    #[error("the command wrote more than {limit} bytes and was stopped")]
    OutputLimit { limit: usize },
    #[error("{0}")]
    Start(String),
    /// Somebody killed the supervisor.
    #[error("the command was lost: {0}")]
    Lost(String),
}

impl Supervisor {
    /// `program` must call [`supervise`] when its first argument is [`SUPERVISE`]. Give an
    /// absolute path, since the command's directory is entered first.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// The program that is running now, even if its file was replaced or removed since.
    pub fn this_program() -> Self {
        Self::new(supervise::THIS_PROGRAM)
    }

    /// Starts a command that Pinza talks with for as long as it likes. `timeout` and `output_limit` are left
    /// to the caller, who reads the streams.
    pub fn start(&self, command: &Command) -> Result<Companion, ProcessError> {
        Companion::start(&self.program, command)
    }

    /// As [`start`](Self::start), for a command that speaks a protocol on its standard input and output.
    pub fn start_dialogue(&self, command: &Command) -> Result<Dialogue, ProcessError> {
        Dialogue::start(&self.program, command)
    }

    /// Runs a command to its end and answers with all its output; `on_output` sees each
    /// piece as it comes. When this returns, or is dropped, nothing of the command's tree
    /// goes on: on a drop the supervisor finishes that work by itself.
    pub async fn run(
        &self,
        command: Command,
        mut on_output: impl FnMut(Stream, &[u8]),
    ) -> Result<Finished, ProcessError> {
        let mut running = Running::start(&self.program, &command)?;
        match tokio::time::timeout(command.timeout, running.until_end(&mut on_output)).await {
            Ok(Ended::ByItself(status)) => running.finish(status).await,
            Ok(Ended::OverLimit) => {
                running.stop().await;
                Err(ProcessError::OutputLimit { limit: command.output_limit })
            }
            Ok(Ended::Lost(reason)) => Err(ProcessError::Lost(reason)),
            Err(_elapsed) => {
                running.stop().await;
                let (stdout, stderr) = running.last_words(&mut on_output).await;
                Err(ProcessError::Timeout { limit: command.timeout, stdout, stderr })
            }
        }
    }
}
