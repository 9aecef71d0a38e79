//! Being asked: what a card shows, what each answer does, and what is no answer.

use pinza_testkit::{
    Terminal,
    model::{Expect, Provider, Turn},
};
use serde_json::json;

use super::{Room, compare, count, ready, row, say, stalling};
use crate::support::pinza;

/// On every card once it can be answered, and nowhere else.
const ASKED: &str = "[n] no";

fn exec(command: &str) -> Turn {
    Turn::calls([("exec", json!({ "command": command }))])
}

fn denied(turn: Turn) -> Turn {
    turn.expect(Expect::contains(["permission_denied"]))
}

#[track_caller]
fn asked(terminal: &Terminal) -> String {
    terminal.wait_for(ASKED)
}

#[test]
fn once_is_once() {
    let turns = [exec("echo one >> ran"), exec("echo two >> ran"), denied(Turn::text("As you wish."))];
    let room = Room::new(turns);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    let card = asked(&terminal);
    for part in ["exec", "echo one >> ran"] {
        assert!(card.contains(part), "{part}: {card}");
    }
    compare(&terminal, "card");
    terminal.keys("y");
    terminal.wait("the next question", |screen| screen.contains(ASKED) && screen.contains("echo two"));
    assert_eq!(room.pinza.text("ran"), "one\n");
    terminal.keys("n");
    terminal.wait_for("As you wish.");
    let screen = ready(&terminal);
    assert!(!screen.contains(ASKED), "the card is gone: {screen}");
    assert!(row(&screen, "✗ exec").contains("permission_denied"), "{screen}");
    compare(&terminal, "card_answered");
    assert_eq!(room.pinza.text("ran"), "one\n");
    assert!(!room.pinza.config_file().exists(), "nothing is written down");
    room.finished();
}

#[test]
fn this_session_is_until_the_end_of_it() {
    let room = Room::new([
        exec("echo x >> ran"),
        exec("echo x >> ran"),
        Turn::text("Twice."),
        exec("echo x >> ran"),
    ]);
    let terminal = room.sit(&[]);
    terminal.line("Run it twice");
    asked(&terminal);
    terminal.keys("s");
    terminal.wait_for("Twice.");
    ready(&terminal);
    assert_eq!(room.pinza.text("ran"), "x\nx\n");
    assert!(!room.pinza.config_file().exists(), "nothing is written down");
    terminal.key("C-d");
    assert_eq!(terminal.gone(), Some(0));
    // Another sitting is asked anew.
    let terminal = room.sit(&[]);
    terminal.line("And again");
    asked(&terminal);
    assert_eq!(room.pinza.text("ran"), "x\nx\n");
}

#[test]
fn always_writes_the_rule_that_it_showed() {
    let room =
        Room::new([exec("echo x >> ran"), Turn::text("Once."), exec("echo x >> ran"), Turn::text("Again.")]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    let card = asked(&terminal);
    let shown: String = card.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("echo x >> ran") && shown.contains("always"), "{card}");
    terminal.keys("a");
    terminal.wait_for("Once.");
    ready(&terminal);
    let config = std::fs::read_to_string(room.pinza.config_file()).unwrap();
    assert!(config.contains("[[policy.rule]]") && config.contains("echo x >> ran"), "{config}");
    terminal.key("C-d");
    terminal.gone();
    let terminal = room.sit(&[]);
    terminal.line("Again");
    terminal.wait_for("Again.");
    assert_eq!(room.pinza.text("ran"), "x\nx\n");
    room.finished();
}

#[test]
fn only_answers_are_answers() {
    for keys in [&["n"][..], &["Escape"], &["x", "Enter", "n"], &["Y", "Escape"][1..], &["Space", "n"]] {
        let room = Room::new([exec("echo x >> ran"), denied(Turn::text("Not done."))]);
        let terminal = room.sit(&[]);
        terminal.line("Run it");
        asked(&terminal);
        for key in keys {
            terminal.key(key);
        }
        terminal.wait_for("Not done.");
        assert!(!room.pinza.workspace().join("ran").exists(), "{keys:?} ran it");
    }
}

#[test]
fn a_paste_is_no_answer() {
    let room = Room::new([exec("echo x >> ran"), denied(Turn::text("Not done."))]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    asked(&terminal);
    terminal.paste("y\ny\n");
    terminal.still();
    assert!(terminal.screen().contains(ASKED), "still there: {}", terminal.screen());
    assert!(!room.pinza.workspace().join("ran").exists());
    terminal.keys("n");
    terminal.wait_for("Not done.");
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    // The model talks for a while, and meanwhile somebody types what could pass for a yes.
    let mut talks =
        Turn { text: "Let me think about that for a while. ".repeat(40), ..exec("echo x >> ran") };
    talks.chunks = pinza_testkit::model::Chunks { bytes: Some(120), delay_ms: 60 };
    let room = Room::new([talks, denied(Turn::text("Not done."))]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    terminal.wait_for("Let me think");
    terminal.keys("yyyyay");
    asked(&terminal);
    terminal.still();
    assert!(terminal.screen().contains(ASKED), "nobody has answered: {}", terminal.screen());
    assert!(!room.pinza.workspace().join("ran").exists(), "what was typed ahead ran it");
    terminal.keys("n");
    terminal.wait_for("Not done.");
    assert!(!room.pinza.workspace().join("ran").exists());
}

#[test]
fn odd_characters_are_seen() {
    let command = "echo safe\u{1b}[2K\u{8}\u{8}; rm -rf ~ \u{202e}txt.\u{200b}\r# harmless";
    let room = Room::new([exec(command), denied(Turn::text("No."))]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    let card = asked(&terminal);
    for part in ["rm -rf ~", "u{1b}", "u{8}", "u{202e}", "u{200b}"] {
        assert!(card.contains(part), "{part} is not seen: {card}");
    }
    compare(&terminal, "card_odd_characters");
    terminal.keys("n");
    terminal.wait_for("No.");
}

#[test]
fn a_long_command_is_shown_to_its_end() {
    let command = format!("echo {}; rm -rf everything", "x ".repeat(400));
    let room = Room::new([exec(&command), denied(Turn::text("No."))]);
    let terminal = room.open(&[], &[], 80, 24);
    ready(&terminal);
    terminal.line("Run it");
    asked(&terminal);
    let seen: String = terminal.history().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(seen.contains("rm -rf everything"), "the end of it is hidden: {}", terminal.history());
    compare(&terminal, "card_long");
    terminal.keys("n");
    terminal.wait_for("No.");
}

#[test]
fn a_model_cannot_draw_a_card_or_a_prompt() {
    let room = Room::new([exec("echo real"), denied(Turn::text("No."))]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    let card = asked(&terminal);
    let lines: Vec<&str> = card.lines().collect();
    let first = lines.iter().rposition(|line| line.contains("exec")).unwrap();
    let card: Vec<String> = lines[first.saturating_sub(1)..].iter().map(ToString::to_string).collect();
    terminal.keys("n");
    terminal.wait_for("No.");

    // The same lines, in every way that a model has to say them.
    let drawn = card.join("\n");
    let ways = [
        drawn.clone(),
        format!("```\n{drawn}\n```"),
        drawn.replace('\n', "  \n"),
        "› I am the user".to_owned(),
    ];
    for way in ways {
        let room = Room::with(pinza(), Provider::OpenAi, [stalling(&way)]);
        let terminal = room.sit(&[]);
        terminal.line("Pretend");
        terminal.wait("what the model draws", |screen| {
            if way.starts_with('›') {
                screen.contains("I am the user")
            } else {
                screen.contains("echo real")
            }
        });
        let screen = terminal.screen();
        let whole: Vec<&str> = screen.lines().skip_while(|line| !line.contains("Pretend")).skip(1).collect();
        for line in card.iter().filter(|line| line.trim().len() > 3) {
            assert!(!whole.contains(&line.as_str()), "a model drew this line of a card: {line:?}\n{screen}");
        }
        assert!(!whole.iter().any(|line| line.starts_with("› I am")), "a model drew a prompt: {screen}");
    }
}

#[test]
fn questions_of_calls_side_by_side_come_one_by_one() {
    let both = Turn::calls([
        ("exec", json!({"command": "echo first >> one"})),
        ("exec", json!({"command": "echo second >> two"})),
    ]);
    let room = Room::new([both, Turn::text("Both asked.")]);
    let terminal = room.sit(&[]);
    terminal.line("Run both");
    let screen = asked(&terminal);
    assert_eq!(count(&screen, ASKED), 1, "one card at a time: {screen}");
    let is_first = |screen: &str| row(card_of(screen), "command").contains("first");
    let began_with_first = is_first(&screen);
    terminal.keys("y");
    terminal
        .wait("the other question", |screen| screen.contains(ASKED) && is_first(screen) != began_with_first);
    terminal.keys("n");
    terminal.wait_for("Both asked.");
    let ran = |file: &str| room.pinza.workspace().join(file).exists();
    assert_eq!(
        (ran("one"), ran("two")),
        (began_with_first, !began_with_first),
        "each answer went to its own call"
    );
}

/// From the card's first line on.
fn card_of(screen: &str) -> &str {
    screen.rfind("asks for").map_or(screen, |start| &screen[start..])
}

#[test]
fn a_question_goes_away_with_its_call() {
    let room = Room::new([exec("echo x >> ran"), Turn::text("Next.")]);
    let terminal = room.sit(&[]);
    terminal.line("Run it");
    asked(&terminal);
    terminal.key("C-c");
    let screen = ready(&terminal);
    assert!(!screen.contains(ASKED), "{screen}");
    assert!(!room.pinza.workspace().join("ran").exists());
    let screen = say(&terminal, "Go on");
    assert!(screen.contains("Next."), "{screen}");
}
