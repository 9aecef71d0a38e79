//! How this terminal may be written to, and lines that know their colours and their width.

use std::io::IsTerminal as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

/// Decided once, from flags and the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Not with `NO_COLOR`, `--plain` or a dumb terminal.
    pub(crate) colour: bool,
    /// Whether what is on the screen may be drawn again: not with `--plain` (a screen reader reads each
    /// change), a dumb terminal, or where the output is no terminal.
    pub(crate) redraws: bool,
}

impl Look {
    pub(crate) fn of_stdout(plain: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let redraws = !plain && !dumb && std::io::stdout().is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: redraws && !no_colour, redraws }
    }
}

/// One row of the screen. Its text has no control characters: whoever makes one sees to that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) spans: Vec<(Style, String)>,
}

impl Line {
    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// As it is written to a terminal, without a line break.
    pub(crate) fn written(&self, look: Look) -> String {
        let mut written = String::new();
        for (style, text) in &self.spans {
            if look.colour && !style.is_plain() {
                written.push_str(&format!("{style}{text}{style:#}"));
            } else {
                written.push_str(text);
            }
        }
        written
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self { spans: vec![(Style::new(), text.to_owned())] }
    }
}
