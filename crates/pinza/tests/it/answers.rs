//! The shape of an answer, its exit code, and the errors that the engine itself gives.

use serde_json::Value;

use crate::support::{assert_matches, check, check_call, fine, pinza};

#[test]
fn a_success_in_json_and_in_text() {
    let pinza = pinza();
    let call = ["call", "write_file", "path=a.txt", "content=hi"];
    let text = "Successfully wrote 2 bytes to a.txt (mode: overwrite)";
    let json = format!(
        r#"{{"status":"success","result":"{text}","content":[{{"type":"text","text":"{text}"}}],"details":null,"tool":"write_file","durationMs":[..]}}"#
    );
    check(&pinza, &[&["--json"], &call[..]].concat(), 0, &(json + "\n"), "");
    check(&pinza, &call, 0, &format!("{text}\n"), "");
}

#[test]
fn an_error_in_json_and_in_text() {
    let pinza = pinza();
    let call = ["call", "read_file", "path=../x"];
    let (message, hint) =
        ("Access denied: path is outside the workspace", "Use a path relative to the workspace.");
    let json = format!(
        r#"{{"status":"error","error_type":"path_not_allowed","message":"{message}","hint":"{hint}","tool":"read_file","durationMs":[..]}}"#
    );
    check(&pinza, &[&["--json"], &call[..]].concat(), 1, &(json + "\n"), "");
    check(&pinza, &call, 1, "", &format!("error: path_not_allowed: {message}\nhint: {hint}\n"));
}

#[test]
fn a_result_keeps_its_own_line_end() {
    let pinza = pinza();
    for (content, printed) in [("one", "one\n"), ("one\n", "one\n"), ("one\n\n", "one\n\n"), ("", "\n")] {
        pinza.put("a.txt", content);
        check(&pinza, &["call", "read_file", "path=a.txt"], 0, printed, "");
    }
}

#[test]
fn global_flags_stand_before_or_after_the_command() {
    let pinza = pinza();
    pinza.put("a.txt", "here");
    let elsewhere = pinza.directory().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("a.txt"), "there").unwrap();
    let there = elsewhere.to_str().unwrap();
    for arguments in [
        ["--json", "--workspace", there, "call", "read_file", "path=a.txt"],
        ["call", "--json", "--workspace", there, "read_file", "path=a.txt"],
        ["call", "read_file", "path=a.txt", "--json", "--workspace", there],
        ["call", "read_file", "--workspace", there, "path=a.txt", "--json"],
    ] {
        assert_eq!(fine(&pinza, &arguments).json()["result"], "there", "{arguments:?}");
    }
    let denied = |arguments: &[&str]| pinza.run(arguments).json()["error_type"] == "permission_denied";
    assert!(denied(&["--json", "--deny", "exec", "call", "exec", "command=true", "--allow", "exec"]));
    assert!(denied(&["--json", "--allow", "exec", "call", "exec", "command=true", "--deny", "exec"]));
    assert!(denied(&["--json", "--deny", "exec", "call", "exec", "command=true", "--deny", "net"]));
}

#[test]
fn unknown_and_disabled_tools() {
    let pinza = pinza();
    let answer =
        check_call(&pinza, &["raed_file", "path=x"], Err(("tool_not_found", "Tool 'raed_file' not found")));
    assert_eq!(answer["hint"], "Did you mean read_file?");
    let answer = check_call(&pinza, &["frobnicate"], Err(("tool_not_found", "Tool 'frobnicate' not found")));
    assert_eq!(answer["hint"], Value::Null);
    fine(&pinza, &["tools", "disable", "read_file", "group:fs"]);
    for tool in ["read_file", "edit"] {
        let message = format!("Tool '{tool}' is disabled");
        let answer = check_call(&pinza, &[tool], Err(("tool_disabled", &message)));
        assert_matches(answer["hint"].as_str().unwrap(), "[..]pinza tools enable[..]");
    }
}

#[test]
fn what_may_not_be_done_without_being_asked() {
    let pinza = pinza();
    let expected = Err(("permission_denied", "Required permissions were denied: exec"));
    let answer = check_call(&pinza, &["exec", "command=true"], expected);
    let hint =
        "Nobody can be asked here. Allow it with --allow exec, or for good with: pinza policy allow exec";
    assert_eq!(answer["hint"], hint);
    check_call(&pinza, &["exec", "command=true", "--allow", "exec"], Ok("(no output)"));
    check_call(&pinza, &["exec", "command=true", "--yes"], Ok("(no output)"));
    let answer = check_call(&pinza, &["exec", "command=true", "--yes", "--deny", "exec"], expected);
    assert_matches(answer["hint"].as_str().unwrap(), "A rule or flag denies it.[..]pinza policy test exec");
}

#[test]
fn verbose_shows_progress_on_stderr_only() {
    let pinza = pinza();
    let run = pinza.run(&["-v", "--allow", "exec", "call", "exec", "command=echo tick"]);
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "tick\n", "tick\n"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let pinza = pinza();
    pinza.put("a.txt", "line\n".repeat(100_000));
    let mut child = pinza
        .command(["call", "read_file", "path=a.txt"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}
