//! Coming back to a session: by its id, by choosing it, and when it is a very long one.

use pinza::state::{NewMessage, SessionChange, Store};
use pinza_testkit::{
    Terminal,
    model::{Expect, Turn},
};
use serde_json::{Value, json};

use super::{COLUMNS, ROWS, Room, compare, ready, say};

#[test]
fn by_its_id() {
    let knows = Turn::text("Your name is Ada.").expect(Expect::contains(["I am Ada"]));
    let room = Room::new([
        Turn::calls([("get_current_time", json!({"timezone": "UTC"}))]),
        Turn::text("Hello **Ada**."),
        knows,
    ]);
    let terminal = room.sit(&[]);
    say(&terminal, "I am Ada");
    terminal.key("C-d");
    terminal.gone();
    let terminal = room.sit(&[]);
    let screen = terminal.screen();
    assert!(screen.contains("I am Ada") && screen.contains("Hello Ada."), "what was said is seen: {screen}");
    compare(&terminal, "resumed");
    let screen = say(&terminal, "Who am I?");
    assert!(screen.contains("Your name is Ada."), "{screen}");
    room.finished();
}

/// Without an id: a new session each time.
fn sit_anew(room: &Room, more: &[&str]) -> Terminal {
    let mut arguments = room.arguments(more);
    let place = arguments.iter().position(|word| word == "--session").unwrap();
    arguments.drain(place..place + 2);
    Terminal::start(&room.pinza.command(arguments), &[], COLUMNS, ROWS)
}

#[test]
fn by_choosing_it() {
    let knows = Turn::text("Apples, you said.").expect(Expect::contains(["talk about apples"]));
    let room = Room::new([Turn::text("Apples are red."), Turn::text("Pears are green."), knows]);
    for topic in ["talk about apples", "talk about pears"] {
        let terminal = sit_anew(&room, &[]);
        ready(&terminal);
        say(&terminal, topic);
        terminal.key("C-d");
        terminal.gone();
    }
    let terminal = sit_anew(&room, &["--resume"]);
    let screen = terminal.wait_for("talk about apples");
    assert!(screen.contains("talk about pears"), "{screen}");
    compare(&terminal, "picker");
    terminal.key("Down").key("Enter");
    terminal.wait_for("Apples are red.");
    let screen = ready(&terminal);
    assert!(!screen.contains("talk about pears"), "the list is gone: {screen}");
    say(&terminal, "What did I say?");
    room.finished();
    // And from within.
    terminal.line("/sessions");
    terminal.wait_for("talk about pears");
    terminal.key("Down").key("Enter");
    terminal.wait_for("Pears are green.");
    ready(&terminal);
}

#[test]
fn leaving_the_choice_leaves() {
    let room = Room::new([Turn::text("Apples are red.")]);
    let terminal = sit_anew(&room, &[]);
    ready(&terminal);
    say(&terminal, "talk about apples");
    terminal.key("C-d");
    terminal.gone();
    let terminal = sit_anew(&room, &["--resume"]);
    terminal.wait_for("talk about apples");
    terminal.key("Escape");
    assert_eq!(terminal.gone(), Some(0));
}

/// A session that was really talked, its messages said again and again until there are so many.
fn grow(room: &Room, messages: usize) {
    let kept = room.kept();
    let store = Store::open(&room.pinza.home().join("state.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let copy = |message: &Value, number: usize| {
        let role = match message["role"].as_str().unwrap() {
            "user" => "user",
            "assistant" => "assistant",
            other => panic!("no message of {other}"),
        };
        let numbered = |text: &str| text.replace("number 0", &format!("number {number}"));
        let body = serde_json::from_str(&numbered(&message["body"].to_string())).unwrap();
        NewMessage { role, body, text: numbered(message["text"].as_str().unwrap()) }
    };
    let more =
        (kept.len()..messages).map(|place| copy(&kept[place % kept.len()], place / kept.len())).collect();
    let change = SessionChange { messages: more, ..SessionChange::default() };
    runtime.block_on(store.change_session("s", change)).unwrap();
}

#[test]
fn a_session_of_two_thousand_messages_opens_at_its_end() {
    let goes_on =
        Turn::text("On we go.").expect(Expect::contains(["question number 999", "question number 0"]));
    let room = Room::new([Turn::text("This is **answer number 0**."), goes_on]);
    let terminal = room.sit(&[]);
    say(&terminal, "question number 0");
    terminal.key("C-d");
    terminal.gone();
    grow(&room, 2000);
    let terminal = room.sit(&[]);
    let screen = terminal.screen();
    assert!(screen.contains("question number 999") && screen.contains("answer number 999"), "{screen}");
    assert!(!terminal.history().contains("answer number 12."), "not all of it is printed");
    compare(&terminal, "long_session");
    let screen = say(&terminal, "Go on");
    assert!(screen.contains("On we go."), "{screen}");
    room.finished();
}
