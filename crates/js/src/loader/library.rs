//! Scripts without a manifest: what `lib(name)` gives to the tools beside them.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use super::{Problem, ScriptSource, listing::Text};
use crate::source::{Script, SourceFault, SourceKind, examine};

/// The libraries of a place, by name.
pub type Libraries = BTreeMap<String, Library>;

/// A script for other scripts.
#[derive(Clone, Debug)]
pub struct Library(State);

#[derive(Clone, Debug)]
enum State {
    /// Read when a tool asks for it.
    Unread {
        kind: SourceKind,
        text: Text,
    },
    Read(Result<Arc<ScriptSource>, Vec<Problem>>),
}

impl Library {
    pub(super) fn unread(kind: SourceKind, text: Text) -> Self {
        Self(State::Unread { kind, text })
    }

    pub(super) fn pinned(read: Result<Arc<ScriptSource>, Vec<Problem>>) -> Self {
        Self(State::Read(read))
    }

    /// The body of a CommonJS function `(module, exports, lib)`. What a library `export`s is in
    /// `module.exports`, so it may be written either way.
    pub fn read(&self) -> Result<ScriptSource, Vec<Problem>> {
        let (kind, text) = match &self.0 {
            State::Read(read) => return read.as_ref().map(|script| (**script).clone()).map_err(Clone::clone),
            State::Unread { kind, text } => (*kind, text),
        };
        let source = text.read_script().map_err(|problem| vec![problem])?;
        let script = examine(kind, &source).map_err(|faults| {
            faults.into_iter().map(|fault| located(&text.file, fault)).collect::<Vec<_>>()
        })?;
        let code = body(&script, script.code.clone());
        Ok(ScriptSource { file: text.file.clone(), code, lines: script.lines })
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
