//! Asking the person at the terminal: a prompt on stderr, an answer from stdin.

use std::{
    io::BufRead as _,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use pinza::{
    Rule,
    core::{Answer, Approver, BoxFuture, Prompt, visible},
};
use rustix::event::{PollFd, PollFlags, poll};

use super::write_stderr;
use crate::cli::keep_rule;

/// How often a waiting prompt looks whether its call still wants an answer.
const LOOK: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) struct TerminalApprover {
    config_file: PathBuf,
}

impl TerminalApprover {
    pub(crate) fn new(config_file: PathBuf) -> Self {
        Self { config_file }
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        let question = question(prompt);
        let choices = Choices::of(prompt);
        // Dropped with the future when the call is cancelled: the reading thread sees it and
        // leaves, so that it cannot swallow the answer to the next prompt.
        let withdrawn = Withdrawn::default();
        let flag = Arc::clone(&withdrawn.0);
        Box::pin(async move {
            let _withdrawn = withdrawn;
            let asking = tokio::task::spawn_blocking(move || ask(&question, choices, &flag));
            asking.await.unwrap_or(Answer::Deny)
        })
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        keep_rule(&self.config_file, rule).inspect_err(|reason| {
            write_stderr(&format!("warning: the rule could not be written: {reason}\n"));
        })
    }
}

#[derive(Default)]
struct Withdrawn(Arc<AtomicBool>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What may be answered beside once and no.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    pub(crate) session: bool,
    pub(crate) always: bool,
}

impl Choices {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        Self { session: prompt.rule.is_some(), always: prompt.rule.is_some() && prompt.can_keep }
    }
}

/// The arguments of a call by name, with odd characters visible.
pub(crate) fn shown_arguments(prompt: &Prompt) -> impl Iterator<Item = (String, String)> {
    prompt.arguments.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (visible(name), visible(&value))
    })
}

/// Everything that a tool or a model wrote is shown with its odd characters visible.
fn question(prompt: &Prompt) -> String {
    let mut text = format!(
        "\n{} asks for: {}\n",
        visible(prompt.tool.as_str()),
        visible(prompt.permission.capability.as_str())
    );
    if let Some(detail) = &prompt.permission.detail {
        text.push_str(&format!("  {}\n", visible(detail)));
    }
    for (name, value) in shown_arguments(prompt) {
        text.push_str(&format!("  {name}: {value}\n"));
    }
    match &prompt.rule {
        Some(rule) if prompt.can_keep => {
            text.push_str("  [y] once   [s] this session   [a] always   [n] no\n");
            text.push_str(&format!("  \"always\" writes this rule: {rule}\n"));
        }
        Some(_) => text.push_str("  [y] once   [s] this session   [n] no\n"),
        None => text.push_str("  [y] once   [n] no\n"),
    }
    text
}

fn ask(question: &str, choices: Choices, withdrawn: &AtomicBool) -> Answer {
    // What was typed before the question is no answer to it.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    write_stderr(question);
    loop {
        write_stderr("allow? ");
        let Some(line) = read_line(withdrawn) else {
            write_stderr("\n");
            return Answer::Deny;
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Answer::Once,
            "s" | "session" if choices.session => return Answer::Session,
            "a" | "always" if choices.always => return Answer::Always,
            "n" | "no" | "" => return Answer::Deny,
            _ => write_stderr("please answer with one of the letters above\n"),
        }
    }
}

/// A line from stdin; `None` at its end or when the prompt is withdrawn.
fn read_line(withdrawn: &AtomicBool) -> Option<String> {
    let stdin = std::io::stdin();
    loop {
        if withdrawn.load(Ordering::Relaxed) {
            return None;
        }
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK));
        if ready.is_ok_and(|count| count > 0) {
            let mut line = String::new();
            let read = stdin.lock().read_line(&mut line).ok()?;
            return (read > 0).then_some(line);
        }
    }
}
