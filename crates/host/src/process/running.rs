//! Pinza's side of a running command: the supervisor's process, the control socket and both
//! output streams, read while they are written so that they stay bounded.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::UnixStream,
    process::{Child, ChildStderr, ChildStdout},
    time::timeout,
};

use super::{Command, Finished, GRACE, ProcessError, Stream, Wiring, env, outcome::Outcome, supervise};

/// How long to wait for the end of a stream whose writers are all dead. It comes at once,
/// unless a process outside the tree was handed the other end.
const DRAIN: Duration = Duration::from_secs(1);

/// More than a supervisor ever says.
const REPORT_LIMIT: u64 = 64 << 10;

pub(super) struct Running {
    supervisor: Child,
    /// Open = go on. The supervisor writes its report here before it ends.
    control: Option<UnixStream>,
    stdout: Output<ChildStdout>,
    stderr: Output<ChildStderr>,
    limit: usize,
}

pub(super) enum Ended {
    ByItself(ExitStatus),
    OverLimit,
    Lost(String),
}

impl Running {
    pub(super) fn start(program: &Path, command: &Command) -> Result<Self, ProcessError> {
        let (mut supervisor, control) = spawn(program, command, Wiring::Output, Stdio::piped())?;
        Ok(Self {
            stdout: Output::new(supervisor.stdout.take()),
            stderr: Output::new(supervisor.stderr.take()),
            supervisor,
            control: Some(control),
            limit: command.output_limit,
        })
    }

    /// Reads until the supervisor has ended, and then what is left in the streams. Nothing
    /// is lost when this is cancelled and called again.
    pub(super) async fn until_end(&mut self, on_output: &mut impl FnMut(Stream, &[u8])) -> Ended {
        loop {
            tokio::select! {
                status = self.supervisor.wait() => {
                    return match status {
                        Ok(status) => self.drain(status, on_output).await,
                        Err(error) => Ended::Lost(error.to_string()),
                    };
                }
                () = read_some(&mut self.stdout, &mut self.stderr, on_output) => {
                    if self.is_over_limit() {
                        return Ended::OverLimit;
                    }
                }
            }
        }
    }

    /// The answer of a command that was not stopped.
    pub(super) async fn finish(mut self, status: ExitStatus) -> Result<Finished, ProcessError> {
        let (code, signal) = reported(self.control.as_mut(), status).await?;
        Ok(Finished { code, signal, stdout: self.stdout.bytes, stderr: self.stderr.bytes })
    }

    /// Tells the supervisor to end the tree and waits until it has. A supervisor that cannot
    /// is killed; its inner half then goes on trying.
    pub(super) async fn stop(&mut self) {
        self.control = None;
        stopped(&mut self.supervisor).await;
    }

    /// All output of a stopped command, with what it wrote while it was being stopped.
    pub(super) async fn last_words(
        mut self,
        on_output: &mut impl FnMut(Stream, &[u8]),
    ) -> (Vec<u8>, Vec<u8>) {
        let _ = timeout(DRAIN, self.read_to_end(on_output)).await;
        (self.stdout.bytes, self.stderr.bytes)
    }

    async fn drain(&mut self, status: ExitStatus, on_output: &mut impl FnMut(Stream, &[u8])) -> Ended {
        let _ = timeout(DRAIN, self.read_to_end(on_output)).await;
        if self.is_over_limit() { Ended::OverLimit } else { Ended::ByItself(status) }
    }

    async fn read_to_end(&mut self, on_output: &mut impl FnMut(Stream, &[u8])) {
        while !self.is_over_limit() && (self.stdout.is_open() || self.stderr.is_open()) {
            read_some(&mut self.stdout, &mut self.stderr, on_output).await;
        }
    }

    fn is_over_limit(&self) -> bool {
        self.stdout.bytes.len() + self.stderr.bytes.len() > self.limit
    }
}

/// Starts a supervisor, and the command under it. The socket is for its control.
pub(super) fn spawn(
    program: &Path,
    command: &Command,
    wiring: Wiring,
    stdout: Stdio,
) -> Result<(Child, UnixStream), ProcessError> {
    if command.argv.is_empty() {
        return Err(ProcessError::Start("there is no command to run".into()));
    }
    let failed = |error: io::Error| {
        let directory = command.directory.display();
        ProcessError::Start(format!("cannot start a process in '{directory}': {error}"))
    };
    let (ours, theirs) = socket_pair().map_err(failed)?;
    let supervisor = tokio::process::Command::new(program)
        .arg0("pinza-supervisor")
        .args(supervise::arguments(GRACE, wiring, &command.argv))
        .current_dir(&command.directory)
        .env_clear()
        .envs(env::clean())
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(theirs))
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    Ok((supervisor, ours))
}

/// Exit code and signal of a command whose supervisor has ended by itself.
pub(super) async fn reported(
    control: Option<&mut UnixStream>,
    status: ExitStatus,
) -> Result<(i32, Option<i32>), ProcessError> {
    let report = match control {
        Some(control) => read_report(control).await,
        None => String::new(),
    };
    match Outcome::parse(&report) {
        Some(Outcome::Exited(code)) => Ok((code, None)),
        Some(Outcome::Signalled(signal)) => Ok((128 + signal, Some(signal))),
        Some(Outcome::NotStarted(reason)) => Err(ProcessError::Start(reason)),
        None => Err(ProcessError::Lost(format!("its supervisor ended without a report ({status})"))),
    }
}

/// Waits for a supervisor whose control socket is closed.
pub(super) async fn stopped(supervisor: &mut Child) {
    let patience = GRACE + Duration::from_secs(1);
    if timeout(patience, supervisor.wait()).await.is_err() {
        // Fails only if it has just ended.
        let _ = supervisor.start_kill();
    }
}

/// One stream: its open end, and what came out of it so far.
struct Output<R> {
    pipe: Option<R>,
    bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Output<R> {
    fn new(pipe: Option<R>) -> Self {
        Self { pipe, bytes: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Waits for more output and answers with where it begins; never ready once closed.
    async fn more(&mut self) -> usize {
        let before = self.bytes.len();
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        // A vector grows by what it has room for, so one read stays one piece.
        self.bytes.reserve(32 << 10);
        if !matches!(pipe.read_buf(&mut self.bytes).await, Ok(read) if read > 0) {
            self.pipe = None;
        }
        before
    }
}

/// Waits for one piece of either stream; never ready once both are closed.
async fn read_some(
    stdout: &mut Output<ChildStdout>,
    stderr: &mut Output<ChildStderr>,
    on_output: &mut impl FnMut(Stream, &[u8]),
) {
    let (stream, piece) = tokio::select! {
        from = stdout.more() => (Stream::Stdout, &stdout.bytes[from..]),
        from = stderr.more() => (Stream::Stderr, &stderr.bytes[from..]),
    };
    if !piece.is_empty() {
        on_output(stream, piece);
    }
}

/// A socket and not a pipe: the supervisor answers on it, and unlike a pipe it cannot be
/// opened by others through `/proc`.
pub(super) fn socket_pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

async fn read_report(control: &mut UnixStream) -> String {
    let mut report = Vec::new();
    // What cannot be read is no report, and the caller says so.
    let _ = timeout(DRAIN, control.take(REPORT_LIMIT).read_to_end(&mut report)).await;
    String::from_utf8_lossy(&report).into_owned()
}
