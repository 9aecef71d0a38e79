//! A question about a call, as a card at the bottom of the screen.
//!
//! A key answers only after a moment in which none was pressed while the card was there: whoever is in the middle of
//! a sentence when it appears approves nothing with the next letter. The answers are shown when they count.

use std::time::{Duration, Instant};

use pinza::core::{Answer, CallId, visible};

use super::{
    approver::Question,
    style::{ASKS, BAD, BOLD, DIM, GOOD, PLAIN, WIDEST, grouped, line},
};
use crate::terminal::{Choices, Key, Line, cut, shown_arguments, wrapped};

/// How long no key must have been pressed.
const QUIET: Duration = Duration::from_millis(300);
/// How many rows of one argument a card has.
const ARGUMENT_ROWS: usize = 6;

pub(super) struct Card {
    question: Question,
    choices: Choices,
    /// When a key counts.
    armed: Instant,
}

/// What a key meant.
pub(super) enum Pressed {
    /// It was too early: somebody is typing something else.
    Typing(Key),
    Answer(Answer),
    /// All of the arguments are wanted.
    Whole,
    Nothing,
}

impl Card {
    pub(super) fn new(question: Question, now: Instant) -> Self {
        let choices = Choices::of(&question.prompt);
        Self { question, choices, armed: now + QUIET }
    }

    pub(super) fn call(&self) -> &CallId {
        &self.question.prompt.call
    }

    /// Nobody waits for the answer any more.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.question.answer.is_closed()
    }

    pub(super) async fn withdrawn(&mut self) {
        self.question.answer.closed().await;
    }

    /// When the answers begin to count, if that is still to come.
    pub(super) fn arms(&self, now: Instant) -> Option<Instant> {
        (now < self.armed).then_some(self.armed)
    }

    pub(super) fn press(&mut self, key: Key, now: Instant) -> Pressed {
        if now < self.armed {
            self.armed = now + QUIET;
            return Pressed::Typing(key);
        }
        match key {
            Key::Char('y' | 'Y') => Pressed::Answer(Answer::Once),
            Key::Char('s' | 'S') if self.choices.session => Pressed::Answer(Answer::Session),
            Key::Char('a' | 'A') if self.choices.always => Pressed::Answer(Answer::Always),
            Key::Char('n' | 'N') | Key::Escape => Pressed::Answer(Answer::Deny),
            Key::Ctrl('o') => Pressed::Whole,
            // What is pasted was not written as an answer.
            Key::Paste(_) => Pressed::Typing(key),
            _ => Pressed::Nothing,
        }
    }

    /// Gives the answer; the line that tells it.
    pub(super) fn answer(self, answer: Answer) -> Line {
        let prompt = &self.question.prompt;
        let (tool, capability) =
            (visible(prompt.tool.as_str()), visible(prompt.permission.capability.as_str()));
        let what = if tool == capability { tool } else { format!("{tool}: {capability}") };
        let told = match answer {
            Answer::Once => line([(GOOD, "  ✓ ".to_owned()), (DIM, format!("allowed {what} once"))]),
            Answer::Session => {
                line([(GOOD, "  ✓ ".into()), (DIM, format!("allowed {what} for this session"))])
            }
            Answer::Always => {
                let rule = prompt.rule.as_ref().map(ToString::to_string).unwrap_or_default();
                line([(GOOD, "  ✓ ".into()), (DIM, format!("allowed {what} always: {}", visible(&rule)))])
            }
            Answer::Deny => line([(BAD, "  ✗ ".into()), (DIM, format!("denied {what}"))]),
        };
        let _ = self.question.answer.send(answer);
        told
    }

    /// The card, in at most so many rows if its answers fit in them.
    pub(super) fn lines(&mut self, width: usize, rows: usize, now: Instant) -> Vec<Line> {
        let room = width.min(WIDEST).saturating_sub(5).max(10);
        let mut top = self.heading(room);
        let bottom = self.answers(room, rows / 2, now);
        let arguments = self.arguments(room, ARGUMENT_ROWS);
        let left = rows.saturating_sub(top.len() + bottom.len());
        top.extend(shortened(arguments, left));
        top.extend(bottom);
        top.into_iter().map(framed).collect()
    }

    /// All of what is asked for, as finished lines.
    pub(super) fn whole(&self, width: usize) -> Vec<Line> {
        let room = width.saturating_sub(5).max(10);
        let mut rows = self.heading(room);
        rows.extend(self.arguments(room, usize::MAX));
        rows.into_iter().map(framed).collect()
    }

    fn heading(&self, room: usize) -> Vec<Row> {
        let prompt = &self.question.prompt;
        let tool = visible(prompt.tool.as_str());
        let capability = visible(prompt.permission.capability.as_str());
        let mut rows = vec![vec![
            (BOLD, cut(&tool, room.saturating_sub(capability.len() + 11))),
            (PLAIN, " asks for: ".to_owned()),
            (BOLD, capability),
        ]];
        let detail = prompt.permission.detail.as_deref().map(visible).unwrap_or_default();
        rows.extend(wrapped(&detail, room).into_iter().filter(|row| !row.is_empty()).map(plain));
        rows
    }

    fn arguments(&self, room: usize, limit: usize) -> Vec<Row> {
        let rows = |(name, value): (String, String)| {
            let all = wrapped(&format!("{name}: {value}"), room.saturating_sub(2).max(8));
            shortened(all.into_iter().map(|row| plain(format!("  {row}"))).collect(), limit)
        };
        shown_arguments(&self.question.prompt).flat_map(rows).collect()
    }

    /// A rule that cannot be shown as a whole is not offered.
    fn answers(&mut self, room: usize, limit: usize, now: Instant) -> Vec<Row> {
        if now < self.armed {
            return vec![vec![(DIM, "…".to_owned())]];
        }
        let mut offered = "[y] once  ".to_owned();
        if self.choices.session {
            offered.push_str("[s] this session  ");
        }
        offered.push_str("[n] no");
        let mut rows = vec![vec![(BOLD, offered)]];
        let Choices { always, .. } = Choices::of(&self.question.prompt);
        if let Some(rule) = self.question.prompt.rule.as_ref().filter(|_| always) {
            let text = wrapped(&format!("[a] always: writes {}", visible(&rule.to_string())), room);
            self.choices.always = text.len() <= limit.max(1);
            if self.choices.always {
                rows.extend(text.into_iter().map(|row| vec![(BOLD, row)]));
            } else {
                rows.push(vec![(DIM, "(\"always\": its rule is too long for this screen)".to_owned())]);
            }
        }
        rows
    }
}

type Row = Vec<(anstyle::Style, String)>;

/// At most so many rows, the last one among them: what a long command does at its end must not be out of sight.
fn shortened(mut rows: Vec<Row>, limit: usize) -> Vec<Row> {
    if rows.len() <= limit {
        return rows;
    }
    let tail = if limit > 1 { rows.pop() } else { None };
    let hidden = rows.split_off(limit.saturating_sub(1 + usize::from(tail.is_some())).min(rows.len()));
    let characters: usize = hidden.iter().flatten().map(|(_, text)| text.trim().chars().count()).sum();
    if limit > 0 {
        rows.push(vec![(DIM, format!("  … {} more characters (Ctrl-O shows all)", grouped(characters)))]);
    }
    rows.extend(tail);
    rows
}

fn plain(text: String) -> Row {
    vec![(PLAIN, text)]
}

/// The bar that nothing but a card has.
fn framed(row: Row) -> Line {
    line(std::iter::once((ASKS, "  ┃ ".to_owned())).chain(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_keeps_its_end() {
        let rows = || (0..9).map(|n| plain(format!("  row {n}"))).collect::<Vec<_>>();
        let texts = |limit| {
            let rows = shortened(rows(), limit).into_iter();
            rows.map(|row| row.into_iter().map(|(_, text)| text).collect::<String>()).collect::<Vec<_>>()
        };
        assert_eq!(texts(9).len(), 9);
        assert_eq!(texts(4), ["  row 0", "  row 1", "  … 30 more characters (Ctrl-O shows all)", "  row 8"]);
        assert_eq!(texts(2), ["  … 40 more characters (Ctrl-O shows all)", "  row 8"]);
        assert_eq!(texts(1), ["  … 45 more characters (Ctrl-O shows all)"]);
        assert_eq!(texts(0), Vec::<String>::new());
    }
}
