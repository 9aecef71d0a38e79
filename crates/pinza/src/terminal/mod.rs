//! The terminal: the only place of the program that prints or asks.

mod approver;
mod ask;
mod clean;
mod editor;
mod image;
mod keys;
mod look;
mod markdown;
mod mode;
mod printer;
mod progress;
mod raw;
mod screen;

pub(crate) use approver::{Choices, TerminalApprover, shown_arguments};
pub(crate) use ask::{ask, is_interactive};
pub(crate) use editor::{Asked, CommandWord, Editor, Read, Words, question, secret};
pub(crate) use image::image;
pub(crate) use keys::{Key, KeyReader, Keys, terminal_gone};
pub(crate) use look::{Line, Look};
pub(crate) use markdown::Markdown;
pub(crate) use mode::{Mode, with_signals};
pub(crate) use printer::{Out, Printer, write_stderr, write_stdout};
pub(crate) use progress::Progress;
use raw::Raw;
pub(crate) use screen::{Caret, Screen, cut, flowing, wrapped};
