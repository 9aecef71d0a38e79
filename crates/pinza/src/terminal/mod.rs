//! The terminal: the only place of the program that prints or asks.

mod approver;
mod ask;
#[expect(dead_code, reason = "the chat at a terminal is about to use it")]
mod look;
mod printer;
mod progress;

pub(crate) use approver::TerminalApprover;
pub(crate) use ask::{ask, is_interactive};
#[expect(unused_imports, reason = "the chat at a terminal is about to use it")]
pub(crate) use look::{Line, Look};
pub(crate) use printer::{Out, Printer, write_stderr, write_stdout};
pub(crate) use progress::Progress;
