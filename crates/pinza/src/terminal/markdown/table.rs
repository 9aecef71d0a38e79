//! Tables: columns as wide as they need, narrowed together where the screen is too narrow.
//!
//! The widths follow from the first rows. Those are held back, then the widths stay and each row is
//! shown as it comes: a table of any length costs the same for each row.

use std::sync::Arc;

use anstyle::Style;

use super::{
    inline::{References, inline},
    wrap::{Run, natural, wrap},
};
use crate::terminal::{Line, Look};

/// How many rows the widths are taken from.
const ROWS: usize = 40;
/// A column that is narrower than this, and has more to say, cannot be read.
const NARROW: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Centre,
    Right,
}

type Row = Arc<Vec<Vec<Run>>>;

#[derive(Clone, Debug)]
pub(super) struct Table {
    look: Look,
    aligns: Vec<Align>,
    natural: Vec<usize>,
    header: Row,
    /// Rows that are held back.
    rows: Vec<Row>,
    /// The header and the rows before are out.
    fixed: bool,
    /// A record is out, which the next one keeps away from.
    recorded: bool,
}

impl Table {
    /// If `delimiters` makes a table's header of the line before it.
    pub(super) fn of(header: &str, delimiters: &str, look: Look, references: &References) -> Option<Self> {
        let aligns = aligns(delimiters)?;
        let cells = cells(header);
        if cells.len() != aligns.len() {
            return None;
        }
        let header = row(&cells, aligns.len(), Style::new().bold(), look, references);
        let mut table = Self {
            look,
            natural: vec![1; aligns.len()],
            aligns,
            header: Arc::clone(&header),
            rows: Vec::new(),
            fixed: false,
            recorded: false,
        };
        table.measure(&header);
        Some(table)
    }

    /// Takes a row, and hands out what is now ready to be shown.
    pub(super) fn push(&mut self, line: &str, references: &References, width: usize) -> Vec<Line> {
        let row = row(&cells(line), self.aligns.len(), Style::new(), self.look, references);
        if self.fixed {
            return self.lines(&[row], width);
        }
        self.measure(&row);
        self.rows.push(row);
        if self.rows.len() < ROWS { Vec::new() } else { self.fix(width) }
    }

    /// All that is held back, though there may be more: the widths stay as they are from now on, with some
    /// room for what is yet to come.
    pub(super) fn fix(&mut self, width: usize) -> Vec<Line> {
        let columns = self.natural.len();
        let taken = self.natural.iter().sum::<usize>() + 3 * (columns - 1);
        let free = width.saturating_sub(taken) / columns;
        for natural in &mut self.natural {
            *natural += free.min(*natural / 2 + 2);
        }
        self.rest(width)
    }

    /// All that is held back.
    pub(super) fn rest(&mut self, width: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.fixed && (self.widths(width).is_some() || self.rows.is_empty()) {
            lines = self.lines(&[Arc::clone(&self.header)], width);
            lines.extend(self.rule(width));
        }
        let rows = std::mem::take(&mut self.rows);
        lines.extend(self.lines(&rows, width));
        self.fixed = true;
        lines
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.fixed
    }

    fn measure(&mut self, row: &Row) {
        for (widest, cell) in self.natural.iter_mut().zip(row.iter()) {
            *widest = (*widest).max(natural(cell));
        }
    }

    /// The widths of the columns; `None` where there is no room for columns.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let room = width.checked_sub(3 * (self.natural.len() - 1))?;
        if self.natural.iter().sum::<usize>() <= room {
            return Some(self.natural.clone());
        }
        // The widest columns give way, down to the largest common limit that fits.
        let mut sorted = self.natural.clone();
        sorted.sort_unstable();
        let (mut left, mut columns) = (room, sorted.len());
        for natural in sorted {
            let limit = left / columns;
            if natural > limit {
                let widths = self.natural.iter().map(|natural| (*natural).min(limit)).collect();
                return (limit >= NARROW).then_some(widths);
            }
            left -= natural;
            columns -= 1;
        }
        None
    }

    fn rule(&self, width: usize) -> Option<Line> {
        // To a screen reader a rule is only noise.
        let widths = self.widths(width).filter(|_| self.look.redraws)?;
        let dashes: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
        Some(Line::from(vec![(Style::new().dimmed(), dashes.join("─┼─"))]))
    }

    fn lines(&mut self, rows: &[Row], width: usize) -> Vec<Line> {
        if let Some(widths) = self.widths(width) {
            return rows.iter().flat_map(|row| self.columns(row, &widths)).collect();
        }
        let mut lines = Vec::new();
        for row in rows {
            if std::mem::replace(&mut self.recorded, true) {
                lines.push(Line::default());
            }
            self.record(row, width, &mut lines);
        }
        lines
    }

    /// A row as columns side by side.
    fn columns(&self, row: &Row, widths: &[usize]) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap(cell, *width).into_iter().map(|row| row.line).collect())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let border = if self.look.redraws { " │ " } else { " | " };
        let nothing = Line::default();
        let mut lines = Vec::with_capacity(height);
        for index in 0..height {
            let mut line = Line::default();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    line.push(Style::new().dimmed(), border, None);
                }
                let text = cell.get(index).unwrap_or(&nothing);
                let free = width.saturating_sub(text.width());
                let left = match self.aligns[column] {
                    Align::Left => 0,
                    Align::Centre => free / 2,
                    Align::Right => free,
                };
                line.push(Style::new(), &" ".repeat(left), None);
                line.append(text);
                line.push(Style::new(), &" ".repeat(free - left), None);
            }
            line.trim_end();
            lines.push(line);
        }
        lines
    }

    /// A row as one line for each of its cells, named by the header.
    fn record(&self, row: &Row, width: usize, lines: &mut Vec<Line>) {
        for (name, cell) in self.header.iter().zip(row.iter()) {
            let mut runs = name.clone();
            let colon = if runs.is_empty() || cell.is_empty() { "" } else { ": " };
            runs.push(Run { text: colon.to_owned(), style: Style::new().bold(), ..Run::default() });
            runs.extend(cell.iter().cloned());
            lines.extend(wrap(&runs, width).into_iter().map(|row| row.line));
        }
    }
}

fn row(cells: &[String], columns: usize, base: Style, look: Look, references: &References) -> Row {
    // More cells than columns: the last one has them all, so that nothing is lost.
    let (own, more) = cells.split_at(cells.len().min(columns - 1));
    let last = (!more.is_empty()).then(|| more.join(" | "));
    let mut row: Vec<_> =
        own.iter().chain(last.as_ref()).map(|cell| inline(cell, base, look, references)).collect();
    row.resize(columns, Vec::new());
    Arc::new(row)
}

/// The texts between unescaped pipes.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letter == '\\' && letters.next_if_eq(&'|').is_some();
        if letter == '|' {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(if escaped { '|' } else { letter });
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn aligns(line: &str) -> Option<Vec<Align>> {
    if !line.contains('|') || line.contains(|c| !matches!(c, '|' | ':' | '-' | ' ')) {
        return None;
    }
    cells(line).iter().map(|cell| align(cell)).collect()
}

fn align(cell: &str) -> Option<Align> {
    let dashes = cell.trim_matches(':');
    if dashes.is_empty() || dashes.contains(|c| c != '-') || cell.len() > dashes.len() + 2 {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Align::Centre,
        (false, true) => Align::Right,
        _ => Align::Left,
    })
}
