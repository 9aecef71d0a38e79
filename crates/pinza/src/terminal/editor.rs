//! Reading a message at a terminal: several lines, history, completion, pastes.
//!
//! Blocking: whoever waits for messages beside other work calls it on a thread that may block. Where the screen must not
//! be redrawn (`--plain`, a dumb terminal) it reads plain lines as the terminal hands them out.

mod complete;
mod helper;
mod history;
mod plain;
mod question;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use anyhow::Context as _;
use rustyline::{
    Cmd, ColorMode, ConditionalEventHandler, Config, Event, EventContext, EventHandler, KeyCode, KeyEvent,
    Modifiers, RepeatCount,
    error::ReadlineError,
    history::{History as _, MemHistory},
};

pub(crate) use self::{
    complete::{CommandWord, Words},
    question::{Asked, question, secret},
};
use self::{helper::Helper, history::History};
use super::Look;

/// What somebody typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Message(String),
    /// A line that begins with `/`, without it.
    Command(String),
    /// Ctrl-O, and what stands on the line.
    Unfold(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D.
    End,
}

pub(crate) struct Editor {
    way: Way,
    history: History,
    /// What the next message begins with.
    begun: String,
    /// Set from outside when a signal says what a key cannot: the terminal is not in raw mode while plain lines are read.
    interrupted: Arc<AtomicBool>,
    fault: Option<String>,
}

enum Way {
    Edited(Box<Edited>),
    Plain,
}

struct Edited {
    lines: rustyline::Editor<Helper, MemHistory>,
    /// What stood on the line when Ctrl-C was typed.
    dropped: Arc<Mutex<String>>,
    /// The same for Ctrl-O.
    unfolding: Arc<Mutex<Option<String>>>,
}

impl Editor {
    pub(crate) fn new(home: &Path, look: Look, words: Words) -> anyhow::Result<Self> {
        let history = History::new(home);
        let (entries, fault) = match history.read() {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        let way =
            if look.redraws { Way::Edited(Box::new(edited(look, words, &entries)?)) } else { Way::Plain };
        Ok(Self { way, history, begun: String::new(), interrupted: Arc::default(), fault })
    }

    /// What can be completed from now on.
    pub(crate) fn learn(&mut self, words: Words) {
        if let Way::Edited(edited) = &mut self.way
            && let Some(helper) = edited.lines.helper_mut()
        {
            helper.words = words;
        }
    }

    /// The next message begins with this text, to be changed.
    pub(crate) fn begin_with(&mut self, text: String) {
        self.begun = text;
    }

    pub(crate) fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// What went wrong beside reading, once.
    pub(crate) fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Waits for a message or a command; what has nothing but spaces is none.
    pub(crate) fn read(&mut self, prompt: &str) -> anyhow::Result<Read> {
        loop {
            let begun = std::mem::take(&mut self.begun);
            let line = match &mut self.way {
                Way::Edited(edited) => edited.read(prompt, &begun)?,
                Way::Plain => plain::read(prompt, &begun, &self.interrupted)?,
            };
            let text = match line {
                Typed::Line(text) => text,
                Typed::Dropped => continue,
                Typed::Unfold(text) => return Ok(Read::Unfold(text)),
                Typed::Interrupted => return Ok(Read::Interrupted),
                Typed::End => return Ok(Read::End),
            };
            if text.trim().is_empty() {
                continue;
            }
            self.remember(&text);
            return Ok(sorted(text));
        }
    }

    /// A message is worth more than its place in the history: a fault there is told, and no more.
    fn remember(&mut self, text: &str) {
        if let Way::Edited(edited) = &mut self.way {
            // A memory cannot fail.
            let _ = edited.lines.history_mut().add(text);
        }
        if let Err(error) = self.history.add(text) {
            self.fault = Some(format!("{error:#}"));
        }
    }
}

/// What one look at the keyboard gave.
enum Typed {
    Line(String),
    /// Ctrl-C on a line with something on it: the next one begins.
    Dropped,
    Unfold(String),
    Interrupted,
    End,
}

impl Edited {
    fn read(&mut self, prompt: &str, begun: &str) -> anyhow::Result<Typed> {
        lock(&self.dropped).clear();
        match self.lines.readline_with_initial(prompt, (begun, "")) {
            Ok(text) => Ok(Typed::Line(text.replace(&format!("\\{CONTINUED}"), "\n"))),
            Err(ReadlineError::Interrupted) => {
                if let Some(text) = lock(&self.unfolding).take() {
                    return Ok(Typed::Unfold(text));
                }
                let dropped = std::mem::take(&mut *lock(&self.dropped));
                if dropped.trim().is_empty() {
                    return Ok(Typed::Interrupted);
                }
                // Dropped by mistake, it is one arrow key away.
                let _ = self.lines.history_mut().add(&dropped);
                Ok(Typed::Dropped)
            }
            // A terminal that is gone has no more to say.
            Err(ReadlineError::Eof | ReadlineError::Io(_) | ReadlineError::Errno(_)) => Ok(Typed::End),
            Err(error) => Err(error).context("cannot read from the terminal"),
        }
    }
}

fn edited(look: Look, words: Words, entries: &[String]) -> anyhow::Result<Edited> {
    let mut lines = lines(look, Helper { words, look })?;
    for entry in entries {
        lines.history_mut().add(entry)?;
    }
    let dropped: Arc<Mutex<String>> = Arc::default();
    let watch = OnInterrupt(Arc::clone(&dropped));
    lines.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(watch)));
    let unfolding: Arc<Mutex<Option<String>>> = Arc::default();
    let unfold = OnUnfold(Arc::clone(&unfolding));
    lines.bind_sequence(KeyEvent::ctrl('O'), EventHandler::Conditional(Box::new(unfold)));
    for key in [KeyEvent::ctrl('J'), KeyEvent(KeyCode::Enter, Modifiers::ALT)] {
        lines.bind_sequence(key, Cmd::Newline);
    }
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    lines.bind_sequence(enter, EventHandler::Conditional(Box::new(OnEnter)));
    Ok(Edited { lines, dropped, unfolding })
}

fn lines(look: Look, helper: Helper) -> anyhow::Result<rustyline::Editor<Helper, MemHistory>> {
    let colour = if look.colour { ColorMode::Enabled } else { ColorMode::Disabled };
    let config = Config::builder()
        .max_history_size(history::MOST)?
        .history_ignore_dups(true)?
        .completion_type(rustyline::CompletionType::List)
        .color_mode(colour)
        .bracketed_paste(true)
        .build();
    let history = MemHistory::with_config(&config);
    let mut lines = rustyline::Editor::with_history(config, history).context("cannot use this terminal")?;
    lines.set_helper(Some(helper));
    Ok(lines)
}

/// Stands between a backslash and the line break that it made, invisible: a backslash that was pasted before a line break
/// stays, this one goes when the message is whole.
const CONTINUED: &str = "\u{2060}\n";

/// A backslash before Enter makes a line break of it.
struct OnEnter;

impl ConditionalEventHandler for OnEnter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        before.ends_with('\\').then(|| Cmd::Insert(1, CONTINUED.to_owned()))
    }
}

/// The line is gone once it is interrupted, so it is kept aside.
struct OnInterrupt(Arc<Mutex<String>>);

impl ConditionalEventHandler for OnInterrupt {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        context.line().clone_into(&mut lock(&self.0));
        None
    }
}

/// Details are shown where the line stands, so it has to go for a moment.
struct OnUnfold(Arc<Mutex<Option<String>>>);

impl ConditionalEventHandler for OnUnfold {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        *lock(&self.0) = Some(context.line().to_owned());
        Some(Cmd::Interrupt)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command is one line that begins with `/` and a letter: a path that is pasted (`/etc/hosts`) has a second slash.
fn sorted(text: String) -> Read {
    let command = text.trim().strip_prefix('/').filter(|rest| {
        let name = rest.split_whitespace().next().unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('/') && !rest.contains('\n')
    });
    match command {
        Some(command) => Read::Command(command.to_owned()),
        None => Read::Message(text.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_command_and_what_is_not() {
        let command = |text: &str| Read::Command(text.to_owned());
        let message = |text: &str| Read::Message(text.to_owned());
        for (typed, expected) in [
            ("/help", command("help")),
            ("  /load web ", command("load web")),
            ("/etc/hosts is what?", message("/etc/hosts is what?")),
            ("/", message("/")),
            ("/ 2", message("/ 2")),
            ("// a comment", message("// a comment")),
            ("/tmp\nis full", message("/tmp\nis full")),
            ("hello /help\n", message("hello /help")),
        ] {
            assert_eq!(sorted(typed.to_owned()), expected, "{typed:?}");
        }
    }
}
