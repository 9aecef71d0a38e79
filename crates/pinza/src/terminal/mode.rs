//! How the terminal was before anybody changed it.

use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::write_stdout;

/// Somebody else works for a while and may take as long as it likes: Ctrl-C reaches it.
pub(crate) fn with_signals<T>(work: impl FnOnce() -> T) -> T {
    let stdin = std::io::stdin();
    let held = tcgetattr(&stdin).ok().filter(|termios| !termios.local_modes.contains(LocalModes::ISIG));
    if let Some(mut termios) = held.clone() {
        termios.local_modes.insert(LocalModes::ISIG);
        let _ = tcsetattr(&stdin, OptionalActions::Now, &termios);
    }
    let done = work();
    if let Some(termios) = held {
        let _ = tcsetattr(&stdin, OptionalActions::Now, &termios);
    }
    done
}

/// Put back when a thread that reads keys cannot do it itself.
pub(crate) struct Mode {
    /// None where stdin is no terminal.
    termios: Option<Termios>,
}

impl Mode {
    pub(crate) fn of_stdin() -> Self {
        Self { termios: tcgetattr(std::io::stdin()).ok() }
    }

    /// What is typed while nobody reads keys waits, unseen, for whoever reads next, and stays what it is: the terminal would
    /// make a line feed of Enter, which breaks a line and does not send it, keep Ctrl-D for itself, and make a signal of
    /// Ctrl-C, which nobody hears who waits for keys.
    pub(crate) fn hold_keys(&self) {
        if let Some(mut termios) = self.termios.clone() {
            termios.input_modes.remove(InputModes::ICRNL);
            let edited = LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
            termios.local_modes.remove(edited);
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &termios);
        }
    }

    pub(crate) fn restore(&self) {
        if let Some(termios) = &self.termios {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, termios);
            // Pastes are no longer marked, and what follows begins on a line of its own.
            write_stdout(b"\x1b[?2004l\r\n");
        }
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        if let Some(termios) = &self.termios {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, termios);
        }
    }
}
