//! What the line editor asks while somebody types: completions, and how the line looks.

use std::borrow::Cow;

use rustyline::{
    Context,
    completion::{Completer, Pair},
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    validate::Validator,
};

use super::complete::{Words, complete};
use crate::terminal::Look;

pub(super) struct Helper {
    pub(super) words: Words,
    pub(super) look: Look,
}

impl rustyline::Helper for Helper {}
impl Hinter for Helper {
    type Hint = String;
}
impl Validator for Helper {}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = complete(&line[..pos], &self.words);
        let pair = |one: super::complete::Candidate| Pair { display: one.shown, replacement: one.inserted };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

/// What a person says stands out from what a model says.
impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        self.bold(line)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        self.bold(prompt)
    }

    /// Bold text must be written anew with every key.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.look.colour
    }
}

impl Helper {
    fn bold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.look.colour || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let bold = anstyle::Style::new().bold();
        Cow::Owned(format!("{bold}{text}{bold:#}"))
    }
}
