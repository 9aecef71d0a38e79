//! The composition root: from choices to a running engine.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use pinza_core::{
    Approver, BoxFuture, CallId, CallScope, Caller, Clash, Engine, Entry, Failure, NativeTool, Outcome,
    OutputStore, Policy, PromptDesk, Registry, Selection, Snapshot, Tool, ToolCall, ToolContext, Typed,
    selects,
};
use pinza_host::{
    files::{Hardlinks, Workspace, WorkspaceError, WorkspaceOptions},
    http::{HttpClient, HttpOptions, RewriteError},
    process::{SUPERVISE, Supervisor, supervise},
};
use pinza_tools::Services;
use serde_json::Value;

/// Tools, policy and engine, ready to be called.
#[derive(Clone, Debug)]
pub struct Pinza {
    engine: Arc<Engine>,
    snapshot: Arc<Snapshot>,
    failures: Arc<[Failure]>,
    desk: Arc<PromptDesk>,
}

/// Why a [`Pinza`] could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    #[error(transparent)]
    Clash(#[from] Clash),
}

impl Pinza {
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Calls one tool. The outcome says what happened; nothing panics, nothing is lost.
    pub async fn call(&self, name: &str, arguments: Value) -> Outcome {
        self.engine.call(ToolCall::new("call", name, arguments), &self.scope(Caller::Library)).await
    }

    /// Calls several tools side by side; outcomes come in the order of the calls.
    pub async fn call_all(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        self.engine.call_all(calls, &self.scope(Caller::Library)).await
    }

    /// A scope with this runtime's tools and approver, to be adjusted by an entry.
    pub fn scope(&self, caller: Caller) -> CallScope {
        CallScope { desk: Arc::clone(&self.desk), ..CallScope::new(caller, Arc::clone(&self.snapshot)) }
    }

    pub fn tools(&self) -> impl Iterator<Item = &Entry> {
        self.snapshot.tools()
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Tools that could not be made, and why.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }
}

/// Choices for a [`Pinza`]; everything has a default but the workspace, without which there
/// are no file tools.
#[derive(Default)]
pub struct Builder {
    workspace: Option<PathBuf>,
    protected: Vec<PathBuf>,
    hardlinks: Hardlinks,
    supervisor: Option<Supervisor>,
    rewrite: Vec<(String, String)>,
    policy: Policy,
    approver: Option<Arc<dyn Approver>>,
    disabled: Vec<String>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Builder {
    /// The one directory that file tools may touch.
    #[must_use]
    pub fn workspace(mut self, directory: impl AsRef<Path>) -> Self {
        self.workspace = Some(directory.as_ref().to_owned());
        self
    }

    /// A directory that tools never touch, also if it lies in the workspace.
    #[must_use]
    pub fn protect(mut self, directory: impl AsRef<Path>) -> Self {
        self.protected.push(directory.as_ref().to_owned());
        self
    }

    #[must_use]
    pub fn hardlinks(mut self, hardlinks: Hardlinks) -> Self {
        self.hardlinks = hardlinks;
        self
    }

    /// What watches over processes; without it there is no `exec`. A program that is its own
    /// supervisor calls [`supervise_if_asked`] first.
    #[must_use]
    pub fn supervisor(mut self, supervisor: Supervisor) -> Self {
        self.supervisor = Some(supervisor);
        self
    }

    /// Sends requests for one origin to another, as `[net.rewrite]` does.
    #[must_use]
    pub fn rewrite(mut self, rules: impl IntoIterator<Item = (String, String)>) -> Self {
        self.rewrite.extend(rules);
        self
    }

    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Whom to ask; with nobody, what would be asked is denied.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Switches tools off, by name or set (`group:web`).
    #[must_use]
    pub fn disable(mut self, selectors: impl IntoIterator<Item = String>) -> Self {
        self.disabled.extend(selectors);
        self
    }

    /// Adds a Rust tool.
    #[must_use]
    pub fn tool(self, tool: impl NativeTool) -> Self {
        self.shared_tool(Arc::new(Typed::new(tool)))
    }

    /// Adds a tool that is already behind the trait.
    #[must_use]
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    pub fn build(self) -> Result<Pinza, BuildError> {
        let options = WorkspaceOptions { protected: self.protected, hardlinks: self.hardlinks };
        let workspace = self.workspace.map(|root| Workspace::open(&root, options)).transpose()?;
        let services = Services {
            http: Some(HttpClient::new(HttpOptions { rewrite: self.rewrite, ..HttpOptions::default() })?),
            exec: workspace.clone().zip(self.supervisor),
        };
        let mut registry = Registry::new();
        pinza_tools::register(&mut registry, services)?;
        for tool in self.tools {
            registry.register(tool, None)?;
        }
        let mut resolution = registry.resolve_all(&context(workspace.as_ref()));
        let failures = std::mem::take(&mut resolution.failures).into();
        let disabled = self.disabled;
        let snapshot =
            resolution.into_snapshot(&registry, |meta| !disabled.iter().any(|name| selects(name, meta)));
        let mut engine = Engine::new(self.policy);
        if let Some(workspace) = workspace {
            engine = engine.outputs(Arc::new(WorkspaceOutputs(workspace)));
        }
        let desk = self.approver.map_or_else(PromptDesk::closed, PromptDesk::new);
        Ok(Pinza { engine: Arc::new(engine), snapshot: Arc::new(snapshot), failures, desk: Arc::new(desk) })
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// Runs as a process supervisor and returns its exit code, if that is what this program was
/// started for. Call it first in `main`.
pub fn supervise_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == SUPERVISE).then(|| supervise(arguments))
}

fn context(workspace: Option<&Workspace>) -> ToolContext {
    let root = workspace.map(|workspace| workspace.root().to_owned());
    ToolContext {
        workspace_dir: root.clone(),
        root,
        bridge: workspace.map(|workspace| Arc::new(workspace.clone()) as Arc<_>),
        ..ToolContext::default()
    }
}

/// Outsized results go to `.pinza/out/` in the workspace.
struct WorkspaceOutputs(Workspace);

impl OutputStore for WorkspaceOutputs {
    fn keep<'a>(&'a self, call: &'a CallId, text: String) -> BoxFuture<'a, Result<String, String>> {
        // A provider made the id: only what is safe in a file's name is taken from it.
        let id: String =
            call.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        let name = format!("{}.txt", if id.is_empty() { "result" } else { &id[..id.len().min(64)] });
        let workspace = self.0.clone();
        Box::pin(async move {
            let kept =
                tokio::task::spawn_blocking(move || workspace.keep_output(&name, text.as_bytes())).await;
            kept.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
        })
    }
}

/// The choice behind `pinza schema` and, later, of every entry.
impl Pinza {
    /// The enabled tools of a selection.
    pub fn select<'a>(&'a self, selection: &'a Selection) -> impl Iterator<Item = &'a Entry> {
        selection.of(&self.snapshot).filter(|entry| entry.is_enabled())
    }
}
