//! The terminal dies in the middle: what was shown as done is kept.

use pinza_testkit::model::{Chunks, Turn};
use serde_json::{Value, json};

use super::{Room, count, row, say, until};

/// One message with everything in it: words, calls side by side, a call that waits, words again.
fn turns() -> [Turn; 4] {
    let slow = |mut turn: Turn| {
        turn.chunks = Chunks { bytes: Some(150), delay_ms: 10 };
        turn
    };
    [
        slow(Turn { text: "First I look at both files.".into(), ..reads(&["a.txt", "b.txt"]) }),
        slow(Turn {
            text: "Then I write one.".into(),
            ..Turn::calls([("write_file", json!({"path": "c.txt", "content": "c"}))])
        }),
        slow(Turn { text: "And look again.".into(), ..reads(&["c.txt"]) }),
        slow(Turn::text("Everything is as it should be. ".repeat(6))),
    ]
}

fn reads(files: &[&str]) -> Turn {
    Turn::calls(files.iter().map(|file| ("read_file", json!({ "path": file }))))
}

/// All that a session keeps, as one text.
fn all(messages: &[Value]) -> String {
    messages.iter().map(|message| message["body"].to_string()).collect()
}

/// Whatever the screen showed as done is in the session.
#[track_caller]
fn check_kept(room: &Room, shown: &str, moment: &str) {
    let kept = room.kept();
    let results: usize = kept.iter().filter(|message| message["role"] == "tool").map(results_of).sum();
    assert!(count(shown, "✓ ") <= results, "{moment}: {results} results are kept of\n{shown}");
    let all = all(&kept);
    if shown.contains("Look at my files") && shown.contains("First I") {
        assert!(all.contains("Look at my files"), "{moment}: the message is lost");
    }
    // Words are done when something stands beneath them that came later.
    for (words, later) in [
        ("First I look at both files.", "✓ read_file"),
        ("Then I write one.", "✓ write_file"),
        ("And look again.", "Everything is"),
    ] {
        if shown.contains(words) && shown.contains(later) {
            assert!(all.contains(words), "{moment}: '{words}' is lost");
        }
    }
}

fn results_of(message: &Value) -> usize {
    message["body"]["message"]["results"].as_array().map_or(0, Vec::len)
}

#[test]
fn at_several_moments() {
    for moment in
        ["First I", "✓ read_file", "Then I write", "✓ write_file", "And look", "Everything is", "should be"]
    {
        let room = Room::new(turns());
        room.pinza.put("a.txt", "a");
        room.pinza.put("b.txt", "b");
        let terminal = room.sit(&[]);
        terminal.line("Look at my files");
        terminal.wait_for(moment);
        let shown = terminal.history();
        terminal.kill_terminal();
        check_kept(&room, &shown, moment);
        goes_on(room);
    }
}

/// The session opens, and the model is given a whole conversation.
#[track_caller]
fn goes_on(room: Room) {
    let room = Room::with(room.pinza, room.provider, [Turn::text("Here again.")]);
    let terminal = room.sit(&[]);
    let screen = say(&terminal, "Go on");
    assert!(screen.contains("Here again."), "{screen}");
    assert_eq!(room.model.failures(), Vec::<String>::new());
}

#[test]
fn a_call_that_was_done_beside_one_that_was_not() {
    let both = Turn::calls([
        ("read_file", json!({"path": "a.txt"})),
        ("exec", json!({"command": format!("printf 'has %s' begun; {}; touch survived", until("never"))})),
    ]);
    let room = Room::new([both]);
    room.pinza.put("a.txt", "the text of a");
    let terminal = room.sit(&["--allow", "exec"]);
    terminal.line("Do both");
    let shown = terminal.wait("one done and one under way", |screen| {
        screen.contains("✓ read_file") && screen.contains("  has begun")
    });
    assert!(!row(&shown, " exec ").contains('✓'), "{shown}");
    terminal.kill_terminal();
    let kept = room.kept();
    assert!(all(&kept).contains("the text of a"), "what was shown as done is lost: {kept:?}");
}

#[test]
fn a_message_that_was_typed_and_not_sent_is_in_the_history() {
    let room = Room::new([Turn::text("One.")]);
    let terminal = room.sit(&[]);
    say(&terminal, "a message");
    terminal.kill_terminal();
    let terminal = room.sit(&[]);
    terminal.key("Up");
    terminal.wait("the last message", |screen| screen.lines().last() == Some("› a message"));
}

#[test]
fn nothing_runs_on() {
    let command = json!({"command": format!("printf 'has %s' begun; {}; touch survived", until("go"))});
    let room = Room::new([Turn::calls([("exec", command)])]);
    let terminal = room.sit(&["--allow", "exec"]);
    terminal.line("Run");
    terminal.wait_for("  has begun");
    terminal.kill_terminal();
    room.pinza.put("go", "");
    // The command looks twenty times a second; its supervisor ends it before the program is gone.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!room.pinza.workspace().join("survived").exists(), "the command outlived its terminal");
}
