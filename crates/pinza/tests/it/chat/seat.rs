//! Somebody who sits at a terminal: stdin, stdout and stderr are one.

use std::{
    io::Write as _,
    os::fd::AsFd as _,
    process::Child,
    time::{Duration, Instant},
};

use pinza_testkit::{Program, model::Provider};
use pty_process::{
    Size,
    blocking::{Command, Pty},
};
use rustix::{
    process::{Pid, Signal, kill_process},
    termios::{LocalModes, tcgetattr},
};

use super::World;
use crate::support::look;

pub(super) const CTRL_C: &str = "\x03";
pub(super) const CTRL_D: &str = "\x04";
pub(super) const CTRL_J: &str = "\n";
pub(super) const ALT_ENTER: &str = "\x1b\r";
pub(super) const ENTER: &str = "\r";
pub(super) const DOWN: &str = "\x1b[B";
pub(super) const UP: &str = "\x1b[A";
/// What stands before what is typed, as long as nothing is: a message of a past talk looks otherwise.
const PROMPT: &str = "\x1b[1m› \x1b[0m";
const PLAIN_PROMPT: &str = "› ";

/// How long the program may take to end.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Seat {
    pty: Pty,
    child: Child,
    /// Everything that was written there, as it came.
    pub(super) screen: String,
    /// How much of it was looked at.
    seen: usize,
    prompt: &'static str,
}

impl Seat {
    pub(super) fn start(pinza: &Program, arguments: &[&str]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(40, 100)).unwrap();
        let command = Command::from(pinza.command(arguments)).env("TERM", "xterm-256color");
        let prompt = if arguments.contains(&"--plain") { PLAIN_PROMPT } else { PROMPT };
        Self { pty, child: command.spawn(pts).unwrap(), screen: String::new(), seen: 0, prompt }
    }

    /// The same at a terminal that is not the program's controlling one: no signal tells that it is gone.
    pub(super) fn aside(pinza: &Program, arguments: &[&str]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(40, 100)).unwrap();
        let end = || pts.as_fd().try_clone_to_owned().unwrap();
        let mut command = pinza.command(arguments);
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
        let prompt = if arguments.contains(&"--plain") { PLAIN_PROMPT } else { PROMPT };
        Self { pty, child: command.spawn().unwrap(), screen: String::new(), seen: 0, prompt }
    }

    /// A chat with the world's model, when it waits for the first message.
    pub(super) fn chat(world: &World, more: &[&str]) -> Self {
        Self::chat_by(Self::start, world, more)
    }

    /// A chat that is started in one of the ways above.
    pub(super) fn chat_by(start: fn(&Program, &[&str]) -> Self, world: &World, more: &[&str]) -> Self {
        let (base, provider) = (world.model.base_url(world.provider), world.provider.to_string());
        let mut arguments = vec!["chat", "--provider", &provider, "--base-url", &base, "--model", "m"];
        arguments.extend(more);
        start(&world.pinza, &arguments)
    }

    fn look(&mut self) -> bool {
        look(&mut self.pty, &mut self.screen)
    }

    /// Waits until a text comes up, after what was waited for before.
    #[track_caller]
    pub(super) fn shows(mut self, text: &str) -> Self {
        loop {
            if let Some(place) = self.screen[self.seen..].find(text) {
                self.seen += place + text.len();
                return self;
            }
            assert!(self.look(), "'{text}' did not come: {}", &self.screen[self.seen..]);
        }
    }

    /// Types when it is waited for.
    #[track_caller]
    pub(super) fn types(self, typed: &str) -> Self {
        let prompt = self.prompt;
        self.shows(prompt).keys(typed)
    }

    pub(super) fn keys(mut self, typed: &str) -> Self {
        self.pty.write_all(typed.as_bytes()).unwrap();
        self
    }

    pub(super) fn signal(self, signal: Signal) -> Self {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self
    }

    /// The exit code and all that was on the screen; the terminal must be as it was.
    #[track_caller]
    pub(super) fn end(mut self) -> (Option<i32>, String) {
        while self.look() {}
        let code = self.child.wait().unwrap().code();
        (code, self.screen)
    }

    /// Takes the terminal away. The exit code of the program, which has to end by itself.
    #[track_caller]
    pub(super) fn hang_up(self) -> Option<i32> {
        let Self { pty, mut child, screen, .. } = self;
        drop(pty);
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            if Instant::now() > deadline {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the program outlives its terminal; on the screen: {screen}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether lines are read as a shell reads them: shown, and by the line.
    pub(super) fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&self.pty).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

/// What the user said in the last request, each message as one text.
pub(super) fn said(world: &World) -> Vec<String> {
    assert_eq!(world.provider, Provider::OpenAi);
    let body = world.model.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let text = |message: &serde_json::Value| match &message["content"] {
        serde_json::Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    messages.filter(|message| message["role"] == "user").map(text).collect()
}
