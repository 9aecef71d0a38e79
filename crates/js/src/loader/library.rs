//! Scripts without a manifest: what `lib(name)` gives to the tools beside them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Problem, ScriptSource, listing::Text};
use crate::source::{SourceFault, SourceKind, examine};

/// The libraries of a place, by name.
pub type Libraries = BTreeMap<String, Library>;

/// A script that is read when a tool asks for it.
#[derive(Clone, Debug)]
pub struct Library {
    kind: SourceKind,
    text: Text,
    /// As it was read last, with the digest of its text: parsing a large one takes a while.
    known: Arc<Mutex<Option<(u64, ScriptSource)>>>,
}

impl Library {
    pub(super) fn new(kind: SourceKind, text: Text) -> Self {
        Self { kind, text, known: Arc::default() }
    }

    /// The body of a CommonJS function `(module, exports, lib)`. What a library `export`s is in
    /// `module.exports`, so it may be written either way.
    pub fn read(&self) -> Result<ScriptSource, Vec<Problem>> {
        let text = self.text.read_script().map_err(|problem| vec![problem])?;
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = hasher.finish();
        // A std lock, held for a look.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = known().as_ref().filter(|(of, _)| *of == digest) {
            return Ok(known.clone());
        }
        let script = examine(self.kind, &text).map_err(|faults| {
            faults.into_iter().map(|fault| located(&self.text.file, fault)).collect::<Vec<_>>()
        })?;
        let mut code = script.code;
        if !script.exported.is_empty() {
            code.push_str("\n;");
            for (outside, inside) in &script.exported {
                // The name outside may be any string; the name inside is an identifier that was parsed.
                let outside = serde_json::Value::from(outside.as_str());
                // Writing to a String cannot fail.
                let _ = write!(code, "module.exports[{outside}] = {inside};");
            }
        }
        let source = ScriptSource { file: self.text.file.clone(), code, lines: script.lines };
        *known() = Some((digest, source.clone()));
        Ok(source)
    }
}

pub(super) fn located(file: &str, fault: SourceFault) -> Problem {
    Problem { line: Some(fault.line), column: Some(fault.column), ..Problem::new(file, fault.message) }
}
