//! What tools do, as lines: one each, side by side, with progress, reasons and details.

use pinza_testkit::model::Turn;
use serde_json::json;

use super::{Room, compare, count, ready, row, say, until};
use crate::support::pinza;

#[test]
fn a_call_is_one_line() {
    let pinza = pinza();
    pinza.put("notes.txt", "remember the milk");
    let turns = [Turn::calls([("read_file", json!({"path": "notes.txt"}))]), Turn::text("Milk.")];
    let room = Room::with(pinza, pinza_testkit::model::Provider::OpenAi, turns);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "What should I buy?");
    let line = row(&screen, "✓ read_file");
    assert!(line.starts_with("  ✓ read_file") && line.contains("notes.txt"), "{line}");
    assert!(line.ends_with(" ms") || line.ends_with(" s"), "{line}");
    assert!(!screen.contains("remember the milk"), "the result is folded: {screen}");
    assert_eq!(count(&terminal.history(), "read_file"), 1);
    compare(&terminal, "one_call");
    room.finished();
}

#[test]
fn several_at_once_are_several_lines_with_their_progress() {
    let waiting = |file: &str| json!({"command": format!("printf 'waits %s' {file}; {}", until(file))});
    let turns = [
        Turn::calls([
            ("exec", waiting("first")),
            ("exec", waiting("second")),
            ("read_file", json!({"path": "missing.txt"})),
        ]),
        Turn::text("All done."),
    ];
    let room = Room::new(turns);
    let terminal = room.sit(&["--allow", "exec"]);
    terminal.line("Go");
    let screen = terminal.wait("all three", |screen| {
        screen.contains("  waits first")
            && screen.contains("  waits second")
            && screen.contains("file_not_found")
    });
    assert!(row(&screen, "missing.txt").starts_with("  ✗ read_file"), "{screen}");
    assert_eq!(count(&screen, " exec "), 2, "{screen}");
    super::keep(&terminal, "calls_under_way");
    room.pinza.put("second", "");
    terminal.wait("one of them finished", |screen| {
        screen.contains("✓ exec") && count(screen, " exec ") == 2 && !screen.contains("All done.")
    });
    room.pinza.put("first", "");
    terminal.wait_for("All done.");
    let screen = ready(&terminal);
    assert_eq!((count(&screen, "✓ exec"), count(&screen, "✗ read_file")), (2, 1), "{screen}");
    assert_eq!(count(&terminal.history(), " exec "), 2, "each has one line: {}", terminal.history());
    compare(&terminal, "calls_done");
    room.finished();
}

#[test]
fn a_failure_has_its_reason() {
    let turns = [
        Turn::calls([("http_request", json!({"url": "http://127.0.0.1:9/x"}))]),
        Turn::text("It is not there."),
    ];
    let room = Room::new(turns);
    let terminal = room.sit(&["--allow", "net.private"]);
    let screen = say(&terminal, "Fetch it");
    let line = row(&screen, "http_request");
    assert!(line.starts_with("  ✗ http_request") && line.contains("network_error"), "{line}");
    let coloured = terminal.coloured();
    assert!(row(&coloured, "http_request").contains("\x1b[31m"), "a failure is red: {coloured:?}");
}

#[test]
fn details_on_demand() {
    let pinza = pinza();
    pinza.put("notes.txt", "remember the milk");
    let call = || Turn::calls([("read_file", json!({"path": "notes.txt"}))]);
    let turns = [call(), Turn::text("Milk."), call(), Turn::text("Milk again.")];
    let room = Room::with(pinza, pinza_testkit::model::Provider::OpenAi, turns);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "What?");
    assert!(!screen.contains("remember the milk"), "{screen}");
    // What is being typed stays.
    terminal.keys("Thank you").key("C-o");
    let screen = terminal.wait_for("remember the milk");
    assert!(screen.contains("notes.txt"), "{screen}");
    terminal.wait("the line again", |screen| screen.lines().last() == Some("› Thank you"));
    assert_eq!(count(&terminal.history(), "Thank you"), 1);
    compare(&terminal, "details_by_key");
    terminal.key("C-c");
    ready(&terminal);
    terminal.key("C-d");
    terminal.gone();

    let terminal = room.sit(&["-v"]);
    terminal.line("And?");
    terminal.wait_for("Milk again.");
    ready(&terminal);
    assert!(terminal.history().contains("remember the milk"), "{}", terminal.history());
    compare(&terminal, "details_by_flag");
    room.finished();
}

#[test]
fn details_are_as_harmless_as_lines() {
    let pinza = pinza();
    pinza.put("evil.txt", "before\u{1b}[2J\u{1b}[10Aafter\u{202e}\u{7}");
    let turns = [Turn::calls([("read_file", json!({"path": "evil.txt"}))]), Turn::text("Read.")];
    let room = Room::with(pinza, pinza_testkit::model::Provider::OpenAi, turns);
    let terminal = room.sit(&["-v"]);
    say(&terminal, "Read evil.txt");
    let history = terminal.history();
    assert!(history.contains("before") && history.contains("after"), "{history}");
    let written = String::from_utf8_lossy(&terminal.written()).into_owned();
    for odd in ["\x1b[10A", "\u{202e}", "\u{7}"] {
        assert!(!written.contains(odd), "{odd:?} reached the terminal");
    }
}

#[test]
fn a_loaded_group_is_told() {
    let turns = [Turn::calls([("load_tool_group", json!({"group_name": "fs"}))]), Turn::text("Loaded.")];
    let room = Room::new(turns);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "Load files");
    assert!(row(&screen, "+ group").starts_with("  + group fs"), "{screen}");
    compare(&terminal, "group_loaded");
}

#[test]
fn long_arguments_and_names_stay_on_one_line() {
    let long = "x".repeat(300);
    let turns = [
        Turn::calls([
            ("read_file", json!({"path": format!("{long}.txt")})),
            ("read_file", json!({"path": "日本語".repeat(40)})),
            ("read_file", json!({"path": "two\nlines\u{1b}[2J"})),
        ]),
        Turn::text("No."),
    ];
    let room = Room::new(turns);
    let terminal = room.open(&[], &[], 60, 20);
    ready(&terminal);
    say(&terminal, "Go");
    let history = terminal.history();
    assert_eq!(count(&history, "✗ read_file"), 3, "{history}");
    compare(&terminal, "long_arguments");
}
