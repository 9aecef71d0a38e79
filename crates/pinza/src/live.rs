//! The tools that there are now, and how they are made anew when scripts or settings change.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use pinza_core::{
    Entry, Failure, GroupName, Policy, Registry, Skill, SkillName, Snapshot, ToolContext, ToolDefinition,
    ToolName, selects,
};
use pinza_host::process::Supervisor;
use pinza_js::{Code, Host, JsTool, Libraries, Loaded, LoadedTool, Loader, OnClash, Place, Problem};
use pinza_mcp::client::{Shelf, ShelfProblem, Upstreams};

use crate::{settings::Obeyed, skills::SkillLoader};

/// What all clones of a [`Pinza`](crate::Pinza) share.
pub(crate) struct Live {
    /// A std lock, held to take a clone or to put another one.
    current: RwLock<Arc<Tools>>,
    recipe: Recipe,
    /// A std lock, held while files are read: loads take turns.
    scripts: Mutex<Scripts>,
}

/// All that a reload replaces, at once.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) snapshot: Arc<Snapshot>,
    /// What was to be obeyed when they were loaded; the engine's own may be newer.
    policy: Arc<Policy>,
    pub(crate) failures: Arc<[Failure]>,
    pub(crate) problems: Arc<[Problem]>,
    /// Those of them that are about skills.
    pub(crate) skill_problems: Arc<[Problem]>,
}

/// What stays the same: every tool but the scripts', and how they become a snapshot.
pub(crate) struct Recipe {
    pub(crate) registry: Registry,
    pub(crate) context: ToolContext,
    pub(crate) settings: Obeyed,
    pub(crate) on_clash: OnClash,
    /// Of what does not change.
    pub(crate) problems: Vec<Problem>,
    /// Without it there are no scripts.
    pub(crate) host: Option<Arc<Host>>,
    /// Without it there are no processes.
    pub(crate) supervisor: Option<Supervisor>,
    pub(crate) upstreams: Upstreams,
}

/// What is remembered of scripts from one load to the next.
struct Scripts {
    loader: Loader,
    skills: SkillLoader,
    /// By the address of their source, which they keep alive.
    codes: HashMap<usize, Known>,
    versions: BTreeMap<ToolName, u64>,
}

/// One copy of a script for all its tools, and the same one as long as neither it nor a library beside it changes:
/// workers know it by its number, and what it has loaded when its top level has run.
#[derive(Clone)]
struct Known {
    code: Arc<Code>,
    libraries: Arc<Libraries>,
}

impl Known {
    fn new(tool: &LoadedTool) -> Self {
        Self { code: Arc::new(Code::new(Arc::clone(&tool.script))), libraries: Arc::clone(&tool.libraries) }
    }

    fn is_of(&self, tool: &LoadedTool) -> bool {
        Arc::ptr_eq(&self.libraries, &tool.libraries)
    }
}

/// What a look at the directories of scripts and at the settings has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reload {
    pub added: Vec<ToolName>,
    /// Tools whose manifest or script is another one.
    pub changed: Vec<ToolName>,
    pub removed: Vec<ToolName>,
    /// Files of libraries that came, went or changed: the tools beside them use what holds now.
    pub libraries: Vec<String>,
    /// Whether there are other rules.
    pub policy: bool,
    /// Tools that are there as before and cannot be used any more: a rule denies them, or they are switched off.
    pub withheld: Vec<ToolName>,
    /// Tools that were there, and can be used from now on.
    pub granted: Vec<ToolName>,
    /// Skills that came, went or changed.
    pub skills: Vec<SkillName>,
    /// What was not said before; [`Pinza::problems`](crate::Pinza::problems) has all that holds.
    pub problems: Vec<Problem>,
    /// Problems that are no more.
    pub solved: Vec<Problem>,
}

impl Reload {
    /// Whether everything is as it was.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Live {
    /// Loads everything for the first time.
    pub(crate) fn new(recipe: Recipe, loader: Loader, skills: SkillLoader) -> Self {
        let mut scripts = Scripts { loader, skills, codes: HashMap::new(), versions: BTreeMap::new() };
        let (tools, _) = recipe.load(&mut scripts, None);
        Self { current: RwLock::new(Arc::new(tools)), recipe, scripts: Mutex::new(scripts) }
    }

    pub(crate) fn current(&self) -> Arc<Tools> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls that begin from now on see what the files say now. Blocking: it reads them.
    pub(crate) fn reload(&self) -> Reload {
        let (tools, reload) = self.load(&mut self.scripts());
        // What is as it was keeps what was compiled for it.
        if !reload.is_empty() {
            self.put(tools);
        }
        reload
    }

    /// Reloads, and from now on nothing changes but by a reload.
    pub(crate) fn pin(&self) -> Reload {
        let mut scripts = self.scripts();
        scripts.loader.pin_libraries();
        let (tools, reload) = self.load(&mut scripts);
        self.put(tools);
        // They were not read before.
        Reload { libraries: Vec::new(), ..reload }
    }

    /// Where scripts are looked for.
    pub(crate) fn places(&self) -> Vec<Place> {
        self.scripts().loader.places().to_vec()
    }

    /// Where skills are looked for.
    pub(crate) fn skill_places(&self) -> Vec<Place> {
        self.scripts().skills.places().to_vec()
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn load(&self, scripts: &mut Scripts) -> (Tools, Reload) {
        let before = scripts.versions.clone();
        // Before any script: none is live without the rules that were written before it.
        let unreadable = self.recipe.settings.renew_settled();
        let (tools, libraries) = self.recipe.load(scripts, unreadable);
        let after = &scripts.versions;
        let last = self.current();
        let (withheld, granted) = switched(&last, &tools);
        let without = |all: &[Problem], known: &[Problem]| {
            all.iter().filter(|problem| !known.contains(problem)).cloned().collect()
        };
        let reload = Reload {
            added: after.keys().filter(|name| !before.contains_key(*name)).cloned().collect(),
            changed: after
                .iter()
                .filter(|(name, version)| before.get(*name).is_some_and(|last| last != *version))
                .map(|(name, _)| name.clone())
                .collect(),
            removed: before.keys().filter(|name| !after.contains_key(*name)).cloned().collect(),
            libraries,
            policy: last.policy != tools.policy,
            withheld,
            granted,
            skills: changed_skills(&last.snapshot, &tools.snapshot),
            problems: without(&tools.problems, &last.problems),
            solved: without(&last.problems, &tools.problems),
        };
        (tools, reload)
    }

    fn put(&self, tools: Tools) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
    }

    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("current", &self.current()).finish_non_exhaustive()
    }
}

impl Recipe {
    /// All tools as the files say now, and the libraries that changed.
    fn load(&self, scripts: &mut Scripts, unreadable: Option<Problem>) -> (Tools, Vec<String>) {
        let mut registry = self.registry.clone();
        let (own, libraries) = match &self.host {
            Some(host) => scripts.register(&mut registry, self.on_clash, host),
            None => Default::default(),
        };
        let of_upstreams = scripts.register_upstreams(&mut registry, &self.upstreams);
        let skill_problems = scripts.skills.register(&mut registry, self.on_clash);
        let own = own.into_iter().chain(of_upstreams).chain(skill_problems.iter().cloned());
        let known = self.problems.iter().cloned().chain(unreadable);
        let problems: Vec<Problem> = known.chain(own).collect();
        let mut resolution = registry.resolve_all(&self.context);
        let failures = std::mem::take(&mut resolution.failures).into();
        let disabled = self.settings.disabled();
        let is_enabled = |meta: &_| !disabled.iter().any(|name| selects(name, meta));
        let snapshot = Arc::new(resolution.into_snapshot(&registry, is_enabled));
        let (problems, skill_problems) = (problems.into(), skill_problems.into());
        let policy = self.settings.engine().policy();
        (Tools { snapshot, policy, failures, problems, skill_problems }, libraries)
    }
}

impl Scripts {
    /// Adds the scripts' tools; what does not load or is not wanted comes back as problems.
    fn register(
        &mut self,
        registry: &mut Registry,
        on_clash: OnClash,
        host: &Arc<Host>,
    ) -> (Vec<Problem>, Vec<String>) {
        let Loaded { tools, groups, mut problems, libraries } = self.loader.load();
        let last = std::mem::take(&mut self.codes);
        self.versions.clear();
        for loaded in tools {
            let address = Arc::as_ptr(&loaded.script).addr();
            let known = self.codes.entry(address).or_insert_with(|| {
                let last = last.get(&address).filter(|known| known.is_of(&loaded));
                last.cloned().unwrap_or_else(|| Known::new(&loaded))
            });
            let (code, meta, clash) = (Arc::clone(&known.code), loaded.meta.clone(), loaded.clash());
            let (name, version) = (loaded.definition.name.clone(), loaded.version);
            let tool = Arc::new(JsTool::new(loaded, code, Arc::clone(host)));
            match on_clash {
                OnClash::Replace => registry.replace(tool, Some(meta)),
                OnClash::KeepFirst => {
                    if registry.register(tool, Some(meta)).is_err() {
                        problems.push(clash);
                        continue;
                    }
                }
            }
            self.versions.insert(name, version);
        }
        // Where all of its tools gave way, or took the place of others in their groups, a group is nothing.
        for group in groups {
            let has_tools = registry.list().any(|meta| meta.group.as_ref() == Some(&group.name));
            if has_tools && registry.group(group.name.as_str()).is_none() {
                registry.register_group(group);
            }
        }
        (problems, libraries)
    }

    /// Adds what other MCP servers offer, by what is written down of them. Their names are their own: what clashes is
    /// left out.
    fn register_upstreams(&mut self, registry: &mut Registry, upstreams: &Upstreams) -> Vec<Problem> {
        let Shelf { tools, groups, problems } = upstreams.shelf();
        let mut problems: Vec<Problem> = problems.into_iter().map(upstream_problem).collect();
        let taken: HashSet<GroupName> = groups
            .iter()
            .filter(|group| registry.group(group.name.as_str()).is_some())
            .map(|group| group.name.clone())
            .collect();
        for name in &taken {
            let message = format!("there is a group '{name}' already; give the server another name");
            problems.push(problem(format!("mcp.servers.{name}"), message));
        }
        for (tool, meta) in tools {
            if meta.group.as_ref().is_some_and(|group| taken.contains(group)) {
                continue;
            }
            let (name, source) = (meta.id.clone(), meta.source.clone());
            let version = version_of(tool.definition());
            match registry.register(tool, Some(meta)) {
                Ok(()) => drop(self.versions.insert(name, version)),
                Err(clash) => problems.push(problem(source.to_string(), clash.to_string())),
            }
        }
        groups
            .into_iter()
            .filter(|group| !taken.contains(&group.name))
            .for_each(|group| registry.register_group(group));
        problems
    }
}

fn upstream_problem(found: ShelfProblem) -> Problem {
    let ShelfProblem { file, entry, message, warning, .. } = found;
    Problem { entry, warning, ..problem(file.display().to_string(), message) }
}

fn problem(file: String, message: String) -> Problem {
    Problem { file, entry: None, message, line: None, column: None, warning: false }
}

/// Another number whenever a model would read something else.
fn version_of(definition: &ToolDefinition) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&definition.description, &definition.title, definition.read_only).hash(&mut hasher);
    definition.parameters.schema().to_string().hash(&mut hasher);
    definition.output_schema.as_ref().map(ToString::to_string).hash(&mut hasher);
    hasher.finish()
}

/// The tools of both that can no longer be used, and those that now can.
fn switched(before: &Tools, after: &Tools) -> (Vec<ToolName>, Vec<ToolName>) {
    let can_use = |tools: &Tools, entry: &Entry| entry.is_enabled() && !tools.policy.forbids(entry);
    let (mut withheld, mut granted) = (Vec::new(), Vec::new());
    for entry in after.snapshot.tools() {
        let name = &entry.definition().name;
        let Some(last) = before.snapshot.get(name.as_str()) else { continue };
        match (can_use(before, last), can_use(after, entry)) {
            (true, false) => withheld.push(name.clone()),
            (false, true) => granted.push(name.clone()),
            _ => {}
        }
    }
    (withheld, granted)
}

/// The names of skills that are not the same in two snapshots.
fn changed_skills(before: &Snapshot, after: &Snapshot) -> Vec<SkillName> {
    let is_other = |skill: &&Skill| after.skill(skill.name.as_str()) != Some(skill);
    let is_new = |skill: &&Skill| before.skill(skill.name.as_str()).is_none();
    let changed = before.skills().filter(is_other).chain(after.skills().filter(is_new));
    changed.map(|skill| skill.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use pinza_js::Place;
    use tempfile::TempDir;

    use super::*;
    use crate::Pinza;

    fn tool(directory: &TempDir, name: &str) {
        let put = |file: &str, text: &str| fs::write(directory.path().join(file), text).unwrap();
        put(&format!("{name}.json"), &format!(r#"{{"name": "{name}", "description": "x"}}"#));
        put(&format!("{name}.js"), &format!("function execute() {{ return '{name}' }}"));
    }

    fn pinza<'a>(directories: impl IntoIterator<Item = &'a TempDir>) -> Pinza {
        let places: Vec<_> =
            directories.into_iter().map(|directory| Place::Directory(directory.path().to_owned())).collect();
        let workspace = places.first().and_then(Place::directory).map(Path::to_owned).unwrap();
        Pinza::builder().workspace(workspace).helper(crate::THIS_PROGRAM).scripts(places).build().unwrap()
    }

    /// How many of two codes are still in use.
    fn kept(pinza: &Pinza, before: &[Arc<Code>]) -> usize {
        let now = codes(pinza);
        assert_eq!((before.len(), now.len()), (2, 2));
        now.iter().filter(|code| before.iter().any(|old| Arc::ptr_eq(old, code))).count()
    }

    fn codes(pinza: &Pinza) -> Vec<Arc<Code>> {
        pinza.live().scripts().codes.values().map(|known| Arc::clone(&known.code)).collect()
    }

    #[test]
    fn workers_need_not_load_again_what_did_not_change() {
        let directory = tempfile::tempdir().unwrap();
        tool(&directory, "a");
        tool(&directory, "b");
        let pinza = pinza([&directory]);
        let before = codes(&pinza);
        fs::write(directory.path().join("a.js"), "function execute() { return 'c' }").unwrap();
        assert_eq!(pinza.live().reload().changed, ["a"]);
        assert_eq!(kept(&pinza, &before), 1);
    }

    #[test]
    fn a_script_is_loaded_again_when_a_library_beside_it_changes() {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let library = |index: usize, text: &str| {
            fs::write(directories[index].path().join("word.js"), text).unwrap();
        };
        for (index, name) in ["a", "b"].into_iter().enumerate() {
            tool(&directories[index], name);
            library(index, "module.exports = 1");
        }
        let pinza = pinza(&directories);
        pinza.live().pin();
        let before = codes(&pinza);
        library(0, "module.exports = 1");
        assert!(pinza.live().reload().is_empty());
        assert_eq!(kept(&pinza, &before), 2);
        library(0, "module.exports = 2");
        assert_eq!(pinza.live().reload().libraries.len(), 1);
        assert_eq!(kept(&pinza, &before), 1);
        // A broken one does not count.
        let before = codes(&pinza);
        library(1, "module.exports = ");
        assert_eq!(pinza.live().reload().problems.len(), 1);
        assert_eq!(kept(&pinza, &before), 2);
    }
}
