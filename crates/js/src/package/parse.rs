//! Parsing what strangers wrote: on a thread with a big stack, bounded in size, nesting and time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::source::{SourceKind, weigh};

/// Address space only; the scan lets nothing through that goes deeper.
const STACK: usize = 512 << 20;
/// The largest libraries take a few seconds in an unoptimised build.
const PATIENCE: Duration = Duration::from_secs(60);
/// Larger files are bundles or data. They are only looked over.
pub(super) const MOST_SOURCE: u64 = 1 << 20;

/// Does work that parses, away from the caller's stack. The error is a reason for people. A thread that
/// takes too long is left behind, for a parser cannot be told to stop.
pub(super) fn on_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, &'static str> {
    let (done, waiting) = channel();
    let guarded = move || {
        // The parser is foreign code: where it panics, only this work is lost.
        if let Ok(result) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = done.send(result);
        }
    };
    let builder = thread::Builder::new().name("pinza-js-package".into()).stack_size(STACK);
    builder.spawn(guarded).map_err(|_| "no memory for a thread to read it on")?;
    waiting.recv_timeout(PATIENCE).map_err(|error| match error {
        RecvTimeoutError::Timeout => "reading it takes too long",
        RecvTimeoutError::Disconnected => "the parser failed on it",
    })
}

/// A parsed file that lives as long as the allocator; `None` where it cannot be parsed safely or at all.
pub(super) fn parse<'a>(
    allocator: &'a Allocator,
    text: &str,
    source_type: SourceType,
) -> Option<&'a Program<'a>> {
    if text.len() as u64 > MOST_SOURCE || text.contains('\0') {
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let kind = if source_type.is_typescript() { SourceKind::TypeScript } else { SourceKind::JavaScript };
    weigh(kind, text).ok()?;
    let text = allocator.alloc_str(text);
    let parsed = Parser::new(allocator, text, source_type).parse();
    (!parsed.panicked).then(|| &*allocator.alloc(parsed.program))
}
