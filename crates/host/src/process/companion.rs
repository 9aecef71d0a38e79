//! A command that Pinza talks with: it lives until it is stopped, dropped or done.
//!
//! What is said goes through a socket that the command finds as its standard input, and can also write
//! to. So whatever the command's own code, or a library in it, prints cannot be mistaken for an answer:
//! standard output and standard error both end in the log.
//!
//! A command that speaks a protocol of its own ([`Dialogue`]) finds pipes as its standard input and standard output, as
//! it would under a shell, and only its standard error is the log.

use std::{io, os::fd::AsFd as _, path::Path, process::Stdio};

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::{
    net::{UnixStream, unix::pipe},
    process::{Child, ChildStderr},
};

use super::{
    Command, ProcessError, Wiring,
    handing::hand_over,
    running::{reported, socket_pair, spawn, stopped},
};

/// Dropped, it ends with its whole tree: the supervisor sees its control socket close.
#[derive(Debug)]
pub struct Companion {
    /// Both ways. Closed by the command, or with it.
    pub channel: UnixStream,
    /// All that the command prints. A command whose log nobody reads stands still once the pipe is full.
    pub log: ChildStderr,
    keeper: Keeper,
}

/// What a companion's life hangs on, apart from its streams.
#[derive(Debug)]
pub struct Keeper {
    supervisor: Child,
    control: UnixStream,
}

/// How a companion ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompanionEnd {
    /// The exit code, or 128 + the signal, as shells count.
    pub code: i32,
    pub signal: Option<i32>,
}

impl Companion {
    pub(super) fn start(program: &Path, command: &Command) -> Result<Self, ProcessError> {
        let (channel, theirs) = socket_pair().map_err(no_channel)?;
        let (mut supervisor, control) = spawn(program, command, Wiring::Channel, Stdio::from(theirs))?;
        let log = take_log(&mut supervisor)?;
        Ok(Self { channel, log, keeper: Keeper { supervisor, control } })
    }

    /// Waits until the command has ended by itself, and nothing of its tree is left.
    pub async fn ended(mut self) -> Result<CompanionEnd, ProcessError> {
        self.keeper.ended().await
    }

    /// Ends the command with its tree, and waits until nothing of it is left.
    pub async fn stop(self) {
        let Self { channel, log, keeper } = self;
        drop((channel, log));
        keeper.stop().await;
    }
}

/// A command with a protocol of its own. It ends when the keeper is dropped.
#[derive(Debug)]
pub struct Dialogue {
    /// Its standard input.
    pub input: pipe::Sender,
    /// Its standard output. Closed by the command, or with it.
    pub output: pipe::Receiver,
    /// Its standard error. A command whose log nobody reads stands still once the pipe is full.
    pub log: ChildStderr,
    pub keeper: Keeper,
}

impl Dialogue {
    pub(super) fn start(program: &Path, command: &Command) -> Result<Self, ProcessError> {
        let (their_input, input) = pipe_with(PipeFlags::CLOEXEC).map_err(no_channel)?;
        let (output, their_output) = pipe_with(PipeFlags::CLOEXEC).map_err(no_channel)?;
        let input = pipe::Sender::from_owned_fd(input).map_err(no_channel)?;
        let output = pipe::Receiver::from_owned_fd(output).map_err(no_channel)?;
        let (mut supervisor, control) = spawn(program, command, Wiring::Dialogue, Stdio::from(their_output))?;
        hand_over(&control, their_input.as_fd()).map_err(no_channel)?;
        let log = take_log(&mut supervisor)?;
        Ok(Self { input, output, log, keeper: Keeper { supervisor, control } })
    }
}

fn no_channel(error: impl Into<io::Error>) -> ProcessError {
    ProcessError::Start(format!("cannot make a channel to a process: {}", error.into()))
}

fn take_log(supervisor: &mut Child) -> Result<ChildStderr, ProcessError> {
    supervisor.stderr.take().ok_or_else(|| ProcessError::Lost("it has no log".into()))
}

impl Keeper {
    /// Waits until the command has ended by itself, and nothing of its tree is left. Nothing is lost when this is
    /// dropped and called again.
    pub async fn ended(&mut self) -> Result<CompanionEnd, ProcessError> {
        let status = self.supervisor.wait().await.map_err(|error| ProcessError::Lost(error.to_string()))?;
        let (code, signal) = reported(Some(&mut self.control), status).await?;
        Ok(CompanionEnd { code, signal })
    }

    /// Ends the command with its tree, and waits until nothing of it is left.
    pub async fn stop(self) {
        let Self { mut supervisor, control } = self;
        drop(control);
        stopped(&mut supervisor).await;
    }
}
