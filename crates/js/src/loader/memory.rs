//! What a place held when it was last good, and what becomes of it when it is read again.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use jiff::{Timestamp, tz::TimeZone};
use pinza_core::Source;

use super::{
    Libraries, Library, Problem, ScriptSource,
    library::body,
    read::{Attempt, Contents},
    unit::{Digest, Finding, Parsed, Parses, Unit},
};

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By base name.
    pub(super) units: BTreeMap<String, Arc<Unit>>,
    libraries: BTreeMap<String, Remembered>,
    /// What its tools were given.
    given: Arc<Libraries>,
    /// Of the scripts that were there the last time.
    pub(super) parses: Parses,
}

/// A library that was good.
#[derive(Clone, Debug)]
struct Remembered {
    script: Arc<Parsed>,
    body: Arc<ScriptSource>,
    since: SystemTime,
}

/// What a place gives to a load, beside its units.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) libraries: Libraries,
    pub(super) changed_libraries: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

impl Memory {
    /// What is known of a script with this text, from when it was last good.
    pub(super) fn good_parse(&self, base: &str, file: &str, digest: &Digest) -> Option<Finding> {
        let units = self.units.get(base).map(|unit| &unit.script);
        let libraries = self.libraries.get(base).map(|library| &library.script);
        let is_same = |script: &&Arc<Parsed>| script.digest == *digest && script.source.file == file;
        units.into_iter().chain(libraries).find(is_same).cloned().map(Ok)
    }

    /// Takes what was read: what is good replaces what was there, what is broken does not.
    pub(super) fn settle(&mut self, contents: Contents, source: impl Fn(&str) -> Source) -> Settled {
        let Contents { manifests, libraries, unread, problems } = contents;
        let mut settled = Settled { libraries: unread, problems, ..Settled::default() };
        let mut last = std::mem::take(&mut self.units);
        for attempt in manifests {
            let (base, last) = (attempt.base.clone(), last.remove(&attempt.base));
            let source = source(&attempt.file);
            if let Some(unit) = settle_unit(attempt, last, &source, &mut settled.problems) {
                self.units.insert(base, unit);
            }
        }
        let mut last = std::mem::take(&mut self.libraries);
        for attempt in libraries {
            let last = last.remove(&attempt.base);
            self.settle_library(attempt, last, &mut settled);
        }
        settled.changed_libraries.extend(last.into_values().map(|gone| gone.body.file.clone()));
        settled
    }

    fn settle_library(&mut self, attempt: Attempt, last: Option<Remembered>, settled: &mut Settled) {
        let Attempt { base, file, mut problems, script, .. } = attempt;
        let library = match (script, last) {
            (Some(script), Some(last)) if Arc::ptr_eq(&script, &last.script) => last,
            (Some(script), _) => {
                settled.changed_libraries.push(file);
                let ScriptSource { file, code, lines } = &*script.source;
                let code = body(&script.outline, code.clone());
                let body = ScriptSource { file: file.clone(), code, lines: lines.clone() };
                Remembered { script, body: Arc::new(body), since: SystemTime::now() }
            }
            (None, Some(last)) => {
                stays(&mut problems, last.since);
                settled.problems.extend(problems);
                last
            }
            // It may be no library at all: whoever asks for it is told.
            (None, None) => {
                settled.libraries.insert(base, Library::pinned(Err(problems)));
                return;
            }
        };
        settled.libraries.insert(base.clone(), Library::pinned(Ok(Arc::clone(&library.body))));
        self.libraries.insert(base, library);
    }

    /// The libraries for the tools: another `Arc` exactly if one of them may be another, because workers keep what a
    /// script has loaded.
    pub(super) fn give(&mut self, libraries: Libraries) -> Arc<Libraries> {
        let is_as_given = self.given.len() == libraries.len()
            && libraries
                .iter()
                .all(|(name, library)| self.given.get(name).is_some_and(|last| last.is(library)));
        if !is_as_given {
            self.given = Arc::new(libraries);
        }
        Arc::clone(&self.given)
    }

    /// Everything stays, whatever the place holds now, and `problem` says why.
    pub(super) fn keep(&self, problem: Problem) -> Settled {
        let times = self.units.values().map(|unit| unit.since);
        let since = times.chain(self.libraries.values().map(|library| library.since)).max();
        let mut problems = vec![problem];
        if let Some(since) = since {
            stays(&mut problems, since);
        }
        problems.extend(self.units.values().flat_map(|unit| unit.problems.iter().cloned()));
        let pinned = |(base, library): (&String, &Remembered)| {
            (base.clone(), Library::pinned(Ok(Arc::clone(&library.body))))
        };
        Settled { libraries: self.libraries.iter().map(pinned).collect(), problems, ..Settled::default() }
    }

    /// Nothing stays.
    pub(super) fn clear(&mut self, problem: Problem) -> Settled {
        let last = std::mem::take(self);
        let changed_libraries =
            last.libraries.into_values().map(|library| library.body.file.clone()).collect();
        Settled { changed_libraries, problems: vec![problem], ..Settled::default() }
    }
}

/// The unit that holds from now on, the last one where this attempt is broken.
fn settle_unit(
    attempt: Attempt,
    last: Option<Arc<Unit>>,
    source: &Source,
    problems: &mut Vec<Problem>,
) -> Option<Arc<Unit>> {
    // One that never had a tool has nothing to keep.
    let last = last.filter(|last| !last.tools.is_empty());
    let Attempt { file, problems: mut faults, manifest, script, is_empty, .. } = attempt;
    let (unit, is_broken) = match (manifest.zip(script), last.as_ref()) {
        (Some((manifest, script)), Some(last)) if last.is_made_of(&manifest.0, &script) => {
            problems.extend(last.problems.iter().cloned());
            return Some(Arc::clone(last));
        }
        (Some((manifest, script)), last) => {
            let unit = Unit::new(&file, source, manifest, script, faults);
            let is_broken = last.is_some_and(|last| unit.is_broken_since(last));
            faults = unit.problems.clone();
            (Some(Arc::new(unit)), is_broken)
        }
        // An empty group is meant to be empty.
        (None, _) => (None, !is_empty && faults.iter().any(|fault| !fault.warning)),
    };
    let kept = last.filter(|_| is_broken);
    if let Some(last) = &kept {
        stays(&mut faults, last.since);
    }
    problems.extend(faults);
    kept.or(unit)
}

/// Says with the first fault that what was loaded before is in use.
fn stays(problems: &mut [Problem], since: SystemTime) {
    if let Some(fault) = problems.iter_mut().find(|problem| !problem.warning) {
        fault.message.push_str(&format!("; the version of {} stays in use", time(since)));
    }
}

/// The time of day, with the date if that is another one.
fn time(moment: SystemTime) -> String {
    // A machine without a zone, such as a bare container, is on UTC.
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    let now = Timestamp::now().to_zoned(zone.clone());
    let moment = Timestamp::try_from(moment).map_or_else(|_| now.clone(), |moment| moment.to_zoned(zone));
    let format = if moment.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    moment.strftime(format).to_string()
}
