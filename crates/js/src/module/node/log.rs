//! What a library prints, as lines: bounded, and cut where one call ends.

use serde_json::{Value, json};

use crate::frame::{LOG_LENGTH, LOG_LINES};

#[derive(Debug)]
pub(super) struct Log {
    /// Printed by the process before it answers: a text that no library can guess.
    mark: Vec<u8>,
    /// What has come and is not yet a line.
    partial: Vec<u8>,
    lines: Vec<Value>,
}

impl Log {
    pub(super) fn new(mark: &str) -> Self {
        Self { mark: mark.as_bytes().to_vec(), partial: Vec::new(), lines: Vec::new() }
    }

    /// Takes in what was read; true once the mark has come.
    pub(super) fn add(&mut self, bytes: &[u8], on_line: &mut impl FnMut(&str)) -> bool {
        self.partial.extend_from_slice(bytes);
        let marked = self.partial.windows(self.mark.len()).position(|window| window == self.mark);
        let rest = match marked {
            Some(at) => self.partial.split_off(at + self.mark.len()),
            // The end may be the beginning of a mark.
            None => {
                let last = self.partial.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let long = self.partial.len() > LOG_LENGTH + self.mark.len();
                self.partial.split_off(if long {
                    last.max(self.partial.len() - self.mark.len())
                } else {
                    last
                })
            }
        };
        let whole = std::mem::replace(&mut self.partial, rest);
        let whole = if marked.is_some() { &whole[..whole.len() - self.mark.len()] } else { &whole[..] };
        self.push(whole, on_line);
        marked.is_some()
    }

    /// The lines so far, with what has no end yet.
    pub(super) fn take(&mut self, on_line: &mut impl FnMut(&str)) -> Vec<Value> {
        let rest = std::mem::take(&mut self.partial);
        self.push(&rest, on_line);
        std::mem::take(&mut self.lines)
    }

    pub(super) fn lines(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.lines)
    }

    fn push(&mut self, bytes: &[u8], on_line: &mut impl FnMut(&str)) {
        let text = String::from_utf8_lossy(bytes);
        for line in text.lines() {
            let line = match self.lines.len() {
                LOG_LINES.. if self.lines.len() > LOG_LINES => return,
                LOG_LINES => "(more lines were written; they are left out)",
                _ => &line[..line.floor_char_boundary(LOG_LENGTH)],
            };
            on_line(line);
            self.lines.push(json!({ "level": "log", "text": line }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> (Vec<bool>, Vec<String>) {
        let mut log = Log::new("\0MARK\n");
        let mut seen = Vec::new();
        let marks =
            pieces.iter().map(|piece| log.add(piece.as_bytes(), &mut |line| seen.push(line.to_owned())));
        (marks.collect(), seen)
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let check = |pieces: &[&str], marks: &[bool], lines: &[&str]| {
            assert_eq!(
                read(pieces),
                (marks.to_vec(), lines.iter().map(|line| (*line).to_owned()).collect()),
                "{pieces:?}"
            );
        };
        check(&["a\nb\n\0MARK\n"], &[true], &["a", "b"]);
        check(&["a\nno end\0MARK\n"], &[true], &["a", "no end"]);
        check(&["a", "b\n", "c"], &[false; 3], &["ab"]);
        check(&["a\n\0MA", "RK\n"], &[false, true], &["a"]);
        check(&["a\n\0MARK\nlater\n"], &[true], &["a"]);
        check(&["\0MARK\n"], &[true], &[]);
    }

    #[test]
    fn endless_lines_and_many_lines_are_cut() {
        let mut log = Log::new("\0MARK\n");
        for _ in 0..10 {
            assert!(!log.add(&[b'x'; LOG_LENGTH], &mut |_| {}));
        }
        assert!(log.partial.len() <= LOG_LENGTH + 6);
        assert!(
            log.add("\n".repeat(LOG_LINES * 3).as_bytes(), &mut |_| {}) || log.add(b"\0MARK\n", &mut |_| {})
        );
        let lines = log.lines();
        assert_eq!(lines.len(), LOG_LINES + 1);
        assert!(lines.iter().all(|line| line["text"].as_str().unwrap().len() <= LOG_LENGTH));
        assert_eq!(lines[LOG_LINES]["text"], "(more lines were written; they are left out)");
    }
}
