//! Scripts without a manifest: what `lib(name)` gives to the tools beside them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Problem, ScriptSource, listing::Text};
use crate::source::{Script, SourceFault, SourceKind, examine};

/// The libraries of a place, by name.
pub type Libraries = BTreeMap<String, Library>;

/// A script for other scripts.
#[derive(Clone, Debug)]
pub struct Library(State);

#[derive(Clone, Debug)]
enum State {
    Unread(Unread),
    Read(Result<Arc<ScriptSource>, Vec<Problem>>),
}

/// Read whenever a tool asks for it.
#[derive(Clone, Debug)]
struct Unread {
    kind: SourceKind,
    text: Text,
    /// As it was read last, with the digest of its text: parsing a large one takes a while.
    known: Arc<Mutex<Option<(u64, ScriptSource)>>>,
}

impl Library {
    pub(super) fn unread(kind: SourceKind, text: Text) -> Self {
        Self(State::Unread(Unread { kind, text, known: Arc::default() }))
    }

    pub(super) fn pinned(read: Result<Arc<ScriptSource>, Vec<Problem>>) -> Self {
        Self(State::Read(read))
    }

    /// Whether scripts are sure to get the same from both.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (State::Read(Ok(one)), State::Read(Ok(other))) => Arc::ptr_eq(one, other),
            (State::Read(Err(one)), State::Read(Err(other))) => one == other,
            // Nobody knows what its file says by now.
            _ => false,
        }
    }

    /// The body of a CommonJS function `(module, exports, lib)`. What a library `export`s is in
    /// `module.exports`, so it may be written either way.
    pub fn read(&self) -> Result<ScriptSource, Vec<Problem>> {
        match &self.0 {
            State::Read(read) => read.as_ref().map(|script| (**script).clone()).map_err(Clone::clone),
            State::Unread(unread) => unread.read(),
        }
    }
}

impl Unread {
    fn read(&self) -> Result<ScriptSource, Vec<Problem>> {
        let file = &self.text.file;
        let text = self.text.read_script().map_err(|problem| vec![problem])?;
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = hasher.finish();
        // A std lock, held for a look.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = known().as_ref().filter(|(of, _)| *of == digest) {
            return Ok(known.clone());
        }
        let mut script = examine(self.kind, &text)
            .map_err(|faults| faults.into_iter().map(|fault| located(file, fault)).collect::<Vec<_>>())?;
        let code = std::mem::take(&mut script.code);
        let code = body(&script, code);
        let source = ScriptSource { file: file.clone(), code, lines: script.lines };
        *known() = Some((digest, source.clone()));
        Ok(source)
    }
}

/// The code of a library with its exports where CommonJS has them.
pub(super) fn body(script: &Script, mut code: String) -> String {
    if !script.exported.is_empty() {
        code.push_str("\n;");
        for (outside, inside) in &script.exported {
            // The name outside may be any string; the name inside is an identifier that was parsed.
            let outside = serde_json::Value::from(outside.as_str());
            // Writing to a String cannot fail.
            let _ = write!(code, "module.exports[{outside}] = {inside};");
        }
    }
    code
}

pub(super) fn located(file: &str, fault: SourceFault) -> Problem {
    Problem { line: Some(fault.line), column: Some(fault.column), ..Problem::new(file, fault.message) }
}
