//! How a command ended, as a supervisor reports it in one line.
//!
//! The exit code alone cannot say it: a command may itself exit with 127 or 137.

use std::process::ExitCode;

use rustix::process::WaitStatus;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Exited(i32),
    Signalled(i32),
    NotStarted(String),
}

impl Outcome {
    pub(super) fn of(status: WaitStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Signalled(signal),
            // Stopped or continued: never asked for, so never seen.
            (None, None) => Self::Exited(0),
        }
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end().split_once(' ')?;
        match word {
            "exited" => rest.parse().ok().map(Self::Exited),
            "signalled" => rest.parse().ok().map(Self::Signalled),
            "not-started" => Some(Self::NotStarted(rest.to_owned())),
            _ => None,
        }
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Signalled(signal) => format!("signalled {signal}\n"),
            Self::NotStarted(reason) => format!("not-started {reason}\n"),
        }
    }

    /// As a shell would exit, for whoever runs a supervisor by hand.
    pub(super) fn exit_code(&self) -> ExitCode {
        let code = match self {
            Self::Exited(code) => *code,
            Self::Signalled(signal) => 128 + signal,
            Self::NotStarted(_) => 127,
        };
        ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_it_all() {
        for outcome in
            [Outcome::Exited(137), Outcome::Signalled(9), Outcome::NotStarted("'x' was not found".into())]
        {
            assert_eq!(Outcome::parse(&outcome.line()), Some(outcome));
        }
        for odd in ["", "exited", "exited x", "done 0"] {
            assert_eq!(Outcome::parse(odd), None, "{odd:?}");
        }
    }
}
