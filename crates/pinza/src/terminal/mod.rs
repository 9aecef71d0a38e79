//! The terminal: the only place of the program that prints or asks.

mod approver;
mod printer;

pub(crate) use approver::TerminalApprover;
pub(crate) use printer::{Out, Printer, write_stderr};
