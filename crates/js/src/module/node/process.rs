//! One Node process, from Pinza's side: frames over its channel, lines from its log, and what is said when
//! it ends before it has answered.

use std::{ffi::OsStr, io, time::Duration};

use pinza_core::ToolError;
use pinza_host::process::{Command, Companion, ProcessError, Supervisor};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::{ReadHalf, WriteHalf},
    time::timeout,
};

use super::{NodeModule, log::Log};
use crate::module::{Runtime, runner, tool::out_of_memory};

/// What the process runs. Handed over as text, so that nothing needs to be installed.
const PROGRAM: &str = include_str!("node_host.mjs");

/// The largest outcome, and the largest plan.
const FRAME_LIMIT: usize = 16 << 20;

/// How long to wait for the rest of a log. It comes at once, unless the library closed it.
const LOG_PATIENCE: Duration = Duration::from_millis(250);

/// How much of a log goes into a hint.
const TAIL_LINES: usize = 8;
const TAIL_LENGTH: usize = 2000;

#[derive(Debug)]
pub(super) struct Process {
    companion: Companion,
    log: Log,
    /// The frame that comes before the first plan.
    greeting: Option<Vec<u8>>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Broken {
    /// The channel closed.
    Ended,
    /// It sent what is no frame.
    Babble(usize),
    /// The plan does not fit a frame.
    TooLarge,
}

impl Process {
    pub(super) fn start(
        supervisor: &Supervisor,
        program: &OsStr,
        module: &NodeModule,
    ) -> Result<Self, ToolError> {
        let heap = (module.heap >> 20).max(16);
        let arguments = [&format!("--max-old-space-size={heap}"), "--input-type=module", "--eval", PROGRAM];
        let argv = std::iter::once(program).chain(arguments.map(OsStr::new));
        let companion = supervisor
            .start(&Command::new(argv, &module.directory))
            .map_err(|error| not_started(&error, module))?;
        let mark = mark().map_err(|error| ToolError::execution(format!("Tool execution failed: {error}")))?;
        let greeting = json!({
            "runner": runner::SOURCE,
            "package": module.package,
            "limit": FRAME_LIMIT,
            "mark": mark,
        });
        Ok(Self { companion, log: Log::new(&mark), greeting: Some(encode(&greeting)) })
    }

    /// Whether a kept process still listens.
    pub(super) fn is_alive(&self) -> bool {
        // It says nothing unasked, so all that can be read is its end.
        let read = self.companion.channel.try_read(&mut [0]);
        matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// One question, its answer, and what was printed meanwhile.
    pub(super) async fn ask(
        &mut self,
        frame: &Value,
        mut on_line: impl FnMut(&str),
    ) -> Result<(Vec<u8>, Vec<Value>), Broken> {
        let frame = encode(frame);
        if frame.len() > FRAME_LIMIT {
            return Err(Broken::TooLarge);
        }
        let mut frames = self.greeting.take().unwrap_or_default();
        frames.extend(frame);
        let Companion { channel, log: pipe, .. } = &mut self.companion;
        let (reading, writing) = channel.split();
        let mut talk = std::pin::pin!(talk(reading, writing, &frames));
        let mut is_marked = false;
        let mut piece = Vec::with_capacity(32 << 10);
        // The log is read all the time: a library that prints much would else stand still.
        let answer = loop {
            piece.clear();
            tokio::select! {
                answer = &mut talk => break answer?,
                read = pipe.read_buf(&mut piece), if !is_marked => match read {
                    Ok(read) if read > 0 => is_marked = self.log.add(&piece, &mut on_line),
                    // Closed by the library: there is no log any more.
                    _ => is_marked = true,
                },
            }
        };
        let rest = async {
            while !is_marked {
                piece.clear();
                match pipe.read_buf(&mut piece).await {
                    Ok(read) if read > 0 => is_marked = self.log.add(&piece, &mut on_line),
                    _ => return,
                }
            }
        };
        // Without a mark, what has come is the log.
        let _ = timeout(LOG_PATIENCE, rest).await;
        Ok((answer, self.log.lines()))
    }

    pub(super) async fn stop(self) {
        self.companion.stop().await;
    }

    /// The answer where the process gave none: it says itself how it ended.
    pub(super) async fn died(mut self, broken: Broken, module: &NodeModule) -> ToolError {
        match broken {
            Broken::TooLarge => {
                self.stop().await;
                return ToolError::validation("The arguments are larger than 16 MiB");
            }
            Broken::Babble(length) => {
                self.stop().await;
                let message = format!("the process of '{}' sent a frame of {length} bytes", module.name);
                return ToolError::execution(format!("Tool execution failed: {message}"));
            }
            Broken::Ended => {}
        }
        let mut said = Vec::new();
        let _ = timeout(LOG_PATIENCE, (&mut self.companion.log).take(1 << 20).read_to_end(&mut said)).await;
        self.log.add(&said, &mut |_| {});
        let lines = self.log.take(&mut |_| {});
        let tail = tail(&lines);
        let how = match self.companion.ended().await {
            // V8 says so before it aborts, and a long list of frames after it.
            Ok(end) if end.signal.is_some() && says(&lines, "heap out of memory") => {
                return out_of_memory(&module.name, module.heap, Runtime::Node);
            }
            Ok(end) => match end.signal {
                Some(signal) => format!("signal {signal}"),
                None => format!("exit code {}", end.code),
            },
            Err(error @ ProcessError::Start(_)) => return not_started(&error, module),
            Err(error) => error.to_string(),
        };
        let error = ToolError::execution(format!(
            "Tool execution failed: the library of '{}' ended its process before it answered ({how})",
            module.name
        ));
        if tail.is_empty() { error } else { error.hint(format!("It printed, at the end: {tail}")) }
    }
}

async fn talk(
    mut reading: ReadHalf<'_>,
    mut writing: WriteHalf<'_>,
    frames: &[u8],
) -> Result<Vec<u8>, Broken> {
    // The process reads before it writes; one that has ended reads nothing, and that is seen here.
    writing.write_all(frames).await.map_err(|_| Broken::Ended)?;
    let length = reading.read_u32().await.map_err(|_| Broken::Ended)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > FRAME_LIMIT {
        return Err(Broken::Babble(length));
    }
    let mut answer = vec![0; length];
    reading.read_exact(&mut answer).await.map_err(|_| Broken::Ended)?;
    Ok(answer)
}

/// Four bytes of length, big-endian, then JSON. What is too long is refused before it is sent.
fn encode(frame: &Value) -> Vec<u8> {
    let json = frame.to_string().into_bytes();
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    [length.to_be_bytes().to_vec(), json].concat()
}

fn mark() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("\0{hex}\n"))
}

fn says(lines: &[Value], words: &str) -> bool {
    lines.iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains(words)))
}

fn tail(lines: &[Value]) -> String {
    let from = lines.len().saturating_sub(TAIL_LINES);
    let last: Vec<&str> = lines[from..].iter().filter_map(|line| line["text"].as_str()).collect();
    let text = last.join("\n");
    text[text.ceil_char_boundary(text.len().saturating_sub(TAIL_LENGTH))..].trim().to_owned()
}

fn not_started(error: &ProcessError, module: &NodeModule) -> ToolError {
    let name = &module.name;
    ToolError::execution(format!("Tool execution failed: '{name}' needs Node, which cannot start: {error}"))
        .hint("Install Node 20 or newer, or write \"runtime\": \"embedded\" in the module.json if the library can do without.")
}
