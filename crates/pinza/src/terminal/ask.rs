//! One question to the person at the terminal, outside of any call.

use std::io::{BufRead as _, IsTerminal as _};

use super::write_stderr;

/// Is there somebody to ask?
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The answer to a question, without the spaces around it; empty at the end of the input.
pub(crate) fn ask(question: &str) -> String {
    ask_or_end(question).unwrap_or_default()
}

/// The same for whom an empty answer means something; none at the end of the input.
pub(super) fn ask_or_end(question: &str) -> Option<String> {
    // What was typed before the question is no answer to it.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    write_stderr(question);
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    (read.is_ok() && !line.is_empty()).then(|| line.trim().to_owned())
}
