//! The ways to type arguments, what is repaired in them, and what is refused.

use crate::support::{Expected, check_answer, check_call, pinza, refused};

#[test]
fn every_form() {
    let pinza = pinza();
    pinza.put("a.txt", "one\ntwo\nthree\n");
    std::fs::write(pinza.directory().join("args.json"), r#"{"path": "a.txt", "limit": 1}"#).unwrap();
    let first = "one\n\n[lines 1 to 1 of 3; go on with offset 2]";
    let cases: [(&[&str], &str); 9] = [
        (&[r#"{"path": "a.txt", "limit": 1}"#], first),
        (&["@args.json"], first),
        (&["path=a.txt", "limit=1"], first),
        (&["file_path=a.txt", "limit=1"], first),
        (&["path=a.txt", "offset=3"], "three\n"),
        (&["path=a.txt", "offset=3.0"], "three\n"),
        (&[r#"{"path": "a.txt", "offset": 3.0}"#], "three\n"),
        (&[r#"{"path": "a.txt", "offset": "3", "limit": null}"#], "three\n"),
        (&[r#"{"path": "a.txt", "offset": 3, "colour": "green"}"#], "three\n"),
    ];
    for (arguments, expected) in cases {
        check_call(&pinza, &[&["read"], arguments].concat(), Ok(expected));
    }
    let run = pinza.run_with_input(&["--json", "call", "read", "-"], r#"{"path": "a.txt", "limit": 1}"#);
    check_answer(&run, &["read"], Ok(first));
}

#[test]
fn key_value_takes_the_parameters_type() {
    let pinza = pinza();
    for (typed, written) in [
        ("5", "5"),
        ("true", "true"),
        ("null", "null"),
        ("\"quoted\"", "quoted"),
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("a=b=c", "a=b=c"),
        ("", ""),
        ("@not-a-file", "@not-a-file"),
        ("two\nlines", "two\nlines"),
    ] {
        let content = format!("content={typed}");
        let answer = format!("Successfully wrote {} bytes to a.txt (mode: overwrite)", written.len());
        check_call(&pinza, &["write_file", "path=a.txt", &content], Ok(&answer));
        assert_eq!(pinza.text("a.txt"), written);
    }
    let env = r#"env={"A":"x","B":5,"C":true}"#;
    check_call(&pinza, &["exec", "command=echo $A $B $C", env, "--yes"], Ok("x 5 true\n"));
}

#[test]
fn what_does_not_fit_the_schema() {
    let pinza = pinza();
    let fault = |message| -> Expected<'static> { Err(("validation_error", message)) };
    let cases = [
        ("read_file", "{}", fault("Missing required parameter: 'path'")),
        ("read_file", r#"{"path": null}"#, fault("Missing required parameter: 'path'")),
        ("read_file", r#"{"path": 5}"#, fault("Parameter 'path' expected type 'string' but got integer")),
        ("read_file", r#"{"path": ["a"]}"#, fault("Parameter 'path' expected type 'string' but got array")),
        ("write_file", r#"{"path": "a"}"#, fault("Missing required parameter: 'content'")),
        (
            "write_file",
            r#"{"path": "a", "content": "b", "mode": "x"}"#,
            fault("Parameter 'mode' must be one of: overwrite, append"),
        ),
        (
            "http_request",
            r#"{"url": "http://a.invalid", "method": "PATCH"}"#,
            fault("Parameter 'method' must be one of: GET, POST, PUT, DELETE"),
        ),
        (
            "read",
            r#"{"path": "a", "limit": "five"}"#,
            fault("Parameter 'limit' expected type 'integer' but got string"),
        ),
        (
            "read",
            r#"{"path": "a", "limit": 5.5}"#,
            fault("Parameter 'limit' expected type 'integer' but got number"),
        ),
        (
            "read",
            r#"{"path": "a", "offset": 0}"#,
            fault("Parameter 'offset' is invalid: the value is less than the minimum of 1"),
        ),
    ];
    for (tool, arguments, expected) in cases {
        check_call(&pinza, &[tool, arguments], expected);
    }
    check_call(&pinza, &["read_file"], fault("Missing required parameter: 'path'"));
    assert!(!pinza.workspace().join("a").exists(), "a refused call does nothing");
}

#[test]
fn what_cannot_be_understood_is_exit_2() {
    let pinza = pinza();
    std::fs::write(pinza.directory().join("list.json"), "[]").unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&["read_file", "{bad"], "error: the argument is not JSON: [..]\n"),
        (&["read_file", "[1]"], "error: the argument must be a JSON object, not array\n"),
        (&["read_file", "path"], "error: the argument is not JSON: [..]\n"),
        (&["read_file", "path=a", "path=b"], "error: 'path' is given twice\n"),
        (&["read_file", "path=a", "b"], "error: 'b' is neither key=value nor the only JSON argument\n"),
        (&["read_file", "=a", "b=c"], "error: '=a' is neither key=value nor the only JSON argument\n"),
        (&["read_file", "@none.json"], "error: cannot read none.json: [..]\n"),
        (&["read_file", "@list.json"], "error: list.json must be a JSON object, not array\n"),
        (&["read_file", "--frobnicate"], "error: unexpected argument '--frobnicate' found\n..."),
    ];
    for (arguments, reason) in cases {
        for json in [&["call"][..], &["--json", "call"]] {
            refused(&pinza, &[json, arguments].concat(), reason);
        }
    }
    let run = pinza.run_with_input(&["--json", "call", "read", "-"], "");
    assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{run:?}");
    refused(&pinza, &["call"], "error: the following required arguments were not provided:\n...");
}

#[test]
fn the_usual_aliases() {
    let pinza = pinza();
    check_call(&pinza, &["write", "file_path=a.txt", "content=old"], Ok("[..]3 bytes to a.txt"));
    let edit = ["edit", "file_path=a.txt", "old_string=old", "new_string=new"];
    check_call(&pinza, &edit, Ok("Edited a.txt\n..."));
    let edit = ["edit", "file_path=a.txt", "old_text=new", "new_text=newer"];
    check_call(&pinza, &edit, Ok("Edited a.txt\n..."));
    check_call(&pinza, &["read_file", "file_path=a.txt"], Ok("newer"));
    // The real name wins where both are given.
    check_call(&pinza, &["read_file", "file_path=none", "path=a.txt"], Ok("newer"));
}
