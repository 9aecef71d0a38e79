//! Pinza as a program holds it: the tools of a directory, an engine, a pool of real workers.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use pinza_core::{
    CallScope, Caller, Engine, Policy, Registry, Rule, Tool as _, ToolCall, ToolContext, ToolResult, Verdict,
};
use pinza_host::{
    files::{Workspace, WorkspaceOptions},
    http::{HttpClient, HttpOptions},
};
use pinza_js::{
    Caps, Code, Host, JsTool, LoadedTool, OnClash, Place, Pool,
    module::{Mode, load_modules},
    package::Lock,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{cases::Case, lodash};

pub(crate) struct World {
    pub(crate) runtime: Runtime,
    engine: Engine,
    scope: CallScope,
    _workspace: tempfile::TempDir,
}

impl World {
    /// With a new pool, every tool under `tools/`, and a module.
    pub(crate) fn new() -> Self {
        Self::with(Pool::this_program(), tools(), modules_directory())
    }

    /// As a program makes it that was started for one call: nothing is prepared but what is in the cache.
    pub(crate) fn of_new_process(cache: Option<&Path>) -> Self {
        let pool = Pool::this_program();
        let pool = match cache {
            Some(cache) => pool.cached(cache),
            None => pool,
        };
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/call/tools");
        let loaded = pinza_js::load(&[Place::Directory(tools)], OnClash::KeepFirst);
        Self::with(pool, &loaded.tools, Some(&made_modules()))
    }

    fn with(pool: Pool, tools: &[LoadedTool], modules: Option<&Path>) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let host = Arc::new(Host {
            pool: Arc::new(pool),
            files: Arc::new(Workspace::open(workspace.path(), WorkspaceOptions::default()).unwrap()),
            http: HttpClient::new(HttpOptions::default()).unwrap(),
            clock: |_, _| Ok(String::new()),
            stand_ins: None,
            open_variables: BTreeMap::new(),
            kept_variables: None,
        });
        let mut registry = Registry::new();
        for tool in tools {
            let code = Arc::new(Code::new(Arc::clone(&tool.script)));
            registry.register(Arc::new(JsTool::new(tool.clone(), code, Arc::clone(&host))), None).unwrap();
        }
        let directories: Vec<PathBuf> = modules.map(Path::to_owned).into_iter().collect();
        let loaded = load_modules(&directories, Mode::Strict, Caps::default(), &host, None);
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        for module in &loaded.modules {
            for (tool, _) in
                module.tools().filter(|(tool, _)| tool.definition().name.as_str() == "array_chunk")
            {
                registry.register(Arc::new(tool), None).unwrap();
            }
        }
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        Self {
            runtime: runtime(),
            // The stand-in for the network listens on this machine.
            engine: Engine::new(Policy::new([Rule::capability(Verdict::Allow, "net.private")], [])),
            scope: CallScope::new(Caller::Library, Arc::new(snapshot)),
            _workspace: workspace,
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.engine.call(ToolCall::new("1", tool, arguments), &self.scope).await.result
    }

    /// The answer's text. A case never fails.
    pub(crate) fn answer(&self, case: &Case) -> String {
        self.runtime.block_on(self.answer_async(case))
    }

    pub(crate) async fn answer_async(&self, case: &Case) -> String {
        self.call(case.tool, case.arguments.clone()).await.unwrap().as_text()
    }

    /// How long the case's function runs by itself, in microseconds: the best of a few times, because
    /// whatever disturbs it makes it longer.
    pub(crate) fn own_work(&self, case: &Case) -> f64 {
        let tool = format!("own_{}", case.tool);
        let measure = || -> f64 {
            let measured = self.runtime.block_on(self.call(&tool, case.arguments.clone()));
            measured.unwrap().as_text().parse().unwrap()
        };
        (0..5).map(|_| measure()).fold(f64::INFINITY, f64::min)
    }
}

/// The kind of runtime that everything is measured on, ours and theirs.
pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// lodash as a user has it: `examples/modules/lodash`, installed and locked.
fn modules_directory() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let directory = DIRECTORY.get_or_init(|| {
        let package = lodash::package()?;
        let directory = made_modules();
        let _ = fs::remove_dir_all(&directory);
        copy(package, &directory.join("lodash/node_modules/lodash"));
        let manifest =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/modules/lodash/module.json");
        fs::copy(manifest, directory.join("lodash/module.json")).unwrap();
        Lock::of(&directory.join("lodash")).unwrap().write(&directory.join("lodash")).unwrap();
        Some(directory)
    });
    directory.as_deref()
}

/// Where it is, once it was made.
fn made_modules() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("call-modules")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn tools() -> &'static [LoadedTool] {
    static TOOLS: OnceLock<Vec<LoadedTool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let loaded = pinza_js::load(&[Place::Directory(directory())], OnClash::KeepFirst);
        let faults: Vec<_> = loaded.problems.iter().filter(|problem| !problem.warning).collect();
        assert!(faults.is_empty(), "{faults:?}");
        loaded.tools
    })
}

/// A copy of `tools/` with lodash beside them, and a twin of each case that times its own work.
fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("call-tools");
    // What an earlier run left could be of an older version.
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/call/tools");
    for entry in fs::read_dir(tools).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directory.join(entry.file_name())).unwrap();
    }
    if let Some(lodash) = lodash::file() {
        fs::copy(lodash, directory.join("lodash.js")).unwrap();
    }
    for case in Case::all() {
        let name = format!("own_{}", case.tool);
        let manifest = json!([{ "name": name, "function": "measure", "description": "Times its own work" }]);
        fs::write(directory.join(format!("{name}.json")), manifest.to_string()).unwrap();
        fs::write(directory.join(format!("{name}.js")), format!("{}{MEASURE}", case.source)).unwrap();
    }
    directory
}

const MEASURE: &str = "
function measure(params) {
  const begun = performance.now();
  for (let round = 0; round < 500; round++) execute(params);
  return (performance.now() - begun) * 1000 / 500;
}
";
