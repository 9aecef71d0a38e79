//! One script in one worker: its requests are answered while it runs, and however it ends
//! there is one answer.

use std::{
    collections::HashMap,
    io,
    os::unix::process::ExitStatusExt as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, abortable},
    stream::FuturesUnordered,
};
use pinza_core::{CallContext, Content, ErrorKind, ToolError, ToolOutput, ToolResult};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{
    awake::SMALL,
    bridge::{self, Asking},
    cache::Cache,
    frame::{self, CallFrame, End, Entry, FromWorker, IN_FLIGHT, LOG_LENGTH, LOG_LINES, ToWorker},
    loader::{Libraries, ScriptSource},
    module::Package,
    pool::{Age, Code, Seat, Worker},
    tool::{Host, Limits},
    wire::Incoming,
    worker::OUT_OF_MEMORY,
};

/// What is run, with what, on whose behalf.
pub(crate) struct Job<'a> {
    pub(crate) code: &'a Code,
    pub(crate) entry: Entry,
    /// JSON text.
    pub(crate) params: String,
    pub(crate) limits: Limits,
    pub(crate) libraries: &'a Libraries,
    pub(crate) host: &'a Host,
    /// Where the script's own worker waits, if it has one.
    pub(crate) seat: Option<&'a Seat>,
}

/// Answers that a script has asked for and does not read, in bytes.
const BACKLOG: usize = 64 << 20;

/// What a script wrote to its console.
type Log = Vec<Value>;

impl Job<'_> {
    pub(crate) async fn run(self, context: &CallContext<'_>) -> ToolResult {
        let lost =
            |error: io::Error| ToolError::execution(format!("Tool execution failed: no worker: {error}"));
        let mut seat = match self.seat {
            Some(seat) => Some(seat.take().await),
            None => None,
        };
        let mut lease = match seat.as_mut().and_then(|seat| seat.take()) {
            Some(lease) => lease,
            None => self.host.pool.lease(self.code).await.map_err(lost)?,
        };
        loop {
            let sandbox = Arc::clone(&lease.worker().map_err(lost)?.sandbox);
            let mut heard = false;
            match self.run_in(lease.worker().map_err(lost)?, context, &mut heard).await {
                Ok((end, text, log)) => {
                    match seat.as_mut() {
                        Some(seat) => **seat = Some(lease),
                        None => lease.finish(),
                    }
                    return answer(end, text, &self.code.script)
                        .map(|output| output.details(json!({ "sandbox": &*sandbox, "log": log })));
                }
                // The worker broke the rules, and dies with its lease.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(ToolError::execution(format!(
                        "Tool execution failed: the script's process was stopped: {error}"
                    )));
                }
                // The socket closed: the process knows why.
                Err(_) => {
                    let status = lease.exit_status().await;
                    // One that had calls before and says nothing about this one may have been dead
                    // already. Nothing of the call has left it: a new one can take it.
                    // What a script has kept cannot be had again.
                    if heard || lease.age == Age::New || is_memory(status) || seat.is_some() {
                        return Err(died(status));
                    }
                    lease.renew().await.map_err(lost)?;
                }
            }
        }
    }

    async fn run_in(
        &self,
        worker: &mut Worker,
        context: &CallContext<'_>,
        heard: &mut bool,
    ) -> io::Result<(End, String, Log)> {
        // Only where the last call showed that it pays, and no other call wants the processor.
        let alert = self.code.small.load(Ordering::Relaxed) && self.host.pool.has_one_call();
        let call = CallFrame {
            script: self.code.number,
            entry: self.entry.clone(),
            heap: self.limits.heap,
            stack: self.limits.stack,
            alert,
            keep: self.seat.is_some(),
        };
        let call = frame::encode(&ToWorker::Call(call), self.params.as_bytes());
        // A worker forgets a program once it has run.
        let cache = self.host.pool.cache.as_ref();
        // Others' code is taken only from a worker that nobody else has had.
        let keep = cache.is_some() && self.code.package.is_some() && worker.is_new();
        let frames = if self.entry == Entry::Program || worker.lacks(self.code) {
            let package = self.code.package.as_ref().inspect(|package| package.begin());
            let load = ToWorker::Load {
                script: self.code.number,
                file: self.code.script.file.clone(),
                package: package.map(|package| package.specifier.clone()),
                keep,
            };
            let units = package.zip(cache).and_then(|(package, cache)| cache.read(&package.cache_name()));
            worker.keeps(units.as_ref().map_or(0, Vec::len));
            let bytes = units.as_deref().unwrap_or(self.code.script.code.as_bytes());
            let mut frames = frame::encode(&load, bytes);
            frames.extend(call);
            frames
        } else {
            call
        };
        let Worker { incoming, outgoing, placement, .. } = worker;
        if alert {
            placement.keep_off();
        } else {
            placement.release();
        }
        // A worker says nothing before it has all of this.
        outgoing.send(&frames).await?;
        if alert {
            incoming.wait_awake();
        }
        // Frames to the worker go through a queue, so that reading never waits for writing:
        // both sides could otherwise wait for the other to read.
        let (outbox, mut queue) = mpsc::unbounded_channel::<Vec<u8>>();
        let waiting = AtomicUsize::new(0);
        let send = |message: &ToWorker, bytes: &[u8]| {
            let mut frame = frame::encode(message, bytes);
            if let ToWorker::Reply { id, .. } = message
                && (frame.len() > frame::LIMIT || waiting.load(Ordering::Relaxed) + frame.len() > BACKLOG)
            {
                frame = frame::encode(&too_much(*id), &[]);
            }
            waiting.fetch_add(frame.len(), Ordering::Relaxed);
            // The queue lives as long as this call.
            let _ = outbox.send(frame);
        };
        let writing = async {
            while let Some(frame) = queue.recv().await {
                outgoing.send(&frame).await?;
                waiting.fetch_sub(frame.len(), Ordering::Relaxed);
            }
            std::future::pending::<io::Result<(End, String, Log)>>().await
        };
        let asking = Asking { job: self, context };
        let keeper = cache.zip(self.code.package.as_ref()).filter(|_| keep);
        tokio::select! {
            ended = converse(incoming, &asking, keeper, send, heard) => ended,
            failed = writing => failed,
        }
    }
}

/// Reads frames and answers requests until the result comes.
async fn converse(
    incoming: &mut Incoming,
    asking: &Asking<'_>,
    mut keeper: Option<(&Cache, &Package)>,
    send: impl Fn(&ToWorker, &[u8]),
    heard: &mut bool,
) -> io::Result<(End, String, Log)> {
    let mut answers = FuturesUnordered::new();
    let mut cancels: HashMap<u32, AbortHandle> = HashMap::new();
    let mut log = Log::new();
    loop {
        tokio::select! {
            frame = incoming.frame() => {
                let (message, bytes) = frame?;
                *heard = true;
                match message {
                    FromWorker::Result { end, took } => {
                        asking.job.code.small.store(Duration::from_micros(took) < SMALL, Ordering::Relaxed);
                        return Ok((end, String::from_utf8_lossy(&bytes).into_owned(), log));
                    }
                    FromWorker::Log { level, text } => {
                        if log.len() > LOG_LINES || text.len() > LOG_LENGTH {
                            return Err(misbehaved("it logs more than it may"));
                        }
                        asking.context.progress(&[Content::text(format!("{text}\n"))]);
                        log.push(json!({ "level": level, "text": text }));
                    }
                    FromWorker::Cancel { id } => {
                        cancels.remove(&id).inspect(AbortHandle::abort);
                    }
                    FromWorker::Request { id, op, json, has_bytes } => {
                        if cancels.len() >= IN_FLIGHT || cancels.contains_key(&id) {
                            return Err(misbehaved("it asks for more than it may"));
                        }
                        let bytes = has_bytes.then_some(bytes);
                        let (answer, handle) = abortable(bridge::answer(asking, op, json, bytes));
                        cancels.insert(id, handle);
                        answers.push(answer.map(move |answer| (id, answer)));
                    }
                    FromWorker::Units => {
                        // Once for each package, by the first process that loads it; a few milliseconds.
                        let (cache, package) = keeper.take().ok_or_else(|| misbehaved("its code is not wanted"))?;
                        cache.write(&package.cache_name(), &bytes);
                    }
                    FromWorker::Ready { .. } => return Err(misbehaved("it greets twice")),
                }
            }
            Some((id, answer)) = answers.next(), if !answers.is_empty() => {
                cancels.remove(&id);
                match answer {
                    Ok(Ok(bridge::Answer { json, bytes })) => {
                        let has_bytes = bytes.is_some();
                        send(&ToWorker::Reply { id, ok: true, json, has_bytes }, &bytes.unwrap_or_default());
                    }
                    Ok(Err(error)) => {
                        let ToolError { kind, message, hint, .. } = error;
                        let json = match hint {
                            Some(hint) => json!({ "code": kind, "message": message, "hint": hint }),
                            None => json!({ "code": kind, "message": message }),
                        }
                        .to_string();
                        send(&ToWorker::Reply { id, ok: false, json: Some(json), has_bytes: false }, &[]);
                    }
                    // Cancelled: nobody waits for it.
                    Err(_) => {}
                }
            }
        }
    }
}

/// A worker that does what no worker does: whatever it is, it is not ours any more.
fn misbehaved(how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, how)
}

fn too_much(id: u32) -> ToWorker {
    let message = "The answer is too large, or too many answers wait to be read";
    let json = json!({ "code": ErrorKind::OutputLimit, "message": message }).to_string();
    ToWorker::Reply { id, ok: false, json: Some(json), has_bytes: false }
}

fn answer(end: End, text: String, script: &ScriptSource) -> ToolResult {
    match end {
        End::Ok => Ok(ToolOutput::text(text)),
        End::Memory => Err(memory_limit()),
        End::Output => Err(ToolError::new(
            ErrorKind::OutputLimit,
            format!("The result has {text} bytes, more than 16 MiB"),
        )
        .hint("Return less, or write it to a file.")),
        End::Stalled => Err(ToolError::execution(
            "Tool execution failed: the script waits for a promise that nothing can settle any more",
        )),
        End::Threw => Err(thrown(&text, script)),
        // Only a call that was given up is asked to stop, and nobody reads its answer.
        End::Stopped => Err(ToolError::new(ErrorKind::Cancelled, "The call was stopped")),
    }
}

#[derive(Deserialize)]
struct Thrown {
    message: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    place: Option<String>,
    /// Of a bridge's error.
    #[serde(default)]
    hint: Option<String>,
}

/// A script's uncaught error. One that came from a bridge keeps its code.
fn thrown(text: &str, script: &ScriptSource) -> ToolError {
    let Ok(Thrown { message, code, place, hint }) = serde_json::from_str(text) else {
        return ToolError::execution("Tool execution failed: unknown error");
    };
    let kind = code.and_then(|code| serde_json::from_value(Value::String(code)).ok());
    let error = match kind {
        Some(kind) => ToolError::new(kind, message),
        None => ToolError::execution(format!("Tool execution failed: {message}")),
    };
    let place = place.map(|place| format!("Thrown at {}", in_source(place, script)));
    match (hint, place) {
        (Some(hint), Some(place)) => error.hint(format!("{hint} {place}")),
        (Some(hint), None) | (None, Some(hint)) => error.hint(hint),
        (None, None) => error,
    }
}

/// The place as its author wrote it: the lines of stripped TypeScript lead back to the source's.
fn in_source(place: String, script: &ScriptSource) -> String {
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    let line = line.and_then(|line| line.parse::<usize>().ok()).and_then(|line| line.checked_sub(1));
    match line.and_then(|line| script.lines.get(line)) {
        Some(line) if file == Some(&script.file) => format!("{}:{line}", script.file),
        _ => place,
    }
}

fn memory_limit() -> ToolError {
    ToolError::new(ErrorKind::MemoryLimit, "The script used more memory than it may")
        .hint("Work on less at once, or ask for more with \"limits\" in the manifest.")
}

fn is_memory(status: Option<std::process::ExitStatus>) -> bool {
    status.and_then(|status| status.code()) == Some(OUT_OF_MEMORY)
}

fn died(status: Option<std::process::ExitStatus>) -> ToolError {
    match status {
        _ if is_memory(status) => memory_limit(),
        Some(status) => {
            let how = status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"));
            ToolError::execution(format!("Tool execution failed: the script's process died ({how})"))
        }
        None => ToolError::execution("Tool execution failed: the script's process died"),
    }
}
