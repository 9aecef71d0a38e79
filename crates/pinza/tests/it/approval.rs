//! Asking the person at a terminal, through a pseudo-terminal. stdout goes to a file, as it does
//! for whoever pipes it on: it must hold the answer and nothing else.

use std::{fs::File, io::Write as _, process::Child};

use pinza_testkit::{Program, Reply, WireServer};
use pty_process::blocking::{Command, Pty};
use serde_json::Value;

use crate::support::{assert_matches, fine, look, pinza};

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const ASKED: &str = "allow? ";

/// Pinza at a terminal. Its screen is everything that was written there.
pub(crate) struct Terminal {
    pty: Pty,
    child: Child,
    screen: String,
    stdout: std::path::PathBuf,
}

impl Terminal {
    pub(crate) fn start(pinza: &Program, arguments: &[&str]) -> Self {
        Self::start_after(pinza, arguments, "")
    }

    /// With stdout on the screen too.
    pub(crate) fn start_whole(pinza: &Program, arguments: &[&str]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        let stdout = pinza.directory().join("stdout");
        File::create(&stdout).unwrap();
        let child = Command::from(pinza.command(arguments)).spawn(pts).unwrap();
        Self { pty, child, screen: String::new(), stdout }
    }

    /// `typed` is already there when the program starts.
    fn start_after(pinza: &Program, arguments: &[&str], typed: &str) -> Self {
        let (mut pty, pts) = pty_process::blocking::open().unwrap();
        pty.write_all(typed.as_bytes()).unwrap();
        let stdout = pinza.directory().join("stdout");
        let command = Command::from(pinza.command(arguments)).stdout(File::create(&stdout).unwrap());
        Self { pty, child: command.spawn(pts).unwrap(), screen: String::new(), stdout }
    }

    fn look(&mut self) -> bool {
        look(&mut self.pty, &mut self.screen)
    }

    #[track_caller]
    fn asked(self, times: usize) -> Self {
        self.shows(ASKED, times)
    }

    /// Waits until something is on the screen so many times.
    #[track_caller]
    pub(crate) fn shows(mut self, text: &str, times: usize) -> Self {
        while self.screen.matches(text).count() < times {
            assert!(self.look(), "it did not ask: {}", self.screen);
        }
        self
    }

    pub(crate) fn answer(mut self, typed: &str) -> Self {
        self.pty.write_all(typed.as_bytes()).unwrap();
        self
    }

    /// The exit code, the screen and what went to stdout.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        while self.look() {}
        let code = self.child.wait().unwrap().code();
        (code, self.screen, std::fs::read_to_string(&self.stdout).unwrap())
    }

    #[track_caller]
    fn ends_with_error(self, kind: &str) -> Value {
        let (code, screen, stdout) = self.end();
        let answer: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout:?} {screen:?}"));
        assert_eq!((code, answer["error_type"].as_str()), (Some(1), Some(kind)), "{screen}");
        answer
    }
}

#[test]
fn the_question_and_a_yes() {
    let pinza = pinza();
    let terminal = Terminal::start(&pinza, &["call", "exec", "command=echo hello", "timeout=5"]);
    let (code, screen, stdout) = terminal.asked(1).answer("y\n").end();
    assert_eq!((code, &*stdout), (Some(0), "hello\n"), "{screen}");
    let shown = "
exec asks for: exec
  command: echo hello
  timeout: 5
  [y] once   [s] this session   [a] always   [n] no
  \"always\" writes this rule: allow tool exec capability exec where command is \"echo hello\"
allow? y
";
    assert_eq!(screen.replace("\r\n", "\n"), shown);
    assert!(!pinza.config_file().exists(), "once is once");
}

#[test]
fn answers() {
    // What is typed, and whether the command runs.
    for (typed, runs) in [
        ("y\n", true),
        ("Yes\n", true),
        ("s\n", true),
        ("n\n", false),
        ("no\n", false),
        ("\n", false),
        (CTRL_D, false),
    ] {
        let pinza = pinza();
        let terminal = Terminal::start(&pinza, &["--json", "call", "exec", "command=echo hello"]).asked(1);
        if runs {
            let (code, screen, stdout) = terminal.answer(typed).end();
            assert_eq!(code, Some(0), "{typed:?}: {screen}");
            assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["result"], "hello\n");
        } else {
            let answer = terminal.answer(typed).ends_with_error("permission_denied");
            assert_eq!(answer["message"], "Required permissions were denied: exec");
            assert_eq!(answer["hint"], "The user said no to this call.");
        }
        assert!(!pinza.config_file().exists(), "{typed:?} keeps nothing");
    }
}

#[test]
fn always_writes_the_rule_that_was_shown() {
    let pinza = pinza();
    std::fs::write(pinza.config_file(), "# mine").unwrap();
    let call = ["call", "exec", "command=echo *"];
    let (code, screen, stdout) = Terminal::start(&pinza, &call).asked(1).answer("a\n").end();
    assert_eq!(code, Some(0), "{screen}");
    let rules = fine(&pinza, &["policy", "list"]).stdout;
    let shown = screen.split_once("\"always\" writes this rule: ").unwrap().1.split_once("\r\n").unwrap().0;
    assert_matches(&rules, &format!("...\n  1  {shown}\n..."));
    assert!(std::fs::read_to_string(pinza.config_file()).unwrap().starts_with("# mine\n"));

    let (code, screen, again) = Terminal::start(&pinza, &call).end();
    assert_eq!((code, &*screen, again), (Some(0), "", stdout), "the next call does not ask");
    // The star in the command is a star, not a pattern.
    let other = Terminal::start(&pinza, &["--json", "call", "exec", "command=echo secret"]);
    other.asked(1).answer("n\n").ends_with_error("permission_denied");
}

#[test]
fn only_what_is_offered_is_taken() {
    let pinza = pinza();
    let compound = ["--json", "call", "exec", "command=echo a; echo b"];
    let terminal = Terminal::start(&pinza, &compound).asked(1).answer("a\n").asked(2).answer("s\n").asked(3);
    assert!(terminal.screen.contains("  [y] once   [n] no\r\n"), "{}", terminal.screen);
    assert!(!terminal.screen.contains("always"), "{}", terminal.screen);
    assert_eq!(terminal.screen.matches("please answer with one of the letters above").count(), 2);
    terminal.answer("n\n").ends_with_error("permission_denied");

    fine(&pinza, &["policy", "ask", "exec"]);
    let rules = fine(&pinza, &["policy", "list"]).stdout;
    let terminal = Terminal::start(&pinza, &["call", "exec", "command=true"]).asked(1).answer("a\n").asked(2);
    assert!(terminal.screen.contains("  [y] once   [s] this session   [n] no\r\n"), "{}", terminal.screen);
    let (code, screen, _) = terminal.answer("y\n").end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(fine(&pinza, &["policy", "list"]).stdout, rules, "a rule that asks stays");
}

#[test]
fn ctrl_c_while_asking_cancels_the_call() {
    let pinza = pinza();
    let terminal = Terminal::start(&pinza, &["--json", "call", "exec", "command=touch made"]);
    let answer = terminal.asked(1).answer(CTRL_C).ends_with_error("cancelled");
    assert_eq!(answer["message"], "Tool execution was cancelled");
    assert!(!pinza.workspace().join("made").exists());
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let pinza = pinza();
    let call = ["--json", "call", "exec", "command=touch made"];
    let terminal = Terminal::start_after(&pinza, &call, "y\ny\n");
    terminal.asked(1).answer("n\n").ends_with_error("permission_denied");
    assert!(!pinza.workspace().join("made").exists());
}

#[test]
fn nobody_is_asked_where_the_answer_is_known() {
    let pinza = pinza();
    for flag in ["--yes", "--allow=exec"] {
        let (code, screen, stdout) = Terminal::start(&pinza, &[flag, "call", "exec", "command=echo a"]).end();
        assert_eq!((code, &*screen, &*stdout), (Some(0), "", "a\n"));
    }
    fine(&pinza, &["policy", "deny", "--arg", "command=rm *"]);
    for flags in [&["--json"][..], &["--json", "--yes"]] {
        let call = [flags, &["call", "exec", "command=rm x"]].concat();
        Terminal::start(&pinza, &call).ends_with_error("permission_denied");
    }
    let invalid = ["--json", "call", "exec", "command=true", "timeout=0"];
    Terminal::start(&pinza, &invalid).ends_with_error("validation_error");
}

#[test]
fn nobody_is_asked_where_nobody_would_see_it() {
    let pinza = pinza();
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    let out = pinza.directory().join("stdout");
    let command = Command::from(pinza.command(["--json", "call", "exec", "command=true"]));
    let command = command.stdout(File::create(&out).unwrap()).stderr(std::process::Stdio::null());
    let mut child = command.spawn(pts).unwrap();
    pty.write_all(b"y\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_matches(answer["hint"].as_str().unwrap(), "Nobody can be asked here. [..]");
}

#[test]
fn a_private_address_is_asked_about_on_the_way() {
    let server = WireServer::start(|_| Reply::ok("ok"));
    let pinza = pinza();
    let url = server.url("/x");
    let call = ["call", "http_request", &format!("url={url}")];
    let terminal = Terminal::start(&pinza, &call).asked(1);
    assert_eq!(server.connections(), 0);
    let screen = terminal.screen.replace("\r\n", "\n");
    let shown = "\nhttp_request asks for: net.private\n  127.0.0.1 is at 127.0.0.1, on this machine or in a private network\n";
    assert!(screen.starts_with(shown), "{screen}");
    let (code, screen, _) = terminal.answer("a\n").end();
    assert_eq!(code, Some(0), "{screen}");
    let (code, screen, stdout) = Terminal::start(&pinza, &call).end();
    assert_eq!((code, &*screen), (Some(0), ""), "{stdout}");
}

/// Every case of the fixture: arguments that would draw something else, and what is shown.
#[test]
fn odd_characters_are_shown_as_what_they_are() {
    let cases = include_str!("../../../../fixtures/hostile/prompts.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    std::thread::scope(|threads| {
        for case in &cases {
            threads.spawn(move || {
                let pinza = pinza();
                let terminal =
                    Terminal::start(&pinza, &["--json", "call", "exec", &case["arguments"].to_string()]);
                let terminal = terminal.asked(1);
                let screen = terminal.screen.replace("\r\n", "\n");
                for line in case["shown"].as_array().unwrap() {
                    let line = line.as_str().unwrap();
                    assert!(screen.lines().any(|shown| shown == line), "{line:?} is not in {screen:?}");
                }
                let odd = |c: &char| c.is_control() && *c != '\n' || ('\u{200b}'..='\u{206f}').contains(c);
                assert_eq!(screen.chars().find(odd), None, "{case}");
                terminal.answer("n\n").ends_with_error("permission_denied");
            });
        }
    });
}
