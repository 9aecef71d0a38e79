//! The terminal: the only place of the program that prints or asks.

mod approver;
mod ask;
mod clean;
mod editor;
mod image;
mod look;
mod markdown;
mod mode;
mod printer;
mod progress;
mod screen;

pub(crate) use approver::{Choices, TerminalApprover, keep_rule, shown_arguments};
pub(crate) use ask::{ask, is_interactive};
pub(crate) use editor::{Asked, CommandWord, Editor, Raw, Read, Words, question, secret};
pub(crate) use image::image;
pub(crate) use look::{Line, Look};
pub(crate) use markdown::Markdown;
pub(crate) use mode::Mode;
pub(crate) use printer::{Out, Printer, write_stderr, write_stdout};
pub(crate) use progress::Progress;
pub(crate) use screen::{Caret, Key, Keys, Screen, cut, flowing, wrapped};
