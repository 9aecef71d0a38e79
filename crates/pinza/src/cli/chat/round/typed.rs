//! What somebody types while the agent works: it is sent on between rounds, and never lost.

use super::style::{BOLD, DIM, line};
use crate::terminal::{Key, Line, cut, flowing};

#[derive(Default)]
pub(super) struct Typed {
    text: String,
    /// Sent, and not yet heard.
    waiting: Vec<String>,
}

impl Typed {
    /// A message that is complete with this key.
    pub(super) fn key(&mut self, key: Key) -> Option<String> {
        match key {
            Key::Char(c) => self.text.push(c),
            Key::Paste(text) => self.text.push_str(&text),
            Key::Break => self.text.push('\n'),
            Key::Backspace => drop(self.text.pop()),
            Key::Ctrl('u') => self.text.clear(),
            Key::Ctrl('w') => {
                let kept = self.text.trim_end().rfind(char::is_whitespace).map_or(0, |end| end + 1);
                self.text.truncate(kept);
            }
            Key::Enter if !self.text.trim().is_empty() && !self.is_command() => {
                let text = std::mem::take(&mut self.text);
                self.waiting.push(text.clone());
                return Some(text);
            }
            _ => {}
        }
        None
    }

    pub(super) fn heard(&mut self, text: &str) {
        if let Some(index) = self.waiting.iter().position(|waiting| waiting == text) {
            self.waiting.remove(index);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// All that nobody has heard, for whoever reads on.
    pub(super) fn rest(mut self) -> String {
        self.waiting.extend((!self.text.is_empty()).then_some(self.text));
        self.waiting.join("\n")
    }

    /// Messages that wait, and last what is being typed.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let room = width.saturating_sub(24).max(8);
        let mut lines: Vec<Line> = self
            .waiting
            .iter()
            .map(|text| line([(DIM, format!("› {}  (waits)", cut(&first(text), room)))]))
            .collect();
        if self.text.is_empty() {
            return lines;
        }
        let rows = self.text.split('\n').count();
        let mut spans = vec![(BOLD, "› ".to_owned())];
        if rows > 1 {
            spans.push((DIM, format!("({rows} lines) … ")));
        } else if self.is_command() {
            spans.push((DIM, "(after this answer) ".to_owned()));
        }
        let last = flowing(self.text.split('\n').next_back().unwrap_or_default()).next().unwrap_or_default();
        spans.push((BOLD, end(&last, room)));
        lines.push(line(spans));
        lines
    }

    /// Commands are for the desk and not for the model.
    fn is_command(&self) -> bool {
        self.text.starts_with('/')
    }
}

fn first(text: &str) -> String {
    let count = text.lines().count();
    let first = flowing(text).next().unwrap_or_default();
    if count > 1 { format!("{first} … ({count} lines)") } else { first }
}

/// The end of a text, in at most so many columns: that is where the cursor is.
fn end(text: &str, width: usize) -> String {
    let mut start = 0;
    while unicode_width::UnicodeWidthStr::width(&text[start..]) > width.saturating_sub(1) {
        start += text[start..].chars().next().map_or(1, char::len_utf8);
    }
    if start == 0 { text.to_owned() } else { format!("…{}", &text[start..]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Look;

    const BARE: Look = Look { colour: false, redraws: true };

    fn typed(keys: &str) -> (Typed, Vec<String>) {
        let mut typed = Typed::default();
        let key = |c| match c {
            '\r' => Key::Enter,
            '\n' => Key::Break,
            '\u{8}' => Key::Backspace,
            c => Key::Char(c),
        };
        let sent = keys.chars().filter_map(|c| typed.key(key(c))).collect();
        (typed, sent)
    }

    #[test]
    fn messages_are_sent_and_the_rest_is_kept() {
        for (keys, sent, rest) in [
            ("hello\r", &["hello"][..], "hello"),
            ("a\nb\rc", &["a\nb"], "a\nb\nc"),
            ("\r  \rx\u{8}y", &[], "  y"),
            ("/help\r", &[], "/help"),
        ] {
            let (typed, told) = typed(keys);
            assert_eq!(told, sent, "{keys:?}");
            assert_eq!(typed.rest(), rest, "{keys:?}");
        }
        let (mut heard, _) = typed("one\rtwo\rthree");
        heard.heard("one");
        assert_eq!(heard.rest(), "two\nthree");
    }

    #[test]
    fn a_paste_is_one_message_and_shown_harmlessly() {
        let mut typed = Typed::default();
        assert_eq!(typed.key(Key::Paste("one\ntwo\u{1b}[2J".into())), None);
        let lines: Vec<String> = typed.lines(80).iter().map(|line| line.written(BARE)).collect();
        assert_eq!(lines, ["› (2 lines) … two\\u{1b}[2J"]);
        assert_eq!(typed.key(Key::Enter).as_deref(), Some("one\ntwo\u{1b}[2J"));
        let lines: Vec<String> = typed.lines(80).iter().map(|line| line.written(BARE)).collect();
        assert_eq!(lines, ["› one … (2 lines)  (waits)"]);
        let long = Typed { text: "日本".repeat(100), waiting: Vec::new() };
        assert!(long.lines(40).iter().all(|line| line.width() < 40));
    }
}
