//! What the model thinks: one quiet line, unless somebody wants to read it.

use std::time::{Duration, Instant};

use super::style::{DIM, WIDEST, line, time};
use crate::terminal::{Line, cut, flowing, wrapped};

/// More than this is not kept for reading; what a model thinks has no end of its own.
const LONGEST: usize = 256 * 1024;

pub(super) struct Thought {
    text: String,
    since: Instant,
    took: Option<Duration>,
}

impl Thought {
    pub(super) fn new(since: Instant) -> Self {
        Self { text: String::new(), since, took: None }
    }

    pub(super) fn push(&mut self, more: &str) {
        if self.text.len() < LONGEST {
            self.text.push_str(more);
        }
    }

    pub(super) fn end(&mut self, now: Instant) {
        self.took.get_or_insert(now.saturating_duration_since(self.since));
    }

    pub(super) fn is_over(&self) -> bool {
        self.took.is_some()
    }

    /// Nothing where only a signature came.
    pub(super) fn line(&self, width: usize, now: Instant) -> Option<Line> {
        if self.text.trim().is_empty() {
            return None;
        }
        let text = match self.took {
            // Kept thoughts have no time, and nobody noticed a short one.
            Some(took) if took < Duration::from_secs(1) => "  ▸ thought".to_owned(),
            Some(took) => format!("  ▸ thought for {}", time(took)),
            None => {
                let passed = now.saturating_duration_since(self.since).as_secs();
                let last =
                    flowing(&self.text).filter(|row| !row.trim().is_empty()).last().unwrap_or_default();
                format!("  ▸ thinking {passed} s  {}", last.trim())
            }
        };
        Some(line([(DIM, cut(&text, width.saturating_sub(1)))]))
    }

    pub(super) fn details(&self, width: usize) -> Vec<Line> {
        let room = width.min(WIDEST).saturating_sub(5);
        let rows = flowing(self.text.trim()).flat_map(|row| wrapped(&row, room));
        rows.map(|row| line([(DIM, format!("    {row}"))])).collect()
    }
}
