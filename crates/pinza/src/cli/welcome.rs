//! `pinza` and nothing else, at a terminal: what is here, and three things to try.

use std::{ffi::OsString, io::IsTerminal as _};

use clap::Parser as _;
use pinza::core::{Source, visible};

use super::{
    Done, Global, Result,
    args::Bare,
    chat::provider,
    session::{self, Session},
};
use crate::{
    project::{Project, Trust},
    terminal::{Printer, is_interactive},
};

/// The flags, where somebody at a terminal typed no command; programs get the help, as ever.
pub(crate) fn wanted(typed: &[OsString]) -> Option<Global> {
    let global = Bare::try_parse_from(typed).ok()?.global;
    let somebody = is_interactive() && std::io::stdout().is_terminal();
    (somebody && !global.json).then_some(global)
}

/// How many groups and servers are named.
const NAMED: usize = 8;

/// What is here.
struct Here {
    tools: usize,
    own: Vec<String>,
    groups: Vec<String>,
    upstreams: Vec<String>,
    workspace: String,
    home: String,
    project: Option<(String, Trust)>,
    /// The provider, and its model if one is set.
    model: Option<(String, Option<String>)>,
}

pub(crate) fn run(global: &Global, printer: &Printer) -> Result {
    let session = Session::open(global)?;
    printer.problems(&session.problems);
    let here = Here::of(global, &session)?;
    printer.text(|out| {
        out.line(&format!("Pinza {}: tools for AI agents.", env!("CARGO_PKG_VERSION")));
        out.line("");
        out.columns(here.rows());
        out.line("");
        out.line("Three things to try:");
        out.columns(here.ideas());
        out.line("");
        out.line("pinza help has the rest.");
    });
    Ok(Done::Well)
}

impl Here {
    fn of(global: &Global, session: &Session) -> Result<Self> {
        let (workspace, _) = session::workspace(global, &session.home)?;
        let project = match Project::find(&workspace, &session.home) {
            Some(project) => {
                let trust = project.trust(&session.home)?;
                Some((visible(&project.path.display().to_string()), trust))
            }
            None => None,
        };
        let snapshot = session.pinza.snapshot();
        let is_own = |entry: &&pinza::core::Entry| matches!(entry.meta().source, Source::Js(_));
        Ok(Self {
            tools: snapshot.tools().filter(|entry| entry.is_enabled()).count(),
            own: snapshot.tools().filter(is_own).map(|entry| entry.meta().id.to_string()).collect(),
            groups: snapshot.groups().map(|group| group.name.to_string()).collect(),
            upstreams: session.config.mcp.servers.keys().map(|name| visible(name)).collect(),
            workspace: visible(&workspace.display().to_string()),
            home: visible(&session.home.path.display().to_string()),
            project,
            model: provider::known(session),
        })
    }

    fn rows(&self) -> Vec<[String; 2]> {
        let own = match self.own.len() {
            0 => String::new(),
            count => format!(", {count} of your own"),
        };
        let model = match &self.model {
            Some((provider, Some(model))) => format!("{} of {}", visible(model), visible(provider)),
            Some((provider, None)) => format!("{}; say which with --model", visible(provider)),
            None => "none is set up".to_owned(),
        };
        let mut rows = vec![
            ["tools", &format!("{}{own}", self.tools)],
            ["groups", &named(&self.groups)],
            ["servers", &named(&self.upstreams)],
            ["model", &model],
            ["workspace", &self.workspace],
            ["home", &self.home],
        ]
        .into_iter()
        .map(|row| row.map(str::to_owned))
        .collect::<Vec<_>>();
        if let Some((path, trust)) = &self.project {
            let trust = match trust {
                Trust::Trusted => "",
                Trust::Unknown => " (not trusted, so not read)",
                Trust::Changed => " (changed since it was trusted, so not read)",
            };
            rows.push(["project".to_owned(), format!("{path}{trust}")]);
        }
        rows
    }

    /// The first three that make sense here.
    fn ideas(&self) -> Vec<[String; 2]> {
        let untrusted = self.project.as_ref().is_some_and(|(_, trust)| *trust != Trust::Trusted);
        let chat = match &self.model {
            Some((_, Some(_))) => Some("pinza chat".to_owned()),
            Some((_, None)) => Some("pinza chat --model NAME".to_owned()),
            None => None,
        };
        let own = match self.own.first() {
            None => ["pinza tools new greet".to_owned(), "begin a tool of your own".to_owned()],
            Some(name) => [format!("pinza tools show {name}"), "look at a tool of your own".to_owned()],
        };
        let ideas = [
            untrusted.then(|| {
                [
                    "pinza trust".to_owned(),
                    "read the project's tools, once you have looked at them".to_owned(),
                ]
            }),
            chat.map(|command| [command, "talk with a model that has these tools".to_owned()]),
            self.model.is_none().then(|| {
                ["pinza call get_current_time timezone=Asia/Tokyo".to_owned(), "call a tool".to_owned()]
            }),
            Some(own),
            Some(["pinza mcp install claude-code".to_owned(), "give these tools to your agent".to_owned()]),
            Some(["pinza tools list".to_owned(), "see what there is".to_owned()]),
        ];
        ideas.into_iter().flatten().take(3).collect()
    }
}

/// Some names, and how many more there are.
fn named(names: &[String]) -> String {
    match names.get(NAMED..).map(<[String]>::len) {
        _ if names.is_empty() => "none".to_owned(),
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}
