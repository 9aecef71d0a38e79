//! `pinza completions`: a script for the shell.

use clap::CommandFactory;

use super::{
    Done, Result,
    args::{Cli, Completions},
};
use crate::terminal::Printer;

pub(crate) fn run(printer: &Printer, arguments: Completions) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "pinza", &mut script);
    printer.raw(&script);
    Ok(Done::Well)
}
