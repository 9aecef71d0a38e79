//! What most commands need: the home, its configuration, and the runtime built from both.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use pinza::{
    Builder, Pinza, Rule, UpstreamSettings, Verdict, WordFile,
    core::{Approver, YesApprover, catalog_row, catalog_set},
    js::{Caps, Place},
    mcp::client::Origin as UpstreamOrigin,
    state::Store,
};
use serde::Serialize;

use super::{Global, Result, agents, env, journal};
use crate::{
    config::{Config, ConfigFile},
    follow::ConfigSettings,
    home::{Home, Origin},
    project::{CHANGED, Project, ProjectConfig, Trust, TrustedPart, UNKNOWN},
    terminal::TerminalApprover,
    upstreams::{ConfigVariables, ServerTable},
};

/// Something that was not loaded or cannot work, and why.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) file: Option<String>,
    pub(crate) entry: Option<usize>,
    pub(crate) message: String,
}

pub(crate) struct Session {
    pub(crate) home: Home,
    pub(crate) config: Config,
    pub(crate) pinza: Pinza,
    /// The word vectors that searches use.
    pub(crate) words: Option<Arc<WordFile>>,
    /// Of the configuration, the policy, the project.
    pub(crate) problems: Vec<Problem>,
    /// Of scripts and manifests that did not load.
    pub(crate) faults: Vec<Problem>,
}

/// The journal. Dropped, all of it is written, whoever else still holds its store: a task, a thread that waits.
pub(crate) struct Noting(pub(crate) Store);

impl Drop for Noting {
    fn drop(&mut self) {
        self.0.finish();
    }
}

impl Session {
    pub(crate) fn all_problems(&self) -> Vec<Problem> {
        self.problems.iter().chain(&self.faults).cloned().collect()
    }

    pub(crate) fn open(global: &Global) -> Result<Self> {
        Self::open_with(global, |builder| builder)
    }

    /// As [`open`](Self::open), with every call in the journal.
    pub(crate) fn open_noting(global: &Global) -> Result<(Self, Noting)> {
        Self::open_noting_with(global, |builder| builder)
    }

    pub(crate) fn open_noting_with(
        global: &Global,
        adjust: impl FnOnce(Builder) -> Builder,
    ) -> Result<(Self, Noting)> {
        let (home, config) = read(global)?;
        let store = journal::open(&home)?;
        let journal = journal::observer(global, &home, &config.journal, &store)?;
        let open = store.clone();
        let open = Arc::new(move || Ok(open.clone()));
        let adjust = |builder: Builder| adjust(builder.observer(journal).state(open));
        Ok((Self::build(global, home, config, adjust)?, Noting(store)))
    }

    /// As [`open`](Self::open), with a last word about the runtime.
    pub(crate) fn open_with(global: &Global, adjust: impl FnOnce(Builder) -> Builder) -> Result<Self> {
        let (home, config) = read(global)?;
        Self::build(global, home, config, adjust)
    }

    fn build(
        global: &Global,
        home: Home,
        config: Config,
        adjust: impl FnOnce(Builder) -> Builder,
    ) -> Result<Self> {
        let (workspace, _) = workspace(global, &home)?;
        let (project, mut problems) = project(&workspace, &home)?;
        let project_config = match &project {
            Some(project) => project.config()?,
            None => ProjectConfig::default(),
        };
        let settings = ConfigSettings::new(home.config_file(), flag_rules(global), project_config.clone());
        let at_start = settings.of(&config);
        let caps = config.policy.limits.caps();
        let mut builder = Pinza::builder()
            .state(journal::shared(&home))
            .agents(agents::keeper(&home))
            .workspace(&workspace)
            .protect(&home.path)
            .hardlinks(config.files.hardlinks.into())
            .helper(pinza::THIS_PROGRAM)
            .cache(home.path.join("cache/code"))
            .variables(config.env.clone())
            .variables(global.env.clone())
            .kept_variables(env::open(&home)?)
            .rewrite(config.net.rewrite.clone())
            .policy(at_start.policy)
            .disable(at_start.disabled)
            .settings(Arc::new(settings))
            .caps(project_config.limits().narrow(caps))
            .scripts(places(global, &home, project.as_ref())?)
            .skills(skill_places(&home, project.as_ref())?)
            .modules(module_directories(global, &home))
            .upstreams(upstreams(global, &home, &config, &workspace, project.as_ref(), &project_config)?);
        let words = word_file(&home, &config).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        if let Some(words) = &words {
            builder = builder.word_table(Arc::clone(words) as Arc<_>);
        }
        if global.allow_override {
            builder = builder.allow_override();
        }
        if let Some(approver) = approver(global, &home) {
            builder = builder.approver(approver);
        }
        let pinza = adjust(builder)
            .build()
            .with_context(|| format!("cannot use the workspace {}", workspace.display()))?;
        problems.extend(project.iter().flat_map(|project| refused(project, &project_config, caps)));
        problems.extend(project.iter().flat_map(left_out_modules));
        problems.extend(
            project.iter().flat_map(|project| refused_servers(project, &project_config, &config, &workspace)),
        );
        problems.extend(settings_problems(&home, &config, &pinza));
        let faults = file_faults(&pinza.problems());
        Ok(Self { home, config, pinza, words, problems, faults })
    }
}

/// The home, made if need be, and its configuration.
fn read(global: &Global) -> Result<(Home, Config)> {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let config = ConfigFile::read(home.config_file())?.config;
    Ok((home, config))
}

/// The workspace and where that choice came from.
pub(crate) fn workspace(global: &Global, home: &Home) -> Result<(PathBuf, Origin)> {
    Ok(match &global.workspace {
        Some(path) => {
            let path = std::path::absolute(path)
                .with_context(|| format!("cannot use {} as workspace", path.display()))?;
            (path, Origin::Flag)
        }
        None => (home.workspace(), Origin::BuiltIn),
    })
}

/// The most that manifests get here.
pub(crate) fn caps(global: &Global, home: &Home) -> Result<Caps> {
    let caps = ConfigFile::read(home.config_file())?.config.policy.limits.caps();
    let (workspace, _) = workspace(global, home)?;
    Ok(match project(&workspace, home)?.0 {
        Some(project) => project.config()?.limits().narrow(caps),
        None => caps,
    })
}

/// The rules that `--allow` and `--deny` stand for.
pub(crate) fn flag_rules(global: &Global) -> Vec<Rule> {
    let rule = |effect: Verdict| move |capability: &String| Rule::capability(effect, capability);
    let allow = global.allow.iter().map(rule(Verdict::Allow));
    allow.chain(global.deny.iter().map(rule(Verdict::Deny))).collect()
}

fn approver(global: &Global, home: &Home) -> Option<Arc<dyn Approver>> {
    if global.yes {
        return Some(Arc::new(YesApprover));
    }
    let on_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    on_terminal.then(|| Arc::new(TerminalApprover::new(home.config_file())) as Arc<dyn Approver>)
}

/// The word vectors of `[search]`. Without them searches go by words alone, so a fault is only reported.
fn word_file(home: &Home, config: &Config) -> std::result::Result<Option<Arc<WordFile>>, Problem> {
    let Some(path) = &config.search.table else { return Ok(None) };
    WordFile::open(home.path.join(path)).map(|file| Some(Arc::new(file))).map_err(|error| Problem {
        file: Some(home.config_file().display().to_string()),
        entry: None,
        message: format!("search.table does not count: {error}"),
    })
}

fn settings_problems(home: &Home, config: &Config, pinza: &Pinza) -> Vec<Problem> {
    let mut problems = Vec::new();
    for failure in pinza.failures().iter() {
        let message = format!("the tool '{}' could not be made: {}", failure.id, failure.reason);
        problems.push(Problem { file: None, entry: None, message });
    }
    let file = || Some(home.config_file().display().to_string());
    for (index, name) in config.tools.disabled.iter().enumerate() {
        if !is_known(pinza, name) {
            let message = format!(
                "tools.disabled names '{}', but there is no such tool or set",
                pinza::core::visible(name)
            );
            problems.push(Problem { file: file(), entry: Some(index), message });
        }
    }
    for (number, reason) in pinza.engine().policy().idle_rules(&pinza.snapshot()) {
        let in_config = number <= config.policy.rule.len();
        let message = format!("policy rule {number} can match nothing: {reason}");
        let (file, entry) = if in_config { (file(), Some(number - 1)) } else { (None, None) };
        problems.push(Problem { file, entry, message });
    }
    problems
}

/// Faults in files, for lists: warnings are for whoever checks them.
pub(crate) fn file_faults(problems: &[pinza::js::Problem]) -> Vec<Problem> {
    let faults = problems.iter().filter(|problem| !problem.warning);
    let described = faults.map(|fault| Problem {
        file: Some(fault.file.clone()),
        entry: fault.entry,
        message: match (fault.line, fault.column) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: {}", fault.message),
            (Some(line), None) => format!("line {line}: {}", fault.message),
            _ => fault.message.clone(),
        },
    });
    described.collect()
}

/// Where scripts are looked for, in order: home, the project, `--tools`.
fn places(global: &Global, home: &Home, project: Option<&Project>) -> Result<Vec<Place>> {
    for directory in &global.tools {
        anyhow::ensure!(directory.is_dir(), "--tools {}: there is no such directory", directory.display());
    }
    let mut places = vec![Place::Optional(home.path.join("tools"))];
    if let Some(project) = project {
        places.push(Place::Guarded(Arc::new(TrustedPart::new(project, home, project.tools())?)));
    }
    places.extend(global.tools.iter().cloned().map(Place::Directory));
    Ok(places)
}

/// Where skills are looked for, after the program's own: home, the project.
fn skill_places(home: &Home, project: Option<&Project>) -> Result<Vec<Place>> {
    let mut places = vec![Place::Optional(home.path.join("skills"))];
    if let Some(project) = project {
        places.push(Place::Guarded(Arc::new(TrustedPart::new(project, home, project.skills())?)));
    }
    Ok(places)
}

/// Where modules are looked for. A project's are not: their packages are read when they are first called, and what
/// was trusted at the start may be something else by then.
fn module_directories(global: &Global, home: &Home) -> Vec<PathBuf> {
    let mut directories = vec![home.path.join("modules"), home.path.join("tools")];
    directories.extend(global.tools.iter().cloned());
    directories
}

/// The project around, if it is trusted; else a problem that says so.
fn project(workspace: &Path, home: &Home) -> Result<(Option<Project>, Vec<Problem>)> {
    let Some(project) = Project::find(workspace, home) else { return Ok((None, Vec::new())) };
    let message = match project.trust(home)? {
        Trust::Trusted => return Ok((Some(project), Vec::new())),
        Trust::Unknown => UNKNOWN,
        Trust::Changed => CHANGED,
    };
    let file = Some(project.path.display().to_string());
    Ok((None, vec![Problem { file, entry: None, message: message.into() }]))
}

/// A project's modules, each with what to do instead.
fn left_out_modules(project: &Project) -> Vec<Problem> {
    let (found, _) = pinza::js::module::discover(&project.tools());
    let problem = |file: PathBuf| Problem {
        file: Some(file.display().to_string()),
        entry: None,
        message:
            "a project's modules are not loaded, because trust does not cover the packages that they run; \
                  copy its directory to modules/ in Pinza's home, or name it with --tools"
                .into(),
    };
    found.into_iter().map(problem).collect()
}

/// What a project wants to widen.
fn refused(project: &Project, config: &ProjectConfig, caps: Caps) -> Vec<Problem> {
    let problem = |entry, message: String| Problem {
        file: Some(project.path.join("config.toml").display().to_string()),
        entry,
        message,
    };
    let rule = "a project cannot allow anything; the rule does not count";
    let rules = config.refused().map(|index| problem(Some(index), rule.into()));
    let limit = |key: &str| format!("a project cannot raise policy.limits.{key}; it does not count");
    let limits = config.limits().wider_than(caps).into_iter().map(|key| problem(None, limit(key)));
    rules.chain(limits).collect()
}

/// The user's servers, and a project's as far as it may have them.
fn upstreams(
    global: &Global,
    home: &Home,
    config: &Config,
    workspace: &Path,
    project: Option<&Project>,
    project_config: &ProjectConfig,
) -> Result<UpstreamSettings> {
    let mut specs = config.mcp.specs(workspace)?;
    for (name, server) in &project_config.mcp.servers {
        let Some(project) = project else { break };
        let is_refused = server.wants_variables() || server.leaves(workspace);
        if !is_refused && !config.mcp.servers.contains_key(name) {
            specs.push(server.spec(name, workspace, UpstreamOrigin::Project(project.path.clone()))?);
        }
    }
    let open = config.env.clone().into_iter().chain(global.env.clone());
    Ok(UpstreamSettings {
        specs,
        directory: home.path.join("mcp"),
        variables: ConfigVariables::new(open, env::open(home)?),
        tokens: Some(Arc::new(env::open_tokens(home)?)),
    })
}

/// Servers that a project wants and does not get.
fn refused_servers(
    project: &Project,
    project_config: &ProjectConfig,
    config: &Config,
    workspace: &Path,
) -> Vec<Problem> {
    let file = project.path.join("config.toml").display().to_string();
    let problem = |message: String| Problem { file: Some(file.clone()), entry: None, message };
    let refusal = |(name, server): (&String, &ServerTable)| {
        if config.mcp.servers.contains_key(name) {
            return Some(problem(format!(
                "there is a server '{name}' in your own configuration; the project's does not count"
            )));
        }
        if server.leaves(workspace) {
            return Some(problem(format!(
                "a project's server starts below the workspace; '{name}' has another directory and does not count"
            )));
        }
        server.wants_variables().then(|| {
            problem(format!("a project cannot hand variables to a server; '{name}' does not count, unless you configure it yourself"))
        })
    };
    project_config.mcp.servers.iter().filter_map(refusal).collect()
}

/// A tool, a group, or a name of the catalog that this build does not have yet.
pub(crate) fn is_known(pinza: &Pinza, selector: &str) -> bool {
    pinza.snapshot().tools().any(|entry| pinza::core::selects(selector, entry.meta()))
        || catalog_set(selector).is_some()
        || catalog_row(selector).is_some()
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        time::{Duration, Instant},
    };

    use super::*;

    /// What the watched session comes to say of the tool, or of what is wrong.
    #[track_caller]
    fn comes_to(pinza: &Pinza, description: Option<&str>, problem: &str) {
        let start = Instant::now();
        loop {
            let snapshot = pinza.snapshot();
            let ours = snapshot.get("ours").map(|entry| entry.definition().description.clone());
            let problems: Vec<String> = pinza.problems().iter().map(|one| one.message.clone()).collect();
            let is_said = problems.iter().any(|message| message.starts_with(problem));
            if ours.as_deref() == description && is_said != problem.is_empty() {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{ours:?}, {problems:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_watched_project_is_live_as_far_as_it_is_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let (home, workspace) = (directory.path().join("home"), directory.path().join("work"));
        let tools = workspace.join(".pinza/tools");
        fs::create_dir_all(&tools).unwrap();
        fs::write(tools.join("ours.js"), "function execute() {}").unwrap();
        let describe = |text: &str| {
            let manifest = serde_json::json!({"name": "ours", "description": text}).to_string();
            fs::write(tools.join("ours.json"), manifest).unwrap();
        };
        describe("one");
        let flag = |path: &Path| path.display().to_string();
        let typed = ["pinza", "--home", &flag(&home), "--workspace", &flag(&workspace), "doctor"];
        let global = super::super::parse(&typed).unwrap().global;
        let home = Home::find(global.home.as_deref()).unwrap();
        home.create().unwrap();
        let project = Project::find(&workspace, &home).unwrap();
        project.set_trusted(&home).unwrap();
        let session = Session::open(&global).unwrap();
        let _watch = session.pinza.watch().unwrap();
        comes_to(&session.pinza, Some("one"), "");

        describe("two");
        comes_to(&session.pinza, Some("one"), &format!("{CHANGED}; the version of "));
        project.set_trusted(&home).unwrap();
        comes_to(&session.pinza, Some("two"), "");
        // Its rules came with the start; new ones do not yet hold.
        describe("three");
        fs::write(workspace.join(".pinza/config.toml"), "[tools]\ndisabled = [\"ours\"]\n").unwrap();
        project.set_trusted(&home).unwrap();
        comes_to(&session.pinza, Some("two"), "the project's config.toml is another one; start Pinza again");
        fs::remove_file(workspace.join(".pinza/config.toml")).unwrap();
        project.set_trusted(&home).unwrap();
        comes_to(&session.pinza, Some("three"), "");
        project.forget(&home).unwrap();
        comes_to(&session.pinza, None, UNKNOWN);
    }
}
