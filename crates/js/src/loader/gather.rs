//! Puts manifests and scripts together, while the examiner parses the next scripts.

use std::{collections::HashMap, collections::VecDeque, sync::Arc};

use pinza_core::{Group, GroupName, Source, ToolMeta, ToolName, visible};

use super::{
    Libraries, Library, Loaded, LoadedTool, OnClash, Place, Problem, ScriptSource,
    library::located,
    listing::{Set, list},
};
use crate::{
    manifest::{Manifest, ManifestEntry, ManifestFault, near},
    source::{Examiner, Script, SourceFault},
};

/// Scripts that wait in memory to be parsed.
const AHEAD: usize = 32;
const EXECUTE: &str = "execute";

pub(super) fn gather(places: &[Place], on_clash: OnClash) -> Loaded {
    let mut gathering = Gathering::new(on_clash);
    for (rank, place) in places.iter().enumerate() {
        gathering.place(rank, place);
    }
    let Gathering { mut loaded, .. } = gathering;
    let tools = &loaded.tools;
    loaded.groups.retain(|group| tools.iter().any(|tool| tool.meta.group.as_ref() == Some(&group.name)));
    loaded
}

struct Gathering {
    on_clash: OnClash,
    examiner: Examiner,
    /// Files whose script is with the examiner, the oldest first.
    waiting: VecDeque<Waiting>,
    /// Where a name stands in `loaded.tools`, and the rank of its place.
    names: HashMap<ToolName, (usize, usize)>,
    /// The manifest that a group was first described in.
    groups: HashMap<GroupName, String>,
    loaded: Loaded,
}

/// A manifest that waits for its script.
struct Waiting {
    rank: usize,
    source: Source,
    manifest_file: String,
    script_file: String,
    manifest: Manifest,
    libraries: Arc<Libraries>,
}

impl Gathering {
    fn new(on_clash: OnClash) -> Self {
        Self {
            on_clash,
            examiner: Examiner::default(),
            waiting: VecDeque::new(),
            names: HashMap::new(),
            groups: HashMap::new(),
            loaded: Loaded::default(),
        }
    }

    fn place(&mut self, rank: usize, place: &Place) {
        let (sets, problems) = list(place);
        let known = self.loaded.problems.len();
        self.loaded.problems.extend(problems);
        let libraries = Arc::new(libraries(&sets));
        for (base, set) in &sets {
            let Some(manifest) = &set.manifest else { continue };
            let source = match place {
                Place::Directory(_) => Source::Js(manifest.file.clone()),
                Place::Builtin(_) => Source::Builtin,
            };
            if let Err(problem) = self.file(rank, base, set, source, &libraries) {
                self.loaded.problems.push(problem);
            }
            if self.examiner.waiting() > AHEAD {
                self.finish_one();
            }
        }
        while self.finish_one() {}
        // What was found in a manifest and, later, in its script stands together.
        let stem = |file: &str| file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        self.loaded.problems[known..].sort_by_cached_key(|problem| (stem(&problem.file), problem.entry));
    }

    fn file(
        &mut self,
        rank: usize,
        base: &str,
        set: &Set,
        source: Source,
        libraries: &Arc<Libraries>,
    ) -> Result<(), Problem> {
        let Some(file) = &set.manifest else { return Ok(()) };
        let (kind, script) = set.script(base).map_err(|reason| Problem::new(&file.file, reason))?;
        let mut manifest = Manifest::parse(&file.read_manifest()?, base);
        let faults = std::mem::take(&mut manifest.faults);
        self.loaded.problems.extend(faults.into_iter().map(|fault| problem(&file.file, fault)));
        if manifest.entries.is_empty() {
            return Ok(());
        }
        self.examiner.submit(kind, script.read_script()?);
        self.waiting.push_back(Waiting {
            rank,
            source,
            manifest_file: file.file.clone(),
            script_file: script.file.clone(),
            manifest,
            libraries: Arc::clone(libraries),
        });
        Ok(())
    }

    /// Takes the oldest script from the examiner. Tells whether there was one.
    fn finish_one(&mut self) -> bool {
        let (Some(finding), Some(waiting)) = (self.examiner.finding(), self.waiting.pop_front()) else {
            return false;
        };
        match finding {
            Ok(script) => self.finish(waiting, script),
            Err(faults) => self.refuse(&waiting.script_file, faults),
        }
        true
    }

    fn refuse(&mut self, file: &str, faults: Vec<SourceFault>) {
        self.loaded.problems.extend(faults.into_iter().map(|fault| located(file, fault)));
    }

    fn finish(&mut self, waiting: Waiting, script: Script) {
        let Waiting { manifest_file, script_file, manifest, .. } = &waiting;
        if script.reads_env && manifest.entries.iter().any(|entry| entry.env.is_none()) {
            let message = "Reads _env without declaring 'env': it sees --env and [env] only";
            self.loaded.problems.push(Problem::warning(manifest_file, message));
        }
        if let Some(group) = &manifest.group {
            self.group(group, manifest_file);
        }
        let entries: Vec<_> = manifest
            .entries
            .iter()
            .map(|entry| (entry.clone(), entry_function(&script, entry, script_file)))
            .collect();
        let source =
            Arc::new(ScriptSource { file: script_file.clone(), code: script.code, lines: script.lines });
        for (entry, function) in entries {
            let index = manifest.group.as_ref().map(|_| entry.index);
            match function {
                Ok(function) => {
                    let tool = tool(&waiting, entry, function, &source);
                    self.add(tool, waiting.rank);
                }
                Err(message) => {
                    let problem = Problem { entry: index, ..Problem::new(manifest_file, message) };
                    self.loaded.problems.push(problem);
                }
            }
        }
    }

    /// A group that is described twice keeps its first words; the tools join it.
    fn group(&mut self, group: &Group, file: &str) {
        if let Some(first) = self.groups.get(&group.name) {
            let message = format!("Group '{}' is described in {first}; these tools join it", group.name);
            self.loaded.problems.push(Problem::warning(file, message));
            return;
        }
        self.groups.insert(group.name.clone(), file.to_owned());
        self.loaded.groups.push(group.clone());
    }

    fn add(&mut self, mut tool: LoadedTool, rank: usize) {
        let tools = &mut self.loaded.tools;
        match self.names.get(&tool.definition.name) {
            None => {
                self.names.insert(tool.definition.name.clone(), (tools.len(), rank));
                tools.push(tool);
            }
            // Within one place nobody has the say over the other.
            Some((index, other)) if self.on_clash == OnClash::Replace && *other < rank => {
                let index = *index;
                tool.meta.group.clone_from(&tools[index].meta.group);
                self.names.insert(tool.definition.name.clone(), (index, rank));
                tools[index] = tool;
            }
            Some(_) => self.loaded.problems.push(tool.clash()),
        }
    }
}

fn libraries(sets: &std::collections::BTreeMap<String, Set>) -> Libraries {
    let without_manifest = sets.iter().filter(|(_, set)| set.manifest.is_none());
    let library = |(base, set): (&String, &Set)| {
        let (kind, text) = set.script(base).ok()?;
        Some((base.clone(), Library::new(kind, text.clone())))
    };
    without_manifest.filter_map(library).collect()
}

fn tool(waiting: &Waiting, entry: ManifestEntry, function: String, script: &Arc<ScriptSource>) -> LoadedTool {
    let ManifestEntry { definition, env, capabilities, limits, index, .. } = entry;
    let mut meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
    meta.source = waiting.source.clone();
    meta.group = waiting.manifest.group.as_ref().map(|group| group.name.clone());
    if let Some(title) = &definition.title {
        meta.label.clone_from(title);
    }
    LoadedTool {
        meta,
        definition,
        script: Arc::clone(script),
        function,
        env,
        capabilities,
        limits,
        libraries: Arc::clone(&waiting.libraries),
        manifest: waiting.manifest_file.clone(),
        entry: waiting.manifest.group.as_ref().map(|_| index),
    }
}

/// The script's own name of an entry's function.
fn entry_function(script: &Script, entry: &ManifestEntry, file: &str) -> Result<String, String> {
    let tool = &entry.definition.name;
    let name = entry.function.as_deref().unwrap_or(EXECUTE);
    // A module may simply export its one function.
    let by_default = || entry.function.is_none().then(|| script.entry("default")).flatten();
    let found = script.entry(name).or_else(by_default).map(str::to_owned);
    found.ok_or_else(|| {
        let reason = match (script.other(name), script.other("default")) {
            (Some(other), _) => format!("; '{}' is {other}", visible(name)),
            (None, Some(other)) if entry.function.is_none() => format!("; its default export is {other}"),
            _ if script.is_commonjs => {
                "; module.exports is for libraries, a tool's function is declared".into()
            }
            _ => hint(script, name),
        };
        format!("{file} has no function '{}' for tool '{tool}'{reason}", visible(name))
    })
}

fn hint(script: &Script, name: &str) -> String {
    let names = script.functions.iter().chain(script.exported.keys()).map(String::as_str);
    let mut near = near(name, names);
    near.dedup();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

fn problem(file: &str, fault: ManifestFault) -> Problem {
    let (line, column) = fault.position.unzip();
    Problem {
        file: file.to_owned(),
        entry: fault.entry,
        message: fault.message,
        line,
        column,
        warning: fault.warning,
    }
}
