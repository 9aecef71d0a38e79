//! Room in the model's window: when little is left, older messages give way to a summary that the
//! model itself writes. The newest quarter stays word for word, and no call loses its result.
//!
//! It is the one time that what was sent is written anew. The messages themselves stay on disk.

use std::fmt::Write as _;

use super::{Event, Setup, Stage, Talk, TalkError, asking, record::Summary};
use crate::{
    message::{Message, Part},
    providers::Request,
    reveal::Offer,
};

/// How much of the window may be used, in hundredths.
const FULL: u64 = 85;
/// The share of the talk that stays as it is: a quarter.
const KEPT_SHARE: usize = 4;
/// How much of one message a summary is made from, in characters.
const EXCERPT: usize = 4000;

const TASK: &str = "Summarise the conversation below for yourself, so that you can go on with it without having it. Keep \
                    what the user wants, what was decided, what was done with which result (names, numbers, paths, ids \
                    word for word), and what is still to do. Answer with the summary only.";

const HEADING: &str = "Summary of the conversation so far:\n\n";

impl Talk {
    pub(super) async fn make_room_if_needed(
        &mut self,
        setup: &Setup,
        stage: &Stage,
    ) -> Result<(), TalkError> {
        let filled = self.filled.max(estimate(&self.messages));
        if filled.saturating_mul(100) >= setup.limits.window.saturating_mul(FULL) {
            self.make_room(setup, stage).await?;
        }
        Ok(())
    }

    /// Puts a summary in the place of older messages. Tells whether there was anything to sum up.
    pub(super) async fn make_room(&mut self, setup: &Setup, stage: &Stage) -> Result<bool, TalkError> {
        let cut = cut(&self.messages);
        let Some(upto) = self.places[..cut].last().copied().filter(|place| *place > 0) else {
            return Ok(false);
        };
        let text = self.sum_up(cut, setup, stage).await?;
        if text.trim().is_empty() {
            return Ok(false);
        }
        let text = format!("{HEADING}{}", text.trim());
        self.messages.splice(..cut, [Message::user(text.clone())]);
        self.places.splice(..cut, [0]);
        self.record.summary = Some(Summary { upto, text });
        self.filled = 0;
        self.unsaved = true;
        self.keep(Vec::new()).await?;
        (stage.events)(Event::Compacted { messages: cut });
        Ok(true)
    }

    async fn sum_up(&mut self, cut: usize, setup: &Setup, stage: &Stage) -> Result<String, TalkError> {
        let request = format!("{TASK}\n\n{}", transcript(&self.messages[..cut], setup.limits.window));
        let messages = [Message::user(request)];
        let request = Request {
            model: &setup.model,
            system: "",
            messages: &messages,
            tools: Offer::default(),
            reveal: setup.reveal,
            max_tokens: setup.max_tokens,
            effort: None,
            cache_key: None,
        };
        // Nobody waits for these words.
        let (answer, usage) = asking::ask(&request, setup, stage, |_| {}).await;
        self.count(usage, stage);
        self.put_aside(usage);
        Ok(answer?.message.text())
    }
}

/// Where the newest quarter begins: never at results, whose calls would be missing.
fn cut(messages: &[Message]) -> usize {
    let sizes: Vec<usize> = messages.iter().map(size).collect();
    let kept = sizes.iter().sum::<usize>() / KEPT_SHARE;
    let mut cut = messages.len();
    let mut sum = 0;
    while cut > 0 && sum + sizes[cut - 1] <= kept {
        cut -= 1;
        sum += sizes[cut];
    }
    // The last message is what the model has to answer: it stays, with the calls that it answers.
    cut = cut.min(messages.len().saturating_sub(1));
    while cut > 0 && matches!(messages[cut], Message::Results { .. }) {
        cut -= 1;
    }
    cut
}

/// About how many tokens they have.
fn estimate(messages: &[Message]) -> u64 {
    u64::try_from(messages.iter().map(size).sum::<usize>() / 4).unwrap_or(u64::MAX)
}

/// In bytes of text; an image counts as providers count it, about.
fn size(message: &Message) -> usize {
    let content = |content: &pinza_core::Content| match content {
        pinza_core::Content::Image { .. }
        | pinza_core::Content::Audio { .. }
        | pinza_core::Content::Blob { .. } => 6000,
        other => other.size(),
    };
    match message {
        Message::User { content: blocks } => blocks.iter().map(content).sum(),
        Message::Assistant { parts } => parts
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } | Part::Thinking { text, .. } => text.len(),
                Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
            })
            .sum(),
        Message::Results { results } => results
            .iter()
            .map(|result| match &result.result {
                Ok(output) => output.content.iter().map(content).sum(),
                Err(error) => error.message.len(),
            })
            .sum(),
    }
}

/// Messages as a text, so that no provider's rules about calls and results apply to it.
fn transcript(messages: &[Message], window: u64) -> String {
    let mut text = String::new();
    for message in messages {
        // Writing to a String cannot fail.
        let _ = match message {
            Message::User { .. } => writeln!(text, "User: {}\n", excerpt(&message.text())),
            Message::Assistant { .. } => {
                let calls: String = message
                    .calls()
                    .map(|call| {
                        format!("\n[called {} with {}]", call.name, excerpt(&call.arguments.to_string()))
                    })
                    .collect();
                writeln!(text, "Assistant: {}{calls}\n", excerpt(&message.text()))
            }
            Message::Results { results } => results.iter().try_for_each(|result| match &result.result {
                Ok(output) => writeln!(text, "[{} answered: {}]\n", result.name, excerpt(&output.as_text())),
                Err(error) => writeln!(text, "[{} failed: {}]\n", result.name, excerpt(&error.to_string())),
            }),
        };
    }
    // Three bytes a token at worst, and half of the window for it: the newest part of the old.
    let most = usize::try_from(window.saturating_mul(3) / 2).unwrap_or(usize::MAX);
    let start = text.len().saturating_sub(most);
    text.split_off(text.ceil_char_boundary(start))
}

fn excerpt(text: &str) -> String {
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    let (head, tail) =
        (text.floor_char_boundary(EXCERPT / 2), text.ceil_char_boundary(text.len() - EXCERPT / 2));
    format!("{} … {}", &text[..head], &text[tail..])
}
