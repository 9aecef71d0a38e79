//! From the text of a script to what the worker runs.
//!
//! A worker only evaluates plain scripts. Here types are stripped, `export` is taken away, and the
//! names are found that a manifest may call, by parsing and never by looking at the text. What
//! cannot work is said with line and column while its author is still looking.

mod examiner;
mod outline;
mod scan;
mod strip;
mod weights;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use oxc_allocator::Allocator;
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::{LabeledSpan, SourceType};

pub use examiner::{Examiner, examine};

/// Longer scripts are refused: they are data, or somebody's idea of a joke.
pub(crate) const SOURCE_LIMIT: u64 = 1 << 20;

/// Stands before a script that was written as a module. The worker takes it off again, so that columns stay, and
/// knows it from what an author would write.
pub(crate) const STRICT: &str = "'use strict';/**/";

/// The name that `export default` gives to a value without one; so short that columns stay.
const DEFAULT: &str = "__dft";
/// One mistake may bring a thousand others.
const FAULTS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    JavaScript,
    TypeScript,
}

impl SourceKind {
    pub fn extension(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
        }
    }
}

/// A script that is ready to run, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Plain JavaScript without imports, exports or types.
    pub code: String,
    /// It was written as a module, and so is strict.
    pub is_module: bool,
    /// It assigns to `module.exports`, as only libraries can.
    pub is_commonjs: bool,
    /// Top-level names that are functions or may hold one: declared, bound or exported.
    pub functions: BTreeSet<String>,
    /// Top-level names that can be seen to be something else, and what they are.
    pub others: BTreeMap<String, &'static str>,
    /// What it exports: the name outside, the name inside.
    pub exported: BTreeMap<String, String>,
    /// It names `_env` somewhere.
    pub reads_env: bool,
    /// For each line of `code` the line of the source that it was made from; empty where they are the same.
    pub lines: Vec<u32>,
}

impl Script {
    /// The name inside the script of the function that a manifest calls `name`.
    pub fn entry(&self, name: &str) -> Option<&str> {
        let local = self.exported.get(name).map_or(name, String::as_str);
        self.functions.get(local).map(String::as_str)
    }

    /// What the script has under the name that a manifest calls `name`, if that is no function.
    pub fn other(&self, name: &str) -> Option<&'static str> {
        let local = self.exported.get(name).map_or(name, String::as_str);
        self.others.get(local).copied()
    }

    /// The line of the source that a line of `code` was made from.
    pub fn source_line(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|index| self.lines.get(index)).map_or(line, |line| *line as usize)
    }
}

/// Why a script cannot run. Line and column are counted from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct SourceFault {
    pub message: String,
    pub line: usize,
    pub column: usize,
}

/// Refuses a text that the parser would take too deep or too long over.
pub(crate) fn weigh(kind: SourceKind, text: &str) -> Result<(), SourceFault> {
    scan::scan(kind, text).map(drop)
}

/// Examines a script on the stack of whoever calls: for the examiner's thread only.
fn read(allocator: &Allocator, kind: SourceKind, text: &str) -> Result<Script, Vec<SourceFault>> {
    if text.len() as u64 > SOURCE_LIMIT {
        return Err(vec![fault_at(text, 0, "the script is longer than 1 MiB")]);
    }
    if let Some(offset) = text.find('\0') {
        return Err(vec![fault_at(text, offset, "the script contains a NUL character")]);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let seen = scan::scan(kind, text).map_err(|fault| vec![fault])?;
    let mut script = match kind {
        SourceKind::JavaScript => outline::outline(allocator, text)?,
        SourceKind::TypeScript => strip::strip(allocator, text)?,
    };
    script.reads_env = seen.env;
    Ok(script)
}

/// Parses, and reports what the language forbids.
fn parse<'a>(
    allocator: &'a Allocator,
    text: &'a str,
    source_type: SourceType,
) -> Result<ParserReturn<'a>, Vec<SourceFault>> {
    let parsed = Parser::new(allocator, text, source_type).parse();
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(faults(text, parsed.diagnostics.iter().map(|one| (&one.labels[..], &one.message))));
    }
    let checked = SemanticBuilder::new().with_check_syntax_error(true).build(&parsed.program);
    let faults = faults(text, checked.diagnostics.iter().map(|one| (&one.labels[..], &one.message)));
    if faults.is_empty() { Ok(parsed) } else { Err(faults) }
}

fn faults<'a>(
    text: &str,
    diagnostics: impl Iterator<Item = (&'a [LabeledSpan], &'a Cow<'static, str>)>,
) -> Vec<SourceFault> {
    // The last place is where things went wrong; the others say with what (`let a; let a`).
    let offset = |labels: &[LabeledSpan]| labels.iter().map(LabeledSpan::offset).max().unwrap_or(0) as usize;
    diagnostics.take(FAULTS).map(|(labels, message)| fault_at(text, offset(labels), message)).collect()
}

fn fault_at(text: &str, offset: usize, message: &str) -> SourceFault {
    let (line, column) = position(text, offset);
    SourceFault { message: message.to_owned(), line, column }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
