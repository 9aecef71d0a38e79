//! A host with real workers, files and HTTP, and a way to call a script through the engine.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use pinza_core::{
    CallScope, Caller, Engine, Outcome, Policy, Registry, Rule, ToolCall, ToolContext, ToolDefinition,
    ToolName, Verdict,
};
use pinza_host::{
    files::{Workspace, WorkspaceOptions},
    http::{HttpClient, HttpOptions},
};
use pinza_js::{Code, Host, JsTool, Limits, Pool, ScriptSource};
use serde_json::Value;

pub(crate) struct World {
    pub(crate) workspace: tempfile::TempDir,
    pub(crate) host: Arc<Host>,
    pub(crate) timeout: Duration,
    pub(crate) limits: Limits,
    pub(crate) rules: Vec<Rule>,
}

/// `cargo test -p pinza-js` builds examples beside the tests' own `deps` directory.
pub(crate) fn worker_program() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push("examples/worker");
    assert!(path.exists(), "build it first: cargo build -p pinza-js --examples");
    path
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Pool::new(worker_program()))
    }

    pub(crate) fn with(pool: Pool) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let files = Workspace::open(workspace.path(), WorkspaceOptions::default()).unwrap();
        let host = Host {
            pool: Arc::new(pool),
            files: Arc::new(files),
            stand_ins: None,
            clock: |zone, format| Ok(format!("{zone:?} {format:?}")),
            http: HttpClient::new(HttpOptions::default()).unwrap(),
            open_variables: BTreeMap::from([("REGION".to_owned(), "eu".to_owned())]),
            kept_variables: None,
        };
        Self {
            workspace,
            host: Arc::new(host),
            timeout: Duration::from_secs(10),
            limits: Limits::default(),
            rules: vec![Rule::capability(Verdict::Allow, "net.private")],
        }
    }

    pub(crate) fn tool(&self, source: &str) -> JsTool {
        let definition = ToolDefinition::new(ToolName::known("script"), "A script").timeout(self.timeout);
        JsTool {
            definition,
            code: Arc::new(Code::new(Arc::new(ScriptSource {
                file: "script.js".into(),
                code: source.into(),
                lines: Vec::new(),
            }))),
            function: "execute".into(),
            env: None,
            limits: self.limits,
            libraries: Arc::default(),
            host: Arc::clone(&self.host),
        }
    }

    /// One call of `execute` through the engine.
    pub(crate) async fn run(&self, source: &str, arguments: Value) -> Outcome {
        self.run_tool(self.tool(source), arguments).await
    }

    pub(crate) async fn run_tool(&self, tool: JsTool, arguments: Value) -> Outcome {
        let mut registry = Registry::new();
        registry.register(Arc::new(tool), None).unwrap();
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        let engine = Engine::new(Policy::new(self.rules.clone(), []));
        let scope = CallScope::new(Caller::Library, Arc::new(snapshot));
        engine.call(ToolCall::new("1", "script", arguments), &scope).await
    }

    /// The text of a result, or `code: message` of an error.
    pub(crate) async fn text(&self, source: &str, arguments: Value) -> String {
        match self.run(source, arguments).await.result {
            Ok(output) => output.as_text(),
            Err(error) => error.to_string(),
        }
    }
}
