//! Running the program and comparing what it says. Tests are data; these helpers touch the
//! program.

use std::io::Read as _;

use pinza_testkit::{Program, Run};
use pty_process::blocking::Pty;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

/// The fields of an answer, in the order that scripts see.
const SUCCESS: [&str; 6] = ["status", "result", "content", "details", "tool", "durationMs"];
const ERROR: [&str; 6] = ["status", "error_type", "message", "hint", "tool", "durationMs"];

/// The text of a success, or the code and message of an error; `[..]` matches anything.
pub(crate) type Expected<'a> = Result<&'a str, (&'a str, &'a str)>;

pub(crate) fn pinza() -> Program {
    Program::new(env!("CARGO_BIN_EXE_pinza"))
}

/// `pinza --json call …`: the answer has exactly the promised fields, the exit code agrees with
/// it, stderr is silent, and it says what is expected.
#[track_caller]
pub(crate) fn check_call(pinza: &Program, arguments: &[&str], expected: Expected) -> Value {
    let run = pinza.run(&[&["--json", "call"], arguments].concat());
    check_answer(&run, arguments, expected)
}

#[track_caller]
pub(crate) fn check_answer(run: &Run, arguments: &[&str], expected: Expected) -> Value {
    let answer = run.json();
    let field = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(run.stderr, "", "{arguments:?}");
    assert_eq!(answer["tool"], arguments[0], "{run:?}");
    assert!(answer["durationMs"].is_u64(), "{run:?}");
    match expected {
        Ok(text) => {
            assert_eq!((run.code, keys(&answer)), (Some(0), SUCCESS.to_vec()), "{arguments:?}: {run:?}");
            assert_eq!(answer["status"], "success");
            assert_matches(&field("result"), text);
        }
        Err((kind, message)) => {
            assert_eq!((run.code, keys(&answer)), (Some(1), ERROR.to_vec()), "{arguments:?}: {run:?}");
            assert_eq!((answer["status"].as_str(), &*field("error_type")), (Some("error"), kind), "{answer}");
            assert_matches(&field("message"), message);
            assert!(answer["hint"].is_string() || answer["hint"].is_null(), "{answer}");
        }
    }
    answer
}

/// Exit code, stdout and stderr of a run; `[..]` matches anything within a line, a line `...`
/// any number of lines.
#[track_caller]
pub(crate) fn check(pinza: &Program, arguments: &[&str], code: i32, stdout: &str, stderr: &str) -> Run {
    let run = pinza.run(arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
    assert_matches(&run.stdout, stdout);
    assert_matches(&run.stderr, stderr);
    run
}

/// A command that succeeds without a word on stderr.
#[track_caller]
pub(crate) fn fine(pinza: &Program, arguments: &[&str]) -> Run {
    let run = pinza.run(arguments);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{arguments:?}: {run:?}");
    run
}

/// Wrong usage or configuration: exit 2, nothing on stdout, a reason on stderr.
#[track_caller]
pub(crate) fn refused(pinza: &Program, arguments: &[&str], reason: &str) {
    check(pinza, arguments, 2, "", reason);
}

pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

#[track_caller]
pub(crate) fn assert_matches(text: &str, pattern: &str) {
    assert!(matches(text, pattern), "\n--- this\n{text}\n--- does not match\n{pattern}\n---");
}

/// `[..]` in the pattern matches anything within a line, a line `...` any number of lines.
pub(crate) fn matches(text: &str, pattern: &str) -> bool {
    let lines = |text| str::split(text, '\n').collect::<Vec<_>>();
    lines_match(&lines(text), &lines(pattern))
}

fn lines_match(lines: &[&str], pattern: &[&str]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        ["...", rest @ ..] => (0..=lines.len()).any(|skipped| lines_match(&lines[skipped..], rest)),
        [first, rest @ ..] => {
            let Some((line, after)) = lines.split_first() else { return false };
            line_matches(line, first) && lines_match(after, rest)
        }
    }
}

fn line_matches(line: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once("[..]") else { return line == pattern };
    let Some(line) = line.strip_prefix(start) else { return false };
    let places = line.char_indices().map(|(place, _)| place).chain([line.len()]);
    places.into_iter().any(|place| line_matches(&line[place..], rest))
}

#[test]
fn patterns() {
    for (text, pattern, expected) in [
        ("a", "a", true),
        ("a", "b", false),
        ("took 12 ms", "took [..] ms", true),
        ("took 12 s", "took [..] ms", false),
        ("a\nb", "a[..]", false),
        ("a\nb\nc\nd", "a\n...\nd", true),
        ("a\nd", "a\n...\nd", true),
        ("a\nb", "a\n...\nd", false),
        ("ünïcode", "ü[..]e", true),
    ] {
        assert_eq!(matches(text, pattern), expected, "{text:?} {pattern:?}");
    }
}

/// Waits for more on the screen of a terminal; false once the program has left it.
#[track_caller]
pub(crate) fn look(pty: &mut Pty, screen: &mut String) -> bool {
    let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(pty, PollFlags::IN)], Some(&patience)).unwrap();
    assert!(ready > 0, "nothing happens any more; on the screen: {screen}");
    let mut bytes = [0; 4096];
    // The end of a terminal is an error of its own.
    let read = pty.read(&mut bytes).unwrap_or(0);
    screen.push_str(&String::from_utf8_lossy(&bytes[..read]));
    read > 0
}
