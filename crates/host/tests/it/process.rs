//! Commands that misbehave in every way that Unix offers, run under the real supervisor.
//!
//! What a command left behind is found by a marker in its arguments: `sleep 98765.<nonce>`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::{
    ffi::OsString,
    fs,
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::PathBuf,
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use pinza_host::process::{Command, CompanionEnd, Finished, ProcessError, Stream, Supervisor};
use rustix::process::{Pid, Signal, kill_process};

/// Long enough for a busy machine; only a hang takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

const NOBODY: [i32; 0] = [];

/// `cargo test` builds the examples of a package, unless it is told to run one test binary.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/supervisor");
    assert!(program.exists(), "first run: cargo build -p pinza-host --examples");
    program
}

fn supervisor() -> Supervisor {
    Supervisor::new(program())
}

fn sh(script: &str) -> Command {
    Command { timeout: PATIENCE, ..Command::new(["sh", "-c", script], "/") }
}

async fn run(command: Command) -> Result<Finished, ProcessError> {
    tokio::time::timeout(PATIENCE * 2, supervisor().run(command, |_, _| {})).await.expect("it hangs")
}

async fn finished(script: &str) -> Finished {
    run(sh(script)).await.unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap().trim_end()
}

/// A number of seconds that no other process sleeps.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("98765.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that have the marker as an argument of their own, whatever their state.
fn alive(marker: &str) -> Vec<i32> {
    let has_marker = |pid: &i32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == marker.as_bytes())
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(has_marker)
        .collect()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Starts a script that runs `sleep MARKER` somewhere, drops the call, and sees it gone.
async fn gone_after_drop(script: &str) {
    let marker = marker();
    let command = sh(&script.replace("MARKER", &marker));
    let call = tokio::spawn(async move { supervisor().run(command, |_, _| {}).await });
    until("the start", || !alive(&marker).is_empty()).await;
    call.abort();
    until("the end after a drop", || alive(&marker).is_empty()).await;
}

#[tokio::test]
async fn exit_codes_are_the_commands_own() {
    for code in [0, 1, 126, 127, 137, 255] {
        let end = finished(&format!("exit {code}")).await;
        assert_eq!((end.code, end.signal), (code, None));
    }
}

#[tokio::test]
async fn a_killed_command_says_so() {
    for signal in [9, 15, 6] {
        let end = finished(&format!("kill -{signal} $$")).await;
        assert_eq!((end.code, end.signal), (128 + signal, Some(signal)));
    }
}

#[tokio::test]
async fn both_streams_come_back_whole_and_as_they_come() {
    let mut seen = (Vec::new(), Vec::new());
    let command = sh("echo out; echo err >&2; head -c 300000 /dev/zero; echo end >&2; exit 3");
    let end = supervisor()
        .run(command, |stream, bytes| match stream {
            Stream::Stdout => seen.0.extend_from_slice(bytes),
            Stream::Stderr => seen.1.extend_from_slice(bytes),
        })
        .await
        .unwrap();
    assert_eq!(end.code, 3);
    assert_eq!(end.stdout.len(), 4 + 300_000);
    assert_eq!(text(&end.stderr), "err\nend");
    assert!(seen == (end.stdout, end.stderr));
}

#[tokio::test]
async fn output_arrives_while_the_command_runs() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let command = sh("echo first; sleep 1000");
    let call = tokio::spawn(async move {
        supervisor().run(command, |_, bytes| sender.send(bytes.to_vec()).unwrap()).await
    });
    let first = tokio::time::timeout(PATIENCE, receiver.recv()).await.unwrap().unwrap();
    assert_eq!(text(&first), "first");
    call.abort();
}

#[tokio::test]
async fn endless_output_is_cut_short() {
    for stream in ["", ">&2"] {
        let command = Command { output_limit: 100_000, ..sh(&format!("yes {stream}")) };
        let mut seen = 0;
        let error = supervisor().run(command, |_, bytes| seen += bytes.len()).await.unwrap_err();
        assert_eq!(error, ProcessError::OutputLimit { limit: 100_000 });
        assert!(seen < 1 << 20, "{seen}");
    }
}

#[tokio::test]
async fn the_limit_counts_both_streams_to_the_byte() {
    let script = "head -c 500 /dev/zero; head -c 500 /dev/zero >&2";
    assert!(run(Command { output_limit: 1000, ..sh(script) }).await.is_ok());
    let error = run(Command { output_limit: 999, ..sh(script) }).await.unwrap_err();
    assert_eq!(error, ProcessError::OutputLimit { limit: 999 });
}

#[tokio::test]
async fn standard_input_is_empty() {
    assert_eq!(finished("cat; echo done").await.stdout, b"done\n");
}

/// A session of its own has no terminal, whatever Pinza was started from.
#[tokio::test]
async fn the_command_is_in_a_session_of_its_own() {
    let end = finished("cut -d' ' -f6 /proc/$$/stat").await;
    // Read as text: in a container this test's own session may be 0, which belongs to the world outside.
    let own = std::fs::read_to_string("/proc/self/stat").unwrap();
    let own = own.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap();
    assert_ne!(text(&end.stdout), own);
    assert_ne!(text(&end.stdout), "0");
}

#[tokio::test]
async fn a_late_command_is_stopped_and_its_output_kept() {
    let marker = marker();
    let script = format!("trap 'echo bye; exit' TERM; echo hello; echo oh >&2; sleep {marker} & wait");
    let error = run(Command { timeout: Duration::from_secs(1), ..sh(&script) }).await.unwrap_err();
    let ProcessError::Timeout { limit, stdout, stderr } = error else { panic!("{error}") };
    assert_eq!(limit, Duration::from_secs(1));
    assert_eq!(text(&stdout), "hello\nbye");
    assert_eq!(text(&stderr), "oh");
    assert_eq!(alive(&marker), NOBODY);
}

#[tokio::test]
async fn nothing_survives_a_timeout() {
    for script in [
        "sleep MARKER",
        "trap '' TERM; sleep MARKER",
        "setsid sleep MARKER & sleep MARKER",
        "nohup sleep MARKER >/dev/null 2>&1 & sleep MARKER",
        "(trap '' TERM HUP; (setsid sh -c 'sleep MARKER; :' &) &); sleep MARKER",
        "kill -STOP $$; sleep MARKER",
    ] {
        let marker = marker();
        let command = Command { timeout: Duration::from_secs(1), ..sh(&script.replace("MARKER", &marker)) };
        let error = run(command).await.unwrap_err();
        assert!(matches!(error, ProcessError::Timeout { .. }), "{script}: {error}");
        assert_eq!(alive(&marker), NOBODY, "{script}");
    }
}

#[tokio::test]
async fn nothing_survives_the_end_of_the_command() {
    for script in [
        "sleep MARKER &",
        "setsid sleep MARKER &",
        "nohup sleep MARKER >/dev/null 2>&1 &",
        "((setsid sleep MARKER &) &) & wait",
        "(trap '' TERM HUP; (setsid sh -c 'sleep MARKER; :' &) &)",
        "(trap '' TERM; sleep MARKER) & sleep MARKER & exit",
    ] {
        let marker = marker();
        let end = finished(&format!("{}\necho started", script.replace("MARKER", &marker))).await;
        let output = if script.ends_with("exit") { "" } else { "started" };
        assert_eq!((end.code, text(&end.stdout)), (0, output), "{script}");
        assert_eq!(alive(&marker), NOBODY, "{script}");
    }
}

#[tokio::test]
async fn nothing_survives_the_output_limit() {
    let marker = marker();
    let command = Command { output_limit: 1000, ..sh(&format!("setsid sleep {marker} & yes")) };
    run(command).await.unwrap_err();
    assert_eq!(alive(&marker), NOBODY);
}

#[tokio::test]
async fn nothing_survives_a_drop() {
    gone_after_drop("sleep MARKER").await;
    gone_after_drop("trap '' TERM HUP; setsid sleep MARKER & sleep MARKER").await;
    gone_after_drop("((setsid nohup sleep MARKER >/dev/null 2>&1 &) &); sleep MARKER").await;
}

/// The supervisor's half that the command sees as its parent.
#[tokio::test]
async fn killing_the_supervisor_frees_nobody() {
    for signal in ["KILL", "TERM", "INT", "HUP"] {
        let marker = marker();
        let end =
            finished(&format!("setsid sleep {marker} & sleep 0.1; kill -{signal} $PPID; sleep {marker}"))
                .await;
        assert!(end.signal.is_some(), "{end:?}");
        assert_eq!(alive(&marker), NOBODY, "{signal}");
    }
}

/// Whoever starts Pinza in the background lets it ignore signals; commands do not inherit that.
#[tokio::test]
async fn a_command_begins_with_default_signals() {
    let directory = tempfile::tempdir().unwrap();
    let deaf = directory.path().join("deaf");
    let script = format!("#!/bin/sh\ntrap '' HUP INT QUIT TERM\nexec '{}' \"$@\"\n", program().display());
    fs::write(&deaf, script).unwrap();
    fs::set_permissions(&deaf, fs::Permissions::from_mode(0o700)).unwrap();
    let status = sh("sed -n 's/^SigIgn:\t//p' /proc/self/status");
    let finished = Supervisor::new(deaf).run(status, |_, _| {}).await.unwrap();
    let ignored = u64::from_str_radix(text(&finished.stdout), 16).unwrap();
    for signal in [1, 2, 3, 15] {
        assert_eq!(ignored & 1 << (signal - 1), 0, "{signal}");
    }
}

/// Whoever starts Pinza may leave files open for it; commands do not get at them.
#[tokio::test]
async fn a_command_inherits_no_files() {
    let file = fs::File::open("/etc/hosts").unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let number = file.as_raw_fd();
    let look = format!("test -e /proc/self/fd/{number} && echo leaked; test -e /proc/self/fd/1 && echo own");
    let finished = finished(&look).await;
    assert_eq!(text(&finished.stdout), "own", "{number}");
}

/// The half that is Pinza's own child.
#[tokio::test]
async fn killing_the_outer_supervisor_frees_nobody() {
    for signal in ["KILL", "TERM"] {
        let marker = marker();
        let script = format!(
            "setsid sleep {marker} & sleep 0.1; kill -{signal} $(cut -d' ' -f4 /proc/$PPID/stat); sleep {marker}"
        );
        let error = run(sh(&script)).await.unwrap_err();
        assert!(matches!(error, ProcessError::Lost(_)), "{error}");
        until("the end of the tree", || alive(&marker).is_empty()).await;
    }
}

/// Runs only as a process of its own, started by [`pinza`].
#[tokio::test]
#[ignore = "plays Pinza for other tests"]
async fn play_pinza() {
    let Ok(script) = std::env::var("PLAY_SCRIPT") else { return };
    let _ = supervisor().run(sh(&script), |_, _| {}).await;
}

/// A process of its own that runs a script as Pinza would.
fn pinza(script: &str) -> std::process::Command {
    // The running file, even if cargo has just replaced it.
    let mut command = std::process::Command::new("/proc/self/exe");
    command.args(["--exact", "process::play_pinza", "--ignored"]).env("PLAY_SCRIPT", script);
    command.stdout(Stdio::null());
    command
}

#[tokio::test]
async fn killing_pinza_ends_the_tree() {
    let marker = marker();
    let script = format!("trap '' TERM HUP; setsid sleep {marker} & sleep {marker}");
    let mut pinza = pinza(&script).spawn().unwrap();
    until("the start", || alive(&marker).len() == 2).await;
    pinza.kill().unwrap();
    pinza.wait().unwrap();
    until("the end after Pinza's", || alive(&marker).is_empty()).await;
}

#[tokio::test]
async fn a_storm_of_processes_ends() {
    let marker = marker();
    let script = format!(
        "trap '' TERM; i=0; while [ $i -lt 200 ]; do setsid sleep {marker} & i=$((i+1)); done; echo all"
    );
    let end = finished(&script).await;
    assert_eq!(text(&end.stdout), "all");
    assert_eq!(alive(&marker), NOBODY);
}

/// Each process forks the next and ends: there is never one that stays to be found.
#[tokio::test]
async fn chains_of_short_lives_end() {
    let marker = marker();
    let script = "trap '' TERM; f() { f & }; for i in 1 2 3 4 5 6 7 8; do f; done; sleep 0.2";
    let command = Command::new(["sh", "-c", script, &marker], "/");
    run(command).await.unwrap();
    assert_eq!(alive(&marker), NOBODY);
}

#[tokio::test]
async fn the_supervisor_holds_no_end_of_the_streams() {
    let script = "until [ $(readlink /proc/$PPID/fd/1)$(readlink /proc/$PPID/fd/2) = /dev/null/dev/null ]; \
                  do sleep 0.01; done; echo released";
    let end = run(Command { timeout: Duration::from_secs(10), ..sh(script) }).await.unwrap();
    assert_eq!(text(&end.stdout), "released");
}

#[tokio::test]
async fn the_environment_is_clean() {
    let directory = tempfile::tempdir().unwrap();
    let listing = directory.path().join("env");
    let mut pinza = pinza(&format!("env >{}", listing.display()));
    let ended = pinza.env("SECRET", "hunter2").env("LC_TIME", "C").env_remove("PATH").status().unwrap();
    assert!(ended.success());
    let listing = fs::read_to_string(listing).unwrap();
    // The last four are the shell's own.
    let allowed = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR", "PWD", "OLDPWD", "SHLVL",
        "_",
    ];
    for line in listing.lines() {
        let name = line.split('=').next().unwrap();
        assert!(allowed.contains(&name) || name.starts_with("LC_"), "{line}");
    }
    assert!(listing.contains("LC_TIME=C\n"), "{listing}");
    assert!(listing.contains("PATH=/usr/local/bin:/usr/bin:/bin\n"), "{listing}");
}

#[tokio::test]
async fn given_variables_are_added() {
    let env = vec![("GIVEN".into(), "a b=c".into()), ("LANG".into(), "C".into())];
    let end = run(Command { env, ..sh("echo $GIVEN $LANG") }).await.unwrap();
    assert_eq!(text(&end.stdout), "a b=c C");
}

#[tokio::test]
async fn no_descriptor_of_pinza_is_inherited() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    let end = finished("ls -l /proc/$$/fd").await;
    let open = text(&end.stdout);
    // The control socket is the supervisor's standard input, and must not be the command's.
    assert!(open.contains("0 -> /dev/null"), "{open}");
    assert!(!open.contains(secret.path().to_str().unwrap()), "{open}");
}

#[tokio::test]
async fn a_directory_may_be_given_by_descriptor() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("before");
    fs::create_dir(&directory).unwrap();
    let descriptor = fs::File::open(&directory).unwrap();
    let renamed = parent.path().join("after");
    fs::rename(&directory, &renamed).unwrap();
    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let end = run(Command::new(["pwd", "-P"], path)).await.unwrap();
    assert_eq!(text(&end.stdout), renamed.canonicalize().unwrap().to_str().unwrap());
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o600)).unwrap();
    let nothing: [OsString; 0] = [];
    for (command, words) in [
        (Command::new(["no-such-program-here"], "/"), "'no-such-program-here' was not found"),
        (Command::new([&plain], "/"), "ermission denied"),
        (Command::new(["true"], "/no/such/directory"), "'/no/such/directory'"),
        (Command::new(["nul\0byte"], "/"), "nul byte"),
        (Command::new(nothing, "/"), "no command"),
    ] {
        let error = run(command).await.unwrap_err();
        assert!(matches!(&error, ProcessError::Start(reason) if reason.contains(words)), "{error}");
    }
}

#[tokio::test]
async fn adopted_orphans_do_not_pile_up() {
    let marker = marker();
    let command =
        sh(&format!("i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; exec sleep {marker}"));
    let call = tokio::spawn(async move { supervisor().run(command, |_, _| {}).await });
    until("the start", || !alive(&marker).is_empty()).await;
    let sleep = alive(&marker).into_iter().max().unwrap();
    let inner = parent_and_state(sleep).unwrap().0;
    until("their collection", || {
        let zombies = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            parent_and_state(pid).filter(|state| *state == (inner, 'Z'))
        });
        zombies.count() == 0
    })
    .await;
    kill_process(Pid::from_raw(sleep).unwrap(), Signal::KILL).unwrap();
    assert_eq!(call.await.unwrap().unwrap().signal, Some(9));
}

fn parent_and_state(pid: i32) -> Option<(i32, char)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// Reads a line of its input, answers on the same socket, prints on both streams.
const PARROT: &str = "read line; echo printed; echo wailed >&2; echo \"heard $line\" >&0; ";

async fn line(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        line.push(tokio::time::timeout(PATIENCE, stream.read_u8()).await.expect("it hangs").unwrap());
    }
    text(&line).to_owned()
}

#[tokio::test]
async fn a_companion_is_talked_with_apart_from_what_it_prints() {
    use tokio::io::AsyncWriteExt as _;
    let mut companion = supervisor().start(&sh(&format!("{PARROT} {PARROT} exit 7"))).unwrap();
    for word in ["one", "two"] {
        companion.channel.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        assert_eq!(line(&mut companion.channel).await, format!("heard {word}"));
        assert_eq!(line(&mut companion.log).await, "printed");
        assert_eq!(line(&mut companion.log).await, "wailed");
    }
    let end = tokio::time::timeout(PATIENCE, companion.ended()).await.expect("it hangs").unwrap();
    assert_eq!(end, CompanionEnd { code: 7, signal: None });
}

#[tokio::test]
async fn a_dialogue_is_on_standard_input_and_output() {
    use tokio::io::AsyncWriteExt as _;
    let parrot = "read word; echo \"heard $word\"; echo wailed >&2; exit 7";
    let mut dialogue = supervisor().start_dialogue(&sh(parrot)).unwrap();
    dialogue.input.write_all(b"one\n").await.unwrap();
    assert_eq!(line(&mut dialogue.output).await, "heard one");
    assert_eq!(line(&mut dialogue.log).await, "wailed");
    let end = tokio::time::timeout(PATIENCE, dialogue.keeper.ended()).await.expect("it hangs").unwrap();
    assert_eq!(end, CompanionEnd { code: 7, signal: None });
}

#[tokio::test]
async fn a_dialogue_has_pipes_that_close_at_both_ends() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let kinds = "for end in 0 1; do readlink /proc/self/fd/$end; done";
    let mut dialogue = supervisor().start_dialogue(&sh(&format!("{kinds} >&2; exec cat"))).unwrap();
    for _ in 0..2 {
        assert!(line(&mut dialogue.log).await.starts_with("pipe:"));
    }
    dialogue.input.write_all(b"one\n").await.unwrap();
    assert_eq!(line(&mut dialogue.output).await, "one");
    // Nobody else holds an end: the command sees this one close, and this side the command's.
    drop(dialogue.input);
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, dialogue.output.read_to_end(&mut rest)).await.expect("it hangs").unwrap();
    assert_eq!(dialogue.keeper.ended().await.unwrap(), CompanionEnd { code: 0, signal: None });
    let mut deaf = supervisor().start_dialogue(&sh("exec 0<&-; echo ready; sleep 20")).unwrap();
    assert_eq!(line(&mut deaf.output).await, "ready");
    let refused = tokio::time::timeout(PATIENCE, deaf.input.write_all(&[b' '; 1 << 20])).await;
    assert_eq!(refused.expect("it hangs").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_companions_channel_closes_with_it() {
    use tokio::io::AsyncReadExt as _;
    let mut companion = supervisor().start(&sh("exec true")).unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, companion.channel.read_to_end(&mut rest))
        .await
        .expect("it hangs")
        .unwrap();
    assert_eq!(companion.ended().await.unwrap(), CompanionEnd { code: 0, signal: None });
    assert!(rest.is_empty());
}

#[tokio::test]
async fn nothing_of_a_companion_survives_a_stop_or_a_drop() {
    let script = "trap '' TERM HUP; (setsid sleep MARKER &); echo ready; sleep MARKER";
    for by_drop in [false, true] {
        let marker = marker();
        let mut companion = supervisor().start(&sh(&script.replace("MARKER", &marker))).unwrap();
        assert_eq!(line(&mut companion.log).await, "ready");
        until("the start", || alive(&marker).len() == 2).await;
        if by_drop {
            drop(companion);
            until("the end after a drop", || alive(&marker).is_empty()).await;
        } else {
            companion.stop().await;
            assert_eq!(alive(&marker), NOBODY);
        }
    }
}

#[tokio::test]
async fn a_companion_that_cannot_start_says_why() {
    let companion = supervisor().start(&Command::new(["no-such-program-here"], "/")).unwrap();
    let error = tokio::time::timeout(PATIENCE, companion.ended()).await.expect("it hangs").unwrap_err();
    assert!(matches!(&error, ProcessError::Start(reason) if reason.contains("was not found")), "{error}");
}
