//! A command that Pinza talks with: it lives until it is stopped, dropped or done.
//!
//! What is said goes through a socket that the command finds as its standard input, and can also write
//! to. So whatever the command's own code, or a library in it, prints cannot be mistaken for an answer:
//! standard output and standard error both end in the log. A command that speaks a protocol of its own
//! finds the same socket as its standard output as well, and only its standard error is the log.

use std::{path::Path, process::Stdio};

use tokio::{
    net::UnixStream,
    process::{Child, ChildStderr},
};

use super::{
    Command, ProcessError, Wiring,
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
    pub(super) fn start(program: &Path, command: &Command, wiring: Wiring) -> Result<Self, ProcessError> {
        let (channel, theirs) = socket_pair()
            .map_err(|error| ProcessError::Start(format!("cannot make a channel to a process: {error}")))?;
        let (mut supervisor, control) = spawn(program, command, wiring, Stdio::from(theirs))?;
        let log = supervisor.stderr.take().ok_or_else(|| ProcessError::Lost("it has no log".into()))?;
        Ok(Self { channel, log, keeper: Keeper { supervisor, control } })
    }

    /// For owners that give the streams to different hands. The command ends when the keeper is dropped.
    pub fn into_parts(self) -> (UnixStream, ChildStderr, Keeper) {
        (self.channel, self.log, self.keeper)
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
