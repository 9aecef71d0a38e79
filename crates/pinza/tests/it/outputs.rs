//! Answers that are too long: the whole goes to a file, the reader gets both ends and the path.

use serde_json::Value;

use crate::support::{check_call, pinza};

#[test]
fn more_than_a_mebibyte_goes_to_a_file() {
    let pinza = pinza();
    let numbers = "command=seq 1 300000";
    let run = pinza.run(&["--json", "--yes", "call", "exec", numbers]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let answer = run.json();
    let text = answer["result"].as_str().unwrap();
    assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n299999\n300000\n"), "both ends are there");
    assert!(text.len() < 1 << 20, "{}", text.len());
    assert_eq!(answer["details"]["exitCode"], 0);

    let note = text.lines().find(|line| line.contains("left out")).unwrap();
    let path = note.split_whitespace().find(|word| word.starts_with(".pinza/out/")).unwrap();
    let whole: String = (1..=300_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(pinza.text(path), whole, "the file holds it all");
    let (head, tail) = text.split_once(&format!("\n\n{note}\n\n")).unwrap();
    assert!(whole.starts_with(head) && whole.ends_with(tail));
    let left_out = whole.len() - head.len() - tail.len();
    assert!(note.starts_with(&format!("[… {left_out} bytes left out;")), "{note}");

    let next = check_call(&pinza, &["read", &format!("path={path}"), "limit=1"], Ok("1\n..."));
    assert_eq!(next["details"]["totalLines"], 300_000, "tools may read it");
}

#[test]
fn up_to_a_mebibyte_is_printed_whole() {
    let pinza = pinza();
    let content = "x".repeat(1 << 20);
    pinza.put("a.txt", &content);
    let run = pinza.run(&["call", "read_file", "path=a.txt"]);
    assert!(run.stdout == content + "\n");
    assert!(!pinza.workspace().join(".pinza").exists());
}

#[test]
fn nothing_is_larger_than_16_mebibytes() {
    let pinza = pinza();
    // Eight million bytes that are no text become three times as many.
    let command = r"command=head -c 8000000 /dev/zero | tr '\0' '\377'";
    let message = "The result has 240000[..] bytes, more than 16777216";
    let answer = check_call(&pinza, &["exec", command, "--yes"], Err(("output_limit", message)));
    assert_ne!(answer["hint"], Value::Null);
    let message = "the command wrote more than 16777216 bytes and was stopped";
    check_call(&pinza, &["exec", "command=yes", "--yes"], Err(("output_limit", message)));
}
