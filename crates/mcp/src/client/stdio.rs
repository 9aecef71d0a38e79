//! A server as a process: under a supervisor, with a clean environment, its lines bounded and its errors kept.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pinza_host::process::{Command, Dialogue, Keeper, ProcessError, Supervisor};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::wire::Lines;

/// How much of what a server prints to standard error is kept.
const LOG_LIMIT: usize = 64 << 10;

/// A process that has closed its streams is about to end; how long to wait for its exit code.
const END_PATIENCE: Duration = Duration::from_millis(300);

/// A started server's process, apart from its streams. Dropped, it ends with its whole tree.
pub(crate) struct Process {
    pub(crate) log: Log,
    end: tokio::sync::watch::Receiver<Option<String>>,
    _guard: DropGuard,
}

impl Process {
    pub(crate) fn start(
        supervisor: &Supervisor,
        argv: &[String],
        env: Vec<(String, String)>,
        directory: &Path,
    ) -> Result<(Self, Lines), ProcessError> {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let command = Command { env, ..Command::new(argv, directory) };
        let Dialogue { input, output, log: errors, keeper } = supervisor.start_dialogue(&command)?;
        let log = Log::default();
        let stop = CancellationToken::new();
        let (tell, end) = tokio::sync::watch::channel(None);
        tokio::spawn(keep_log(errors, log.clone()));
        tokio::spawn(attend(keeper, stop.clone(), tell));
        let lines = Lines::new(output, input, log.clone());
        let process = Self { log, end, _guard: stop.drop_guard() };
        Ok((process, lines))
    }

    /// Waits a moment for what is on its way to the log.
    pub(crate) async fn settle(&self) {
        for _ in 0..50 {
            let before = self.log.total();
            tokio::time::sleep(Duration::from_millis(20)).await;
            if self.log.total() == before {
                return;
            }
        }
    }

    /// How it ended, if it has, or is about to.
    pub(crate) async fn end(&self) -> Option<String> {
        let mut end = self.end.clone();
        let told = end.wait_for(Option::is_some);
        tokio::time::timeout(END_PATIENCE, told).await.ok()?.ok()?.clone()
    }
}

/// Waits for the end, or brings it.
async fn attend(
    mut keeper: Keeper,
    stop: CancellationToken,
    tell: tokio::sync::watch::Sender<Option<String>>,
) {
    let text = tokio::select! {
        () = stop.cancelled() => {
            keeper.stop().await;
            return;
        }
        end = keeper.ended() => match end {
            Ok(end) => match end.signal {
                Some(signal) => format!("it was ended by signal {signal}"),
                None => format!("it exited with code {}", end.code),
            },
            Err(error) => error.to_string(),
        },
    };
    let _ = tell.send(Some(text));
}

async fn keep_log(mut errors: impl AsyncRead + Unpin, log: Log) {
    let mut piece = vec![0; 8 << 10];
    // Read to the end whatever comes: a server whose pipe is full would stand still.
    while let Ok(read @ 1..) = errors.read(&mut piece).await {
        log.append(&piece[..read]);
    }
}

/// The last that a server printed to standard error.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<LogText>>);

#[derive(Default)]
struct LogText {
    bytes: VecDeque<u8>,
    dropped: u64,
    /// It sent a line longer than any message.
    is_overlong: bool,
}

impl Log {
    fn append(&self, piece: &[u8]) {
        let mut text = self.text();
        text.bytes.extend(piece);
        let excess = text.bytes.len().saturating_sub(LOG_LIMIT);
        text.bytes.drain(..excess);
        text.dropped += excess as u64;
    }

    /// The text, with a note about what was left out. Foreign: for people it goes through `visible`, line by line.
    pub(crate) fn shown(&self) -> String {
        let text = self.text();
        let bytes: Vec<u8> = text.bytes.iter().copied().collect();
        let kept = String::from_utf8_lossy(&bytes).into_owned();
        match text.dropped {
            0 => kept,
            dropped => format!("[{dropped} bytes before this were left out]\n{kept}"),
        }
    }

    fn total(&self) -> u64 {
        let text = self.text();
        text.dropped + text.bytes.len() as u64
    }

    pub(crate) fn is_overlong(&self) -> bool {
        self.text().is_overlong
    }

    pub(super) fn set_overlong(&self) {
        self.text().is_overlong = true;
    }

    fn text(&self) -> MutexGuard<'_, LogText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_its_end() {
        let log = Log::default();
        for _ in 0..100 {
            log.append(&[b'a'; 4096]);
        }
        log.append(b"the end");
        let shown = log.shown();
        assert!(shown.starts_with('[') && shown.ends_with("the end"));
        assert!(shown.len() < LOG_LIMIT + 100);
    }
}
