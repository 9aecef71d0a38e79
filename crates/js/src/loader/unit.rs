//! A manifest with its script: what loads together, and stays together when its next version is broken.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use pinza_core::{Group, Source, ToolMeta, visible};
use sha2::{Digest as _, Sha256};

use super::{Libraries, LoadedTool, Problem, ScriptSource};
use crate::{
    manifest::{Manifest, ManifestEntry, near},
    source::{Script, SourceFault},
    tool::Limits,
};

const EXECUTE: &str = "execute";

/// Tells whether a text is what it was, without keeping the text.
pub(super) type Digest = [u8; 32];

pub(super) fn digest(text: &str) -> Digest {
    Sha256::digest(text.as_bytes()).into()
}

/// A script that was parsed.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) digest: Digest,
    /// Its code is in `source`, which its tools share.
    pub(super) outline: Script,
    pub(super) source: Arc<ScriptSource>,
}

impl Parsed {
    pub(super) fn new(file: &str, digest: Digest, mut script: Script) -> Self {
        let (code, lines) = (std::mem::take(&mut script.code), std::mem::take(&mut script.lines));
        let source = Arc::new(ScriptSource { file: file.to_owned(), code, lines });
        Self { digest, outline: script, source }
    }
}

pub(super) type Finding = Result<Arc<Parsed>, Vec<SourceFault>>;

/// The last parse of each script, good or not.
pub(super) type Parses = HashMap<String, (Digest, Finding)>;

/// The tools of a manifest.
#[derive(Debug)]
pub(super) struct Unit {
    manifest: Digest,
    pub(super) script: Arc<Parsed>,
    pub(super) group: Option<Group>,
    pub(super) tools: Vec<LoadedTool>,
    /// What is wrong with some of its entries, or could be better.
    pub(super) problems: Vec<Problem>,
    pub(super) since: SystemTime,
}

impl Unit {
    /// `problems` are those of the manifest.
    pub(super) fn new(
        file: &str,
        source: &Source,
        (digest, manifest): (Digest, Manifest),
        script: Arc<Parsed>,
        mut problems: Vec<Problem>,
    ) -> Self {
        static VERSIONS: AtomicU64 = AtomicU64::new(1);
        let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        let Manifest { group, entries, .. } = manifest;
        if script.outline.reads_env && entries.iter().any(|entry| entry.env.is_none()) {
            let message = "Reads _env without declaring 'env': it sees --env and [env] only";
            problems.push(Problem::warning(file, message));
        }
        let mut tools = Vec::new();
        for entry in entries {
            let index = group.as_ref().map(|_| entry.index);
            match entry_function(&script, &entry) {
                Ok(function) => {
                    let mut meta =
                        ToolMeta::new(entry.definition.name.clone(), entry.definition.description.clone());
                    meta.source = source.clone();
                    meta.group = group.as_ref().map(|group| group.name.clone());
                    if let Some(title) = &entry.definition.title {
                        meta.label.clone_from(title);
                    }
                    tools.push(LoadedTool {
                        meta,
                        definition: entry.definition,
                        script: Arc::clone(&script.source),
                        function,
                        env: entry.env,
                        capabilities: entry.capabilities,
                        limits: Limits::asked(entry.asked),
                        asked: entry.asked,
                        libraries: Arc::new(Libraries::new()),
                        manifest: file.to_owned(),
                        entry: index,
                        version,
                    });
                }
                Err(message) => problems.push(Problem { entry: index, ..Problem::new(file, message) }),
            }
        }
        Self { manifest: digest, script, group, tools, problems, since: SystemTime::now() }
    }

    /// Whether nothing has changed.
    pub(super) fn is_made_of(&self, manifest: &Digest, script: &Arc<Parsed>) -> bool {
        self.manifest == *manifest && Arc::ptr_eq(&self.script, script)
    }

    /// Whether a save broke what `last` had: a tool is missing, and there is a fault that was not there before. A tool
    /// that was taken out of a manifest is missing without a fault.
    pub(super) fn is_broken_since(&self, last: &Self) -> bool {
        let has = |name| self.tools.iter().any(|tool| tool.definition.name == name);
        let is_known = |fault: &&Problem| last.problems.iter().any(|known| known.message == fault.message);
        let mut faults = self.problems.iter().filter(|problem| !problem.warning);
        !last.tools.iter().all(|tool| has(tool.definition.name.as_str()))
            && !faults.all(|fault| is_known(&fault))
    }
}

/// The script's own name of an entry's function.
fn entry_function(script: &Parsed, entry: &ManifestEntry) -> Result<String, String> {
    let (outline, file, tool) = (&script.outline, &script.source.file, &entry.definition.name);
    let name = entry.function.as_deref().unwrap_or(EXECUTE);
    // A module may simply export its one function.
    let by_default = || entry.function.is_none().then(|| outline.entry("default")).flatten();
    let found = outline.entry(name).or_else(by_default).map(str::to_owned);
    found.ok_or_else(|| {
        let reason = match (outline.other(name), outline.other("default")) {
            (Some(other), _) => format!("; '{}' is {other}", visible(name)),
            (None, Some(other)) if entry.function.is_none() => format!("; its default export is {other}"),
            _ if outline.is_commonjs => {
                "; module.exports is for libraries, a tool's function is declared".into()
            }
            _ => hint(outline, name),
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
