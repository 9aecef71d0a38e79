//! The contract that every tool keeps: a definition and one way to run, on one object, so
//! that they cannot drift apart.

use std::{pin::Pin, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    bounds::TextLimit,
    definition::ToolDefinition,
    engine::Engine,
    error::ToolError,
    gate::Gate,
    names::Capability,
    output::{Content, ToolOutput},
    scope::{CallScope, Caller},
    view::View,
};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
pub type Arguments = Map<String, Value>;
pub type ToolResult = Result<ToolOutput, ToolError>;

/// Something a model can call. Only the engine calls it.
pub trait Tool: Send + Sync {
    fn definition(&self) -> &ToolDefinition;

    /// What this call needs permission for. The default asks for each declared capability.
    fn permissions(&self, arguments: &Arguments) -> Vec<Permission> {
        declared_permissions(self.definition(), arguments)
    }

    /// The call that this one stands for: the engine goes on with that tool in this one's place, and
    /// what is checked, permitted and run is that one.
    fn forwards(&self, _arguments: &Arguments) -> Option<Forward> {
        None
    }

    /// Runs the tool. Arguments are validated; blocking work belongs on a blocking thread;
    /// dropping the future must stop the work.
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult>;
}

/// Another tool's call, inside a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    pub name: String,
    pub arguments: Value,
}

/// A permission for each capability that a definition declares, about its subject.
pub fn declared_permissions(definition: &ToolDefinition, arguments: &Arguments) -> Vec<Permission> {
    let subject = definition.subject.as_ref().and_then(|name| {
        // Not only texts: without its subject a permission would be about every call.
        let text = crate::policy::argument_text(arguments.get(name)?);
        Some(Subject { argument: name.clone(), text })
    });
    let permission = |capability: &Capability| Permission {
        capability: capability.clone(),
        subject: subject.clone(),
        detail: None,
    };
    definition.capabilities.iter().map(permission).collect()
}

impl std::fmt::Debug for dyn Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.definition().name.as_str()).finish()
    }
}

/// A caller's own id for a call; a provider assigns it in an agent loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Arc<str>);

impl CallId {
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(id.as_ref().into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request to run a tool, as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    /// As the caller wrote it: an unknown name is answered, not refused at the border.
    pub name: String,
    pub arguments: Value,
}

impl ToolCall {
    pub fn new(id: impl AsRef<str>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: CallId::new(id), name: name.into(), arguments }
    }
}

/// A right that a running call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    pub capability: Capability,
    /// What it is about: takes the place of that argument when rules are matched, so that
    /// a rule sees the address connected to and not the text that led there.
    pub subject: Option<Subject>,
    /// For the person who decides.
    pub detail: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub argument: String,
    pub text: String,
}

impl Permission {
    pub fn new(capability: Capability) -> Self {
        Self { capability, subject: None, detail: None }
    }

    #[must_use]
    pub fn about(mut self, argument: impl Into<String>, text: impl Into<String>) -> Self {
        self.subject = Some(Subject { argument: argument.into(), text: text.into() });
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

/// Whoever can grant a permission in the middle of a call.
pub trait Permits: Send + Sync {
    fn permit(&self, permission: Permission) -> BoxFuture<'_, Result<(), ToolError>>;
}

/// Receives partial results while a tool runs. Only the final result counts.
pub trait ProgressSink: Send + Sync {
    fn progress(&self, call: &CallId, partial: &[Content]);

    /// How far it is, for those who have a use for numbers; a text for all others.
    fn step(&self, call: &CallId, step: &Step) {
        self.progress(call, &[Content::text(format!("{step}\n"))]);
    }
}

/// How far a call is, in numbers of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.progress)?;
        if let Some(total) = self.total {
            write!(f, "/{total}")?;
        }
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

/// Calls inside calls inside calls.
const DEEPEST: u8 = 8;

/// What a running tool may ask of its host.
pub struct CallContext<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) scope: &'a CallScope,
    pub(crate) id: CallId,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) gate: Gate,
}

impl CallContext<'_> {
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// The conversation that this call is part of.
    pub fn session(&self) -> Option<&str> {
        self.scope.session.as_deref()
    }

    /// Fires when the caller no longer wants an answer.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.gate.cancellation
    }

    /// What this call's caller may use.
    pub fn view(&self) -> View {
        self.scope.view(Arc::clone(&self.gate.policy))
    }

    /// Shows a partial result. Never extends the timeout.
    pub fn progress(&self, partial: &[Content]) {
        if let Some(sink) = &self.progress {
            sink.progress(&self.id, partial);
        }
    }

    /// Tells how far the call is. Never extends the timeout.
    pub fn step(&self, step: &Step) {
        if let Some(sink) = &self.progress {
            sink.step(&self.id, step);
        }
    }

    /// Calls another tool with this call's own rights, and no more than this tool's ceiling.
    /// The answer comes whole: no text is spilled on its way to a program.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> ToolResult {
        let depth = self.scope.depth() + 1;
        if depth > DEEPEST {
            return Err(ToolError::execution(format!("Tools call each other more than {DEEPEST} deep")));
        }
        let scope = CallScope {
            caller: Caller::Tool { name: self.gate.tool.clone(), depth },
            ceiling: self.gate.ceiling.clone(),
            progress: None,
            text_limit: TextLimit::NONE,
            ..self.scope.clone()
        };
        let call = ToolCall { id: CallId::new(format!("{}.{depth}", self.id)), name: name.into(), arguments };
        self.engine.call(call, &scope).await.result
    }
}

impl Permits for CallContext<'_> {
    fn permit(&self, permission: Permission) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(self.gate.pass_pausing(permission))
    }
}

impl std::fmt::Debug for CallContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext").field("id", &self.id).finish_non_exhaustive()
    }
}
