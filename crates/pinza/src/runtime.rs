//! The composition root: from choices to a running engine.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use pinza_core::{
    Answer, Approver, BoxFuture, CallId, CallObserver, CallScope, Caller, Clash, Engine, ErrorKind, Failure,
    FsBridge, NativeTool, Outcome, OutputStore, Policy, Prompt, PromptDesk, Registry, Rule, Snapshot, Tool,
    ToolCall, ToolContext, ToolError, ToolResult, Typed, View, search::WordTable,
};
use pinza_host::{
    files::{Hardlinks, Workspace, WorkspaceError, WorkspaceOptions},
    http::{HttpClient, HttpOptions, RewriteError},
    process::{SUPERVISE, Supervisor, supervise},
    secrets::VariableStore,
};
use pinza_js::{
    Caps, Host, Loader, OnClash, Place, Pool, Problem, StandIn, WORK,
    module::{LoadedModules, Mode, ModuleCheck, load_modules},
};
use pinza_mcp::client::{self, Browser, Spec, Upstreams, Variables};
use pinza_tools::{Agents, OpenState, Services};
use serde_json::Value;

use crate::{
    live::{Live, Recipe, Reload},
    settings::{Obeyed, Settings, SettingsSource},
    skills::SkillLoader,
};

/// Tools, policy and engine, ready to be called.
#[derive(Clone, Debug)]
pub struct Pinza {
    engine: Arc<Engine>,
    live: Arc<Live>,
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

    /// A scope with this runtime's approver and its tools of this moment, to be adjusted by an entry.
    pub fn scope(&self, caller: Caller) -> CallScope {
        CallScope { desk: Arc::clone(&self.desk), ..CallScope::new(caller, self.snapshot()) }
    }

    /// What this runtime's policy lets a caller use of the tools of this moment.
    pub fn view(&self) -> View {
        self.scope(Caller::Library).view(self.engine.policy())
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The tools that there are now. While scripts are [watched](Self::watch), a later one may have others.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.live.current().snapshot)
    }

    /// Scripts and manifests that did not load, and what to look at in those that did.
    pub fn problems(&self) -> Arc<[Problem]> {
        Arc::clone(&self.live.current().problems)
    }

    /// Tools that could not be made, and why.
    pub fn failures(&self) -> Arc<[Failure]> {
        Arc::clone(&self.live.current().failures)
    }

    /// What is wrong with skills; [`problems`](Self::problems) has it too.
    pub fn skill_problems(&self) -> Arc<[Problem]> {
        Arc::clone(&self.live.current().skill_problems)
    }

    /// The files of the workspace, as tools reach them.
    pub(crate) fn files(&self) -> Option<Arc<dyn FsBridge>> {
        self.live.recipe().context.bridge.clone()
    }

    /// The other MCP servers whose tools there are.
    pub fn upstreams(&self) -> &Upstreams {
        &self.live.recipe().upstreams
    }

    /// Looks at scripts, settings and what is known of other servers anew. Blocking: it reads files.
    pub fn reload(&self) -> Reload {
        self.live.reload()
    }

    /// Obeys the rules that are written down now, for whoever has just written one; tools that were switched on or
    /// off follow with the next [`reload`](Self::reload). Blocking: it reads a file.
    pub fn renew_policy(&self) -> Result<(), Problem> {
        self.live.recipe().settings.renew().map_or(Ok(()), Err)
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.live
    }
}

/// Other MCP servers, and what they need of their surroundings.
#[derive(Clone)]
pub struct UpstreamSettings {
    pub specs: Vec<Spec>,
    /// Where what was seen of them is kept.
    pub directory: PathBuf,
    /// What their configuration may refer to.
    pub variables: Arc<dyn Variables>,
    /// Where tokens are kept; without it they last as long as this runtime.
    pub tokens: Option<Arc<VariableStore>>,
}

impl std::fmt::Debug for UpstreamSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamSettings").field("specs", &self.specs).finish_non_exhaustive()
    }
}

impl Pinza {
    /// Loads the library of a module, in its directory, and tells which of its functions are there: JSON, see
    /// [`ModuleCheck`].
    pub async fn check_module(&self, directory: &Path) -> ToolResult {
        let recipe = self.live.recipe();
        let Some(host) = &recipe.host else {
            return Err(ToolError::execution("Scripts need a workspace and a helper program"));
        };
        let supervisor = recipe.supervisor.clone();
        let loaded = load_modules(&[directory.to_owned()], Mode::Lenient, Caps::default(), host, supervisor);
        let Some(module) = loaded.modules.into_iter().find(|module| module.directory == directory) else {
            return Err(ToolError::new(ErrorKind::NotFound, "There is no module that loads"));
        };
        let mut registry = Registry::new();
        registry
            .register(Arc::new(ModuleCheck::new(module)), None)
            .map_err(|clash| ToolError::execution(clash.to_string()))?;
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        let scope = CallScope { snapshot: Arc::new(snapshot), ..self.scope(Caller::Library) };
        self.engine.call(ToolCall::new("check", ModuleCheck::NAME, Value::Null), &scope).await.result
    }
}

/// Choices for a [`Pinza`]; everything has a default but the workspace, without which there
/// are no file tools.
#[derive(Default)]
pub struct Builder {
    workspace: Option<PathBuf>,
    protected: Vec<PathBuf>,
    hardlinks: Hardlinks,
    helper: Option<PathBuf>,
    cache: Option<PathBuf>,
    variables: BTreeMap<String, String>,
    kept_variables: Option<VariableStore>,
    stand_ins: Option<Vec<StandIn>>,
    scripts: Vec<Place>,
    skills: Vec<Place>,
    modules: Vec<PathBuf>,
    on_clash: OnClash,
    caps: Caps,
    rewrite: Vec<(String, String)>,
    policy: Policy,
    settings: Option<Arc<dyn SettingsSource>>,
    approver: Option<Arc<dyn Approver>>,
    observers: Vec<Arc<dyn CallObserver>>,
    state: Option<OpenState>,
    agents: Option<Arc<dyn Agents>>,
    disabled: Vec<String>,
    tools: Vec<Arc<dyn Tool>>,
    word_table: Option<Arc<dyn WordTable>>,
    upstreams: Option<UpstreamSettings>,
    browser: Option<Arc<dyn Browser>>,
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

    /// The program that supervises commands and runs scripts, without which there is no `exec`
    /// and no JavaScript: [`THIS_PROGRAM`] if its `main` begins with [`run_if_helper`].
    #[must_use]
    pub fn helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.helper = Some(program.into());
        self
    }

    /// Variables that every script may read as `params._env`.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// Encrypted variables, for scripts whose manifest declares them.
    #[must_use]
    pub fn kept_variables(mut self, store: VariableStore) -> Self {
        self.kept_variables = Some(store);
        self
    }

    /// Directories in which, and up to three below which, a `module.json` makes tools of an npm library.
    #[must_use]
    pub fn modules(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.modules.extend(directories);
        self
    }

    /// Places of JavaScript tools, the first of two tools with one name wins.
    #[must_use]
    pub fn scripts(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.scripts.extend(places);
        self
    }

    /// Places of skills, each a directory with a `SKILL.md`; the first of two skills with one name wins.
    #[must_use]
    pub fn skills(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.skills.extend(places);
        self
    }

    /// Lets a script's tool take the place of another one with its name, a built-in too.
    #[must_use]
    pub fn allow_override(mut self) -> Self {
        self.on_clash = OnClash::Replace;
        self
    }

    /// The most that manifests get of the limits and the timeout that they ask for, as `[policy.limits]` says;
    /// `js_eval` gets no more either.
    #[must_use]
    pub fn caps(mut self, caps: Caps) -> Self {
        self.caps = caps;
        self
    }

    /// Keeps compiled code there for processes that come later: in a directory that no tool can write to.
    #[must_use]
    pub fn cache(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cache = Some(directory.into());
        self
    }

    /// Scripts get these answers and nothing from the network, as `tools test` wants it.
    #[must_use]
    pub fn stand_ins(mut self, answers: Vec<StandIn>) -> Self {
        self.stand_ins = Some(answers);
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

    /// Where policy and the tools that are switched off come from after the start: read anew with every reload, in the
    /// place of what [`policy`](Self::policy) and [`disable`](Self::disable) said.
    #[must_use]
    pub fn settings(mut self, source: Arc<dyn SettingsSource>) -> Self {
        self.settings = Some(source);
        self
    }

    /// Whom to ask; with nobody, what would be asked is denied.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Somebody who is told of every call: a journal, a metric.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Where sessions and memory are kept, for the tools that look into them.
    #[must_use]
    pub fn state(mut self, open: OpenState) -> Self {
        self.state = Some(open);
        self
    }

    /// Whoever keeps agents, for `create_agent`.
    #[must_use]
    pub fn agents(mut self, agents: Arc<dyn Agents>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// Switches tools off, by name or set (`group:web`).
    #[must_use]
    pub fn disable(mut self, selectors: impl IntoIterator<Item = String>) -> Self {
        self.disabled.extend(selectors);
        self
    }

    /// Other MCP servers, each a group of tools. Nothing is started before one of its tools is called.
    #[must_use]
    pub fn upstreams(mut self, settings: UpstreamSettings) -> Self {
        self.upstreams = Some(settings);
        self
    }

    /// Who signs in where a server wants it. Without one such a server is refused, with a hint.
    #[must_use]
    pub fn browser(mut self, browser: Arc<dyn Browser>) -> Self {
        self.browser = Some(browser);
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

    /// Lets searches for tools use word vectors as well, such as a [`WordFile`](crate::WordFile).
    #[must_use]
    pub fn word_table(mut self, table: Arc<dyn WordTable>) -> Self {
        self.word_table = Some(table);
        self
    }

    pub fn build(self) -> Result<Pinza, BuildError> {
        let options = WorkspaceOptions { protected: self.protected, hardlinks: self.hardlinks };
        let workspace = self.workspace.map(|root| Workspace::open(&root, options)).transpose()?;
        let http = HttpClient::new(HttpOptions { rewrite: self.rewrite, ..HttpOptions::default() })?;
        let is_online = self.stand_ins.is_none();
        let js = workspace.as_ref().zip(self.helper.as_ref()).map(|(workspace, program)| {
            Arc::new(Host {
                pool: Arc::new(match self.cache {
                    Some(cache) => Pool::new(program).cached(cache),
                    None => Pool::new(program),
                }),
                files: Arc::new(workspace.clone()),
                http: http.clone(),
                clock: pinza_tools::current_time,
                stand_ins: self.stand_ins,
                open_variables: self.variables,
                kept_variables: self.kept_variables,
            })
        });
        let supervisor = self.helper.map(Supervisor::new);
        let upstreams = match self.upstreams {
            // Where answers stand in for the network, no server is reached.
            Some(settings) if is_online => {
                let UpstreamSettings { specs, directory, variables, tokens } = settings;
                let (supervisor, http, browser) = (supervisor.clone(), http.clone(), self.browser);
                let services = client::Services { supervisor, http, variables, tokens, browser, directory };
                Upstreams::new(specs, &services)
            }
            _ => Upstreams::default(),
        };
        let services = Services {
            // Where answers stand in for the network, no tool goes around them.
            http: is_online.then_some(http),
            exec: workspace.clone().zip(supervisor.clone()),
            js: js.clone().map(|host| (host, self.caps)),
            state: self.state,
            agents: self.agents,
        };
        let mut registry = Registry::new();
        pinza_core::meta::register(&mut registry)?;
        if let Some(table) = self.word_table {
            registry.set_word_table(table);
        }
        pinza_tools::register(&mut registry, services)?;
        for tool in self.tools {
            registry.register(tool, None)?;
        }
        let problems = match &js {
            Some(host) => register_modules(&mut registry, &self.modules, self.caps, host, supervisor.clone()),
            None => Vec::new(),
        };
        let mut engine = Engine::new(self.policy.clone());
        if let Some(workspace) = &workspace {
            engine = engine.outputs(Arc::new(WorkspaceOutputs(workspace.clone())));
        }
        let engine = Arc::new(self.observers.into_iter().fold(engine, Engine::observer));
        let settings = Settings { policy: self.policy, disabled: self.disabled };
        let recipe = Recipe {
            registry,
            problems,
            context: context(workspace.as_ref()),
            settings: Obeyed::new(Arc::clone(&engine), settings, self.settings),
            on_clash: self.on_clash,
            host: js,
            supervisor,
            upstreams,
        };
        let loader = Loader::new(self.scripts, self.on_clash).caps(self.caps);
        let skills = [Place::Builtin(pinza_tools::SKILLS)].into_iter().chain(self.skills).collect();
        let live = Arc::new(Live::new(recipe, loader, SkillLoader::new(skills)));
        let desk = match self.approver {
            Some(inner) => PromptDesk::new(Arc::new(Remembering { inner, live: Arc::clone(&live) })),
            None => PromptDesk::closed(),
        };
        Ok(Pinza { engine, live, desk: Arc::new(desk) })
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// Adds the tools of modules; what does not load comes back as problems.
fn register_modules(
    registry: &mut Registry,
    directories: &[PathBuf],
    caps: Caps,
    host: &Arc<Host>,
    supervisor: Option<Supervisor>,
) -> Vec<Problem> {
    let LoadedModules { modules, mut problems } =
        load_modules(directories, Mode::Lenient, caps, host, supervisor);
    for module in modules {
        let mut has_tools = false;
        for (tool, meta) in module.tools() {
            let name = meta.id.clone();
            match registry.register(Arc::new(tool), Some(meta)) {
                Ok(()) => has_tools = true,
                Err(_) => problems.push(module.clash(&name)),
            }
        }
        if has_tools && registry.group(module.manifest.group.as_str()).is_none() {
            registry.register_group(module.group());
        }
    }
    problems
}

/// The program that is running now, even if its file was replaced or removed since.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// Runs as a supervisor of commands or a worker for scripts and returns its exit code, if that
/// is what this program was started for. Call it first in `main`.
pub fn run_if_helper() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next()?;
    if first == SUPERVISE {
        return Some(supervise(arguments));
    }
    (first == WORK).then(pinza_js::work)
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

/// Obeys the rules that an approver writes down, as soon as they are written.
struct Remembering {
    inner: Arc<dyn Approver>,
    live: Arc<Live>,
}

impl Approver for Remembering {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        self.inner.ask(prompt)
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        self.inner.remember(rule)?;
        // What cannot be read now is a problem of the next reload; the answer holds for the session then.
        let _ = self.live.recipe().settings.renew();
        Ok(())
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
