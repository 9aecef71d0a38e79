//! The command line: what may be typed, and the exit code that comes back.
//!
//! stdout is data, everything else goes to stderr. Exit 0: fine; 1: an answered error; 2: input
//! that cannot be understood, wrong usage or configuration, with stdout empty.

use std::process::ExitCode;

use clap::Parser;
use pinza::ToolError;

use crate::terminal::Printer;

mod agents;
mod args;
mod author;
mod bench;
mod call;
mod calls;
mod chat;
mod completions;
mod config;
mod conformance;
mod doctor;
mod env;
mod groups;
mod init;
mod journal;
mod mcp;
mod memory;
mod module;
mod near;
mod policy;
mod receipt;
#[cfg(test)]
mod reference;
mod schema;
mod search;
mod serve;
mod session;
mod sessions;
mod skills;
mod tools;
mod trust;
mod welcome;

pub(crate) use args::Global;
use args::{Cli, Command};
pub(crate) use policy::keep as keep_rule;
pub(crate) use session::Problem;
pub(crate) use tools::problem_line;

/// How a command ends without having failed.
pub(crate) enum Done {
    Well,
    /// The answer was an error; it has been printed.
    Answered,
}

/// A command's way to fail before there is an answer: exit 2.
pub(crate) type Result<T = Done> = anyhow::Result<T>;

pub(crate) fn main() -> ExitCode {
    let typed = args::hoist(std::env::args_os());
    let (global, command) = match args::read_quickly(&typed) {
        Some(Cli { global, command }) => (global, Some(command)),
        None => match welcome::wanted(&typed) {
            Some(global) => (global, None),
            None => {
                let Cli { global, command } = Cli::parse_from(typed);
                (global, Some(command))
            }
        },
    };
    let printer = Printer::new(&global);
    let done = match command {
        Some(command) => run(&global, command, &printer),
        None => welcome::run(&global, &printer),
    };
    match done {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::Answered) => ExitCode::from(1),
        Err(error) => {
            if let Some(answer) = error.downcast_ref::<ToolError>() {
                printer.answered_error(answer);
                return ExitCode::from(1);
            }
            printer.failure(&error);
            ExitCode::from(2)
        }
    }
}

fn run(global: &Global, command: Command, printer: &Printer) -> Result {
    match command {
        Command::Call(arguments) => call::run(global, printer, arguments),
        Command::Tools(command) => tools::run(global, printer, command),
        Command::Groups(command) => groups::run(global, printer, command),
        Command::Skills(command) => skills::run(global, printer, command),
        Command::Module(command) => module::run(global, printer, command),
        Command::Mcp(command) => mcp::run(global, printer, command),
        Command::Schema(arguments) => schema::run(global, printer, arguments),
        Command::Config(command) => config::run(global, printer, command),
        Command::Env(command) => env::run(global, printer, command),
        Command::Policy(command) => policy::run(global, printer, command),
        Command::Calls(command) => calls::run(global, printer, command),
        Command::Sessions(command) => sessions::run(global, printer, command),
        Command::Memory(command) => memory::run(global, printer, command),
        Command::Init(arguments) => init::run(global, printer, arguments),
        Command::Trust(arguments) => trust::run(global, printer, arguments),
        Command::Bench(command) => bench::run(global, printer, command),
        Command::Doctor => doctor::run(global, printer),
        Command::Completions(arguments) => completions::run(printer, arguments),
        Command::Agents(command) => agents::run(global, printer, command),
        Command::Chat(arguments) => chat::run(global, printer, arguments),
        Command::Serve(arguments) => serve::run(global, printer, arguments),
        Command::ConformanceClient { url } => conformance::run(&url),
    }
}

/// For tests of the command line's own shape.
#[cfg(test)]
fn parse(arguments: &[&str]) -> std::result::Result<Cli, clap::Error> {
    Cli::try_parse_from(args::hoist(arguments.iter().map(std::ffi::OsString::from)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_add_up_wherever_they_stand() {
        let cli = parse(&["pinza", "--deny", "exec", "call", "x", "--deny=net,node", "--json"]).unwrap();
        assert_eq!(cli.global.deny, ["exec", "net", "node"]);
        assert!(cli.global.json);
    }

    #[test]
    fn what_is_read_quickly_is_read_as_ever() {
        let quick: [&[&str]; 6] = [
            &["pinza", "serve", "--stdio", "--expose", "full", "--deny", "exec"],
            &["pinza", "--home", "h", "serve", "--http", "1", "--include", "a,b", "--profile", "coding"],
            &["pinza", "call", "x", "a=1", "--deny=net,node", "--json"],
            &["pinza", "call", "serve", "--", "--json"],
            &["pinza", "--env", "A=b", "call", "x", "--env", "C=d"],
            &["pinza", "serve"],
        ];
        for typed in quick {
            let hoisted = args::hoist(typed.iter().map(std::ffi::OsString::from));
            let read = args::read_quickly(&hoisted).unwrap();
            assert_eq!(format!("{read:?}"), format!("{:?}", parse(typed).unwrap()), "{typed:?}");
        }
        let others: [&[&str]; 6] = [
            &["pinza", "serve", "--help"],
            &["pinza", "call"],
            &["pinza", "serve", "--what"],
            &["pinza", "tools", "show", "call"],
            &["pinza", "--version", "serve"],
            &["pinza"],
        ];
        for typed in others {
            let hoisted = args::hoist(typed.iter().map(std::ffi::OsString::from));
            assert!(args::read_quickly(&hoisted).is_none(), "{typed:?}");
        }
    }

    #[test]
    fn what_follows_two_dashes_is_no_flag() {
        let cli = parse(&["pinza", "call", "x", "--", "--json"]).unwrap();
        assert!(!cli.global.json);
    }
}
