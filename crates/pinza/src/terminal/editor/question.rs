//! One answer to one question, outside of any message; none of it is kept in the history.

use crossterm::{
    event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read},
    terminal::{disable_raw_mode, enable_raw_mode},
};
use rustyline::error::ReadlineError;

use super::{complete::Words, helper::Helper, lines};
use crate::terminal::{Look, ask, write_stdout};

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
        let answer = ask(&format!("{prompt}{suggested}"));
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
    let _raw = Raw::new()?;
    write_stdout(prompt.as_bytes());
    let mut typed = String::new();
    let asked = loop {
        // Pastes come as keys here.
        let Event::Key(key) = read()? else { continue };
        match answer(key, &mut typed) {
            Some(asked) => break asked,
            None if typed.len() > LONGEST => break Asked::Left,
            None => {}
        }
    };
    write_stdout(b"\r\n");
    Ok(asked)
}

/// What a key does to a secret; the answer, where it ends it.
fn answer(key: KeyEvent, typed: &mut String) -> Option<Asked> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
        (KeyCode::Char('c' | 'd'), true) | (KeyCode::Esc, _) => return Some(Asked::Left),
        (KeyCode::Char('j' | 'm'), true) | (KeyCode::Enter, _) => {
            return Some(Asked::Answer(typed.trim().to_owned()));
        }
        (KeyCode::Char('u'), true) => typed.clear(),
        (KeyCode::Backspace, _) => drop(typed.pop()),
        (KeyCode::Char(c), false) => typed.push(c),
        _ => {}
    }
    None
}

/// Keys come one by one and are not shown, until this is dropped.
pub(crate) struct Raw;

impl Raw {
    pub(crate) fn new() -> anyhow::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_typed_mended_and_left() {
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let mut typed = String::new();
        for c in "wrong".chars() {
            assert_eq!(answer(key(KeyCode::Char(c)), &mut typed), None);
        }
        assert_eq!(answer(control('u'), &mut typed), None);
        for c in " sk-ü1x".chars() {
            assert_eq!(answer(key(KeyCode::Char(c)), &mut typed), None);
        }
        assert_eq!(answer(key(KeyCode::Backspace), &mut typed), None);
        assert_eq!(answer(key(KeyCode::Enter), &mut typed), Some(Asked::Answer("sk-ü1".into())));
        assert_eq!(answer(control('c'), &mut typed), Some(Asked::Left));
    }
}
