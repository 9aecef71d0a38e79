//! Reads the files of a place, while the examiner parses the scripts that it has not seen before.

use std::{borrow::Cow, collections::VecDeque, sync::Arc};

use super::{
    Libraries, Library, Place, Problem,
    library::located,
    listing::{Listing, Set, Text, list},
    memory::Memory,
    unit::{Digest, Finding, Parsed, Parses, digest},
};
use crate::{
    manifest::{Manifest, ManifestFault},
    source::{Examiner, SourceKind},
};

/// Scripts that wait in memory to be parsed.
const AHEAD: usize = 32;

/// When libraries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Now,
    /// When a script asks for one: most calls ask for none.
    Later,
}

/// The files of a place as they are now, good or not.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) manifests: Vec<Attempt>,
    pub(super) libraries: Vec<Attempt>,
    /// Those that are read later.
    pub(super) unread: Libraries,
    pub(super) problems: Vec<Problem>,
}

/// The files of one base name.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) base: String,
    /// The manifest; where there is none, the script.
    pub(super) file: String,
    pub(super) problems: Vec<Problem>,
    pub(super) manifest: Option<(Digest, Manifest)>,
    /// `None` where something is wrong with the whole, or there is nothing to run.
    pub(super) script: Option<Arc<Parsed>>,
    /// It is a group that names no tool.
    pub(super) is_empty: bool,
}

/// Reads a place. An error means that nobody knows what it holds.
pub(super) fn read(place: &Place, memory: &mut Memory, libraries: Reading) -> Result<Contents, Problem> {
    let Listing { sets, problems } = list(place)?;
    let mut reader = Reader::new(memory);
    let mut unread = Libraries::new();
    for (base, set) in &sets {
        match (&set.manifest, libraries) {
            (Some(manifest), _) => reader.manifest(base, set, manifest),
            (None, Reading::Now) => reader.library(base, set),
            (None, Reading::Later) => {
                if let Ok((kind, text)) = set.script(base) {
                    unread.insert(base.clone(), Library::unread(kind, text.clone()));
                }
            }
        }
        if reader.examiner.waiting() > AHEAD {
            reader.finish_one();
        }
    }
    while reader.finish_one() {}
    let is_manifest = |attempt: &Attempt| sets.get(&attempt.base).is_some_and(|set| set.manifest.is_some());
    let (manifests, libraries) = reader.attempts.into_iter().partition(is_manifest);
    Ok(Contents { manifests, libraries, unread, problems })
}

struct Reader<'a> {
    memory: &'a mut Memory,
    /// From the last time.
    parses: Parses,
    examiner: Examiner,
    /// Scripts that are with the examiner, the oldest first, and whose they are.
    waiting: VecDeque<(usize, String, Digest)>,
    attempts: Vec<Attempt>,
}

impl<'a> Reader<'a> {
    fn new(memory: &'a mut Memory) -> Self {
        let parses = std::mem::take(&mut memory.parses);
        let (waiting, attempts) = (VecDeque::new(), Vec::new());
        Self { memory, parses, examiner: Examiner::default(), waiting, attempts }
    }

    fn manifest(&mut self, base: &str, set: &Set, file: &Text) {
        let mut attempt = Attempt::new(base, &file.file);
        match open(base, set, file, &mut attempt) {
            Ok(Some((kind, script, text))) => return self.examine(attempt, kind, &script.file, text),
            Ok(None) => {}
            Err(problem) => attempt.problems.push(problem),
        }
        self.attempts.push(attempt);
    }

    fn library(&mut self, base: &str, set: &Set) {
        let (kind, text) = match set.script(base) {
            Ok(script) => script,
            Err(reason) => {
                let file = set.javascript.as_ref().map_or(base, |text| text.file.as_str());
                let mut attempt = Attempt::new(base, file);
                attempt.problems.push(Problem::new(file, reason));
                return self.attempts.push(attempt);
            }
        };
        let mut attempt = Attempt::new(base, &text.file);
        match text.read_script() {
            Ok(script) => self.examine(attempt, kind, &text.file, script),
            Err(problem) => {
                attempt.problems.push(problem);
                self.attempts.push(attempt);
            }
        }
    }

    fn examine(&mut self, mut attempt: Attempt, kind: SourceKind, file: &str, text: Cow<'static, str>) {
        let digest = digest(&text);
        let last = self.parses.remove(file).filter(|(last, _)| *last == digest).map(|(_, finding)| finding);
        match last.or_else(|| self.memory.good_parse(&attempt.base, file, &digest)) {
            Some(finding) => {
                attempt.take(file, finding.clone());
                self.memory.parses.insert(file.to_owned(), (digest, finding));
            }
            None => {
                self.waiting.push_back((self.attempts.len(), file.to_owned(), digest));
                self.examiner.submit(kind, text);
            }
        }
        self.attempts.push(attempt);
    }

    /// Takes the oldest script from the examiner. Tells whether there was one.
    fn finish_one(&mut self) -> bool {
        let (Some(finding), Some((index, file, digest))) =
            (self.examiner.finding(), self.waiting.pop_front())
        else {
            return false;
        };
        let finding: Finding = finding.map(|script| Arc::new(Parsed::new(&file, digest, script)));
        self.attempts[index].take(&file, finding.clone());
        self.memory.parses.insert(file, (digest, finding));
        true
    }
}

impl Attempt {
    fn new(base: &str, file: &str) -> Self {
        let (base, file) = (base.to_owned(), file.to_owned());
        Self { base, file, problems: Vec::new(), manifest: None, script: None, is_empty: false }
    }

    fn take(&mut self, file: &str, finding: Finding) {
        match finding {
            Ok(script) => self.script = Some(script),
            Err(faults) => self.problems.extend(faults.into_iter().map(|fault| located(file, fault))),
        }
    }
}

type Opened<'a> = (SourceKind, &'a Text, Cow<'static, str>);

/// Reads a manifest, and the text of its script if there is an entry to run.
fn open<'a>(
    base: &str,
    set: &'a Set,
    file: &Text,
    attempt: &mut Attempt,
) -> Result<Option<Opened<'a>>, Problem> {
    let (kind, script) = set.script(base).map_err(|reason| Problem::new(&file.file, reason))?;
    let text = file.read_manifest()?;
    let mut manifest = Manifest::parse(&text, base);
    let faults = std::mem::take(&mut manifest.faults);
    attempt.problems.extend(faults.into_iter().map(|fault| problem(&file.file, fault)));
    attempt.is_empty = manifest.is_empty;
    if manifest.entries.is_empty() {
        return Ok(None);
    }
    attempt.manifest = Some((digest(&text), manifest));
    Ok(Some((kind, script, script.read_script()?)))
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
