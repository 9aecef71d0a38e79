//! The first minutes: `pinza` and nothing else, `pinza init`.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::{
    approval::Terminal,
    support::{assert_matches, check, fine, pinza, refused},
};

fn greeting(pinza: &pinza_testkit::Program, arguments: &[&str]) -> String {
    let (code, screen, _) = Terminal::start_whole(pinza, arguments).end();
    assert_eq!(code, Some(0), "{screen}");
    screen.replace("\r\n", "\n")
}

#[test]
fn a_terminal_is_greeted() {
    let pinza = pinza();
    let screen = greeting(&pinza, &[]);
    let shown = "Pinza [..]: tools for AI agents.

  tools      [..]
  groups     [..]
  servers    none
  model      none is set up
  workspace  [..]/home/workspace
  home       [..]/home

Three things to try:
  pinza call get_current_time timezone=Asia/Tokyo  call a tool
  pinza tools new greet                            begin a tool of your own
  pinza mcp install claude-code                    give these tools to your agent

pinza help has the rest.
";
    assert_matches(&screen, shown);
    // What is proposed works.
    fine(&pinza, &["call", "get_current_time", "timezone=Asia/Tokyo"]);
    fine(&pinza, &["tools", "new", "greet"]);
    fine(&pinza, &["--yes", "mcp", "install", "claude-code"]);
}

#[test]
fn the_greeting_fits_what_is_here() {
    let pinza = pinza();
    let config =
        "[providers.work]\ntype = \"openai\"\nmodel = \"m1\"\n[mcp.servers.files]\ncommand = [\"true\"]\n";
    fs::write(pinza.config_file(), config).unwrap();
    fine(&pinza, &["tools", "new", "greet"]);
    fine(&pinza, &["init"]);
    let screen = greeting(&pinza, &["--home", &pinza.home().display().to_string()]);
    let shown = "Pinza [..]: tools for AI agents.

  tools      [..], 1 of your own
  groups     [..]
  servers    files
  model      m1 of work
  workspace  [..]/home/workspace
  home       [..]/home
  project    [..]/.pinza (not trusted, so not read)

Three things to try:
  pinza trust             read the project's tools, once you have looked at them
  pinza chat              talk with a model that has these tools
  pinza tools show greet  look at a tool of your own

pinza help has the rest.
";
    assert!(screen.contains("warning: "), "an untrusted project is told of: {screen}");
    let after = screen.find("Pinza ").unwrap();
    assert_matches(&screen[after..], shown);
}

#[test]
fn programs_are_not_greeted() {
    let pinza = pinza();
    for arguments in [&[][..], &["--json"], &["-q"]] {
        let run = pinza.run(arguments);
        assert_eq!((run.code, &*run.stdout), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains("Usage: pinza"), "{run:?}");
    }
    let (code, screen, _) = Terminal::start_whole(&pinza, &["--json"]).end();
    assert_eq!(code, Some(2), "{screen}");
    // stdout goes elsewhere.
    let (code, screen, stdout) = Terminal::start(&pinza, &[]).end();
    assert_eq!((code, &*stdout), (Some(2), ""), "{screen}");
}

#[test]
fn a_project_is_begun_trusted_by_hand_and_used() {
    let pinza = pinza();
    let first = "Written to [..]/.pinza:
  config.toml
  README.md
  tools/.gitkeep
  skills/.gitkeep

Nothing of it is read before you trust it: pinza trust
Begin a tool: pinza --tools .pinza/tools tools new NAME
";
    check(&pinza, &["init"], 0, first, "");
    let warned = pinza.run(&["tools", "list"]);
    assert!(warned.stderr.contains("the project is not trusted"), "{warned:?}");
    fine(&pinza, &["--tools", ".pinza/tools", "tools", "new", "shout"]);
    fine(&pinza, &["trust"]);
    let call = fine(&pinza, &["call", "shout", "name=Ada", "loud=true"]);
    assert_eq!(call.stdout, "HELLO, ADA!\n");
    let again = "[..]/.pinza is there already; nothing was written.\n\nIt is trusted as it is now. After a change: pinza trust\n...\n";
    check(&pinza, &["init"], 0, again, "");
}

/// The examples in the comments are what a project may say.
#[test]
fn the_commented_examples_are_valid() {
    let pinza = pinza();
    fine(&pinza, &["init"]);
    let file = pinza.directory().join(".pinza/config.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (_, examples) = text.split_once("\n\n").unwrap();
    let is_code = |line: &&str| line.starts_with(['[', 'e', 'c', 't', 'a', 'd']) && line.contains(['=', '[']);
    let lines = examples.lines().filter_map(|line| line.strip_prefix("# ")).filter(is_code);
    let examples = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(examples.matches("[[policy.rule]]").count(), 2, "{examples}");
    fs::write(&file, examples).unwrap();
    fine(&pinza, &["trust"]);
    assert_matches(
        &fine(&pinza, &["policy", "test", "exec", "command=git push"]).stdout,
        "exec: deny\n...\n",
    );
}

#[test]
fn nothing_that_is_there_changes() {
    let pinza = pinza();
    let project = pinza.directory().join("work/.pinza");
    fs::create_dir_all(project.join("tools")).unwrap();
    fs::write(project.join("config.toml"), "# mine\n").unwrap();
    let run = fine(&pinza, &["--json", "init", "work"]).json();
    assert_eq!(run["written"], json!(["README.md", "skills/.gitkeep"]));
    assert_eq!(run["trusted"], false);
    assert_eq!(fs::read_to_string(project.join("config.toml")).unwrap(), "# mine\n");
    let hint = "...\nNothing of it is read before you trust it: cd work && pinza trust\n...\n";
    check(&pinza, &["init", "work"], 0, hint, "");
}

#[test]
fn odd_places_are_refused() {
    let pinza = pinza();
    refused(
        &pinza,
        &["init", "nowhere"],
        "error: cannot use nowhere: No such file or directory (os error 2)\n",
    );
    fs::write(pinza.directory().join("file"), "").unwrap();
    refused(&pinza, &["init", "file"], "error: file is no directory\n");
    // A link would have us write elsewhere.
    for (directory, link) in [("a", ".pinza"), ("b", ".pinza/tools")] {
        let directory = pinza.directory().join(directory);
        let elsewhere = directory.join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        fs::create_dir_all(directory.join(link).parent().unwrap()).unwrap();
        symlink(&elsewhere, directory.join(link)).unwrap();
        let told = "error: validation_error: [..] is not a directory; nothing was written\nhint: Move it away, then try again.\n";
        check(&pinza, &["init", &directory.display().to_string()], 1, "", told);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
    let home = pinza.directory().join(".pinza");
    let told = "error: validation_error: [..]/.pinza is Pinza's own home, and no project\nhint: Go to a project's directory.\n";
    check(&pinza, &["--home", &home.display().to_string(), "init"], 1, "", told);
}

#[test]
fn at_a_terminal_trust_is_offered_and_not_assumed() {
    for (typed, trusted) in [("y\n", true), ("\n", false), ("n\n", false)] {
        let pinza = pinza();
        let terminal = Terminal::start(&pinza, &["init"]).shows("Pinza reads it? [y/N] ", 1);
        let (code, screen, stdout) = terminal.answer(typed).end();
        assert_eq!(code, Some(0), "{screen}");
        assert_eq!(stdout.contains("It is trusted as it is now."), trusted, "{stdout}");
        assert_eq!(pinza.home().join("trust.json").exists(), trusted);
    }
}
