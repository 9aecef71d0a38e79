//! The slash commands: one table says what there is, for help, completion and dispatch.

mod sessions;
mod text;
mod tools;
mod whom;

use pinza::core::visible;

use super::{
    super::{Result, near::near},
    desk::Desk,
};
use crate::terminal::{CommandWord, Words};

/// What a command leaves to be done.
pub(super) enum Next {
    Go,
    /// Something is to be typed anew, beginning with this.
    Edit(String),
    Leave,
}

/// What may follow a command, for completion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Groups,
    GroupsAndTools,
    Models,
    Agents,
    Sessions,
}

#[derive(Clone, Copy)]
enum Which {
    Help,
    Tools,
    Groups,
    Load,
    Skills,
    Tokens,
    Model,
    Agent,
    Sessions,
    Undo,
    Save,
    New,
    Quit,
}

struct Command {
    name: &'static str,
    /// As help shows it.
    argument: &'static str,
    takes: Takes,
    help: &'static str,
    which: Which,
}

const fn row(
    which: Which,
    name: &'static str,
    argument: &'static str,
    takes: Takes,
    help: &'static str,
) -> Command {
    Command { name, argument, takes, help, which }
}

const COMMANDS: &[Command] = &[
    row(Which::Help, "help", "", Takes::Nothing, "What can be typed here"),
    row(
        Which::Tools,
        "tools",
        "[GROUP|WORD]",
        Takes::GroupsAndTools,
        "What the model sees, and what it could load",
    ),
    row(Which::Groups, "groups", "", Takes::Nothing, "All groups of tools; ✓ marks those that are loaded"),
    row(Which::Load, "load", "GROUP", Takes::Groups, "Load a group into this session"),
    row(Which::Skills, "skills", "", Takes::Nothing, "Instructions that the model can load"),
    row(
        Which::Tokens,
        "tokens",
        "",
        Takes::Nothing,
        "What the tools of this session have cost, and what they save",
    ),
    row(Which::Model, "model", "[NAME]", Takes::Models, "Show the model, or go on with another one"),
    row(
        Which::Agent,
        "agent",
        "[NAME]",
        Takes::Agents,
        "Show the agent, or begin a session with another one",
    ),
    row(Which::Sessions, "sessions", "[ID]", Takes::Sessions, "Go on with another session"),
    row(Which::Undo, "undo", "", Takes::Nothing, "Take your last message back, to change it"),
    row(Which::Save, "save", "[FILE]", Takes::Nothing, "Write this session to the workspace, as Markdown"),
    row(Which::New, "new", "", Takes::Nothing, "Begin a new session"),
    row(Which::New, "clear", "", Takes::Nothing, "The same as /new"),
    row(Which::Quit, "quit", "", Takes::Nothing, "Leave; so does Ctrl-D"),
];

/// What else can be typed.
const KEYS: &[[&str; 2]] = &[
    ["Enter", "send; Alt-Enter, Ctrl-J or a \\ before Enter begin another line"],
    ["Tab", "complete /commands, @files of the workspace and names of tools"],
    ["Up, Ctrl-R", "what was typed before; search it"],
    ["Ctrl-O", "show what is folded: arguments, logs, results, thoughts"],
    ["Ctrl-C", "stop the model; on an empty line, twice, leave"],
    ["@picture.png", "an image goes along; of any other @file the model reads the name"],
];

/// Does what was typed after the slash.
pub(super) async fn run(desk: &mut Desk<'_>, typed: &str) -> Result<Next> {
    let (name, argument) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let argument = argument.trim();
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        anyhow::bail!("there is no command /{}{}", visible(name), meant(name));
    };
    if !argument.is_empty() && command.argument.is_empty() {
        anyhow::bail!("/{name} stands alone");
    }
    let argument = Some(argument).filter(|argument| !argument.is_empty());
    match command.which {
        Which::Help => help(desk),
        Which::Tools => desk.tools(argument)?,
        Which::Groups => desk.groups(),
        Which::Load => desk.load(argument).await?,
        Which::Skills => desk.skills(),
        Which::Tokens => desk.tokens().await?,
        Which::Model => desk.model(argument).await?,
        Which::Agent => desk.agent(argument).await?,
        Which::Sessions => desk.sessions(argument).await?,
        Which::Undo => return desk.undo().await.map(Next::Edit),
        Which::Save => desk.save(argument).await?,
        Which::New => desk.begin_anew().await?,
        Which::Quit => return Ok(Next::Leave),
    }
    Ok(Next::Go)
}

fn help(desk: &mut Desk<'_>) {
    let commands = COMMANDS.iter().map(|command| {
        let typed = format!("/{} {}", command.name, command.argument);
        [typed.trim_end().to_owned(), command.help.to_owned()]
    });
    desk.rows(commands);
    desk.say("");
    desk.rows(KEYS.iter().map(|row| row.map(str::to_owned)));
}

fn meant(name: &str) -> String {
    let near = near(name, COMMANDS.iter().map(|command| command.name), 0.75);
    if near.is_empty() {
        return "; /help shows them all".to_owned();
    }
    format!("; did you mean /{}?", near.join(" or /"))
}

impl Desk<'_> {
    /// What can be completed now.
    pub(super) async fn words(&self) -> Words {
        let view = self.chat.view();
        let tools: Vec<String> = view.tools().map(|entry| entry.definition().name.to_string()).collect();
        let groups: Vec<String> = view.groups().map(|group| group.name.to_string()).collect();
        let sessions = self.chat.store.sessions(50).await.unwrap_or_default();
        let arguments = |takes| match takes {
            Takes::Nothing => Vec::new(),
            Takes::Groups => groups.clone(),
            Takes::GroupsAndTools => groups.iter().chain(&tools).cloned().collect(),
            Takes::Models => self.models(),
            Takes::Agents => self.chat.session.config.agents.keys().cloned().collect(),
            Takes::Sessions => sessions.iter().map(|session| session.id.clone()).collect(),
        };
        let word = |command: &Command| CommandWord {
            name: command.name,
            help: command.help,
            arguments: arguments(command.takes),
        };
        Words {
            commands: COMMANDS.iter().map(word).collect(),
            tools,
            workspace: Some(self.workspace.clone()),
            answers: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_once_and_near_ones_are_found() {
        for (number, command) in COMMANDS.iter().enumerate() {
            assert!(!COMMANDS[..number].iter().any(|other| other.name == command.name), "{}", command.name);
            assert!(!command.help.is_empty());
        }
        for (typed, expected) in [
            ("tols", "; did you mean /tools"),
            ("exit", "; /help shows them all"),
            ("sesions", "; did you mean /sessions"),
            ("modle", "; did you mean /model"),
        ] {
            assert!(meant(typed).starts_with(expected), "{typed}: {}", meant(typed));
        }
    }
}
