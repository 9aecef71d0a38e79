//! Terminals that cannot or should not be drawn on: `--plain`, `TERM=dumb`, `NO_COLOR`.

use pinza_testkit::model::{Provider, Turn};
use serde_json::json;

use super::{Room, compare};
use crate::support::pinza;

fn turns() -> [Turn; 3] {
    [
        Turn { thinking: "Hm.".into(), ..Turn::calls([("exec", json!({"command": "echo hello"}))]) },
        Turn::text("## It *says*\n\n- hello"),
        Turn::text("Bye."),
    ]
}

/// The same talk, however it is shown.
fn talk(more: &[&str], env: &[(&str, &str)], name: &str) -> String {
    let room = Room::with(pinza(), Provider::Anthropic, turns());
    let terminal = room.open(more, env, 80, 30);
    terminal.wait_for("›");
    terminal.line("Run it");
    terminal.wait_for("asks for: ");
    terminal.line("y");
    terminal.wait_for("hello");
    terminal.wait("the answer", |screen| screen.contains("It says") || screen.contains("It *says*"));
    terminal.still();
    terminal.line("Thanks");
    terminal.wait_for("Bye.");
    compare(&terminal, name);
    terminal.key("C-d");
    assert_eq!(terminal.gone(), Some(0));
    room.finished();
    String::from_utf8_lossy(&terminal.written()).into_owned()
}

/// Nothing but text and line breaks: no escape, and no carriage return that would go back.
#[track_caller]
fn check_plain(written: &str) {
    assert!(!written.contains('\x1b'), "an escape sequence: {written:?}");
    assert!(
        !written.replace("\r\n", "\n").replace("\r\r\n", "\n").contains('\r'),
        "a line was drawn again: {written:?}"
    );
    assert!(!written.contains('⠋'), "a spinner: {written:?}");
    assert!(!written.contains('\u{8}'), "a backspace: {written:?}");
}

#[test]
fn for_screen_readers() {
    check_plain(&talk(&["--plain"], &[], "plain"));
}

#[test]
fn at_a_dumb_terminal() {
    check_plain(&talk(&[], &[("TERM", "dumb")], "dumb"));
}

#[test]
fn without_colours() {
    let room = Room::with(pinza(), Provider::Anthropic, turns());
    let terminal = room.open(&["--allow", "exec"], &[("NO_COLOR", "1")], 80, 30);
    super::ready(&terminal);
    terminal.line("Run it");
    terminal.wait_for("It says");
    super::ready(&terminal);
    compare(&terminal, "no_color");
    let written = String::from_utf8_lossy(&terminal.written()).into_owned();
    let coloured =
        written.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m')).any(|(codes, _)| {
            codes.chars().all(|c| c.is_ascii_digit() || c == ';')
                && codes
                    .split(';')
                    .any(|code| code.parse().is_ok_and(|code: u8| matches!(code, 30..=49 | 90..=107)))
        });
    assert!(!coloured, "a colour: {written:?}");
}
