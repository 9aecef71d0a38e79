//! `pinza bench`: measures of this program, on data that anybody can have.

mod search;
mod tokens;

use super::{Global, Result, args::Bench};
use crate::terminal::Printer;

#[cfg(test)]
pub(crate) use tokens::page as tokens_page;

pub(crate) fn run(global: &Global, printer: &Printer, command: Bench) -> Result {
    match command {
        Bench::Search(arguments) => search::run(printer, &arguments),
        Bench::Tokens(arguments) => tokens::run(global, printer, &arguments),
    }
}
