//! A program at a real terminal: tmux draws the screen, takes the keys and knows what is on it.
//!
//! Each terminal is a tmux server of its own, with its socket in a temporary directory, without
//! anybody's configuration and with an environment that has only what the test gives. What a person
//! would see is what tests compare, not the bytes that lead there; those are kept too, see
//! [`Terminal::written`].
#![expect(clippy::expect_used, clippy::panic, reason = "a test whose terminal does not work has failed")]

use std::{
    ffi::{OsStr, OsString},
    fmt, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// What has not happened by then will not happen. Only failing tests wait so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the screen.
const PAUSE: Duration = Duration::from_millis(30);
/// A screen that is the same for so long is taken for finished.
const STILL: Duration = Duration::from_millis(250);

/// A terminal with one program in it. Dropped, it ends with everything that runs there.
pub struct Terminal {
    directory: TempDir,
    /// The process that was started in it.
    program: Process,
    patience: Duration,
}

impl Terminal {
    /// Starts the command as it is, with its arguments, directory and variables, and with `env` on top
    /// of them. Variables that it would inherit are not there.
    #[track_caller]
    pub fn start(command: &Command, env: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut terminal = Self { directory, program: Process::default(), patience: PATIENCE };
        let size = |side: u16| OsString::from(side.to_string());
        let mut words: Vec<OsString> = ["start-server", ";"].map(OsString::from).into();
        for (name, value) in OPTIONS {
            words.extend(["set", "-g", name, value, ";"].map(OsString::from));
        }
        words.extend(["new-session", "-d", "-x"].map(OsString::from));
        words.extend([size(columns), "-y".into(), size(rows)]);
        if let Some(directory) = command.get_current_dir() {
            words.extend(["-c".into(), directory.into()]);
        }
        words.push("--".into());
        words.extend(program(command, env));
        // In one breath with the start, so that no byte is missed.
        let copy = format!("exec cat > '{}'", terminal.copy().display());
        words.extend([";".into(), "pipe-pane".into(), copy.into()]);
        let started = terminal.command(&words).output().unwrap_or_else(|error| {
            panic!(
                "cannot run tmux, which these tests need: {error}\nhint: apt-get install tmux (./test does)"
            )
        });
        assert!(started.status.success(), "tmux: {}", String::from_utf8_lossy(&started.stderr));
        terminal.program = Process::of(terminal.ask("#{pane_pid}"));
        terminal
    }

    /// Waits no longer than that from now on: for tests of what never comes.
    #[must_use]
    pub fn wait_at_most(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Types these characters, as they are.
    #[track_caller]
    pub fn keys(&self, text: &str) -> &Self {
        self.tmux(&["send-keys", "-l", "--", text]);
        self
    }

    /// Presses a key by its name: `Enter`, `C-c`, `Escape`, `Up`, `M-Enter`.
    #[track_caller]
    pub fn key(&self, name: &str) -> &Self {
        self.tmux(&["send-keys", "--", name]);
        self
    }

    /// Types a line and presses Enter.
    #[track_caller]
    pub fn line(&self, text: &str) -> &Self {
        self.keys(text).key("Enter")
    }

    /// Pastes: in brackets if the program asked for them, as terminals do.
    #[track_caller]
    pub fn paste(&self, text: &str) -> &Self {
        let mut load = self.command(["load-buffer", "-"].map(OsString::from));
        let mut load = load.stdin(Stdio::piped()).spawn().expect("tmux");
        load.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("a buffer");
        assert!(load.wait().expect("tmux").success(), "tmux did not take the text");
        self.tmux(&["paste-buffer", "-p", "-d"]);
        self
    }

    #[track_caller]
    pub fn resize(&self, columns: u16, rows: u16) -> &Self {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        self
    }

    /// What is on the screen, without the blank end of lines and of the screen.
    #[track_caller]
    pub fn screen(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p"]))
    }

    /// The screen, and all that has scrolled out of it.
    #[track_caller]
    pub fn history(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p", "-S", "-"]))
    }

    /// The same, with what the terminal had to break in two put together again.
    #[track_caller]
    pub fn unwrapped(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p", "-J", "-S", "-"]))
    }

    /// The screen with its colours, as escape sequences.
    #[track_caller]
    pub fn coloured(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p", "-e"]))
    }

    /// Where the cursor stands: column and row, from zero.
    #[track_caller]
    pub fn cursor(&self) -> (usize, usize) {
        let place = self.ask("#{cursor_x} #{cursor_y}");
        let (column, row) = place.split_once(' ').expect("two numbers");
        (column.parse().expect("a column"), row.parse().expect("a row"))
    }

    /// Every byte that the program has written to the terminal so far.
    pub fn written(&self) -> Vec<u8> {
        fs::read(self.copy()).unwrap_or_default()
    }

    /// Waits until this is on the screen, and gives the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait(&format!("'{text}' on the screen"), |screen| screen.contains(text))
    }

    /// Waits until this is not on the screen.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) -> String {
        self.wait(&format!("a screen without '{text}'"), |screen| !screen.contains(text))
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn wait(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        self.look(what, Self::screen, is_there)
    }

    /// Waits until this was on the screen, wherever it is now.
    #[track_caller]
    pub fn wait_in_history(&self, text: &str) -> String {
        self.look(&format!("'{text}' in the history"), Self::history, |history| history.contains(text))
    }

    /// The screen once nothing moves on it any more. To be used when what is to come has come: it only
    /// gives the program the time to finish drawing.
    #[track_caller]
    pub fn still(&self) -> String {
        let deadline = Instant::now() + self.patience;
        let (mut screen, mut since) = (self.coloured(), Instant::now());
        while since.elapsed() < STILL {
            assert!(Instant::now() < deadline, "the screen does not come to rest:\n{screen}");
            sleep(PAUSE);
            let now = self.coloured();
            if now != screen {
                (screen, since) = (now, Instant::now());
            }
        }
        self.screen()
    }

    /// Keeps the screen, with its colours, as `NAME.ansi` in a directory, for `pinza-testkit picture`.
    #[track_caller]
    pub fn keep(&self, directory: &Path, name: &str) {
        fs::create_dir_all(directory).expect("a directory for screens");
        fs::write(directory.join(format!("{name}.ansi")), self.coloured()).expect("a screen");
    }

    /// Waits for the program's end; its exit code, or none if a signal ended it. The screen stays.
    #[track_caller]
    pub fn gone(&self) -> Option<i32> {
        let deadline = Instant::now() + self.patience;
        loop {
            let end = self.ask("#{pane_dead_status},#{pane_dead_signal}");
            // Now and then tmux 3.3 overlooks the end of a process; then the kernel still knows of it.
            let code = match end.split_once(',').expect("two words") {
                ("", "") => self.program.unclaimed(),
                (code, _) => Some(code.parse().ok()),
            };
            if let Some(code) = code {
                self.still();
                return code;
            }
            assert!(Instant::now() < deadline, "the program does not end:\n{}", self.history());
            sleep(PAUSE);
        }
    }

    /// The terminal dies: `kill -9` to tmux, so the program's terminal hangs up. Returns once the program
    /// has ended too.
    #[track_caller]
    pub fn kill_terminal(&self) {
        let server = self.ask("#{pid}");
        kill(&server);
        let deadline = Instant::now() + self.patience;
        while self.program.is_running() {
            assert!(Instant::now() < deadline, "the program outlives its terminal");
            sleep(PAUSE);
        }
    }

    /// The process id of the program.
    pub fn program(&self) -> &str {
        &self.program.id
    }

    #[track_caller]
    fn look(&self, what: &str, see: impl Fn(&Self) -> String, is_there: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + self.patience;
        loop {
            let seen = see(self);
            if is_there(&seen) {
                return seen;
            }
            if Instant::now() > deadline {
                panic!("there is not: {what}\n--- the screen\n{seen}\n--- its end");
            }
            sleep(PAUSE);
        }
    }

    fn copy(&self) -> std::path::PathBuf {
        self.directory.path().join("written")
    }

    fn command<A: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new("tmux");
        command
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(self.directory.path().join("socket"))
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            // Pipes are run by a shell, whoever the user is.
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn tmux(&self, words: &[&str]) -> String {
        let output = self.command(words).output().expect("tmux");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "tmux {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    }

    #[track_caller]
    fn ask(&self, format: &str) -> String {
        self.tmux(&["display-message", "-p", format]).trim().to_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Already gone, after `kill_terminal`.
        let _ = self.command(["kill-server"]).stderr(Stdio::null()).status();
        if self.program.is_running() {
            kill(&self.program.id);
        }
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("program", &self.program.id).finish_non_exhaustive()
    }
}

/// A screen that is all program, that keeps what scrolls away and what a program left behind, and
/// that has the size that the test says.
const OPTIONS: [(&str, &str); 6] = [
    ("default-terminal", "tmux-256color"),
    ("status", "off"),
    ("history-limit", "100000"),
    ("remain-on-exit", "on"),
    ("remain-on-exit-format", ""),
    ("escape-time", "0"),
];

/// The command behind `env -i`: tmux adds variables of its own, which tests would depend on.
fn program(command: &Command, env: &[(&str, &str)]) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["env", "-i", "TERM=tmux-256color", "LANG=C.UTF-8"].map(OsString::from).into();
    let pair = |name: &OsStr, value: &OsStr| [name, OsStr::new("="), value].into_iter().collect();
    let own = command.get_envs().filter_map(|(name, value)| Some(pair(name, value?)));
    words.extend(own);
    words.extend(env.iter().map(|(name, value)| pair(OsStr::new(name), OsStr::new(value))));
    words.push(command.get_program().to_owned());
    words.extend(command.get_args().map(OsStr::to_owned));
    // A word that ends in one would end the command for tmux.
    for word in words.iter_mut().filter(|word| word.as_encoded_bytes().ends_with(b";")) {
        let mut escaped = word.clone().into_encoded_bytes();
        escaped.insert(escaped.len() - 1, b'\\');
        *word = std::os::unix::ffi::OsStringExt::from_vec(escaped);
    }
    words
}

fn trimmed(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_end())
}

/// A process, told from a later one of the same number by when it began.
#[derive(Clone, Debug, Default)]
struct Process {
    id: String,
    began: String,
}

impl Process {
    fn of(id: String) -> Self {
        let began = fields(&id).and_then(|fields| fields.get(BEGAN).cloned()).unwrap_or_default();
        Self { id, began }
    }

    /// What the kernel says of it, if it is still in its table.
    fn fields(&self) -> Option<Vec<String>> {
        fields(&self.id).filter(|fields| fields.get(BEGAN) == Some(&self.began))
    }

    /// An ended process that nobody has asked for stays in the table, as `Z`.
    fn is_running(&self) -> bool {
        self.fields().is_some_and(|fields| fields[0] != "Z")
    }

    /// How it ended, while nobody has asked for it: its code, or none if it was a signal.
    fn unclaimed(&self) -> Option<Option<i32>> {
        let fields = self.fields().filter(|fields| fields[0] == "Z")?;
        let status: i32 = fields.last()?.trim().parse().ok()?;
        Some((status & 0x7f == 0).then_some(status >> 8))
    }
}

/// Which of the fields is the time of its start.
const BEGAN: usize = 19;

/// What the kernel says of a process, from its state on; none if there is no such process.
fn fields(process: &str) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of a program stands in brackets and may have any character.
    let (_, after) = stat.rsplit_once(") ")?;
    Some(after.split(' ').map(str::to_owned).collect())
}

fn kill(process: &str) {
    let _ = Command::new("kill").args(["-9", process]).status();
}
