//! One answer to one question, outside of any message; none of it is kept in the history.

use anyhow::Context as _;
use rustyline::error::ReadlineError;

use super::{complete::Words, helper::Helper, lines};
use crate::terminal::{Key, KeyReader, Look, Raw, ask::ask_or_end, write_stdout};

/// Longer than any key.
const LONGEST: usize = 8 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Answer(String),
    /// Ctrl-C, Ctrl-D, or the terminal is gone.
    Left,
}

/// Asks for a line, which begins with `begun`; Tab completes one of `choices`. Blocking.
pub(crate) fn question(look: Look, prompt: &str, begun: &str, choices: &[String]) -> anyhow::Result<Asked> {
    if !look.redraws {
        let suggested = if begun.is_empty() { String::new() } else { format!("[{begun}] ") };
        let Some(answer) = ask_or_end(&format!("{prompt}{suggested}")) else { return Ok(Asked::Left) };
        return Ok(Asked::Answer(if answer.is_empty() { begun.to_owned() } else { answer }));
    }
    let words = Words { answers: choices.to_vec(), ..Words::default() };
    let mut lines = lines(look, Helper { words, look })?;
    match lines.readline_with_initial(prompt, (begun, "")) {
        Ok(answer) => Ok(Asked::Answer(answer.trim().to_owned())),
        Err(
            ReadlineError::Interrupted | ReadlineError::Eof | ReadlineError::Io(_) | ReadlineError::Errno(_),
        ) => Ok(Asked::Left),
        Err(error) => Err(error.into()),
    }
}

/// Asks for what nobody who looks on may read: not a letter of it is shown. Blocking.
pub(crate) fn secret(prompt: &str) -> anyhow::Result<Asked> {
    // First of all: whoever is asked may be quick.
    // Nothing marks a paste, which so comes as keys.
    let _raw = Raw::silent().context("cannot use this terminal")?;
    write_stdout(prompt.as_bytes());
    let (mut keys, mut typed) = (KeyReader::default(), String::new());
    let asked = loop {
        match answer(keys.next(), &mut typed) {
            Some(asked) => break asked,
            None if typed.len() > LONGEST => break Asked::Left,
            None => {}
        }
    };
    write_stdout(b"\r\n");
    Ok(asked)
}

/// What a key does to a secret; the answer, where it ends it.
fn answer(key: Key, typed: &mut String) -> Option<Asked> {
    match key {
        Key::Ctrl('c' | 'd') | Key::Escape | Key::Gone => return Some(Asked::Left),
        Key::Enter | Key::Break => return Some(Asked::Answer(typed.trim().to_owned())),
        Key::Ctrl('u') => typed.clear(),
        Key::Backspace => drop(typed.pop()),
        Key::Char(c) => typed.push(c),
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_typed_mended_and_left() {
        let mut typed = String::new();
        for c in "wrong".chars() {
            assert_eq!(answer(Key::Char(c), &mut typed), None);
        }
        assert_eq!(answer(Key::Ctrl('u'), &mut typed), None);
        for c in " sk-ü1x".chars() {
            assert_eq!(answer(Key::Char(c), &mut typed), None);
        }
        assert_eq!(answer(Key::Backspace, &mut typed), None);
        assert_eq!(answer(Key::Enter, &mut typed), Some(Asked::Answer("sk-ü1".into())));
        for key in [Key::Ctrl('c'), Key::Escape, Key::Gone] {
            assert_eq!(answer(key, &mut typed), Some(Asked::Left));
        }
    }
}
