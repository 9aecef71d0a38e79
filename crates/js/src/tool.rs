//! A JavaScript tool: one call in one worker, with its requests answered while it runs.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    os::unix::process::ExitStatusExt as _,
    sync::Arc,
};

use futures_util::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, abortable},
    stream::FuturesUnordered,
};
use pinza_core::{
    Arguments, BoxFuture, CallContext, Capability, Content, ErrorKind, FsBridge, Tool, ToolDefinition,
    ToolError, ToolOutput, ToolResult,
};
use pinza_host::{http::HttpClient, secrets::VariableStore};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, sync::mpsc};

use crate::{
    bridge::{self, Asking},
    frame::{self, CallFrame, End, FromWorker, ToWorker},
    pool::{Code, Pool, Worker, receive},
    worker::OUT_OF_MEMORY,
};

/// What scripts reach through their bridges.
#[derive(Debug)]
pub struct Host {
    pub pool: Arc<Pool>,
    pub files: Arc<dyn FsBridge>,
    pub http: HttpClient,
    /// `--env` and `[env]`: open to every tool.
    pub open_variables: BTreeMap<String, String>,
    /// Kept variables, for tools that declare them.
    pub kept_variables: Option<VariableStore>,
}

/// Limits of one call, as a manifest may set them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub heap: usize,
    pub stack: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { heap: 16 << 20, stack: 1 << 20 }
    }
}

/// A function of a script, behind the trait that every tool keeps.
#[derive(Debug)]
pub struct JsTool {
    pub definition: ToolDefinition,
    /// Shared by all tools of a group.
    pub code: Arc<Code>,
    pub function: String,
    /// The kept variables that the manifest declares; `None` where it declares none.
    pub env: Option<Vec<String>>,
    /// The most that its bridges may do; `None` where the manifest says nothing.
    pub capabilities: Option<Vec<Capability>>,
    pub limits: Limits,
    /// Scripts for `lib(name)`.
    pub libraries: Arc<BTreeMap<String, Arc<Code>>>,
    pub host: Arc<Host>,
}

impl Tool for JsTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let params = self.params(arguments)?;
            let lost = |error: io::Error| ToolError::execution(format!("Tool execution failed: no worker: {error}"));
            let mut lease = self.host.pool.lease().await.map_err(lost)?;
            let sandbox = lease.worker.sandbox.clone();
            match self.run(&mut lease.worker, params, context).await {
                Ok((end, text, log)) => {
                    lease.finish();
                    answer(end, text).map(|output| output.details(json!({ "sandbox": sandbox, "log": log })))
                }
                // The socket closed: the process knows why.
                Err(_) => Err(died(lease.worker.exit_status().await)),
            }
        })
    }
}

type Log = Vec<Value>;

impl JsTool {
    /// The arguments with `_env`, as JSON text. What a model wrote under that name is replaced.
    fn params(&self, arguments: &Arguments) -> Result<String, ToolError> {
        let mut env: BTreeMap<&str, String> = BTreeMap::new();
        match &self.env {
            None => env.extend(self.host.open_variables.iter().map(|(name, value)| (name.as_str(), value.clone()))),
            Some(names) => {
                for name in names {
                    if let Some(value) = self.variable(name)? {
                        env.insert(name, value);
                    }
                }
            }
        }
        let mut params = arguments.clone();
        params.insert("_env".into(), json!(env));
        Ok(Value::Object(params).to_string())
    }

    fn variable(&self, name: &str) -> Result<Option<String>, ToolError> {
        if let Some(value) = self.host.open_variables.get(name) {
            return Ok(Some(value.clone()));
        }
        let Some(store) = &self.host.kept_variables else { return Ok(None) };
        let kept = store.get(name).map_err(|error| {
            ToolError::execution(format!("Tool execution failed: the variable '{name}' cannot be read: {error}"))
        })?;
        Ok(kept.map(|secret| secret.expose().to_owned()))
    }

    /// Runs the function and answers its requests until it ends.
    async fn run(&self, worker: &mut Worker, params: String, context: &CallContext) -> io::Result<(End, String, Log)> {
        let lacks = worker.lacks(&self.code);
        let (reader, mut writer) = worker.split();
        // Frames to the worker go through a queue, so that reading never waits for writing:
        // both sides could otherwise wait for the other to read.
        let (outbox, mut queue) = mpsc::unbounded_channel::<Vec<u8>>();
        let send = |message: &ToWorker, bytes: &[u8]| {
            // The queue lives as long as this call.
            let _ = outbox.send(frame::encode(message, bytes));
        };
        if lacks {
            let load = ToWorker::Load { script: self.code.number, file: self.code.file.clone() };
            send(&load, self.code.text.as_bytes());
        }
        send(
            &ToWorker::Call(CallFrame {
                script: self.code.number,
                function: self.function.clone(),
                params,
                heap: self.limits.heap,
                stack: self.limits.stack,
            }),
            &[],
        );
        let writing = async {
            while let Some(frame) = queue.recv().await {
                writer.write_all(&frame).await?;
            }
            std::future::pending::<io::Result<(End, String, Log)>>().await
        };
        let asking = Asking { tool: self, context };
        tokio::select! {
            ended = converse(reader, &asking, send) => ended,
            failed = writing => failed,
        }
    }
}

/// Reads frames and answers requests until the result comes.
async fn converse(
    reader: tokio::net::unix::ReadHalf<'_>,
    asking: &Asking<'_>,
    send: impl Fn(&ToWorker, &[u8]),
) -> io::Result<(End, String, Log)> {
    // A frame is read to its end before the next is begun, whatever is ready in between.
    let next = |mut reader| async move {
        let frame = receive(&mut reader).await;
        (reader, frame)
    };
    let mut reading = Box::pin(next(reader));
    let mut answers = FuturesUnordered::new();
    let mut cancels: HashMap<u32, AbortHandle> = HashMap::new();
    let mut log = Log::new();
    loop {
        tokio::select! {
            (reader, frame) = &mut reading => {
                let (message, bytes) = frame?;
                reading = Box::pin(next(reader));
                match message {
                    FromWorker::Result { end } => {
                        return Ok((end, String::from_utf8_lossy(&bytes).into_owned(), log));
                    }
                    FromWorker::Log { level, text } => {
                        asking.context.progress(&[Content::text(format!("{text}\n"))]);
                        log.push(json!({ "level": level, "text": text }));
                    }
                    FromWorker::Cancel { id } => {
                        cancels.remove(&id).inspect(AbortHandle::abort);
                    }
                    FromWorker::Request { id, op, json, has_bytes } => {
                        let bytes = has_bytes.then_some(bytes);
                        let (answer, handle) = abortable(bridge::answer(asking, op, json, bytes));
                        cancels.insert(id, handle);
                        answers.push(answer.map(move |answer| (id, answer)));
                    }
                    FromWorker::Ready { .. } => return Err(io::Error::other("a second greeting")),
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
                        let json = json!({ "code": error.kind, "message": error.message }).to_string();
                        send(&ToWorker::Reply { id, ok: false, json: Some(json), has_bytes: false }, &[]);
                    }
                    // Cancelled: nobody waits for it.
                    Err(_) => {}
                }
            }
        }
    }
}

fn answer(end: End, text: String) -> ToolResult {
    match end {
        End::Ok => Ok(ToolOutput::text(text)),
        End::Memory => Err(memory_limit()),
        End::Output => Err(ToolError::new(ErrorKind::OutputLimit, format!("The result has {text} bytes, more than 16 MiB"))
            .hint("Return less, or write it to a file.")),
        End::Stalled => Err(ToolError::execution(
            "Tool execution failed: the script waits for a promise that nothing can settle any more",
        )),
        End::Threw => Err(thrown(&text)),
    }
}

#[derive(Deserialize)]
struct Thrown {
    message: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    place: Option<String>,
}

/// A script's uncaught error. One that came from a bridge keeps its code.
fn thrown(text: &str) -> ToolError {
    let Ok(Thrown { message, code, place }) = serde_json::from_str(text) else {
        return ToolError::execution("Tool execution failed: unknown error");
    };
    let kind = code.and_then(|code| serde_json::from_value(Value::String(code)).ok());
    let error = match kind {
        Some(kind) => ToolError::new(kind, message),
        None => ToolError::execution(format!("Tool execution failed: {message}")),
    };
    match place {
        Some(place) => error.hint(format!("Thrown at {place}")),
        None => error,
    }
}

fn memory_limit() -> ToolError {
    ToolError::new(ErrorKind::MemoryLimit, "The script used more memory than it may")
        .hint("Work on less at once, or ask for more with \"limits\" in the manifest.")
}

fn died(status: Option<std::process::ExitStatus>) -> ToolError {
    match status {
        Some(status) if status.code() == Some(OUT_OF_MEMORY) => memory_limit(),
        Some(status) => {
            let how = status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"));
            ToolError::execution(format!("Tool execution failed: the script's process died ({how})"))
        }
        None => ToolError::execution("Tool execution failed: the script's process died"),
    }
}
