//! `exec`: streams, bounds, and that nothing of a command stays, however it or Pinza ends.

use std::{
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use pinza_testkit::Program;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Expected, check_call, pinza};

fn exec(pinza: &Program, arguments: &[&str], expected: Expected) -> Value {
    check_call(pinza, &[&["exec"], arguments, &["--allow", "exec"]].concat(), expected)
}

#[test]
fn streams_and_the_exit_code() {
    let pinza = pinza();
    let cases = [
        ("echo out", "out\n", json!({"exitCode": 0, "signal": null})),
        ("printf out; echo err >&2", "out\n[stderr]\nerr\n", json!({"exitCode": 0, "signal": null})),
        ("echo err >&2; exit 3", "[stderr]\nerr\n(exit code 3)", json!({"exitCode": 3, "signal": null})),
        ("exit 1", "(exit code 1)", json!({"exitCode": 1, "signal": null})),
        ("true", "(no output)", json!({"exitCode": 0, "signal": null})),
        ("kill -9 $$", "(ended by signal 9, exit code 137)", json!({"exitCode": 137, "signal": 9})),
        (
            "not-a-program-anywhere",
            "[stderr]\n[..]not found[..]\n(exit code 127)",
            json!({"exitCode": 127, "signal": null}),
        ),
    ];
    for (command, text, details) in cases {
        let answer = exec(&pinza, &[&format!("command={command}")], Ok(text));
        assert_eq!(answer["details"].to_string(), details.to_string());
    }
}

#[test]
fn it_runs_in_the_workspace_or_beneath() {
    let pinza = pinza();
    pinza.put("sub/file", "");
    std::os::unix::fs::symlink("/", pinza.workspace().join("out")).unwrap();
    let root = pinza.workspace().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let outside = Err(("path_not_allowed", "Access denied: path is outside the workspace"));
    let cases: [(&[&str], Expected); 7] = [
        (&[], Ok(&format!("{root}\n"))),
        (&["workdir=sub"], Ok(&format!("{root}/sub\n"))),
        (&[&format!("workdir={root}/sub")], Ok(&format!("{root}/sub\n"))),
        (&["workdir=.."], outside),
        (&["workdir=out"], outside),
        (&["workdir=none"], Err(("file_not_found", "File not found: none"))),
        (
            &["workdir=sub/file"],
            Err(("validation_error", "A part of the path is a file, not a directory: sub/file")),
        ),
    ];
    for (arguments, expected) in cases {
        exec(&pinza, &[&["command=pwd -P"], arguments].concat(), expected);
    }
}

#[test]
fn variables_are_added_and_dangerous_ones_refused() {
    let pinza = pinza();
    exec(&pinza, &["command=echo $A-$B", r#"env={"A":"x y","B":2}"#], Ok("x y-2\n"));
    for name in
        ["LD_PRELOAD", "PATH", "BASH_ENV", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PYTHONPATH", "PINZA_HOME"]
    {
        let message = format!("the variable {name} cannot be set, [..]");
        let env = format!(r#"env={{"{name}":"x"}}"#);
        exec(&pinza, &["command=true", &env], Err(("validation_error", &message)));
    }
    for (env, message) in [
        (r#"env={"A B":"x"}"#, "[..]is not the name of a variable[..]"),
        (r#"env={"A":["x"]}"#, "Environment variable 'A' must be text"),
        (r#"env={"A":"x\u0000y"}"#, "Environment variable 'A' contains a NUL character"),
    ] {
        exec(&pinza, &["command=true", env], Err(("validation_error", message)));
    }
    let command = r#"{"command": "echo a\u0000b"}"#;
    exec(&pinza, &[command], Err(("validation_error", "The command contains a NUL character")));
}

#[test]
fn secrets_of_pinzas_environment_stay_there() {
    let pinza = pinza();
    assert_eq!(pinza.run(&["env", "set", "STORED=also-secret"]).code, Some(0));
    let mut command =
        pinza.command(["--allow=exec", "--env", "GIVEN=too-secret", "call", "exec", "command=env"]);
    command.env("API_TOKEN", "very-secret").env("PINZA_KEY", "").env("AWS_SECRET_ACCESS_KEY", "very-secret");
    let run = pinza_testkit::program::finish(&mut command, "");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("PATH="), "{run:?}");
    for hidden in ["secret", "API_TOKEN", "PINZA_", "STORED", "AWS_"] {
        assert!(!run.stdout.contains(hidden), "{hidden} is in {}", run.stdout);
    }
}

/// Every case of the fixture: what the command does, how the call ends, and which processes
/// (their ids written to files) must be gone by then.
#[test]
fn hostile_commands_leave_nothing_running() {
    let cases = include_str!("../../../../fixtures/hostile/exec.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    std::thread::scope(|threads| {
        for case in &cases {
            threads.spawn(move || hostile(case));
        }
    });
}

fn hostile(case: &Value) {
    let pinza = pinza();
    let text = |name: &str| case[name].as_str().unwrap_or_default();
    let arguments = case["arguments"].to_string();
    let expected = match text("error") {
        "" => Ok(text("result")),
        error => Err((error, text("message"))),
    };
    exec(&pinza, &[&arguments], expected);
    for file in case["gone"].as_array().into_iter().flatten() {
        let file = pinza.workspace().join(file.as_str().unwrap());
        gone(process_id(&file), text("why"));
    }
}

#[test]
fn a_killed_pinza_leaves_nothing_running() {
    let pinza = pinza();
    let mut child = start_waiting(&pinza);
    child.kill().unwrap();
    child.wait().unwrap();
    for file in ["first", "second"] {
        gone(process_id(&pinza.workspace().join(file)), file);
    }
}

#[test]
fn ctrl_c_and_sigterm_cancel_the_call() {
    for signal in [Signal::INT, Signal::TERM] {
        let pinza = pinza();
        let child = start_waiting(&pinza);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(1), &b""[..]), "{signal:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error_type"], "cancelled");
        assert_eq!(answer["message"], "Tool execution was cancelled");
        for file in ["first", "second"] {
            gone(process_id(&pinza.workspace().join(file)), file);
        }
    }
}

/// Pinza with a command that has started, and so has a child in a session of its own.
fn start_waiting(pinza: &Program) -> Child {
    let command =
        "command=setsid sh -c 'echo $$ > second; exec sleep 600' & echo $$ > first; wait; sleep 600";
    let child = pinza
        .command(["--json", "--allow", "exec", "call", "exec", command])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for file in ["first", "second"] {
        process_id(&pinza.workspace().join(file));
    }
    child
}

/// Waits until a command has written its process id.
fn process_id(file: &Path) -> u32 {
    let id = || std::fs::read_to_string(file).ok()?.trim().parse().ok();
    eventually(&format!("no process id in {}", file.display()), id)
}

/// Waits until a process has ended; one that nobody has reaped yet has ended too.
fn gone(id: u32, why: &str) {
    eventually(&format!("process {id} is still there: {why}"), || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        state.is_none_or(|state| "ZX".contains(state)).then_some(())
    });
}

fn eventually<T>(otherwise: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None => assert!(start.elapsed() < Duration::from_secs(20), "{otherwise}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
