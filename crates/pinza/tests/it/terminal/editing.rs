//! Typing a message: several lines, pastes, history, completion.

use pinza_testkit::model::Turn;
use serde_json::Value;

use super::{PROMPT, Room, compare, ready, say};

/// The user's messages of the last request.
fn said(room: &Room) -> Vec<String> {
    let body = room.model.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap().clone();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| text(&message["content"]))
        .collect()
}

#[test]
fn a_paste_of_several_lines_is_one_message() {
    let room = Room::new([Turn::text("Got it.")]);
    let terminal = room.sit(&[]);
    terminal.paste("fn main() {\n\tprintln!(\"hi\");\n}\n");
    terminal.wait_for("println!");
    terminal.still();
    assert_eq!(room.model.requests().len(), 0, "a paste is not sent by itself");
    compare(&terminal, "pasted");
    terminal.key("Enter");
    terminal.wait_for("Got it.");
    ready(&terminal);
    let said = said(&room);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("fn main() {\n") && said[0].trim_end().ends_with("\n}"), "{said:?}");
}

#[test]
fn a_big_paste_arrives_whole() {
    let lines: String = (0..400).map(|n| format!("line {n} of a log with some words in it\n")).collect();
    let room = Room::new([Turn::text("Read.")]);
    let terminal = room.sit(&[]);
    terminal.paste(&lines);
    terminal.wait_in_history("line 399 of a log");
    terminal.still();
    terminal.key("Enter");
    terminal.wait_for("Read.");
    assert_eq!(said(&room)[0].trim_end(), lines.trim_end());
}

#[test]
fn pasted_escapes_are_text_or_nothing() {
    let room = Room::new([Turn::text("Fine.")]);
    let terminal = room.sit(&[]);
    terminal.paste("safe\u{1b}[31m words");
    terminal.wait_for("words");
    terminal.key("Enter");
    terminal.wait_for("Fine.");
    assert!(!terminal.coloured().contains("\x1b[31m"), "{:?}", terminal.coloured());
}

#[test]
fn several_lines_by_key() {
    let room = Room::new([Turn::text("Two lines."), Turn::text("Two more.")]);
    let terminal = room.sit(&[]);
    terminal.keys("first").key("M-Enter").keys("second");
    terminal.wait_for("second");
    terminal.key("Enter");
    terminal.wait_for("Two lines.");
    ready(&terminal);
    assert_eq!(said(&room), ["first\nsecond"]);
    terminal.keys("third").key("C-j").keys("fourth").key("Enter");
    terminal.wait_for("Two more.");
    assert_eq!(said(&room)[1], "third\nfourth");
}

#[test]
fn wide_characters_are_edited_by_the_character() {
    let room = Room::new([Turn::text("はい。")]);
    let terminal = room.sit(&[]);
    terminal.keys("東京タワーx");
    terminal.wait_for("東京タワーx");
    terminal.key("BSpace").key("BSpace").key("Left").keys("の");
    let screen = terminal.wait_for("東京タのワ");
    assert_eq!(screen.lines().last(), Some("› 東京タのワ"));
    terminal.key("Enter");
    terminal.wait_for("はい。");
    assert_eq!(said(&room), ["東京タのワ"]);
}

#[test]
fn what_was_said_before_comes_back() {
    let room = Room::new([Turn::text("One."), Turn::text("Two."), Turn::text("Three.")]);
    let terminal = room.sit(&[]);
    say(&terminal, "the first message");
    say(&terminal, "the second message");
    terminal.key("C-d");
    terminal.gone();
    // Also to another sitting.
    let terminal = room.sit(&[]);
    terminal.key("Up").key("Up");
    terminal.wait("the first one", |screen| screen.lines().last() == Some("› the first message"));
    terminal.key("Enter");
    terminal.wait_for("Three.");
    assert_eq!(said(&room).last().unwrap(), "the first message");
}

#[test]
fn commands_tools_and_files_are_completed() {
    let room = Room::new([]);
    room.pinza.put("shopping-list.txt", "milk");
    let terminal = room.sit(&[]);
    for (typed, completed) in
        [("/sess", "› /sessions"), ("/load f", "› /load fs"), ("read @shop", "› read @shopping-list.txt")]
    {
        terminal.keys(typed).key("Tab");
        terminal
            .wait(completed, |screen| screen.lines().last().is_some_and(|line| line.starts_with(completed)));
        terminal.key("C-c");
        terminal.wait("an empty line", |screen| screen.lines().last() == Some(PROMPT));
    }
}

#[test]
fn a_long_line_wraps_and_is_sent_whole() {
    let text = "word ".repeat(60);
    let room = Room::new([Turn::text("Long.")]);
    let terminal = room.sit(&[]);
    terminal.keys(text.trim_end()).key("Enter");
    terminal.wait_for("Long.");
    ready(&terminal);
    assert_eq!(said(&room), [text.trim_end()]);
    compare(&terminal, "long_line");
}

#[test]
fn typing_while_the_model_talks_is_not_lost() {
    let mut slow = Turn::text("slow words ".repeat(40));
    slow.chunks = pinza_testkit::model::Chunks { bytes: Some(200), delay_ms: 15 };
    let room = Room::new([slow, Turn::text("Second answer.")]);
    let terminal = room.sit(&[]);
    terminal.line("first");
    terminal.wait_for("slow words");
    terminal.keys("typed ahead");
    // It may wait on the line to be sent, or be sent with Enter: either way it is the next message.
    terminal.wait("what was typed", |screen| screen.contains("typed ahead"));
    terminal.wait("the prompt with it", |screen| {
        screen.lines().last().is_some_and(|line| line == "› typed ahead")
    });
    terminal.key("Enter");
    terminal.wait_for("Second answer.");
    assert_eq!(said(&room).last().unwrap(), "typed ahead");
}
