//! The first minutes: `pinza` alone, and a chat when no model is set up.

use pinza_testkit::{
    Program, Terminal,
    model::{ModelServer, Provider, Script, Turn},
};

use super::{COLUMNS, ROWS, compare, ready, say};
use crate::support::{fine, pinza};

fn start(pinza: &Program, arguments: &[&str], env: &[(&str, &str)]) -> Terminal {
    Terminal::start(&pinza.command(arguments), env, COLUMNS, ROWS)
}

#[test]
fn pinza_alone_greets() {
    let pinza = pinza();
    let terminal = start(&pinza, &[], &[]);
    assert_eq!(terminal.gone(), Some(0));
    let screen = terminal.screen();
    for part in ["  tools  ", "groups     fs", "workspace", "Three things to try"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    compare(&terminal, "greeting");
}

#[test]
fn nothing_is_set_up_and_nobody_wants_to() {
    let pinza = pinza();
    let terminal = start(&pinza, &["chat"], &[]);
    terminal.wait_for("ANTHROPIC_API_KEY");
    compare(&terminal, "no_provider");
    terminal.key("C-d");
    assert_ne!(terminal.gone(), Some(0), "{}", terminal.history());
    assert!(!pinza.config_file().exists(), "nothing is written");
}

#[test]
fn a_server_is_set_up_tested_and_talked_with() {
    let script = Script {
        key: Some("sk-good".into()),
        ..Script::new([Turn::text("pong"), Turn::text("Nice to meet you.")])
    };
    let model = ModelServer::start(script);
    let pinza = pinza();
    let terminal = start(&pinza, &["chat"], &[]);
    set_up(&terminal, &model.base_url(Provider::OpenAi), "sk-good");
    compare(&terminal, "set_up");
    let screen = say(&terminal, "Hello");
    assert!(screen.contains("Nice to meet you."), "{screen}");
    let history = terminal.history();
    assert!(!history.contains("sk-good"), "the key was shown: {history}");
    let config = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(config.contains("[providers.") && !config.contains("sk-good"), "{config}");
    terminal.key("C-d");
    terminal.gone();
    // It stays.
    let terminal = start(&pinza, &["chat"], &[]);
    ready(&terminal);
    fine(&pinza, &["config", "show"]);
}

#[test]
fn a_key_that_is_wrong_is_told_before_anything_is_kept() {
    let script = Script { key: Some("sk-good".into()), ..Script::new([]) };
    let model = ModelServer::start(script);
    let pinza = pinza();
    let terminal = start(&pinza, &["chat"], &[]);
    set_up_with(&terminal, &model.base_url(Provider::OpenAi), "sk-bad");
    terminal.wait_for("401");
    compare(&terminal, "set_up_wrong_key");
    assert!(!terminal.history().contains("sk-bad"));
}

#[track_caller]
fn set_up(terminal: &Terminal, base: &str, key: &str) {
    set_up_with(terminal, base, key);
    ready(terminal);
}

/// Answers the questions for a server of one's own, until it is asked.
#[track_caller]
fn set_up_with(terminal: &Terminal, base: &str, key: &str) {
    terminal.wait_for("Set one up now?");
    terminal.line("y");
    terminal.wait_for("4. a server of your own");
    terminal.keys("4").key("Enter");
    terminal.wait_for("Its address: http");
    // Something stands there already.
    terminal.key("C-u").line(base);
    terminal.wait_for("Its key");
    terminal.line(key);
    terminal.wait("the question for a model", |screen| {
        screen.contains("Its model's name:") || screen.contains("Which model?")
    });
    terminal.line("m");
}
