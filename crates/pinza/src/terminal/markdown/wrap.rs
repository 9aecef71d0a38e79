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
        for text in glyphs(&of.text, width) {
            rows.take(Unit { run, start, text, columns: text.width() });
            start += text.len();
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
        for glyph in glyphs(text, width) {
            let wide = glyph.width();
            if columns + wide > width {
                lines.push(Line::default());
                columns = 0;
            }
            columns += wide;
            if let Some(line) = lines.last_mut() {
                line.push(*style, glyph, None);
            }
        }
    }
    lines
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
        let wide = unit.columns > 1;
        if wide && !CLOSING.contains(unit.text) {
            self.cut = self.row.len();
        }
        if self.columns + unit.columns > self.width {
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
        let after_wide = self.row.last().is_some_and(|before| before.columns > 1);
        if after_wide && unit.columns == 1 && unit.text.chars().all(char::is_alphanumeric) {
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
