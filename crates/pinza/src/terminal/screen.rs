//! The screen of a chat: finished lines are ordinary output that scrolls away and stays in the terminal's
//! history; beneath them a small live part is drawn again whenever something changed.
//!
//! A frame is one write between the marks of a synchronised update, so that a terminal never shows half of
//! one. Every row is cleared just before it is written and not all of them beforehand: terminals that do not
//! know the marks do not flicker either.

mod frame;
mod text;

use std::io::Write as _;

use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthStr as _;

use self::frame::{CLEAR_BELOW, CLEAR_ROW, frame, up};
pub(crate) use self::text::{cut, flowing, wrapped};
use super::{Line, Look, Raw};

/// Where a terminal does not say how big it is.
const COLUMNS: usize = 80;
const ROWS: usize = 24;

const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const DOWN: &str = "\x1b[B";

pub(crate) struct Screen {
    look: Look,
    verbose: bool,
    columns: usize,
    rows: usize,
    /// The live part as it is on the screen. The cursor stands behind its last row.
    drawn: Vec<Line>,
    caret: Caret,
    /// Whether the terminal has gone away.
    gone: bool,
    /// While keys are read one by one.
    raw: Option<Raw>,
    /// What the last round had to tell and folded.
    folded: Vec<Line>,
}

/// Whether the cursor is seen, behind the last row of the live part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caret {
    Hidden,
    Shown,
}

impl Screen {
    pub(crate) fn new(look: Look, verbose: bool) -> Self {
        let (columns, rows) = size();
        let drawn = Vec::new();
        Self {
            look,
            verbose,
            columns,
            rows,
            drawn,
            caret: Caret::Shown,
            gone: false,
            raw: None,
            folded: Vec::new(),
        }
    }

    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// How many columns a row has.
    pub(crate) fn width(&self) -> usize {
        self.columns
    }

    pub(crate) fn height(&self) -> usize {
        self.rows
    }

    /// Whether details are shown that are otherwise folded.
    pub(crate) fn verbose(&self) -> bool {
        self.verbose
    }

    pub(crate) fn set_verbose(&mut self, verbose: bool) {
        self.verbose = verbose;
    }

    /// What was folded last, to be shown by whoever is asked for it.
    pub(crate) fn take_folded(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.folded)
    }

    pub(crate) fn keep_folded(&mut self, lines: Vec<Line>) {
        self.folded = lines;
    }

    /// Takes a text away that somebody else wrote above the cursor.
    pub(crate) fn take_back(&mut self, text: &str) {
        self.measure();
        let rows: Vec<Line> = text.split('\n').map(Line::from).collect();
        let mut sequence = "\r".to_owned();
        up(&mut sequence, rows_above(&rows, self.columns) + 1);
        self.put(&format!("{sequence}{CLEAR_BELOW}"));
    }

    /// Whether there is no terminal any more.
    pub(crate) fn gone(&self) -> bool {
        self.gone
    }

    /// Keys come one by one from now on, until [`release`](Self::release).
    pub(crate) fn seize(&mut self) -> std::io::Result<()> {
        if self.raw.is_none() {
            self.raw = Some(Raw::enter()?);
        }
        Ok(())
    }

    /// Takes the live part away and gives the terminal back as it was.
    pub(crate) fn release(&mut self) {
        self.draw(&[], Vec::new(), Caret::Shown);
        self.raw = None;
    }

    /// Finished output.
    pub(crate) fn lines(&mut self, lines: &[Line]) {
        if self.look.redraws {
            let (live, caret) = (std::mem::take(&mut self.drawn), self.caret);
            self.drawn.clone_from(&live);
            self.draw(lines, live, caret);
        } else {
            let text: String = lines.iter().map(|line| format!("{}\n", line.written(self.look))).collect();
            self.put(&text);
        }
    }

    /// Finished output as it is: an image in the terminal's own protocol, with the row after it.
    pub(crate) fn sequence(&mut self, sequence: &str) {
        // Nothing live stands beneath it while it is drawn: only the terminal knows how tall it is.
        self.draw(&[], Vec::new(), Caret::Hidden);
        self.put(&format!("{sequence}\r\n"));
    }

    /// The terminal's size now; true if it is another width than before.
    pub(crate) fn measure(&mut self) -> bool {
        let before = self.columns;
        let (columns, rows) = size();
        if columns != before {
            // What was drawn has been laid out anew by the terminal: it is taken away as it stands now.
            self.erase(columns, rows);
        }
        (self.columns, self.rows) = (columns, rows);
        columns != before
    }

    /// Finished lines above a new live part, as one write; none if nothing changed.
    pub(crate) fn draw(&mut self, finished: &[Line], mut live: Vec<Line>, caret: Caret) {
        // A live row that took two, or a live part that scrolled, could not be taken away again.
        live.drain(..live.len().saturating_sub(self.rows.saturating_sub(1).max(1)));
        live.iter_mut().for_each(|line| clip(line, self.columns));
        if finished.is_empty() && live == self.drawn && caret == self.caret {
            return;
        }
        let mut text = format!("{BEGIN}{}", frame(&self.drawn, finished, &live, self.look));
        if caret == Caret::Shown {
            text.push_str(SHOW_CURSOR);
        }
        text.push_str(END);
        (self.drawn, self.caret) = (live, caret);
        self.put(&text);
    }

    fn erase(&mut self, columns: usize, rows: usize) {
        if self.drawn.is_empty() {
            return;
        }
        let above = if reflows() { rows_above(&self.drawn, columns) } else { self.drawn.len() - 1 };
        let above = above.min(rows.saturating_sub(1));
        let mut text = format!("{BEGIN}\r");
        up(&mut text, above);
        // Row by row: where everything is cleared from the first row on, terminals move what was there into their
        // history, and it would stay there.
        text.push_str(CLEAR_ROW);
        (0..above).for_each(|_| text.push_str(&format!("{DOWN}{CLEAR_ROW}")));
        up(&mut text, above);
        text.push_str(END);
        self.drawn.clear();
        self.caret = Caret::Hidden;
        self.put(&text);
    }

    fn put(&mut self, text: &str) {
        let mut out = std::io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            self.gone = true;
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.look.redraws {
            self.release();
        }
    }
}

/// As much of a line as has room.
fn clip(line: &mut Line, mut room: usize) {
    if line.width() <= room {
        return;
    }
    for (_, text) in &mut line.spans {
        *text = cut(text, room);
        room = room.saturating_sub(text.width());
    }
}

/// How many rows of the terminal are above the one where the cursor stands, once rows that became too long have been
/// continued on the next ones.
fn rows_above(drawn: &[Line], columns: usize) -> usize {
    let taken = |line: &Line| line.width().div_ceil(columns.max(1)).max(1);
    drawn.iter().map(taken).sum::<usize>().saturating_sub(1)
}

/// Nearly all terminals continue a row that became too long on the next one; xterm cuts it.
fn reflows() -> bool {
    std::env::var_os("XTERM_VERSION").is_none()
}

fn size() -> (usize, usize) {
    let known = tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    known.map_or((COLUMNS, ROWS), |size| (size.ws_col.into(), size.ws_row.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(texts: &[&str]) -> Line {
        let mut line = Line::default();
        line.spans.extend(texts.iter().map(|text| (anstyle::Style::new(), (*text).to_owned())));
        line
    }

    #[test]
    fn rows_are_counted_as_the_terminal_continues_them() {
        let mut long = line_of(&["日本", "語", "", "more"]);
        clip(&mut long, 9);
        assert_eq!(long.width(), 9);
        clip(&mut long, 5);
        assert_eq!(long, line_of(&["日本", "…", "", ""]));
        let lines: Vec<Line> = ["", "1234", "12345", "日本語"].map(Line::from).into();
        for (columns, above) in [(80, 3), (6, 3), (5, 4), (4, 5), (3, 6)] {
            assert_eq!(rows_above(&lines, columns), above, "{columns}");
        }
        assert_eq!(rows_above(&[], 10), 0);
    }
}
