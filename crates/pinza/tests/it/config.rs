//! `config.toml`: read with care, edited in place, and the commands that show and set it.

use pinza_testkit::Program;
use serde_json::{Value, json};

use crate::support::{assert_matches, check, fine, keys, pinza, refused};

fn write(pinza: &Program, text: &str) {
    std::fs::write(pinza.config_file(), text).unwrap();
}

fn text(pinza: &Program) -> String {
    std::fs::read_to_string(pinza.config_file()).unwrap_or_default()
}

#[test]
fn every_value_has_an_origin() {
    let pinza = pinza();
    write(
        &pinza,
        "[env]\nREGION = \"eu\"\n\n[policy.limits]\nstack_kb = 2048\n\n[tools]\ndisabled = [\"exec\"]\n",
    );
    let shown = fine(&pinza, &["--json", "config", "show", "--env", "MODE=fast", "--allow", "exec"]).json();
    assert_eq!(keys(&shown), ["file", "values"]);
    assert_eq!(shown["file"], pinza.config_file().to_str().unwrap());
    let origin = |key: &str| {
        let value = shown["values"].as_array().unwrap().iter().find(|value| value["key"] == key);
        let value = value.unwrap_or_else(|| panic!("no {key} in {shown}"));
        assert_eq!(keys(value), ["key", "value", "source"]);
        (value["value"].as_str().unwrap().to_owned(), value["source"].as_str().unwrap().to_owned())
    };
    let path = |path: std::path::PathBuf| json!(path).to_string();
    for (key, value, source) in [
        ("home", path(pinza.home()), "environment"),
        ("workspace", path(pinza.workspace()), "built-in"),
        ("env.MODE", "\"fast\"".into(), "flag"),
        ("allow", "[\"exec\"]".into(), "flag"),
        ("env.REGION", "\"eu\"".into(), "user"),
        ("tools.disabled", "[\"exec\"]".into(), "user"),
        ("files.hardlinks", "\"refuse\"".into(), "built-in"),
        ("policy.limits.heap_mb", "256".into(), "built-in"),
        ("policy.limits.stack_kb", "2048".into(), "user"),
        ("policy.limits.timeout_seconds", "3600".into(), "built-in"),
    ] {
        assert_eq!(origin(key), (value, source.to_owned()), "{key}");
    }
    let run = fine(&pinza, &["config", "show", "--env", "REGION=us"]);
    assert_matches(&run.stdout, "...\n  env.REGION = \"us\"[..]# flag\n...");
    assert!(!run.stdout.contains("\"eu\""), "what a flag overrides is not shown: {}", run.stdout);
    let stdout = format!("...\n  tools.disabled = [\"exec\"][..]# {}\n", pinza.config_file().display());
    assert_matches(&run.stdout, &stdout);
}

#[test]
fn setting_keeps_everything_else() {
    let pinza = pinza();
    write(&pinza, "# top\n[files] # about files\nhardlinks = \"refuse\" # for now\n\n# end\n");
    check(&pinza, &["config", "set", "files.hardlinks", "allow"], 0, "files.hardlinks = \"allow\"\n", "");
    assert_eq!(text(&pinza), "# top\n[files] # about files\nhardlinks = \"allow\" # for now\n\n# end\n");
    let set = fine(&pinza, &["--json", "config", "set", "env.REGION", "eu"]);
    assert_eq!(set.stdout, "{\"status\":\"success\",\"key\":\"env.REGION\",\"value\":\"\\\"eu\\\"\"}\n");
    let key = r#"net.rewrite."https://api.example.com""#;
    let stdout = format!("{key} = \"http://127.0.0.1:9000\"\n");
    check(&pinza, &["config", "set", key, "http://127.0.0.1:9000"], 0, &stdout, "");
    check(&pinza, &["config", "set", "tools.disabled", "[\"exec\"]"], 0, "tools.disabled = [\"exec\"]\n", "");
    check(&pinza, &["config", "set", "env.OFFSET", "-5 days"], 0, "env.OFFSET = \"-5 days\"\n", "");
    let text = text(&pinza);
    for line in [
        "# top",
        "hardlinks = \"allow\" # for now",
        "[net.rewrite]",
        "\"https://api.example.com\" = ",
        "# end",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let shown = fine(&pinza, &["--json", "config", "show"]).json();
    assert!(shown.to_string().contains(&json!(key).to_string()), "{shown}");
}

#[test]
fn an_origin_that_is_none_is_a_fault_of_the_file() {
    let pinza = pinza();
    let file = pinza.config_file().display().to_string();
    let stderr = format!(
        "error: [..]{file} is not a valid configuration: net.rewrite: 'api.example.com' is not a plain http or https URL\n"
    );
    refused(&pinza, &["config", "set", r#"net.rewrite."api.example.com""#, "http://127.0.0.1:9"], &stderr);
    write(&pinza, "[net.rewrite]\n\"https://a.example\" = \"api.example.com\"\n");
    refused(&pinza, &["call", "get_current_time"], &stderr);
}

#[test]
fn an_invalid_change_is_refused_and_the_file_stays() {
    let pinza = pinza();
    let before = "# mine\n[env]\nREGION = \"eu\"\n";
    write(&pinza, before);
    let file = pinza.config_file().display().to_string();
    let invalid =
        format!("error: the change was not written: {file} is not a valid configuration: [..]\n...");
    for (key, value, reason) in [
        ("files.hardlinks", "maybe", &*invalid),
        ("policy.limits.heap_mb", "0", &*invalid),
        ("policy.limits.heap_mb", "many", &*invalid),
        ("policy.limits.timeout_seconds", "86400", &*invalid),
        ("policy.limits.heapMb", "64", &*invalid),
        ("env.NUMBER", "5", &invalid),
        ("frobnicate.x", "1", &invalid),
        ("tools.disabled", "exec", &invalid),
        ("env.REGION.x", "1", "error: 'REGION' is not a table\n"),
        ("a..b", "1", "error: 'a..b' is not a key: [..]\n..."),
        ("", "1", "error: '' is not a key: [..]\n..."),
    ] {
        refused(&pinza, &["config", "set", key, value], reason);
        assert_eq!(text(&pinza), before, "{key}");
    }
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let pinza = pinza();
    let file = pinza.config_file().display().to_string();
    for (broken, line) in [
        ("[tools]\ndisabled = 5\n", 2),
        ("\n\n[tools\n", 3),
        ("[env]\nA = \"1\"\n\n[frobnicate]\n", 4),
        ("[[policy.rule]]\neffect = \"perhaps\"\n", 2),
        ("[[policy.rule]]\neffect = \"allow\"\ncolour = \"green\"\n", 3),
    ] {
        write(&pinza, broken);
        let reason =
            format!("error: {file} is not a valid configuration: TOML parse error at line {line}, [..]\n...");
        for command in [
            &["call", "get_current_time"][..],
            &["--json", "tools", "list"],
            &["--json", "policy", "list"],
            &["schema", "--provider", "openai"],
            &["config", "show"],
            &["policy", "deny", "exec"],
            &["tools", "disable", "exec"],
        ] {
            refused(&pinza, command, &reason);
        }
        assert_eq!(text(&pinza), broken);
    }
    check(&pinza, &["doctor"], 1, "...\n  error[..]config[..]line 3[..]\n...", "");
}

#[test]
fn what_later_parts_will_read_is_left_alone() {
    let pinza = pinza();
    write(
        &pinza,
        "[providers.work]\ntype = \"openai\"\n[agents.writer]\nprovider = \"work\"\n[journal]\nresults = \"head\"\n",
    );
    fine(&pinza, &["tools", "list"]);
}

#[test]
fn homes() {
    let pinza = pinza();
    let other = pinza.directory().join("other");
    let flag = ["--home", other.to_str().unwrap(), "--json", "config", "show"];
    let shown = fine(&pinza, &flag).json();
    assert_eq!(
        shown["values"][0],
        json!({"key": "home", "value": json!(other).to_string(), "source": "flag"})
    );

    let home = |command: &mut std::process::Command| -> Value {
        pinza_testkit::program::finish(command, "").json()["values"][0].clone()
    };
    let mut command = pinza.command(["--json", "config", "show"]);
    let built_in = home(command.env_remove("PINZA_HOME"));
    let expected = json!(pinza.directory().join(".local/share/pinza")).to_string();
    assert_eq!(built_in, json!({"key": "home", "value": expected, "source": "built-in"}));
    let data = pinza.directory().join("data");
    let xdg = home(command.env("XDG_DATA_HOME", &data));
    assert_eq!(xdg["value"], json!(data.join("pinza")).to_string());
    let nowhere = pinza_testkit::program::finish(command.env_remove("XDG_DATA_HOME").env_remove("HOME"), "");
    assert_eq!((nowhere.code, &*nowhere.stdout), (Some(2), ""));
    assert_matches(&nowhere.stderr, "error: there is no home directory: set PINZA_HOME or give --home\n");
}

#[test]
fn a_new_home_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let pinza = pinza();
    let home = pinza.directory().join("new/home");
    let flag = format!("--home={}", home.display());
    fine(&pinza, &[&flag, "call", "write_file", "path=a", "content=b"]);
    fine(&pinza, &[&flag, "policy", "deny", "exec"]);
    let mode = |path: &str| std::fs::metadata(home.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("config.toml")), (0o700, 0o600));
}

#[test]
fn processes_that_edit_at_once_lose_nothing() {
    let pinza = pinza();
    write(&pinza, "# kept\n");
    std::thread::scope(|threads| {
        for number in 0..8 {
            let pinza = &pinza;
            threads.spawn(move || {
                let glob = format!("command=run {number}");
                let run = pinza.run(&["policy", "allow", "exec", "--arg", &glob]);
                assert_eq!(run.code, Some(0), "{run:?}");
            });
        }
    });
    let text = text(&pinza);
    assert!(text.starts_with("# kept\n"), "{text}");
    for number in 0..8 {
        assert!(text.contains(&format!("command = \"run {number}\"")), "{number} is not in {text}");
    }
}

#[test]
fn a_rule_that_another_process_removed_is_no_crash() {
    let pinza = pinza();
    write(&pinza, &"[[policy.rule]]\neffect = \"deny\"\ncapability = \"message\"\n".repeat(4));
    let codes: Vec<Option<i32>> = std::thread::scope(|threads| {
        let revoke = || threads.spawn(|| pinza.run(&["policy", "revoke", "1"]).code);
        let running: Vec<_> = (0..8).map(|_| revoke()).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 4, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0..=2))), "{codes:?}");
}

#[test]
fn an_edited_file_is_checked() {
    let pinza = pinza();
    let edit = |editor: &str| {
        let mut command = pinza.command(["config", "edit"]);
        pinza_testkit::program::finish(command.env_remove("VISUAL").env("EDITOR", editor), "")
    };
    let fine = edit("sh -c 'echo \"[env]\" > \"$1\"' x");
    assert_eq!((fine.code, fine.stderr.as_str()), (Some(0), ""), "{fine:?}");
    assert!(fine.stdout.ends_with("config.toml is fine.\n"), "{fine:?}");
    let wrong = edit("sh -c 'echo \"[evn]\" > \"$1\"' x");
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""), "{wrong:?}");
    assert!(wrong.stderr.contains("unknown field `evn`"), "{wrong:?}");
    assert_eq!(edit("false").code, Some(2));
}
