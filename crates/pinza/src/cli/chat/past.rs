//! What is shown of a session that is gone on with: its last messages, as they looked when they came.

use pinza::{
    agent::{Message, Talk},
    core::visible,
};

use super::round::{grouped, kept, note};
use crate::terminal::{Line, Screen};

/// At most so many messages, and no more than fill the screen so many times.
const MESSAGES: usize = 10;
const SCREENS: usize = 2;

/// The last messages of a session, and how many more there are.
pub(super) fn past(screen: &mut Screen, talk: &Talk) {
    let messages = talk.messages();
    let limit = screen.height() * SCREENS;
    let mut shown: Vec<Vec<Line>> = Vec::new();
    let mut rows = 0;
    // A summary is for the model; the messages that it stands for are counted.
    let first = usize::from(talk.record().summary.is_some());
    for index in (messages.len().saturating_sub(MESSAGES).max(first)..messages.len()).rev() {
        let mut lines = kept(screen, &messages[index], messages.get(index + 1));
        if matches!(messages[index], Message::User { .. }) {
            // It stood apart from what came before it.
            lines.insert(0, Line::default());
        }
        if rows + lines.len() > limit && !shown.is_empty() {
            break;
        }
        // Of one message that is too long its end is shown.
        lines.drain(..lines.len().saturating_sub(limit));
        rows += lines.len();
        shown.push(lines);
    }
    let earlier = talk.before(messages.len() - shown.len());
    if earlier > 0 {
        let text =
            format!("… {} earlier messages (pinza sessions show {})", grouped(earlier), visible(talk.id()));
        screen.lines(&[note(&text)]);
    }
    let mut lines: Vec<Line> = shown.into_iter().rev().flatten().collect();
    if lines.first() == Some(&Line::default()) {
        lines.remove(0);
    }
    if !lines.is_empty() {
        screen.lines(&lines);
        screen.lines(&[Line::default()]);
    }
}
