//! Keys one by one: the terminal's own editing of lines is off, and on again whatever happens.

use rustix::termios::{OptionalActions, OutputModes, Termios, tcgetattr, tcsetattr};

use super::write_stdout;

const PASTES_ON: &[u8] = b"\x1b[?2004h";
const PASTES_OFF: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// Dropping it gives the terminal back as it was.
pub(super) struct Raw {
    before: Termios,
    /// Whether the terminal marks what is pasted.
    marks: bool,
}

impl Raw {
    /// Pastes are told from keys.
    pub(super) fn enter() -> std::io::Result<Self> {
        let mut raw = Self::silent()?;
        raw.marks = true;
        write_stdout(PASTES_ON);
        Ok(raw)
    }

    /// Nothing is written, so that a terminal which knows no sequences will do; a paste is as many keys.
    pub(super) fn silent() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // What somebody else writes still begins its lines at the left.
        raw.output_modes |= OutputModes::OPOST;
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before, marks: false })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if self.marks {
            write_stdout(PASTES_OFF);
        }
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}
