//! The blocks of an answer, line by line: each line is looked at once, whatever stands before it.
//!
//! These are CommonMark's rules for containers (quotes, list items) and what stands in them, with tables and
//! tasks. They are here and not in a parser of whole documents because what has been decided is on the screen:
//! it must not depend on what comes later, and must not be computed again. Two rules differ for that reason:
//! an item is as far from the next as its source is (a loose list is known only at its end), and a reference
//! is known from its definition on. HTML is shown as the text it is.

use std::time::Duration;

use anstyle::Style;

use super::{
    code::{Budget, Grammar},
    inline::{BREAK, References, closed, inline},
    page::{Container, Kind, Page, Space},
    start::{Marker, fence, heading, is_rule, item, spaces, starts_block, underline},
    table::Table,
    wrap::{Row, chop, wrap},
};
use crate::terminal::{Line, Look};

/// Deeper containers are text.
const DEPTH: usize = 16;
/// A paragraph that is longer is cut where a row begins, and goes on as a new one.
pub(super) const LONG: usize = 4096;

/// How long the colours of an answer's code may take in all.
const COLOURS: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct Blocks {
    look: Look,
    page: Page,
    leaf: Leaf,
    references: References,
    budget: Budget,
    /// This is only how it looks now: more will come.
    sketch: bool,
}

#[derive(Clone, Debug)]
enum Leaf {
    None,
    Paragraph {
        text: String,
        /// Its beginning is out.
        cut: bool,
    },
    Fenced {
        mark: char,
        length: usize,
        indent: usize,
        grammar: Option<Box<Grammar>>,
    },
    Indented {
        blanks: usize,
    },
    Table(Box<Table>),
}

impl Blocks {
    pub(super) fn new(look: Look, width: usize) -> Self {
        Self {
            look,
            page: Page::new(look, width),
            leaf: Leaf::None,
            references: References::default(),
            budget: Budget::new(COLOURS),
            sketch: false,
        }
    }

    pub(super) fn resize(&mut self, width: usize) {
        self.page.width = width;
    }

    /// Lines that will not change any more, each once.
    pub(super) fn settled(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.page.lines)
    }

    /// A whole line, or as much of a long one as came first.
    pub(super) fn line(&mut self, text: &str) {
        let mut rest = text;
        let matched = self.matched(&mut rest);
        let whole = matched == self.page.containers.len();
        let blank = rest.trim().is_empty();
        if whole && self.code(rest, blank) {
            return;
        }
        if blank {
            return self.blank_line(matched);
        }
        if let Leaf::Paragraph { .. } = &self.leaf
            && !whole
            && !starts_block(rest, false)
        {
            return self.paragraph(rest);
        }
        let before = match self.page.containers.get(matched).map(|container| &container.kind) {
            Some(Kind::Item { item, number }) => Some((item.marker, *number)),
            _ => None,
        };
        if !whole {
            self.close_to(matched);
        }
        self.open(&mut rest, before);
        if !rest.trim().is_empty() {
            self.leaf(rest);
        }
    }

    /// More of the line before.
    pub(super) fn more(&mut self, rest: &str) {
        if rest.is_empty() {
            return;
        }
        match &mut self.leaf {
            Leaf::Paragraph { text, .. } => {
                text.push_str(rest);
                self.shorten();
            }
            Leaf::Fenced { .. } | Leaf::Indented { .. } => self.code_line(rest),
            Leaf::Table(_) | Leaf::None => {
                self.finish_leaf();
                self.paragraph(rest);
            }
        }
    }

    /// There is no more.
    pub(super) fn finish(&mut self) {
        self.close_to(0);
    }

    /// As it looks now, with `partial` as a last line that is not whole.
    pub(super) fn sketch(&self, partial: &str, continues: bool) -> Vec<Line> {
        let mut sketch = Self { sketch: true, ..self.clone() };
        sketch.page.lines.clear();
        if continues {
            sketch.more(partial);
        } else if !partial.is_empty() && !sketch.may_be_fence(partial) {
            sketch.line(partial);
        }
        sketch.finish();
        sketch.page.lines
    }

    /// Settles what is open, but for about `keep` rows of it. What comes later can no longer change those:
    /// emphasis that closes after them, a wider cell of a table. Nothing is lost or said twice.
    pub(super) fn shed(&mut self, keep: usize) {
        match &mut self.leaf {
            Leaf::Paragraph { .. } => self.cut(keep),
            Leaf::Table(table) if !table.is_fixed() => {
                let mut table = table.clone();
                let lines = table.fix(self.page.room());
                self.page.begin(Space::Around);
                self.page.emit_all(lines);
                self.leaf = Leaf::Table(table);
            }
            _ => {}
        }
    }

    /// How much text is laid out for each look at what is open, but for rows of a table.
    #[cfg(test)]
    pub(super) fn open_bytes(&self) -> usize {
        match &self.leaf {
            Leaf::Paragraph { text, .. } => text.len(),
            _ => 0,
        }
    }

    /// How many containers go on in this line; what is left of it is their content.
    fn matched(&self, rest: &mut &str) -> usize {
        let mut matched = 0;
        for container in &self.page.containers {
            let indent = spaces(rest);
            match &container.kind {
                Kind::Quote => match rest[indent..].strip_prefix('>') {
                    Some(inner) if indent < 4 => *rest = inner.strip_prefix(' ').unwrap_or(inner),
                    _ => break,
                },
                Kind::Item { .. } if indent == rest.len() => {}
                Kind::Item { item, .. } if indent >= item.indent => *rest = &rest[item.indent..],
                Kind::Item { .. } => break,
            }
            matched += 1;
        }
        matched
    }

    /// A line of a code block that is open.
    fn code(&mut self, rest: &str, blank: bool) -> bool {
        let indent = spaces(rest);
        match &mut self.leaf {
            Leaf::Fenced { mark, length, indent: own, .. } => {
                let (mark, length, own) = (*mark, *length, *own);
                let closing = rest.trim();
                if indent < 4 && closing.len() >= length && closing.chars().all(|c| c == mark) {
                    self.finish_leaf();
                } else {
                    self.code_line(&rest[indent.min(own)..]);
                }
                true
            }
            Leaf::Indented { blanks } if blank => {
                *blanks += 1;
                true
            }
            Leaf::Indented { blanks } if indent >= 4 => {
                for _ in 0..std::mem::take(blanks) {
                    self.code_line("");
                }
                self.code_line(&rest[4..]);
                true
            }
            _ => false,
        }
    }

    fn blank_line(&mut self, matched: usize) {
        self.close_to(matched);
        self.finish_leaf();
        // An item may begin with an empty line, but has not got two.
        if let Some(Container { kind: Kind::Item { .. }, fresh: true }) = self.page.containers.last() {
            self.close_to(self.page.containers.len() - 1);
        }
        self.page.blank = true;
    }

    /// Opens the containers that begin in this line.
    fn open(&mut self, rest: &mut &str, mut before: Option<(Marker, u64)>) {
        while self.page.containers.len() < DEPTH {
            let indent = spaces(rest);
            let text = &rest[indent..];
            if indent >= 4 {
                return;
            }
            let kind = if let Some(inner) = text.strip_prefix('>') {
                *rest = inner.strip_prefix(' ').unwrap_or(inner);
                Kind::Quote
            } else if let Some((mut item, inner)) = item(text, self.look)
                && !is_rule(text)
                && (!matches!(self.leaf, Leaf::Paragraph { .. }) || starts_block(text, true))
            {
                item.indent += indent;
                *rest = inner;
                let number = match before.take() {
                    Some((marker, number)) if marker == item.marker => number.saturating_add(1),
                    _ => item.number,
                };
                Kind::Item { item, number }
            } else {
                return;
            };
            before = None;
            self.finish_leaf();
            self.page.containers.push(Container { kind, fresh: true });
        }
    }

    /// What is left of a line when its containers are open.
    fn leaf(&mut self, rest: &str) {
        let indent = spaces(rest);
        let text = rest[indent..].trim_end_matches('\n');
        if let Leaf::Paragraph { text: before, cut } = &self.leaf {
            let (last, cut) = (before.rsplit(BREAK).next().unwrap_or(""), *cut);
            let table = Table::of(last, text, self.look, &self.references);
            if let Some(table) = table.filter(|_| indent < 4 && !cut) {
                return self.begin_table(table);
            }
            // While it comes, the dash of an item looks like the underline of a heading.
            if let Some(level) = underline(text).filter(|_| indent < 4 && !cut && !self.sketch) {
                return self.underlined(level);
            }
        }
        if indent >= 4 && matches!(self.leaf, Leaf::None) {
            self.page.begin(Space::Around);
            self.leaf = Leaf::Indented { blanks: 0 };
            return self.code_line(&rest[4..]);
        }
        if indent < 4 {
            if let Some((level, title)) = heading(text) {
                self.finish_leaf();
                return self.heading(level, title);
            }
            if let Some((mark, length, info)) = fence(text) {
                self.finish_leaf();
                return self.fenced(mark, length, indent, info);
            }
            if is_rule(text) {
                self.finish_leaf();
                return self.rule();
            }
        }
        if let Leaf::Table(table) = &mut self.leaf {
            let mut table = table.clone();
            let first = !table.is_fixed();
            let lines = table.push(text, &self.references, self.page.room());
            if first && table.is_fixed() {
                self.page.begin(Space::Around);
            }
            self.page.emit_all(lines);
            self.leaf = Leaf::Table(table);
            return;
        }
        self.paragraph(text);
    }

    fn paragraph(&mut self, line: &str) {
        let line = line.trim_start();
        if let Leaf::Paragraph { text, .. } = &mut self.leaf {
            // A backslash at the end of a line only breaks it, which a line break does anyway.
            let slashes = text.len() - text.trim_end_matches('\\').len();
            if slashes % 2 == 1 {
                text.pop();
            }
            text.push(BREAK);
            text.push_str(line);
        } else {
            self.leaf = Leaf::Paragraph { text: line.to_owned(), cut: false };
        }
        self.shorten();
    }

    fn shorten(&mut self) {
        while let Leaf::Paragraph { text, .. } = &self.leaf
            && text.len() >= LONG
        {
            let before = text.len();
            self.cut(1);
            if matches!(&self.leaf, Leaf::Paragraph { text, .. } if text.len() >= before) {
                // One row has it all, such as a link with an endless address.
                self.finish_leaf();
            }
        }
    }

    /// Settles the rows of a paragraph but for the last ones.
    fn cut(&mut self, keep: usize) {
        let Leaf::Paragraph { text, cut } = std::mem::replace(&mut self.leaf, Leaf::None) else { return };
        let text = self.references.take(&text);
        let mut rows = self.rows(text, Style::new());
        let last = rows.len().saturating_sub(keep);
        // The last row that begins at a place of the source, and beyond what would stand before it anew.
        let Some(first) = (1..=last).rev().find(|row| rows[*row].at > rows[*row].reopen.len()) else {
            self.leaf = Leaf::Paragraph { text: text.to_owned(), cut };
            return;
        };
        let rest = format!("{}{}", rows[first].reopen, text.get(rows[first].at..).unwrap_or(""));
        rows.truncate(first);
        if !cut {
            self.page.begin(Space::AsWritten);
        }
        self.page.emit_all(rows.into_iter().map(|row| row.line).collect());
        self.leaf = Leaf::Paragraph { text: rest, cut: true };
    }

    fn rows(&self, text: &str, base: Style) -> Vec<Row> {
        wrap(&inline(text, base, self.look, &self.references), self.page.room())
    }

    fn finish_leaf(&mut self) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None | Leaf::Indented { .. } => {}
            Leaf::Fenced { .. } => {
                if !self.look.redraws && !self.sketch {
                    self.page.emit(Line::from("```"));
                }
            }
            Leaf::Paragraph { text, cut } => {
                let text = self.references.take(&text);
                if text.is_empty() {
                    return;
                }
                if !cut {
                    self.page.begin(Space::AsWritten);
                }
                let shown = if self.sketch { closed(text) } else { text.to_owned() };
                let rows = self.rows(&shown, Style::new());
                self.page.emit_all(rows.into_iter().map(|row| row.line).collect());
            }
            Leaf::Table(mut table) => {
                if !table.is_fixed() {
                    self.page.begin(Space::Around);
                }
                let lines = table.rest(self.page.room());
                self.page.emit_all(lines);
            }
        }
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.page.begin(Space::Before);
        // Without colours there is nothing else that says so.
        let marked = format!("{} {title}", "#".repeat(level));
        let title = if self.look.colour { title } else { &marked };
        let style = if level == 1 { Style::new().bold().underline() } else { Style::new().bold() };
        let escaped = if self.look.colour { title.to_owned() } else { format!("\\{title}") };
        let rows = self.rows(&escaped, style);
        self.page.emit_all(rows.into_iter().map(|row| row.line).collect());
    }

    /// The paragraph before was a heading.
    fn underlined(&mut self, level: usize) {
        if let Leaf::Paragraph { text, .. } = std::mem::replace(&mut self.leaf, Leaf::None) {
            let text = self.references.take(&text).to_owned();
            self.heading(level, &text);
        }
    }

    fn rule(&mut self) {
        self.page.begin(Space::Around);
        let line = if self.look.redraws { "─".repeat(self.page.room()) } else { "---".to_owned() };
        self.page.emit(Line::from(vec![(Style::new().dimmed(), line)]));
    }

    /// The last line of the paragraph is the table's header.
    fn begin_table(&mut self, table: Table) {
        if let Leaf::Paragraph { text, .. } = &mut self.leaf {
            let before = text.rfind(BREAK).unwrap_or(0);
            text.truncate(before);
        }
        self.finish_leaf();
        self.leaf = Leaf::Table(Box::new(table));
    }

    fn fenced(&mut self, mark: char, length: usize, indent: usize, info: &str) {
        self.page.begin(Space::Around);
        let language = info.split([' ', ',', '{']).next().unwrap_or("");
        let grammar = if self.look.colour { Grammar::of(language, &self.budget).map(Box::new) } else { None };
        if !self.look.redraws {
            self.page.emit_all(chop(&[(Style::new(), format!("```{language}"))], self.page.room()));
        }
        self.leaf = Leaf::Fenced { mark, length, indent, grammar };
    }

    fn code_line(&mut self, text: &str) {
        let mut spans = None;
        if let Leaf::Fenced { grammar, .. } = &mut self.leaf {
            spans = grammar.as_mut().and_then(|grammar| grammar.line(text));
            if spans.is_none() {
                *grammar = None;
            }
        }
        let spans = spans.unwrap_or_else(|| vec![(Style::new(), text.to_owned())]);
        // No row of code stands where our own lines do: a bar is before each.
        let bar = match &self.leaf {
            Leaf::Fenced { .. } if !self.look.redraws => "",
            _ if !self.look.redraws => "    ",
            _ => "│ ",
        };
        let room = self.page.room().saturating_sub(bar.chars().count()).max(2);
        for chopped in chop(&spans, room) {
            let mut line = Line::default();
            line.push(Style::new().dimmed(), bar, None);
            line.append(&chopped);
            self.page.emit(line);
        }
    }

    /// May this, when it is whole, be the end of the code? Then it is not shown yet.
    fn may_be_fence(&self, partial: &str) -> bool {
        match &self.leaf {
            Leaf::Fenced { mark, .. } => partial.trim().chars().all(|c| c == *mark),
            _ => false,
        }
    }

    fn close_to(&mut self, depth: usize) {
        if self.page.containers.len() <= depth {
            if depth == 0 {
                self.finish_leaf();
            }
            return;
        }
        self.finish_leaf();
        if let Some(Container { kind: Kind::Item { .. }, fresh: true }) = self.page.containers.last() {
            self.page.begin(Space::AsWritten);
            self.page.emit(Line::default());
        }
        self.page.containers.truncate(depth);
    }
}
