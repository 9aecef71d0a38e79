//! Lines of code in colours: the sixteen of the terminal, which its owner has chosen.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use rustix::time::{ClockId, clock_gettime};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

/// Longer lines, and what comes after so much code in one block, are shown without colours.
const LINE: usize = 300;
const BLOCK: usize = 64 * 1024;

/// Read when the first code block comes; the chat's start does not wait for them.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// The first that fits a scope decides; few, so that code stays calm.
static COLOURS: LazyLock<Vec<(Scope, Style)>> = LazyLock::new(|| {
    let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    [
        ("comment", Style::new().dimmed()),
        ("string", colour(AnsiColor::Green)),
        ("constant", colour(AnsiColor::Cyan)),
        ("keyword.operator", Style::new()),
        ("keyword", colour(AnsiColor::Magenta)),
        ("storage", colour(AnsiColor::Magenta)),
        ("entity.name.tag", colour(AnsiColor::Blue)),
        ("entity.name.function", colour(AnsiColor::Blue)),
        ("support.function", colour(AnsiColor::Blue)),
        ("variable.function", colour(AnsiColor::Blue)),
        ("markup.inserted", colour(AnsiColor::Green)),
        ("markup.deleted", colour(AnsiColor::Red)),
    ]
    .into_iter()
    .filter_map(|(scope, style)| Some((Scope::new(scope).ok()?, style)))
    .collect()
});

/// The time that an answer's colours may take. Grammars are regular expressions that look back: some lines
/// take them most of a second, and a hostile answer has thousands. Time of the processor, so that a busy
/// machine does not cost colours.
#[derive(Clone, Debug)]
pub(super) struct Budget(Arc<AtomicU64>);

impl Budget {
    pub(super) fn new(time: Duration) -> Self {
        Self(Arc::new(AtomicU64::new(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))))
    }

    fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn spend<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = thread_time();
        let done = work();
        let taken = thread_time().saturating_sub(begun);
        let left = self
            .0
            .load(Ordering::Relaxed)
            .saturating_sub(u64::try_from(taken.as_micros()).unwrap_or(u64::MAX));
        self.0.store(left, Ordering::Relaxed);
        done
    }
}

fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Where the grammar of a block stands.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    state: ParseState,
    scopes: ScopeStack,
    left: usize,
    budget: Budget,
}

impl Grammar {
    pub(super) fn of(language: &str, budget: &Budget) -> Option<Self> {
        let language = language.to_lowercase();
        // Near relatives of what there are no grammars for.
        let token = match language.as_str() {
            "" | "text" | "txt" | "plain" | "plaintext" => return None,
            "typescript" | "ts" | "tsx" | "jsx" | "mjs" | "cjs" => "js",
            "jsonc" | "json5" | "jsonl" => "json",
            "console" | "shell" | "zsh" | "fish" | "shell-session" => "sh",
            "toml" | "ini" | "conf" => "properties",
            "c#" | "csharp" => "cs",
            other => other,
        };
        let syntax = GRAMMARS.find_syntax_by_token(token)?;
        let state = ParseState::new(syntax);
        Some(Self { state, scopes: ScopeStack::new(), left: BLOCK, budget: budget.clone() })
    }

    /// The colours of the next line; `None` if it has none, and the block none from here on.
    pub(super) fn line(&mut self, text: &str) -> Option<Vec<(Style, String)>> {
        if text.len() > LINE {
            return Some(vec![(Style::new(), text.to_owned())]);
        }
        self.left = self.left.checked_sub(text.len())?;
        if self.budget.is_spent() {
            return None;
        }
        let line = format!("{text}\n");
        let operations = self.budget.spend(|| self.state.parse_line(&line, &GRAMMARS)).ok()?;
        let mut spans: Vec<(Style, String)> = Vec::new();
        let mut from = 0;
        for (at, operation) in operations {
            self.push(&mut spans, text.get(from..at.min(text.len())).unwrap_or(""));
            from = at.min(text.len());
            self.scopes.apply(&operation).ok()?;
        }
        self.push(&mut spans, text.get(from..).unwrap_or(""));
        Some(spans)
    }

    fn push(&self, spans: &mut Vec<(Style, String)>, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut innermost = self.scopes.as_slice().iter().rev();
        let style = innermost
            .find_map(|scope| COLOURS.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)))
            .map_or(Style::new(), |(_, style)| *style);
        match spans.last_mut() {
            Some((before, end)) if *before == style => end.push_str(text),
            _ => spans.push((style, text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn colours_end_with_their_time() {
        let budget = super::Budget::new(std::time::Duration::from_millis(100));
        let hostile = "_a".repeat(150);
        let mut grammar = super::Grammar::of("cs", &budget).unwrap();
        let coloured = (0..10_000).take_while(|_| grammar.line(&hostile).is_some()).count();
        // The block's own limit would end it after 218 such lines.
        assert!(coloured < 200, "{coloured}");
        assert!(super::Grammar::of("rs", &budget).unwrap().line("fn a() {}").is_none());
    }
}
