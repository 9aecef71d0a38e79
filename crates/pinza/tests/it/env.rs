//! `pinza env`: values go in and never come out.

use std::os::unix::fs::PermissionsExt as _;

use pinza_testkit::{Program, Run, program::finish};

use crate::support::{check, fine, pinza, refused};

const SECRET: &str = "s3cr3t-value";

#[test]
fn set_list_and_rm() {
    let pinza = pinza();
    check(&pinza, &["env", "set", &format!("A={SECRET}")], 0, "A is kept, encrypted.\n", "");
    check(&pinza, &["--json", "env", "set", "B", SECRET], 0, "{\"status\":\"success\",\"name\":\"B\"}\n", "");
    let run = pinza.run_with_input(&["env", "set", "C"], &format!("{SECRET}\n"));
    assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "C is kept, encrypted.\n", ""));
    check(&pinza, &["env", "list"], 0, "A\nB\nC\n", "");
    check(
        &pinza,
        &["--json", "env", "list"],
        0,
        "{\"env\":[{\"name\":\"A\"},{\"name\":\"B\"},{\"name\":\"C\"}]}\n",
        "",
    );
    check(&pinza, &["env", "rm", "A", "C"], 0, "Forgotten: A, C\n", "");
    check(&pinza, &["--json", "env", "rm", "B"], 0, "{\"status\":\"success\",\"removed\":[\"B\"]}\n", "");
    check(&pinza, &["env", "list"], 0, "", "");
    let stderr = "error: not_found: There is no variable 'A'\nhint: See their names: pinza env list\n";
    check(&pinza, &["env", "rm", "A"], 1, "", stderr);
}

#[test]
fn a_failed_rm_removes_nothing() {
    let pinza = pinza();
    fine(&pinza, &["env", "set", "A=1"]);
    assert_eq!(pinza.run(&["env", "rm", "A", "NONE"]).code, Some(1));
    check(&pinza, &["env", "list"], 0, "A\n", "");
}

#[test]
fn bad_names() {
    let pinza = pinza();
    for name in ["1X=2", "A B=2", "=2", "a-b=2"] {
        refused(&pinza, &["env", "set", name], "error: '[..]' is not the name of a variable\nhint: [..]\n");
    }
    refused(&pinza, &["env", "set", "A=1", "2"], "error: A has two values\n");
}

#[test]
fn a_value_is_printed_nowhere_and_lies_nowhere_readable() {
    let pinza = pinza();
    fine(&pinza, &["env", "set", &format!("TOKEN={SECRET}")]);
    for command in [
        &["env", "list"][..],
        &["--json", "env", "list"],
        &["config", "show"],
        &["doctor"],
        &["-v", "tools", "list"],
        &["env", "set", "TOKEN=other"],
        &["env", "rm", "TOKEN"],
    ] {
        let Run { stdout, stderr, .. } = pinza.run(command);
        assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET), "{command:?}");
        for entry in std::fs::read_dir(pinza.home()).unwrap().map(Result::unwrap) {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{:?}", entry.path());
        }
    }
}

#[test]
fn the_files_are_private() {
    let pinza = pinza();
    let home = pinza.directory().join("fresh");
    fine(&pinza, &["--home", home.to_str().unwrap(), "env", "set", "A=1"]);
    let mode = |path: &str| std::fs::metadata(home.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("key"), mode("env.enc")), (0o700, 0o600, 0o600));
    std::fs::set_permissions(home.join("key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let stderr = "error: the key file '[..]' can be read by others (mode 644)\nhint: [..]\n";
    refused(&pinza, &["--home", home.to_str().unwrap(), "env", "list"], stderr);
}

#[test]
fn a_key_of_ones_own() {
    let pinza = pinza();
    let with_key = |pinza: &Program, key: &str, arguments: &[&str]| {
        finish(pinza.command(arguments).env("PINZA_KEY", key), "")
    };
    let key = "a".repeat(64);
    assert_eq!(with_key(&pinza, &key, &["env", "set", "A=1"]).code, Some(0));
    assert!(!pinza.home().join("key").exists());
    let list = with_key(&pinza, &key, &["env", "list"]);
    assert_eq!((list.code, &*list.stdout), (Some(0), "A\n"), "{list:?}");
    let other = with_key(&pinza, &"b".repeat(64), &["env", "list"]);
    assert_eq!((other.code, &*other.stdout), (Some(2), ""), "{other:?}");
    assert!(other.stderr.starts_with("error: the key does not open the variables"), "{other:?}");
    let none =
        "error: the variables in '[..]' are encrypted and the key file '[..]' is missing\nhint: [..]\n";
    refused(&pinza, &["env", "list"], none);
    check(&pinza, &["doctor"], 1, "...\n  error[..]variables[..]\n...", "");
}
