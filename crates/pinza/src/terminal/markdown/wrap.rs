//! Runs of styled text become rows of a width, broken between words.

use std::sync::Arc;

use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::terminal::Line;

/// Text of one look. A `\n` in it ends a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) style: Style,
    pub(super) link: Option<Arc<str>>,
    /// Where in the source it comes from (0: nowhere), and whether the source says it letter by letter.
    pub(super) at: usize,
    pub(super) literal: bool,
    /// What has to stand before the rest of the source for it to look the same when it is cut here.
    pub(super) reopen: String,
}

/// A row, and where in the source it begins; 0 if that cannot be said.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: Line,
    pub(super) at: usize,
    pub(super) reopen: String,
}

/// Marks that do not stand at the beginning of a row.
const CLOSING: &str = "、。，．：；！？）］｝」』】〉》〕ー々％";

pub(super) fn wrap(runs: &[Run], width: usize) -> Vec<Row> {
    let mut rows = Rows { runs, width, row: Vec::new(), columns: 0, cut: 0, done: Vec::new() };
    for (run, of) in runs.iter().enumerate() {
        let mut start = 0;
        while let Some(text) = word(&of.text[start..]) {
            let columns = text.width();
            if columns > width || !text.is_ascii() {
                for glyph in glyphs(text, width) {
                    rows.take(Unit { run, start, text: glyph, columns: glyph.width() });
                    start += glyph.len();
                }
            } else {
                rows.take(Unit { run, start, text, columns });
                start += text.len();
            }
        }
    }
    if !rows.row.is_empty() || rows.done.is_empty() {
        rows.end();
    }
    rows.done
}

/// Rows of exactly these letters, spaces and all, broken wherever the width ends.
pub(super) fn chop(spans: &[(Style, String)], width: usize) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut columns = 0;
    for (style, text) in spans {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            // Letters of one column each need not be looked at one by one.
            let plain =
                rest.bytes().take(width - columns).take_while(|byte| matches!(byte, b' '..=b'~')).count();
            let joined = rest[plain..].chars().next().is_some_and(|next| !next.is_ascii());
            let take = if joined { plain.saturating_sub(1) } else { plain };
            let glyph = match take {
                0 => glyphs(rest, width).next().unwrap_or(rest),
                take => &rest[..take],
            };
            let wide = glyph.width();
            if columns + wide > width {
                lines.push(Line::default());
                columns = 0;
            }
            columns += wide;
            rest = &rest[glyph.len()..];
            if let Some(line) = lines.last_mut() {
                line.push(*style, glyph, None);
            }
        }
    }
    lines
}

/// The beginning of `text` that is looked at as one: a word of ASCII letters, a blank, or all up to the next
/// of those. A letter before another script's is left to it, as a mark may follow.
fn word(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    if first.is_ascii_whitespace() {
        return Some(&text[..1]);
    }
    let end = text.bytes().position(|byte| !byte.is_ascii_graphic()).unwrap_or(text.len());
    let word = &text[..end];
    if let Some(hyphen) = word.find('-').filter(|hyphen| hyphen + 1 < end) {
        return Some(&word[..hyphen.max(1)]);
    }
    if text[end..].starts_with(|next: char| !next.is_ascii()) {
        if end > 1 {
            return Some(&word[..end - 1]);
        }
        let end = text.find(' ').unwrap_or(text.len());
        return Some(&text[..end]);
    }
    Some(word)
}

/// What moves together. A cluster has no longest length (Hangul's leading consonants pile up), so one
/// that is wider than any honest one goes letter by letter.
fn glyphs(text: &str, width: usize) -> impl Iterator<Item = &str> {
    let widest = width.min(4);
    text.graphemes(true).flat_map(move |cluster| {
        let pieces = if cluster.width() > widest { cluster.len() } else { 1 };
        let mut rest = cluster;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let first = if pieces == 1 { rest.len() } else { rest.chars().next().map_or(1, char::len_utf8) };
            let (piece, after) = rest.split_at(first);
            rest = after;
            Some(piece)
        })
    })
}

struct Unit<'a> {
    run: usize,
    start: usize,
    text: &'a str,
    columns: usize,
}

impl Unit<'_> {
    /// Is it a letter of two columns? Between those a row may be broken.
    fn is_wide(&self) -> bool {
        self.columns > 1 && !self.text.is_ascii()
    }
}

struct Rows<'a> {
    runs: &'a [Run],
    width: usize,
    row: Vec<Unit<'a>>,
    columns: usize,
    /// Where the row may be broken: what comes from here on moves to the next one. 0: nowhere.
    cut: usize,
    done: Vec<Row>,
}

impl<'a> Rows<'a> {
    fn take(&mut self, unit: Unit<'a>) {
        if unit.text == "\n" {
            return self.end();
        }
        if unit.text.chars().all(char::is_whitespace) {
            // No row begins with a blank: model text must not reach the column of our own lines.
            if self.row.is_empty() {
                return;
            }
            let breaks = unit.text == " ";
            if self.columns + unit.columns > self.width {
                return self.end();
            }
            self.push(unit);
            if breaks {
                self.cut = self.row.len();
            }
            return;
        }
        if unit.is_wide() && !CLOSING.contains(unit.text) {
            self.cut = self.row.len();
        }
        while self.columns + unit.columns > self.width && !self.row.is_empty() {
            self.overflow();
        }
        let hyphen = unit.text == "-"
            && self.row.last().is_some_and(|before| before.text.chars().all(char::is_alphabetic));
        self.push(unit);
        if hyphen {
            self.cut = self.row.len();
        }
    }

    fn push(&mut self, unit: Unit<'a>) {
        // After a wide letter a row may be broken, unless a closing mark follows, which is seen then.
        let after_wide = self.row.last().is_some_and(Unit::is_wide);
        if after_wide && !unit.is_wide() && unit.text.starts_with(char::is_alphanumeric) {
            self.cut = self.row.len();
        }
        self.columns += unit.columns;
        self.row.push(unit);
    }

    /// Ends the row where it may be broken, or right here.
    fn overflow(&mut self) {
        let cut = if self.cut == 0 { self.row.len() } else { self.cut };
        let rest = self.row.split_off(cut);
        if !self.row.is_empty() {
            self.end();
        }
        self.columns = rest.iter().map(|unit| unit.columns).sum();
        self.row = rest;
        self.cut = 0;
    }

    fn end(&mut self) {
        let mut line = Line::default();
        for unit in &self.row {
            let run = &self.runs[unit.run];
            line.push(run.style, unit.text, run.link.as_ref());
        }
        line.trim_end();
        let (at, reopen) = self.row.first().map_or((0, String::new()), |unit| {
            let run = &self.runs[unit.run];
            let at = if run.literal { run.at + unit.start } else { run.at };
            (if run.literal || unit.start == 0 { at } else { 0 }, run.reopen.clone())
        });
        self.done.push(Row { line, at, reopen });
        self.row.clear();
        self.columns = 0;
        self.cut = 0;
    }
}

/// As many columns as its widest row would take.
pub(super) fn natural(runs: &[Run]) -> usize {
    let (mut widest, mut columns) = (0, 0);
    for c in runs.iter().flat_map(|run| run.text.chars()) {
        columns = if c == '\n' { 0 } else { columns + c.width().unwrap_or(0) };
        widest = widest.max(columns);
    }
    widest
}
