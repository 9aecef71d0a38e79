//! The chat at a terminal: a line is read, and is a message for the model or a command for the desk.
//!
//! Everything that a session is made of (model, agent, tool set, id) can change while one sits here, so the desk works on
//! its own copy of it.

use std::sync::atomic::Ordering;

use anyhow::Context as _;
use pinza::{
    agent::Talk,
    core::{Content, visible},
    host::files::{Workspace, WorkspaceOptions},
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    super::{Done, Result, author::counted, receipt, session::workspace},
    Chatting,
    commands::{self, Next},
    images,
    past::past,
    picker,
    round::{Rounded, note},
};
use crate::terminal::{Editor, Line, Mode, Read, Screen, wrapped};

const PROMPT: &str = "› ";
const LEAVING: &str = "Ctrl-C again or Ctrl-D to leave";

impl Chatting<'_> {
    /// Talks until whoever sits there leaves.
    pub(super) async fn at_terminal(&self, screen: Screen) -> Result {
        let look = screen.look();
        let mut chat = self.clone();
        if chat.arguments.resume {
            match picker::pick_session(&chat.store, look).await? {
                Some(session) => chat.become_session(&session)?,
                None => return Ok(Done::Well),
            }
        }
        let talk = chat.open().await?;
        let files = WorkspaceOptions {
            protected: vec![chat.session.home.path.clone()],
            hardlinks: chat.session.config.files.hardlinks.into(),
        };
        let workspace = Workspace::open(&workspace(chat.global, &chat.session.home)?.0, files)?;
        let mut desk = Desk { chat, talk, screen, workspace };
        let words = desk.words().await;
        let editor = Editor::new(&self.session.home.path, look, words)?;
        desk.greet();
        let done = desk.sit(editor).await;
        desk.part().await;
        done
    }
}

pub(super) struct Desk<'a> {
    pub(super) chat: Chatting<'a>,
    pub(super) talk: Talk,
    pub(super) screen: Screen,
    pub(super) workspace: Workspace,
}

impl Desk<'_> {
    async fn sit(&mut self, editor: Editor) -> Result {
        let mut keyboard = Keyboard::new(editor)?;
        if self.screen.look().redraws {
            keyboard.mode.hold_keys();
        }
        let mut warned = false;
        loop {
            keyboard.editor()?.learn(self.words().await);
            let read = keyboard.read().await?;
            if let Some(fault) = keyboard.editor().ok().and_then(Editor::fault) {
                self.say(&format!("warning: {}", visible(&fault)));
            }
            let was_warned = std::mem::take(&mut warned);
            match read {
                Read::End => return Ok(Done::Well),
                Read::Interrupted if was_warned => return Ok(Done::Well),
                Read::Interrupted => {
                    self.say(LEAVING);
                    warned = true;
                }
                Read::Unfold(text) => {
                    self.unfold(&text);
                    keyboard.editor()?.begin_with(text);
                }
                Read::Message(text) => match self.message(text).await? {
                    Rounded::Answered { typed } | Rounded::Failed { typed } => {
                        keyboard.editor()?.begin_with(typed)
                    }
                    // Twice leaves, however fast the first one took effect.
                    Rounded::Stopped { typed } => {
                        keyboard.editor()?.begin_with(typed);
                        warned = true;
                    }
                    Rounded::Leave => return Ok(Done::Well),
                },
                Read::Command(typed) => match commands::run(self, &typed).await {
                    Ok(Next::Go) => {}
                    Ok(Next::Edit(text)) => keyboard.editor()?.begin_with(text),
                    Ok(Next::Leave) => return Ok(Done::Well),
                    Err(error) => self.complain(&error),
                },
            }
        }
    }

    /// Shows what the last round folded, in place of the line that is being typed.
    fn unfold(&mut self, typed: &str) {
        self.screen.take_back(&format!("{PROMPT}{typed}"));
        let folded = self.screen.take_folded();
        if folded.is_empty() {
            return self.show([note("· nothing is folded")]);
        }
        self.show(folded);
    }

    async fn message(&mut self, text: String) -> Result<Rounded> {
        let attached = images::attached(&text, &self.workspace).await;
        for told in &attached.notes {
            self.show([note(told)]);
        }
        let content = std::iter::once(Content::text(text)).chain(attached.images).collect();
        self.chat.round(&mut self.screen, &mut self.talk, content).await
    }

    fn greet(&mut self) {
        let view = self.chat.view();
        let counts =
            [counted(view.tools().count(), "tool"), counted(view.groups().count(), "group")].join(", ");
        let setup = &self.chat.setup;
        let model = format!("{} ({})", visible(&setup.model), setup.client.kind());
        let place = visible(&self.workspace.root().display().to_string());
        self.say(&format!("{model} · {place} · {counts} · /help"));
        self.say_past();
    }

    /// What was said before.
    pub(super) fn say_past(&mut self) {
        if !self.talk.messages().is_empty() {
            self.show([note(&format!("session {}", self.talk.id()))]);
            past(&mut self.screen, &self.talk);
        }
    }

    /// Says how to come back, if there is anything to come back to.
    async fn part(&mut self) {
        if self.talk.messages().is_empty() {
            // It was only looked at. If it cannot be removed, it is in a list, empty.
            let _ = self.chat.store.remove_unused_session(self.talk.id()).await;
            return;
        }
        match receipt::parting(&self.talk).await {
            Ok(line) => line.iter().for_each(|line| self.say(line)),
            Err(error) => self.complain(&error),
        }
        self.say(&format!("To go on with this: pinza chat --session {}", self.talk.id()));
    }

    pub(super) fn say(&mut self, text: &str) {
        let rows = wrapped(text, if self.screen.look().redraws { self.screen.width() } else { usize::MAX });
        self.show(rows.iter().map(|row| Line::from(row.as_str())));
    }

    pub(super) fn show(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.screen.lines(&lines.into_iter().collect::<Vec<_>>());
    }

    /// One line, and a hint where there is one: nothing is lost.
    fn complain(&mut self, error: &anyhow::Error) {
        for line in format!("error: {error:#}").lines() {
            self.say(&visible(line));
        }
    }
}

/// The editor, which blocks, and the signals that come meanwhile.
struct Keyboard {
    /// Away while it reads.
    editor: Option<Editor>,
    mode: Mode,
    /// Also those that came while a message was answered.
    terminate: Signal,
    hangup: Signal,
}

impl Keyboard {
    fn new(editor: Editor) -> Result<Self> {
        Ok(Self {
            editor: Some(editor),
            mode: Mode::of_stdin(),
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    fn editor(&mut self) -> Result<&mut Editor> {
        self.editor.as_mut().context("the terminal is gone")
    }

    /// Reads on a thread of its own: other servers and timers go on meanwhile.
    async fn read(&mut self) -> Result<Read> {
        let Some(mut editor) = self.editor.take() else { return Ok(Read::End) };
        let interrupted = editor.interrupted();
        // One that came before was about something else.
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut reading = tokio::task::spawn_blocking(move || (editor.read(PROMPT), editor));
        loop {
            tokio::select! {
                done = &mut reading => {
                    let (read, editor) = done.context("reading was stopped")?;
                    self.editor = Some(editor);
                    return read;
                }
                _ = interrupt.recv() => interrupted.store(true, Ordering::Relaxed),
                _ = self.terminate.recv() => break,
                _ = self.hangup.recv() => break,
            }
        }
        // The thread stays where it is until the program ends, so the terminal is put right from here.
        self.mode.restore();
        Ok(Read::End)
    }
}
