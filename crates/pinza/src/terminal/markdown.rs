//! A model's answer as it comes: Markdown in pieces becomes lines for the screen.
//!
//! Text is cut into lines, and each line is given to `blocks` once: what it settles there never changes, so
//! the answer costs the same for each line, however long it is. Only what is open (a paragraph, a table's
//! first rows, a line of code) is laid out again for each look at it, and that is bounded: lines and paragraphs beyond a
//! few thousand bytes are cut. Where they are cut depends on the text alone, never on the pieces it came
//! in, so that the settled lines are the same as those of the whole text at once.

mod blocks;
mod code;
mod inline;
mod page;
mod start;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

use blocks::{Blocks, LONG};

use super::{Line, Look, clean::cleaned};

/// Wider lines are hard to read.
const WIDEST: usize = 100;
/// Room for a letter or two, whatever a terminal says.
const NARROWEST: usize = 8;

#[derive(Debug)]
pub(crate) struct Markdown {
    look: Look,
    width: usize,
    blocks: Blocks,
    /// The last line, which has not ended.
    partial: String,
    /// Its beginning has gone to the blocks already.
    continues: bool,
    /// The last letter was a carriage return: a line feed belongs to it.
    returned: bool,
    settled: Vec<Line>,
}

impl Markdown {
    pub(crate) fn new(width: usize, look: Look) -> Self {
        let width = width.clamp(NARROWEST, WIDEST);
        Self {
            look,
            width,
            blocks: Blocks::new(look, width),
            partial: String::new(),
            continues: false,
            returned: false,
            settled: Vec::new(),
        }
    }

    /// More of the text, in pieces of any size, cut anywhere.
    pub(crate) fn push(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '\n' if self.returned => {}
                '\n' | '\r' => self.partial.push('\n'),
                other => self.partial.push(other),
            }
            self.returned = letter == '\r';
        }
        let text = std::mem::take(&mut self.partial);
        let mut rest = text.as_str();
        while let Some((piece, ended)) = piece(rest) {
            self.feed(piece);
            self.continues = !ended;
            rest = &rest[piece.len() + usize::from(ended)..];
        }
        self.partial.push_str(rest);
    }

    /// Lines that will not change any more; each is handed out once.
    pub(crate) fn settled(&mut self) -> Vec<Line> {
        self.settled.extend(self.blocks.settled());
        std::mem::take(&mut self.settled)
    }

    /// What is not settled yet, as it looks now. Never taller than `rows`: what is above them settles, and
    /// looks then as it did when it was shown; what cannot settle yet is not shown until it does.
    pub(crate) fn open(&mut self, rows: usize) -> Vec<Line> {
        let mut lines = self.sketch();
        if lines.len() > rows && rows > 0 {
            self.shed(rows);
            lines = self.sketch();
        }
        lines.split_off(lines.len().saturating_sub(rows))
    }

    /// The terminal has another width now: what is not settled is laid out anew.
    pub(crate) fn resize(&mut self, width: usize) {
        self.width = width.clamp(NARROWEST, WIDEST);
        self.blocks.resize(self.width);
    }

    /// There is no more: everything settles. What is pushed after that is another text.
    pub(crate) fn finish(&mut self) -> Vec<Line> {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            self.feed(&last);
        }
        self.blocks.finish();
        let lines = self.settled();
        *self = Self::new(self.width, self.look);
        lines
    }

    fn feed(&mut self, piece: &str) {
        let piece = cleaned(piece);
        if self.continues {
            self.blocks.more(&piece);
        } else {
            self.blocks.line(&piece);
        }
    }

    fn sketch(&self) -> Vec<Line> {
        self.blocks.sketch(&cleaned(&self.partial), self.continues)
    }

    fn shed(&mut self, rows: usize) {
        // A paragraph is most often one line that has not ended: what there is of it is taken, up to a word's end.
        if self.partial.len() > self.width
            && let Some(space) = self.partial.rfind(' ')
        {
            let rest = self.partial.split_off(space + 1);
            let line = std::mem::replace(&mut self.partial, rest);
            self.feed(&line);
            self.continues = true;
        }
        self.blocks.shed(rows.saturating_sub(1).max(1));
    }
}

/// The first line of `text` if it has ended; of one that is too long, as much as fits, up to a word's end.
fn piece(text: &str) -> Option<(&str, bool)> {
    let long = text.floor_char_boundary(LONG);
    if let Some(end) = text[..long].find('\n') {
        return Some((&text[..end], true));
    }
    if text.len() <= LONG {
        return None;
    }
    let end = text[..long].rfind(' ').map_or(long, |space| space + 1);
    Some((&text[..end], false))
}
