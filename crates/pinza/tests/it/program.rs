//! The commands that are about the program itself, and what every command says about itself.

use serde_json::json;

use crate::support::{assert_matches, check, fine, keys, pinza};

#[test]
fn version_and_help() {
    let pinza = pinza();
    let version = format!("pinza {}\n", env!("CARGO_PKG_VERSION"));
    check(&pinza, &["--version"], 0, &version, "");
    let run = fine(&pinza, &["--help"]);
    for word in ["Usage: pinza", "Examples:", "Exit codes: 0 fine, 1 an answered error, 2 wrong usage"] {
        assert!(run.stdout.contains(word), "{word}");
    }
    let run = pinza.run(&[]);
    assert_eq!((run.code, &*run.stdout), (Some(2), ""));
    assert!(run.stderr.contains("Usage: pinza"), "{run:?}");
}

#[test]
fn every_command_says_what_it_does() {
    let pinza = pinza();
    let cases: [(&[&str], &str); 27] = [
        (&["call"], "Call a tool"),
        (&["tools"], "List, show, search, begin, check, test, enable and disable tools"),
        (&["tools", "list"], "All tools, by section"),
        (&["tools", "show"], "One tool: what it does, its parameters, what it needs"),
        (&["tools", "enable"], "Switch tools on again"),
        (&["tools", "disable"], "Switch tools off"),
        (&["groups"], "List and show groups of tools"),
        (&["groups", "list"], "All groups"),
        (&["groups", "show"], "One group and its tools"),
        (&["schema"], "Print tool definitions in a provider's own format"),
        (&["config"], "Show and change the configuration"),
        (&["config", "show"], "Every value and where it came from"),
        (&["config", "set"], "Set a value in config.toml, keeping its comments"),
        (&["env"], "Keep variables for tools, encrypted"),
        (&["env", "set"], "Keep a variable"),
        (&["env", "list"], "The names of all kept variables (values are never printed)"),
        (&["env", "rm"], "Forget variables"),
        (&["policy"], "Say what tools may do"),
        (&["policy", "list"], "All rules and the defaults"),
        (&["policy", "allow"], "Add a rule that allows"),
        (&["policy", "ask"], "Add a rule that asks"),
        (&["policy", "deny"], "Add a rule that denies"),
        (&["policy", "revoke"], "Remove a rule by its number in `policy list`"),
        (&["policy", "test"], "What would be decided for a call, and why"),
        (&["doctor"], "Check this installation and say what is enforced here"),
        (&["completions"], "Print a completion script for a shell"),
        (&["serve"], "Serve tools over MCP, on stdin and stdout or over HTTP"),
    ];
    for (command, about) in cases {
        let run = fine(&pinza, &[command, &["--help"]].concat());
        let usage = format!("Usage: pinza {}", command.join(" "));
        assert!(run.stdout.starts_with(about) && run.stdout.contains(&usage), "{}", run.stdout);
    }
}

#[test]
fn wrong_usage_is_exit_2() {
    let pinza = pinza();
    for command in [
        &["frobnicate"][..],
        &["tools"],
        &["tools", "frobnicate"],
        &["tools", "list", "--frobnicate"],
        &["tools", "enable"],
        &["--env", "novalue", "tools", "list"],
        &["--env", "1X=2", "tools", "list"],
        &["-v", "-q", "tools", "list"],
        &["--tools", "no-such-directory", "tools", "list"],
        &["completions", "tcsh-ish"],
        &["config", "set", "a"],
    ] {
        let run = pinza.run(command);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{command:?}: {run:?}");
        assert!(!run.stderr.is_empty());
    }
}

#[test]
fn completions() {
    let pinza = pinza();
    for (shell, mark) in
        [("bash", "complete -F _pinza"), ("zsh", "#compdef pinza"), ("fish", "complete -c pinza")]
    {
        let run = fine(&pinza, &["completions", shell]);
        assert!(run.stdout.contains(mark), "{shell}");
    }
}

#[test]
fn doctor() {
    let pinza = pinza();
    let names = ["home", "config", "workspace", "file jail", "processes", "scripts", "variables", "tools"];
    let report = fine(&pinza, &["--json", "doctor"]).json();
    assert_eq!(keys(&report), ["ok", "checks"]);
    assert_eq!(report["ok"], true);
    let checks = report["checks"].as_array().unwrap();
    assert!(
        checks.iter().all(|check| keys(check) == ["name", "status", "detail"] && check["status"] == "ok")
    );
    assert_eq!(checks.iter().map(|check| check["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
    let run = fine(&pinza, &["doctor"]);
    assert_matches(&run.stdout, "  ok  home [..]\n...\n  ok  tools      [..] tools are ready\n");

    std::fs::write(pinza.config_file(), "[tools]\ndisabled = [\"frobnicate\"]\n").unwrap();
    std::fs::set_permissions(pinza.home(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let stdout = "  warning[..]home[..]chmod 700[..]\n...\n  warning[..]tools[..]frobnicate[..]\n";
    check(&pinza, &["doctor"], 0, stdout, "");
    let file = pinza.directory().join("file");
    std::fs::write(&file, "").unwrap();
    let report = pinza.run(&["--json", "--workspace", file.to_str().unwrap(), "doctor"]);
    assert_eq!((report.code, &report.json()["ok"]), (Some(1), &json!(false)), "{report:?}");
}
