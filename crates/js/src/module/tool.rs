//! A tool of a module: arguments become a plan, the library runs it, the outcome becomes an answer.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use pinza_core::{
    Arguments, BoxFuture, CallContext, ErrorKind, Group, Source, Tool, ToolDefinition, ToolError, ToolMeta,
    ToolName, ToolOutput, ToolResult,
};
use pinza_host::process::Supervisor;
use serde_json::{Value, json};

use super::{
    Embedded, Mode, ModuleManifest, Runtime, State, ToolEntry,
    discover::discover,
    embedded::can_be_cured,
    node::{NodeHost, NodeModule, permit},
    outcome::Outcome,
    package::Installed,
};
use crate::{
    caps::Caps,
    loader::Problem,
    manifest::MOST,
    package::{Difference, LockState, check_lock},
    pool::Seat,
    tool::Host,
};

/// A `.env` file is small.
const ENV_LIMIT: u64 = 1 << 20;

/// A manifest is longer than that only by mistake.
const MANIFEST_LIMIT: u64 = 4 << 20;

/// Whose instances and handles they are: this program's. Sessions of agents are not known here yet.
const SESSION: &str = "here";

/// The code of an error that says what the embedded engine does not have; see `node/`.
pub(super) const UNAVAILABLE: &str = "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM";

/// All that the tools of one `module.json` share.
#[derive(Debug)]
pub struct Module {
    pub manifest: ModuleManifest,
    /// Where its `node_modules` is.
    pub directory: PathBuf,
    host: Arc<Host>,
    embedded: Embedded,
    /// Where instances and handles live.
    seat: Seat,
    /// `.env`, read at the first call.
    env: OnceLock<BTreeMap<String, String>>,
    node: Option<Arc<NodeHost>>,
    /// Once the embedded engine has turned out not to be enough.
    needs_node: AtomicBool,
    /// Whether the installed package is the one that the manifest wants, asked at the first call.
    installed: OnceLock<Result<(), ToolError>>,
    /// Whether all of it is what was locked, asked before it runs in Node.
    locked: OnceLock<Result<(), ToolError>>,
}

/// Modules of some directories, and what is wrong with others.
#[derive(Debug, Default)]
pub struct LoadedModules {
    pub modules: Vec<Arc<Module>>,
    pub problems: Vec<Problem>,
}

/// Reads every `module.json` of some directories. No library is touched.
/// Processes of Node, where they are needed, run under `supervisor`.
pub fn load_modules(
    directories: &[PathBuf],
    mode: Mode,
    caps: Caps,
    host: &Arc<Host>,
    supervisor: Option<Supervisor>,
) -> LoadedModules {
    let mut loaded = LoadedModules::default();
    let node = supervisor.map(|supervisor| Arc::new(NodeHost::new(supervisor)));
    for directory in directories {
        let (files, problems) = discover(directory);
        loaded.problems.extend(problems);
        for file in files {
            load_one(&file, mode, caps, host, node.as_ref(), &mut loaded);
        }
    }
    loaded
}

fn load_one(
    file: &Path,
    mode: Mode,
    caps: Caps,
    host: &Arc<Host>,
    node: Option<&Arc<NodeHost>>,
    loaded: &mut LoadedModules,
) {
    let shown = file.display().to_string();
    let text = match read_text(file, MANIFEST_LIMIT) {
        Ok(text) => text,
        Err(reason) => return loaded.problems.push(Problem::new(shown, format!("Cannot be read: {reason}"))),
    };
    let parsed = ModuleManifest::parse(&text, mode);
    loaded.problems.extend(parsed.faults.into_iter().map(|fault| Problem {
        file: shown.clone(),
        entry: None,
        message: if fault.path.is_empty() {
            fault.message
        } else {
            format!("{}: {}", fault.path, fault.message)
        },
        line: Some(fault.line),
        column: Some(fault.column),
        warning: fault.warning,
    }));
    let Some(mut manifest) = parsed.manifest else { return };
    if let Some(first) = loaded.modules.iter().find(|module| module.manifest.group == manifest.group) {
        let place = first.directory.display();
        let message =
            format!("There is a module '{}' already, in {place}; this one is left out", manifest.name);
        return loaded.problems.push(Problem::new(shown, message));
    }
    manifest.limits = manifest.limits.within(&caps);
    let directory = file.parent().unwrap_or(Path::new("/")).to_owned();
    loaded.modules.push(Arc::new(Module {
        embedded: Embedded::new(directory.clone(), &manifest, Arc::clone(host)),
        manifest,
        directory,
        host: Arc::clone(host),
        seat: Seat::default(),
        env: OnceLock::new(),
        node: node.cloned(),
        needs_node: AtomicBool::new(false),
        installed: OnceLock::new(),
        locked: OnceLock::new(),
    }));
}

fn read_text(file: &Path, limit: u64) -> Result<String, String> {
    let size = fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > limit {
        return Err(format!("it has {size} bytes, more than {limit}"));
    }
    fs::read_to_string(file).map_err(|error| error.to_string())
}

impl Module {
    /// What its tools are shown under.
    pub fn group(&self) -> Group {
        let ModuleManifest { name, group, description, .. } = &self.manifest;
        Group::new(group.clone(), name.clone(), description.clone())
    }

    /// Its tools, with what a registry wants to know of them.
    pub fn tools(self: &Arc<Self>) -> impl Iterator<Item = (ModuleTool, ToolMeta)> {
        let module = Arc::clone(self);
        (0..self.manifest.tools.len()).filter_map(move |index| {
            let definition = module.manifest.tools.get(index)?.definition.clone();
            let mut meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
            meta.source = Source::Module(module.manifest.name.clone());
            meta.group = Some(module.manifest.group.clone());
            if let Some(title) = &definition.title {
                meta.label.clone_from(title);
            }
            let ceiling = module.manifest.capabilities.clone().map(Into::into);
            let definition = ToolDefinition { ceiling: definition.ceiling.clone().or(ceiling), ..definition };
            Some((ModuleTool { definition, module: Arc::clone(&module), index }, meta))
        })
    }

    /// That one of its tools has a name which is taken.
    pub fn clash(&self, name: &ToolName) -> Problem {
        let file = self.directory.join("module.json").display().to_string();
        Problem::new(file, format!("There is a tool '{name}' already; this one is left out"))
    }

    /// A variable for a dependency: `--env` and `[env]`, the encrypted store, `.env` beside the module.
    fn variable(&self, name: &str) -> Option<String> {
        if let Some(value) = self.host.open_variables.get(name) {
            return Some(value.clone());
        }
        let kept = self.host.kept_variables.as_ref().and_then(|store| store.get(name).ok().flatten());
        kept.map(|secret| secret.expose().to_owned()).or_else(|| self.env().get(name).cloned())
    }

    fn env(&self) -> &BTreeMap<String, String> {
        self.env.get_or_init(|| {
            let text = read_text(&self.directory.join(".env"), ENV_LIMIT).unwrap_or_default();
            dotenvy::from_read_iter(text.as_bytes()).filter_map(Result::ok).collect()
        })
    }

    fn check_installed(&self) -> Result<(), ToolError> {
        let check = || Installed::find(&self.directory, &self.manifest.package)?.satisfies(&self.manifest);
        self.installed.get_or_init(check).clone()
    }

    /// Node reads files itself, so all of them are compared with the lock beforehand.
    fn check_lock(&self) -> Result<(), ToolError> {
        let name = &self.manifest.name;
        let check = || match check_lock(&self.directory) {
            Ok(LockState::Free | LockState::Same) => Ok(()),
            Ok(LockState::Differs(differences)) => Err(not_as_locked(name, &differences)),
            Err(fault) => Err(not_run(name, &fault.to_string())),
        };
        self.locked.get_or_init(check).clone()
    }

    /// Runs a plan where the library is: in Node where the manifest says so, or where the embedded
    /// engine cannot do what the library needs.
    async fn run(
        &self,
        entry: &ToolEntry,
        plan: &Value,
        context: &CallContext<'_>,
    ) -> Result<Answered, ToolError> {
        let lives = self.manifest.state == State::Session
            || entry.keeps_instance()
            || plan.get("handle").is_some_and(|handle| !handle.is_null());
        if self.manifest.runtime == Some(Runtime::Node) || self.needs_node.load(Ordering::Relaxed) {
            return self.run_in_node(lives, plan, context).await;
        }
        let embedded = self.run_embedded(lives, plan, context).await;
        let stays = self.manifest.runtime == Some(Runtime::Embedded) || self.embedded.is_refused();
        if stays || !wants_node(&embedded) {
            return embedded;
        }
        match self.run_in_node(lives, plan, context).await {
            Ok(answered) => {
                self.needs_node.store(true, Ordering::Relaxed);
                Ok(answered)
            }
            // Both reasons matter: the first is why Node was tried at all.
            Err(second) => {
                let first = match embedded {
                    Err(error) => error.message,
                    Ok(answered) => answered.outcome.error.map(|error| error.message).unwrap_or_default(),
                };
                Err(ToolError::new(
                    second.kind,
                    format!(
                        "The module '{}' cannot run in the embedded engine ({first}), and not in Node: {}",
                        self.manifest.name, second.message
                    ),
                )
                .hint(second.hint.unwrap_or_else(|| "Allow it: --allow node".into())))
            }
        }
    }

    async fn run_embedded(
        &self,
        lives: bool,
        plan: &Value,
        context: &CallContext<'_>,
    ) -> Result<Answered, ToolError> {
        let output = self.embedded.run(plan, lives.then_some(&self.seat), context).await;
        let output = output.map_err(|error| self.explained(error))?;
        let outcome = Outcome::parse(output.as_text().as_bytes())?;
        Ok(Answered { outcome, details: output.details.unwrap_or_else(|| json!({})) })
    }

    async fn run_in_node(
        &self,
        lives: bool,
        plan: &Value,
        context: &CallContext<'_>,
    ) -> Result<Answered, ToolError> {
        let Some(node) = &self.node else {
            return Err(ToolError::execution("There is no supervisor for Node processes here"));
        };
        self.check_lock()?;
        let outcome = node.call(context, &self.in_node(lives), plan).await?;
        let details = json!({ "runtime": "node", "log": outcome.log });
        Ok(Answered { outcome, details })
    }

    /// A script's own words about memory do not fit: nobody who uses a library can make it use less.
    fn explained(&self, error: ToolError) -> ToolError {
        let ModuleManifest { name, limits, .. } = &self.manifest;
        match error.kind {
            ErrorKind::MemoryLimit => out_of_memory(name, limits.heap, Runtime::Embedded),
            _ => error,
        }
    }

    fn in_node(&self, lives: bool) -> NodeModule {
        NodeModule {
            name: self.manifest.name.clone(),
            directory: self.directory.clone(),
            package: self.manifest.package.clone(),
            heap: self.manifest.limits.heap,
            session: lives.then(|| SESSION.to_owned()),
        }
    }
}

/// What is not as it was when the module was added does not run.
pub(super) fn not_as_locked(module: &str, differences: &[Difference]) -> ToolError {
    let first = differences.first().map(ToString::to_string).unwrap_or_default();
    let others = match differences.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    not_run(module, &format!("it is not as it was when it was locked: {first}{others}"))
}

pub(super) fn not_run(module: &str, reason: &str) -> ToolError {
    ToolError::execution(format!("The module '{module}' is not run: {reason}")).hint(format!(
        "Look at it with: pinza module check {module}. If the change is yours, delete module.lock.json."
    ))
}

/// Memory is never a reason to try Node unasked: a library that eats it would eat it there.
pub(super) fn out_of_memory(module: &str, heap: usize, runtime: Runtime) -> ToolError {
    let megabytes = heap >> 20;
    let other = match runtime {
        Runtime::Embedded => ", or say \"runtime\": \"node\"",
        Runtime::Node => "",
    };
    let message = format!("The library of '{module}' used more memory than it may: {megabytes} MB");
    ToolError::new(ErrorKind::MemoryLimit, message).hint(format!(
        "Work on less at once, ask for more in its module.json (\"limits\": {{ \"heapMb\": {} }}, as far as \
         policy.limits.heap_mb in config.toml allows){other}.",
        (2 * megabytes).min(MOST.heap >> 20)
    ))
}

/// Whether the embedded engine is what failed: the package could not be loaded, or it asked for
/// something that only Node has.
fn wants_node(answered: &Result<Answered, ToolError>) -> bool {
    match answered {
        Err(error) => can_be_cured(error),
        Ok(Answered { outcome, .. }) => outcome.error.as_ref().is_some_and(|error| {
            let code = error.code.as_ref().and_then(Value::as_str);
            code == Some(UNAVAILABLE) || error.message == "WebAssembly is not defined"
        }),
    }
}

/// One function of a library.
#[derive(Debug)]
pub struct ModuleTool {
    definition: ToolDefinition,
    module: Arc<Module>,
    index: usize,
}

impl Tool for ModuleTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let module = &self.module;
            let manifest = &module.manifest;
            let Some(entry) = manifest.tools.get(self.index) else {
                return Err(ToolError::execution("The module has lost this tool"));
            };
            module.check_installed()?;
            let resolved = manifest
                .resolve(|name| module.variable(name))
                .map_err(|error| ToolError::execution(error.to_string()))?;
            let mut plan = manifest.plan(entry, arguments.clone(), &resolved);
            plan["prefix"] = manifest.name.clone().into();
            let result = module.run(entry, &plan, context).await?;
            answered(&manifest.name, entry, result)
        })
    }
}

/// Loads a module's library and tells which of its functions are there, without calling them. Its answer is JSON:
/// `{"functions":[{"function","ok","parameters"|"message"}],"init"?}`.
#[derive(Debug)]
pub struct ModuleCheck {
    definition: ToolDefinition,
    module: Arc<Module>,
}

impl ModuleCheck {
    pub const NAME: &str = "check_module";

    pub fn new(module: Arc<Module>) -> Self {
        Self {
            definition: ToolDefinition::new(ToolName::known(Self::NAME), "Looks for a module's functions"),
            module,
        }
    }
}

impl Tool for ModuleCheck {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a Arguments, context: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let module = &self.module;
            module.check_installed()?;
            // What is not set is left out: a function is there all the same.
            let resolved = module.manifest.resolve(|name| module.variable(name)).unwrap_or_default();
            let function = |tool: &ToolEntry| json!({ "function": tool.function.to_string(), "instanceMethod": tool.instance_method });
            let functions: Vec<Value> = module.manifest.tools.iter().map(function).collect();
            let request =
                json!({ "init": module.manifest.initialization.plan(&resolved), "functions": functions });
            if module.manifest.runtime != Some(Runtime::Node) {
                let plan = json!({ "describe": request });
                let embedded = module.embedded.run(&plan, None, context).await;
                match embedded.map_err(|error| module.explained(error)) {
                    Err(error)
                        if module.manifest.runtime.is_none()
                            && !module.embedded.is_refused()
                            && can_be_cured(&error) => {}
                    answer => return answer,
                }
            }
            let Some(node) = &module.node else {
                return Err(ToolError::execution("There is no supervisor for Node processes here"));
            };
            module.check_lock()?;
            let in_node = module.in_node(false);
            permit(context, &in_node).await?;
            let answer = node.describe(&in_node, &request).await?;
            Ok(ToolOutput::text(answer.to_string()))
        })
    }
}

/// An outcome and what is told beside it.
struct Answered {
    outcome: Outcome,
    details: Value,
}

fn answered(module: &str, entry: &ToolEntry, answered: Answered) -> ToolResult {
    let Answered { outcome, mut details } = answered;
    if let Some(thrown) = &outcome.error {
        let error = thrown.answer(module);
        // The manifest may say what of an error matters.
        return Err(match entry.failed(&json!(thrown)) {
            Some(mapped) if !mapped.value.is_null() && error.hint.is_none() => {
                error.hint(mapped.value.to_string())
            }
            _ => error,
        });
    }
    let mapped = entry.succeeded(outcome.value, outcome.handle.as_deref());
    if !mapped.warnings.is_empty() {
        details["warnings"] = json!(mapped.warnings);
    }
    if let Some(handle) = outcome.handle {
        details["handle"] = handle.into();
    }
    let text = match &mapped.value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(ToolOutput::text(text).details(details))
}
