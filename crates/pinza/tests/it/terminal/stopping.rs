//! Ctrl-C, Ctrl-D and resizes.

use pinza_testkit::model::{Expect, Turn};
use serde_json::json;

use super::{COLUMNS, ROWS, Room, compare, count, ready, row, say, slowly, stalling, until};

#[test]
fn once_stops_the_model_and_the_talk_goes_on() {
    let room = Room::new([stalling("I could go on about this "), Turn::text("Yes, here.")]);
    let terminal = room.sit(&[]);
    terminal.line("Talk");
    terminal.wait_for("I could go on about this");
    terminal.key("C-c");
    let screen = ready(&terminal);
    assert!(screen.contains("I could go on about this"), "what was said stays: {screen}");
    compare(&terminal, "stopped");
    while room.model.open_connections() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let screen = say(&terminal, "Are you there?");
    assert!(screen.contains("Yes, here."), "{screen}");
    room.finished();
}

#[test]
fn once_stops_tools() {
    let command = json!({"command": format!("printf 'has %s' begun; {}; touch survived", until("never"))});
    let after = Turn::text("Stopped, then.").expect(Expect::contains(["cancelled"]));
    let room = Room::new([Turn::calls([("exec", command)]), after]);
    let terminal = room.sit(&["--allow", "exec"]);
    terminal.line("Run");
    terminal.wait_for("  has begun");
    terminal.key("C-c");
    let screen = ready(&terminal);
    assert!(row(&screen, " exec ").starts_with("  ✗ exec"), "{screen}");
    let screen = say(&terminal, "And now?");
    assert!(screen.contains("Stopped, then."), "{screen}");
    room.finished();
}

#[test]
fn twice_leaves() {
    let room = Room::new([stalling("Endless words ")]);
    let terminal = room.sit(&[]);
    terminal.line("Talk");
    terminal.wait_for("Endless words");
    terminal.key("C-c").key("C-c").key("C-c");
    assert!(terminal.gone().is_some());
    let history = terminal.history();
    assert!(history.contains("--session s"), "how to come back: {history}");
    // On an empty line, too.
    let room = Room::new([]);
    let terminal = room.sit(&[]);
    terminal.key("C-c");
    terminal.wait_for("Ctrl-C again");
    terminal.key("C-c");
    assert_eq!(terminal.gone(), Some(0));
}

#[test]
fn a_line_that_is_dropped_does_not_leave() {
    let room = Room::new([Turn::text("Fine.")]);
    let terminal = room.sit(&[]);
    terminal.keys("half a thou");
    terminal.wait_for("half a thou");
    terminal.key("C-c");
    terminal.wait("another line", |screen| screen.lines().last() == Some(super::PROMPT));
    let screen = say(&terminal, "a whole thought");
    assert!(screen.contains("Fine."), "{screen}");
    let asked = room.model.bodies().pop().unwrap().to_string();
    assert!(!asked.contains("half a thou"), "{asked}");
}

#[test]
fn the_end_of_input_leaves_and_says_how_to_come_back() {
    let room = Room::new([Turn::text("Hello.")]);
    let terminal = room.sit(&[]);
    say(&terminal, "Hi");
    terminal.key("C-d");
    assert_eq!(terminal.gone(), Some(0));
    assert!(terminal.history().contains("--session s"), "{}", terminal.history());
    compare(&terminal, "left");
}

/// Every line of it can be told from the others.
fn long_answer(lines: usize) -> String {
    let line =
        |n: usize| format!("{n}. The line with the number {n} of a long list that is as wide as it is\n");
    (1..=lines).map(line).collect()
}

/// How often each line is there; every one once.
#[track_caller]
fn check_lines(history: &str, lines: usize) {
    let flat = history.split_whitespace().collect::<Vec<_>>().join(" ");
    for n in 1..=lines {
        let wanted = format!("with the number {n} of a long list");
        assert_eq!(count(&flat, &wanted), 1, "line {n}:\n{history}");
    }
}

/// tmux tells a program of at most four sizes a second, and lays the screen out at once: what is drawn in between goes
/// to a screen of a size that the program cannot know.
const TOLD: std::time::Duration = std::time::Duration::from_millis(350);

#[test]
fn resizing_while_words_come() {
    const LINES: usize = 120;
    let mut turn = Turn::text(long_answer(LINES));
    turn.chunks = pinza_testkit::model::Chunks { bytes: Some(300), delay_ms: 10 };
    let room = Room::new([turn, Turn::text("Short.")]);
    let terminal = room.sit(&[]);
    terminal.line("List");
    let mut sizes = [(60, 20), (110, 32), (45, 12), (90, 32), (120, 40), (70, 24)].iter().cycle();
    terminal.wait_for("with the number 1 of");
    while !terminal.history().contains(&format!("number {LINES} of")) {
        let (columns, rows) = sizes.next().unwrap();
        terminal.resize(*columns, *rows);
        std::thread::sleep(TOLD);
    }
    terminal.resize(COLUMNS, ROWS);
    ready(&terminal);
    check_lines(&terminal.history(), LINES);
    let screen = say(&terminal, "Thanks");
    assert!(screen.contains("Short."), "{screen}");
    assert_eq!(count(&terminal.history(), "Thanks"), 1);
}

#[test]
fn resizing_while_tools_run_leaves_nothing_behind() {
    let command = |file: &str| json!({"command": format!("echo {file} is awaited by a command with a long line; {}", until(file))});
    // A row that becomes too long pushes the first rows of a screen into the history: something must stand there.
    let above = Turn::text("A line.\n\n".repeat(20));
    let turns =
        [above, Turn::calls([("exec", command("one")), ("exec", command("two"))]), Turn::text("Done.")];
    let room = Room::new(turns);
    let terminal = room.sit(&["--allow", "exec"]);
    say(&terminal, "Talk");
    terminal.line("Run");
    terminal
        .wait("both", |screen| count(screen, "  one is awaited") + count(screen, "  two is awaited") >= 2);
    for (columns, rows) in [(50, 20), (100, 30), (40, 10), (90, 32)] {
        terminal.resize(columns, rows);
        terminal.wait("both, drawn anew", |screen| count(screen, " exec ") == 2);
        std::thread::sleep(TOLD);
    }
    room.pinza.put("one", "");
    room.pinza.put("two", "");
    terminal.wait_for("Done.");
    ready(&terminal);
    let history = terminal.history();
    assert_eq!(count(&history, " exec "), 2, "leftovers: {history}");
    // How much of a command is seen depends on how long it took.
    super::keep(&terminal, "resized");
}

#[test]
fn a_tiny_terminal() {
    let room = Room::new([
        slowly(Turn::text(long_answer(10))),
        Turn::calls([("get_current_time", json!({}))]),
        Turn::text("Late."),
    ]);
    let terminal = room.open(&[], &[], 12, 4);
    ready(&terminal);
    terminal.line("List");
    terminal.wait("the end", |_| terminal.history().contains("10."));
    ready(&terminal);
    check_lines(&terminal.history(), 10);
    terminal.line("Time");
    terminal.wait_for("Late.");
    ready(&terminal);
}
