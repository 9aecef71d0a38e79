//! Puts the tools of all places together, one of each name.

use std::{collections::HashMap, sync::Arc};

use pinza_core::{Group, GroupName, Source, ToolName};

use super::{
    Loaded, LoadedTool, OnClash, Place, Problem, Standing,
    memory::{Memory, Settled},
    read::{Reading, read},
};
use crate::caps::Caps;

pub(super) fn gather(
    places: &[Place],
    on_clash: OnClash,
    caps: Caps,
    memories: &mut [Memory],
    libraries: Reading,
) -> Loaded {
    let mut gathering = Gathering::new(on_clash, caps);
    for (rank, (place, memory)) in places.iter().zip(memories).enumerate() {
        let settled = settle(place, memory, libraries);
        gathering.place(rank, memory, settled);
    }
    let Gathering { mut loaded, .. } = gathering;
    let tools = &loaded.tools;
    loaded.groups.retain(|group| tools.iter().any(|tool| tool.meta.group.as_ref() == Some(&group.name)));
    loaded
}

/// Reads a place into its memory.
fn settle(place: &Place, memory: &mut Memory, libraries: Reading) -> Settled {
    let source = |file: &str| match place {
        Place::Builtin(_) => Source::Builtin,
        _ => Source::Js(file.to_owned()),
    };
    if let Err(settled) = vouched(place, memory) {
        return settled;
    }
    match read(place, memory, libraries) {
        // Files may have changed while they were read.
        Ok(contents) => match vouched(place, memory) {
            Ok(()) => memory.settle(contents, source),
            Err(settled) => settled,
        },
        Err(problem) => memory.keep(problem),
    }
}

/// Asks the guard of a place, if there is one.
fn vouched(place: &Place, memory: &mut Memory) -> Result<(), Settled> {
    let Place::Guarded(guard) = place else { return Ok(()) };
    let problem = |reason| Problem::new(guard.directory().display().to_string(), reason);
    match guard.standing() {
        Standing::Good => Ok(()),
        Standing::Changed(reason) => Err(memory.keep(problem(reason))),
        Standing::Refused(reason) => Err(memory.clear(problem(reason))),
    }
}

struct Gathering {
    on_clash: OnClash,
    caps: Caps,
    /// Where a name stands in `loaded.tools`, and the rank of its place.
    names: HashMap<ToolName, (usize, usize)>,
    /// The manifest that a group was first described in.
    groups: HashMap<GroupName, String>,
    loaded: Loaded,
}

impl Gathering {
    fn new(on_clash: OnClash, caps: Caps) -> Self {
        Self { on_clash, caps, names: HashMap::new(), groups: HashMap::new(), loaded: Loaded::default() }
    }

    fn place(&mut self, rank: usize, memory: &mut Memory, settled: Settled) {
        let known = self.loaded.problems.len();
        self.loaded.problems.extend(settled.problems);
        self.loaded.libraries.extend(settled.changed_libraries);
        let libraries = memory.give(settled.libraries);
        for unit in memory.units.values() {
            if let (Some(group), Some(tool)) = (&unit.group, unit.tools.first()) {
                self.group(group, &tool.manifest);
            }
            for tool in &unit.tools {
                let mut tool = LoadedTool { libraries: Arc::clone(&libraries), ..tool.clone() };
                let capped = self.caps.apply(&mut tool);
                let warning =
                    |message| Problem { entry: tool.entry, ..Problem::warning(&tool.manifest, message) };
                self.loaded.problems.extend(capped.into_iter().map(warning));
                self.add(tool, rank);
            }
        }
        // What was found in a manifest and, later, in its script stands together.
        let stem = |file: &str| file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned();
        self.loaded.problems[known..].sort_by_cached_key(|problem| (stem(&problem.file), problem.entry));
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
