//! The chat as a person sees it: the program in a real terminal (tmux), with a scripted model.
//!
//! What is compared is the screen. Those that are worth looking at are kept as snapshots, and with their colours in
//! `target/screens`: `pinza-testkit picture` draws them.

mod approvals;
mod commands;
mod editing;
mod first;
mod losses;
mod plain;
mod rounds;
mod sessions;
mod stopping;
mod streams;
mod talk;

use std::path::Path;

use pinza_testkit::{
    Program, Terminal,
    model::{Chunks, ModelServer, Provider, Script, Turn},
};
use serde_json::Value;

use crate::support::{fine, pinza};

const COLUMNS: u16 = 90;
const ROWS: u16 = 32;
/// Where messages are typed.
const PROMPT: &str = "›";

/// A program and the model that it talks to.
struct Room {
    pinza: Program,
    model: ModelServer,
    provider: Provider,
}

impl Room {
    fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with(pinza(), Provider::OpenAi, turns)
    }

    fn with(pinza: Program, provider: Provider, turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { pinza, model: ModelServer::start(Script::new(turns)), provider }
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let (provider, base) = (self.provider.to_string(), self.model.base_url(self.provider));
        let fixed = ["chat", "--provider", &provider, "--base-url", &base, "--model", "m", "--session", "s"];
        fixed.iter().chain(more).map(ToString::to_string).collect()
    }

    /// Sits down at a terminal of the usual size, and waits until something can be typed.
    #[track_caller]
    fn sit(&self, more: &[&str]) -> Terminal {
        let terminal = self.open(more, &[], COLUMNS, ROWS);
        ready(&terminal);
        terminal
    }

    #[track_caller]
    fn open(&self, more: &[&str], env: &[(&str, &str)], columns: u16, rows: u16) -> Terminal {
        Terminal::start(&self.pinza.command(self.arguments(more)), env, columns, rows)
    }

    /// The session as it is kept, message by message.
    #[track_caller]
    fn kept(&self) -> Vec<Value> {
        let session = fine(&self.pinza, &["--json", "sessions", "export", "s"]).json();
        session["messages"].as_array().unwrap().clone()
    }

    /// All of the script was said, and nothing in it complained of.
    #[track_caller]
    fn finished(&self) {
        assert_eq!(self.model.failures(), Vec::<String>::new());
        assert_eq!(self.model.turns_left(), 0, "the model was not asked for all of it");
    }
}

/// Waits until nothing is under way and a message can be typed.
#[track_caller]
fn ready(terminal: &Terminal) -> String {
    terminal.wait("an empty line to type on", |screen| screen.lines().last() == Some(PROMPT))
}

/// Says something and waits until it is answered.
#[track_caller]
fn say(terminal: &Terminal, text: &str) -> String {
    let before = count(&terminal.history(), text);
    terminal.line(text);
    terminal.wait("what was typed", |_| count(&terminal.history(), text) > before);
    ready(terminal)
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// The line that has this.
#[track_caller]
fn row<'a>(screen: &'a str, part: &str) -> &'a str {
    let found = screen.lines().find(|line| line.contains(part));
    found.unwrap_or_else(|| panic!("no line has '{part}':\n{screen}"))
}

/// A stream in small pieces, with pauses that let the screen be drawn between them.
fn slowly(mut turn: Turn) -> Turn {
    turn.chunks = Chunks { bytes: Some(400), delay_ms: 15 };
    turn
}

/// Says its words and then nothing, and never ends.
fn stalling(text: &str) -> Turn {
    // Without its end the stream has all of the text.
    let mut turn = Turn::text(text);
    turn.raw = Some(
        text.split_inclusive(' ')
            .map(|word| {
                let delta = serde_json::json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{ "index": 0, "delta": { "role": "assistant", "content": word }, "finish_reason": null }] });
                format!("data: {delta}\n\n")
            })
            .collect(),
    );
    turn.stall = true;
    turn
}

/// A command that runs until the file is there, and is asked for nothing else.
fn until(file: &str) -> String {
    format!("while [ ! -e {file} ]; do sleep 0.05; done")
}

/// Compares the screen with its snapshot, once nothing moves, and keeps it for a picture.
#[track_caller]
fn compare(terminal: &Terminal, name: &str) {
    let screen = terminal.still();
    keep(terminal, name);
    compare_text(&screen, name);
}

/// Keeps a screen for a picture.
fn keep(terminal: &Terminal, name: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    terminal.keep(&target.join("screens"), name);
}

#[track_caller]
fn compare_text(screen: &str, name: &str) {
    let filters = [
        (r"▸ thought for \d.*", "▸ thought"),
        // Times stand at the right, or in the middle of a line.
        (r" +\d+(\.\d+)? (µs|ms|s)\b", "  [TIME]"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?", "[WHEN]"),
        (r"(/private)?/tmp/\.tmp[A-Za-z0-9]+", "[DIR]"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
        (r"\b[0-9a-f]{12}\b", "[ID]"),
        // What changes with every tool and every release.
        (r"\d+ tools, \d+ groups?", "[N] tools, [N] groups"),
        (r"(?m)^  tools      \d+$", "  tools      [N]"),
        (r"(?m)^tools: [\d,]+ tokens in .*", "tools: [TOKENS]"),
        (r"Pinza \d+\.\d+\.\d+", "Pinza [VERSION]"),
    ];
    insta::with_settings!({ filters => filters, omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, screen);
    });
}
