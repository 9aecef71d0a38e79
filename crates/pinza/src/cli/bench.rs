//! `pinza bench`: measures, on data of your own.

mod search;

use super::{Global, Result, args::Bench};
use crate::terminal::Printer;

pub(crate) fn run(_global: &Global, printer: &Printer, command: Bench) -> Result {
    match command {
        Bench::Search(arguments) => search::run(printer, &arguments),
    }
}
