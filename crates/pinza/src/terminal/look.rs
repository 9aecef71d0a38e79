//! How this terminal may be written to, and lines that know their colours and their width.

use std::{io::IsTerminal as _, sync::Arc};

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
    /// Which spans lead somewhere when they are clicked, by index: printable ASCII only, so that an
    /// address cannot end its escape sequence.
    pub(crate) links: Vec<(usize, Arc<str>)>,
}

impl Line {
    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// As it is written to a terminal, without a line break.
    pub(crate) fn written(&self, look: Look) -> String {
        let mut written = String::new();
        for (index, (style, text)) in self.spans.iter().enumerate() {
            if !look.colour {
                written.push_str(text);
                continue;
            }
            let link = self.links.iter().find(|(span, _)| *span == index);
            if let Some((_, address)) = link {
                written.push_str(&format!("\u{1b}]8;;{address}\u{1b}\\"));
            }
            written.push_str(&format!("{style}{text}{style:#}"));
            if link.is_some() {
                written.push_str("\u{1b}]8;;\u{1b}\\");
            }
        }
        written
    }

    /// More of it on the right, in one span with what is there if nothing tells them apart.
    pub(crate) fn push(&mut self, style: Style, text: &str, link: Option<&Arc<str>>) {
        if text.is_empty() {
            return;
        }
        let last = self.spans.len().wrapping_sub(1);
        let linked = self.links.last().filter(|(span, _)| *span == last).map(|(_, address)| address);
        if linked == link
            && let Some((before, end)) = self.spans.last_mut()
            && *before == style
        {
            end.push_str(text);
            return;
        }
        self.spans.push((style, text.to_owned()));
        if let Some(address) = link {
            self.links.push((self.spans.len() - 1, Arc::clone(address)));
        }
    }

    /// All of another one on the right.
    pub(crate) fn append(&mut self, other: &Line) {
        for (index, (style, text)) in other.spans.iter().enumerate() {
            let link = other.links.iter().find(|(span, _)| *span == index).map(|(_, address)| address);
            self.push(*style, text, link);
        }
    }

    /// Without blanks at its right end.
    pub(crate) fn trim_end(&mut self) {
        while let Some((_, text)) = self.spans.last_mut() {
            text.truncate(text.trim_end_matches(' ').len());
            if !text.is_empty() {
                return;
            }
            self.spans.pop();
            let spans = self.spans.len();
            self.links.retain(|(span, _)| *span < spans);
        }
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::from(vec![(Style::new(), text.to_owned())])
    }
}

impl From<Vec<(Style, String)>> for Line {
    fn from(spans: Vec<(Style, String)>) -> Self {
        Self { spans, links: Vec::new() }
    }
}
