//! A JavaScript tool: a function of a script, behind the trait that every tool keeps.

use std::{collections::BTreeMap, sync::Arc};

use pinza_core::{Arguments, BoxFuture, CallContext, FsBridge, Tool, ToolDefinition, ToolError, ToolResult};
use pinza_host::{http::HttpClient, secrets::VariableStore};
use serde_json::{Value, json};

use crate::{
    caps::{Asked, Caps},
    frame::Entry,
    job::Job,
    loader::{Libraries, LoadedTool},
    pool::{Code, Pool},
    stand_in::StandIn,
};

/// The time in a zone and a format, in words.
pub type Clock = fn(Option<&str>, Option<&str>) -> Result<String, ToolError>;

/// What scripts reach through their bridges.
#[derive(Debug)]
pub struct Host {
    pub pool: Arc<Pool>,
    pub files: Arc<dyn FsBridge>,
    pub http: HttpClient,
    /// `_time(timezone, format)`.
    pub clock: Clock,
    /// Answers that stand in for the network while a tool is tested.
    pub stand_ins: Option<Vec<StandIn>>,
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

impl Limits {
    /// The default but for what a manifest asks for.
    pub(crate) fn asked(asked: Asked) -> Self {
        let Self { heap, stack } = Self::default();
        Self { heap: asked.heap.unwrap_or(heap), stack: asked.stack.unwrap_or(stack) }
    }

    pub(crate) fn within(self, caps: &Caps) -> Self {
        Self { heap: self.heap.min(caps.heap), stack: self.stack.min(caps.stack) }
    }
}

/// A function of a script, behind the trait that every tool keeps.
#[derive(Debug)]
pub struct JsTool {
    pub definition: ToolDefinition,
    /// Shared by all tools of a group.
    pub code: Arc<Code>,
    /// One of the script's own functions, as its loader has seen.
    pub function: String,
    /// The kept variables that the manifest declares; `None` where it declares none.
    pub env: Option<Vec<String>>,
    pub limits: Limits,
    /// Scripts for `lib(name)`.
    pub libraries: Arc<Libraries>,
    pub host: Arc<Host>,
}

impl JsTool {
    /// A loaded tool on its host. `code` is its script's, shared with the rest of its group.
    pub fn new(loaded: LoadedTool, code: Arc<Code>, host: Arc<Host>) -> Self {
        let ceiling = loaded.capabilities.map(Into::into);
        Self {
            definition: ToolDefinition { ceiling, ..loaded.definition },
            code,
            function: loaded.function,
            env: loaded.env,
            limits: loaded.limits,
            libraries: loaded.libraries,
            host,
        }
    }
}

impl Tool for JsTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let job = Job {
                code: &self.code,
                entry: Entry::Function(self.function.clone()),
                params: self.params(arguments)?,
                limits: self.limits,
                libraries: &self.libraries,
                host: &self.host,
                seat: None,
            };
            job.run(context).await
        })
    }
}

impl JsTool {
    /// The arguments with `_env`, as JSON text. What a model wrote under that name is replaced.
    fn params(&self, arguments: &Arguments) -> Result<String, ToolError> {
        let mut env: BTreeMap<&str, String> = BTreeMap::new();
        match &self.env {
            None => env
                .extend(self.host.open_variables.iter().map(|(name, value)| (name.as_str(), value.clone()))),
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
            ToolError::execution(format!(
                "Tool execution failed: the variable '{name}' cannot be read: {error}"
            ))
        })?;
        Ok(kept.map(|secret| secret.expose().to_owned()))
    }
}
