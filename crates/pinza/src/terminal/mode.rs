//! How the terminal was before anybody changed it.

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::write_stdout;

/// Put back when a thread that reads keys cannot do it itself.
pub(crate) struct Mode {
    /// None where stdin is no terminal.
    termios: Option<Termios>,
}

impl Mode {
    pub(crate) fn of_stdin() -> Self {
        Self { termios: tcgetattr(std::io::stdin()).ok() }
    }

    pub(crate) fn restore(&self) {
        if let Some(termios) = &self.termios {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, termios);
            // Pastes are no longer marked, and what follows begins on a line of its own.
            write_stdout(b"\x1b[?2004l\r\n");
        }
    }
}
