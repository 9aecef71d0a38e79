//! The client behind a request, for whoever works on the request: approvals, and tools or
//! prompts that need something of the client's user.
//!
//! A handle only sends signals. The exchange that serves the request tends to them: by a
//! request to the client where the revision has those (2025-11-25), by ending the request with
//! what is needed and going on when the client comes back with it (2026-07-28).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use pinza_core::{CallId, Content, ProgressSink, Step};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

tokio::task_local! {
    /// The client whose request the running call belongs to.
    static CURRENT: Client;
}

/// Signals that wait to be tended to. More notes are dropped, more questions wait.
const WAITING: usize = 64;
/// How much of a partial result goes along with a progress notification.
const MESSAGE_LIMIT: usize = 1024;

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    can: Abilities,
    signals: mpsc::Sender<Signal>,
    /// What a tool needs and the client lacks: ends the request with an error of the protocol.
    missing: Mutex<Option<Need>>,
    /// How far the client was told that it is: progress has to grow.
    told: Mutex<Option<f64>>,
}

/// What a client has said it can do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Abilities {
    pub(super) forms: bool,
    pub(super) sampling: bool,
    pub(super) roots: bool,
}

/// Something that only the client can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Its user fills in a form.
    Form,
    /// Its model writes a message.
    Sampling,
    /// The directories that it works in.
    Roots,
}

/// A question to the client, in the protocol's own words.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    Form { message: String, schema: Value },
    Sampling { params: Value },
    Roots,
}

/// Severity of a log message, as syslog has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("the client cannot be asked for this")]
    Unable(Need),
    #[error("the question could not be put: {0}")]
    Refused(String),
    #[error("nobody answered")]
    Gone,
}

/// What a handle wants done.
#[derive(Debug)]
pub(super) enum Signal {
    Progress { progress: f64, total: Option<f64>, message: Option<String> },
    Log { level: LogLevel, data: Value },
    Ask(Ask),
}

/// Questions that are put together and answered together.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) questions: BTreeMap<String, Question>,
    pub(super) acceptance: Acceptance,
    pub(super) reply: oneshot::Sender<Result<BTreeMap<String, Value>, AskError>>,
}

/// Which answers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    /// Also those that a client sends along before it is asked.
    Any,
    /// Only answers to this very question: what permits a call must have been asked about it.
    Asked,
}

impl Client {
    pub(super) fn new(name: String, can: Abilities) -> (Self, mpsc::Receiver<Signal>) {
        let (signals, incoming) = mpsc::channel(WAITING);
        let inner = Inner { name, can, signals, missing: Mutex::default(), told: Mutex::default() };
        (Self { inner: Arc::new(inner) }, incoming)
    }

    /// The client that the running call is for; `None` outside of MCP.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// Runs `work` as work for this client.
    pub(super) fn serve<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        CURRENT.scope(self, work)
    }

    /// As the client calls itself; empty if it does not.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub fn can(&self, need: Need) -> bool {
        match need {
            Need::Form => self.inner.can.forms,
            Need::Sampling => self.inner.can.sampling,
            Need::Roots => self.inner.can.roots,
        }
    }

    /// Ends the request with the protocol's own error, if the client lacks what is needed.
    pub fn require(&self, need: Need) -> Result<(), AskError> {
        if self.can(need) {
            return Ok(());
        }
        *self.inner.missing.lock().unwrap_or_else(PoisonError::into_inner) = Some(need);
        Err(AskError::Unable(need))
    }

    pub(super) fn missing(&self) -> Option<Need> {
        *self.inner.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks one question and waits for the answer: the result of the request as JSON.
    pub async fn ask(&self, key: &str, question: Question) -> Result<Value, AskError> {
        let mut answers = self.ask_all(BTreeMap::from([(key.to_owned(), question)])).await?;
        answers.remove(key).ok_or(AskError::Gone)
    }

    /// Asks several questions at once.
    pub async fn ask_all(
        &self,
        questions: BTreeMap<String, Question>,
    ) -> Result<BTreeMap<String, Value>, AskError> {
        self.put(questions, Acceptance::Any).await
    }

    pub(super) async fn put(
        &self,
        questions: BTreeMap<String, Question>,
        acceptance: Acceptance,
    ) -> Result<BTreeMap<String, Value>, AskError> {
        let lacking = questions.values().map(Question::need).find(|need| !self.can(*need));
        if let Some(need) = lacking {
            return Err(AskError::Unable(need));
        }
        let (reply, answers) = oneshot::channel();
        let ask = Signal::Ask(Ask { questions, acceptance, reply });
        self.inner.signals.send(ask).await.map_err(|_| AskError::Gone)?;
        answers.await.unwrap_or(Err(AskError::Gone))
    }

    /// Tells how far the work is. Dropped if the client does not listen or is slow.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let _ = self.inner.signals.try_send(Signal::Progress { progress, total, message });
    }

    pub fn log(&self, level: LogLevel, data: impl Into<Value>) {
        let _ = self.inner.signals.try_send(Signal::Log { level, data: data.into() });
    }
}

impl ProgressSink for Client {
    fn progress(&self, _call: &CallId, partial: &[Content]) {
        // Where a tool has no numbers, its partial results are counted.
        let next = {
            let mut told = self.inner.told.lock().unwrap_or_else(PoisonError::into_inner);
            let next = told.map_or(1.0, |told| told.floor() + 1.0);
            *told = Some(next);
            next
        };
        let text = partial.iter().find_map(|block| match block {
            Content::Text { text } => Some(text[..text.floor_char_boundary(MESSAGE_LIMIT)].to_owned()),
            _ => None,
        });
        self.progress(next, None, text);
    }

    fn step(&self, _call: &CallId, step: &Step) {
        {
            let mut told = self.inner.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_some_and(|told| step.progress <= told) {
                return;
            }
            *told = Some(step.progress);
        }
        self.progress(step.progress, step.total, step.message.clone());
    }
}

impl Question {
    pub(super) fn need(&self) -> Need {
        match self {
            Self::Form { .. } => Need::Form,
            Self::Sampling { .. } => Need::Sampling,
            Self::Roots => Need::Roots,
        }
    }

    /// Whether this is an answer at all. What it means is for the asker to say.
    pub(super) fn is_answered_by(&self, answer: &Value) -> bool {
        match self {
            Self::Form { schema, .. } => match answer.get("action").and_then(Value::as_str) {
                Some("accept") => has_required(schema, answer.get("content")),
                Some("decline" | "cancel") => true,
                _ => false,
            },
            Self::Sampling { .. } => answer.get("content").is_some_and(|content| !content.is_null()),
            Self::Roots => answer.get("roots").is_some_and(Value::is_array),
        }
    }
}

fn has_required(schema: &Value, content: Option<&Value>) -> bool {
    let Some(content) = content.and_then(Value::as_object) else { return false };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).all(|name| content.get(name).is_some_and(|value| !value.is_null()))
}
