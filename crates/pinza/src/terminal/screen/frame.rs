//! What one frame writes: only rows that differ from what is there.

use super::super::{Line, Look};

pub(super) const CLEAR_ROW: &str = "\x1b[K";
pub(super) const CLEAR_BELOW: &str = "\x1b[J";

/// What is to be written so that finished lines and a new live part take the place of what is drawn. Rows that are there
/// already, as they should be, are left alone: a long answer costs what is new in it, and not all of it in every frame.
pub(super) fn frame(drawn: &[Line], finished: &[Line], live: &[Line], look: Look) -> String {
    let rows: Vec<&Line> = finished.iter().chain(live).collect();
    // The last row of a live part is always written, for the cursor stands behind it.
    let last = if live.is_empty() { rows.len() } else { rows.len() - 1 };
    let same = drawn.iter().zip(&rows).take(last).take_while(|(drawn, row)| drawn == *row).count();
    let mut text = "\r".to_owned();
    match drawn.len().checked_sub(1) {
        Some(cursor) if same > cursor => text.push('\n'),
        Some(cursor) => up(&mut text, cursor - same),
        None => {}
    }
    for (index, line) in rows.iter().enumerate().skip(same) {
        if index == last {
            text.push_str(&format!("{CLEAR_BELOW}{}", line.written(look)));
        } else {
            text.push_str(&format!("{CLEAR_ROW}{}\r\n", line.written(look)));
        }
    }
    if live.is_empty() {
        text.push_str(CLEAR_BELOW);
    }
    text
}

pub(super) fn up(text: &mut String, rows: usize) {
    if rows > 0 {
        text.push_str(&format!("\x1b[{rows}A"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal makes of it: rows, and where its cursor is.
    #[derive(Default)]
    struct Paper {
        rows: Vec<String>,
        row: usize,
        column: usize,
    }

    impl Paper {
        fn write(&mut self, text: &str) {
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                rest = &rest[c.len_utf8()..];
                self.rows.resize(self.rows.len().max(self.row + 1), String::new());
                match c {
                    '\r' => self.column = 0,
                    '\n' => self.row += 1,
                    '\x1b' => {
                        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                        let count = rest[1..end].parse().unwrap_or(1);
                        match &rest[end..=end] {
                            "A" => self.row -= count,
                            "K" => self.rows[self.row].truncate(self.column),
                            "J" => {
                                self.rows[self.row].truncate(self.column);
                                self.rows.truncate(self.row + 1);
                            }
                            other => panic!("{other}"),
                        }
                        rest = &rest[end + 1..];
                    }
                    c => {
                        assert_eq!(
                            self.rows[self.row].len(),
                            self.column,
                            "written into a row that is not cleared"
                        );
                        self.rows[self.row].push(c);
                        self.column += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn a_frame_takes_the_place_of_the_last_one() {
        let look = Look { colour: false, redraws: true };
        let lines = |text: &str| text.split_terminator(',').map(Line::from).collect::<Vec<_>>();
        // Finished lines and the live part, frame by frame.
        let frames = [
            ("", "a"),
            ("", "a,b"),
            ("", "a,b,c"),
            ("a", "b,c,d"),
            ("b,c", "d"),
            ("", "x,d"),
            ("x,d", "e"),
            ("e", ""),
            ("", "f,g,h"),
            ("", "f"),
            ("f,g", "f"),
            ("", "f,y"),
            ("f,y", ""),
            ("z", ""),
            ("", ""),
            ("", "z"),
        ];
        let (mut paper, mut drawn, mut done) = (Paper::default(), Vec::new(), Vec::new());
        for (finished, live) in frames {
            let (finished, live) = (lines(finished), lines(live));
            paper.write(&frame(&drawn, &finished, &live, look));
            done.extend(finished);
            let expected: Vec<String> = done.iter().chain(&live).map(|line| line.written(look)).collect();
            let mut seen = paper.rows.clone();
            seen.truncate(
                expected.len().max(paper.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |at| at + 1)),
            );
            assert_eq!(seen, expected);
            let place = if live.is_empty() { expected.len() } else { expected.len() - 1 };
            assert_eq!(paper.row, place, "the cursor after {expected:?}");
            drawn = live;
        }
    }

    #[test]
    fn a_frame_is_as_long_as_what_is_new() {
        let look = Look { colour: false, redraws: true };
        let rows: Vec<Line> =
            (0..30).map(|n| Line::from(format!("row {n} {}", "x".repeat(80)).as_str())).collect();
        let mut longer = rows.clone();
        longer.push(Line::from("new"));
        assert!(frame(&rows, &[], &longer, look).len() < 20);
        // Also when rows of it are finished meanwhile.
        assert!(frame(&rows, &rows[..10], &longer[10..], look).len() < 20);
    }
}
