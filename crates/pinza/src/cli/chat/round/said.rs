//! What the model says, in rows. This stands where the Markdown renderer will, with the same interface.

use crate::terminal::{Line, Look, flowing, wrapped};

use super::style::WIDEST;

pub(in super::super) struct Markdown {
    width: usize,
    settled: Vec<Line>,
    open: String,
}

impl Markdown {
    pub(in super::super) fn new(width: usize, _look: Look) -> Self {
        Self { width: width.min(WIDEST), settled: Vec::new(), open: String::new() }
    }

    pub(in super::super) fn push(&mut self, text: &str) {
        self.open.push_str(text);
        if let Some(end) = self.open.rfind('\n') {
            let rest = self.open.split_off(end + 1);
            let whole = std::mem::replace(&mut self.open, rest);
            self.settled.extend(rows(&whole, self.width));
        }
    }

    pub(in super::super) fn settled(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.settled)
    }

    pub(in super::super) fn open(&mut self, limit: usize) -> Vec<Line> {
        let mut open = rows(&self.open, self.width);
        open.drain(..open.len().saturating_sub(limit));
        open
    }

    pub(in super::super) fn resize(&mut self, width: usize) {
        self.width = width.min(WIDEST);
    }

    pub(in super::super) fn finish(&mut self) -> Vec<Line> {
        let rest = std::mem::take(&mut self.open);
        self.settled.extend(rows(&rest, self.width));
        self.settled()
    }
}

fn rows(text: &str, width: usize) -> Vec<Line> {
    flowing(text).flat_map(|line| wrapped(&line, width)).map(|row| Line::from(row.as_str())).collect()
}
