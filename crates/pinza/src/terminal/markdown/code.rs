//! Lines of code in colours: the sixteen of the terminal, which its owner has chosen.

use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

/// Grammars are regular expressions: what is longer, in a line or in all, is shown without colours.
const LINE: usize = 500;
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

/// Where the grammar of a block stands.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    state: ParseState,
    scopes: ScopeStack,
    left: usize,
}

impl Grammar {
    pub(super) fn of(language: &str) -> Option<Self> {
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
        Some(Self { state: ParseState::new(syntax), scopes: ScopeStack::new(), left: BLOCK })
    }

    /// The colours of the next line; `None` if it has none, and the block none from here on.
    pub(super) fn line(&mut self, text: &str) -> Option<Vec<(Style, String)>> {
        if text.len() > LINE {
            return Some(vec![(Style::new(), text.to_owned())]);
        }
        self.left = self.left.checked_sub(text.len())?;
        let line = format!("{text}\n");
        let operations = self.state.parse_line(&line, &GRAMMARS).ok()?;
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
