//! Runs the program as a person would, in a home and a workspace of its own.
//!
//! The environment is empty but for what every program needs, so that nothing on the machine
//! of whoever runs the tests can change an answer.
#![expect(clippy::expect_used, reason = "a test whose program cannot run has failed")]

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder},
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// A run that takes longer hangs: it is killed, and its test fails by the missing exit code.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program and a temporary directory with a home, whose workspace is the default one.
#[derive(Debug)]
pub struct Program {
    binary: PathBuf,
    directory: TempDir,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let program = Self { binary: binary.into(), directory };
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700).create(program.workspace()).expect("a workspace");
        program
    }

    /// Where the program starts; home and workspace lie beneath it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn home(&self) -> PathBuf {
        self.directory().join("home")
    }

    pub fn workspace(&self) -> PathBuf {
        self.home().join("workspace")
    }

    pub fn config_file(&self) -> PathBuf {
        self.home().join("config.toml")
    }

    /// Puts a file into the workspace, and the directories above it.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, content).expect("a file");
        path
    }

    /// The text of a file in the workspace.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).expect("a text file")
    }

    /// The program in its environment, to be completed by whoever needs more than [`run`](Self::run).
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.directory())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory())
            .env("PINZA_HOME", self.home())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        finish(&mut self.command(arguments), "")
    }

    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        finish(self.command(arguments).stdin(Stdio::piped()), input)
    }
}

impl Run {
    /// What was printed, if it is one JSON value; else null.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_default()
    }
}

/// Runs a command to its end, or kills it when it hangs.
pub fn finish(command: &mut Command, input: &str) -> Run {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    let (done, waiting) = channel::<()>();
    let id = child.id().to_string();
    let watchdog = std::thread::spawn(move || {
        if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
    });
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read it is what some tests are about.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().expect("an end");
    drop(done);
    let _ = watchdog.join();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
