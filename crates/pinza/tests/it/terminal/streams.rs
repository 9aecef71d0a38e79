//! Fast streams: everything arrives, and no more is written than a terminal can take.

use pinza_testkit::model::{Chunks, Turn};

use super::{Room, count, ready};

/// What is written may be so many times the text: drawing each word anew with all before it would be hundreds.
const MULTIPLE: usize = 8;

/// Words that can be told from each other, in paragraphs as models write them.
fn words(count: usize) -> String {
    (0..count).map(|n| format!("token{n}{}", if n % 60 == 59 { "\n\n" } else { " " })).collect()
}

#[track_caller]
fn check(text: &str, rate: Chunks, last: &str) {
    let mut turn = Turn::text(text);
    turn.chunks = rate;
    let room = Room::new([turn]);
    let terminal = room.sit(&[]);
    let before = terminal.written().len();
    terminal.line("Go");
    terminal.wait_in_history(last);
    ready(&terminal);
    let history = terminal.history();
    let seen: Vec<&str> = history.split_whitespace().filter(|word| word.contains("token")).collect();
    let said: Vec<&str> = text.split_whitespace().filter(|word| word.contains("token")).collect();
    assert_eq!(seen, said, "words are lost, doubled or out of order");
    let written = terminal.written().len() - before;
    let most = text.len() * MULTIPLE;
    assert!(written < most, "{written} bytes for a text of {}, {most} are allowed", text.len());
    assert_eq!(count(&history, last), 1);
}

#[test]
fn five_hundred_words_a_second() {
    // One event is a good 200 bytes and has nine characters of the text.
    check(&words(1500), Chunks { bytes: Some(230), delay_ms: 2 }, "token1499");
}

#[test]
fn all_at_once() {
    check(&words(5000), Chunks::default(), "token4999");
}

#[test]
fn one_endless_paragraph() {
    let text = words(1500).replace("\n\n", " ");
    check(&text, Chunks { bytes: Some(230), delay_ms: 2 }, "token1499");
}

#[test]
fn code_without_an_end() {
    let lines: String = (0..600).map(|n| format!("let token{n} = {n};\n")).collect();
    check(&format!("```rust\n{lines}```\n"), Chunks { bytes: Some(230), delay_ms: 1 }, "token599");
}
