//! The slash commands.

use pinza_testkit::{
    Terminal,
    model::{Expect, Turn},
};

use super::{PROMPT, Room, compare, ready, say};

/// Types a command, and waits for its answer and the next prompt.
#[track_caller]
fn command(terminal: &Terminal, typed: &str) -> String {
    let typed_line = format!("{PROMPT} {typed}");
    terminal.line(typed);
    let answered = |history: &str| {
        let after = history.rsplit_once(&typed_line).map(|(_, after)| after.to_owned())?;
        after.ends_with(&format!("\n{PROMPT}\n")).then_some(after)
    };
    terminal.wait("the command's answer", |_| answered(&terminal.history()).is_some());
    answered(&terminal.history()).unwrap()
}

#[test]
fn help_names_every_command() {
    let room = Room::new([]);
    let terminal = room.sit(&[]);
    let help = command(&terminal, "/help");
    for name in
        ["help", "tools", "groups", "load", "skills", "tokens", "model", "agent", "sessions", "undo", "save"]
    {
        assert!(help.contains(&format!("/{name}")), "/{name}: {help}");
    }
    compare(&terminal, "help");
    assert_eq!(room.model.requests().len(), 0, "commands are not for the model");
}

#[test]
fn an_unknown_command_is_not_sent_to_the_model() {
    let room = Room::new([]);
    let terminal = room.sit(&[]);
    assert!(command(&terminal, "/tols").contains("/tools"));
    assert!(command(&terminal, "/xyzzy").contains("/help"));
    compare(&terminal, "unknown_commands");
    assert_eq!(room.model.requests().len(), 0);
}

#[test]
fn tools_groups_and_loading() {
    let sees = Turn::text("I see them.").expect(Expect { tools: vec!["edit".into()], ..Expect::default() });
    let room = Room::new([sees]);
    let terminal = room.sit(&[]);
    let tools = command(&terminal, "/tools");
    assert!(tools.contains("read_file") && tools.contains("search_tools"), "{tools}");
    compare(&terminal, "tools");
    let groups = command(&terminal, "/groups");
    assert!(groups.contains("fs"), "{groups}");
    compare(&terminal, "groups");
    let loaded = command(&terminal, "/load fs");
    assert!(loaded.contains("+ group fs"), "{loaded}");
    assert!(command(&terminal, "/load nonsense").contains("nonsense"));
    say(&terminal, "Which tools do you have?");
    room.finished();
    // It is the session's from then on.
    terminal.key("C-d");
    terminal.gone();
    let terminal = room.sit(&[]);
    let groups = command(&terminal, "/groups");
    assert!(groups.lines().any(|line| line.contains('✓') && line.contains("fs")), "{groups}");
}

#[test]
fn skills() {
    let room = Room::new([]);
    let terminal = room.sit(&[]);
    let skills = command(&terminal, "/skills");
    let listed = crate::support::fine(&room.pinza, &["--json", "skills", "list"]).json();
    let names: Vec<&str> =
        listed["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| skills.contains(name)), "{names:?}: {skills}");
    compare(&terminal, "skills");
}

#[test]
fn tokens_are_counted() {
    let room = Room::new([Turn::text("Hello.")]);
    let terminal = room.sit(&[]);
    say(&terminal, "Hi");
    let tokens = command(&terminal, "/tokens");
    assert!(tokens.contains("The provider counted 100 in, 20 out, in 1 request."), "{tokens}");
    super::keep(&terminal, "tokens");
}

#[test]
fn another_model() {
    let other = Turn::text("I am other.").expect(Expect { model: Some("other".into()), ..Expect::default() });
    let room = Room::new([Turn::text("I am m."), other]);
    let terminal = room.sit(&[]);
    say(&terminal, "Who are you?");
    assert!(command(&terminal, "/model").contains('m'));
    assert!(command(&terminal, "/model other").contains("other"));
    say(&terminal, "And now?");
    compare(&terminal, "model");
    room.finished();
}

#[test]
fn another_agent() {
    let pirate = Turn::text("Arr.").expect(Expect::contains(["You are a pirate."]));
    let room = Room::new([Turn::text("Hello."), pirate]);
    let base = room.model.base_url(room.provider);
    let config = format!(
        "[providers.p]\ntype = \"openai\"\nmodel = \"m\"\nbase_url = \"{base}\"\n[agents.pirate]\nsystem_prompt = \"You are a pirate.\"\n"
    );
    std::fs::write(room.pinza.config_file(), config).unwrap();
    let terminal = room.sit(&[]);
    say(&terminal, "Hi");
    assert!(command(&terminal, "/agent").contains("pirate"));
    assert!(command(&terminal, "/agent pirate").contains("pirate"));
    say(&terminal, "Who are you?");
    assert!(command(&terminal, "/agent nobody").contains("nobody"));
    compare(&terminal, "agent");
    room.finished();
}

#[test]
fn undo_takes_the_last_message_back() {
    let again =
        Turn::text("Better.").expect(Expect { lacks: vec!["Wrong answer.".into()], ..Expect::default() });
    let room = Room::new([Turn::text("First answer."), Turn::text("Wrong answer."), again]);
    let terminal = room.sit(&[]);
    say(&terminal, "first question");
    say(&terminal, "second question");
    terminal.line("/undo");
    // It stands there to be changed.
    terminal.wait("the message, to be changed", |screen| screen.lines().last() == Some("› second question"));
    terminal.keys(", better").key("Enter");
    terminal.wait_for("Better.");
    ready(&terminal);
    room.finished();
    let texts: Vec<String> =
        room.kept().iter().map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(texts, ["first question", "First answer.", "second question, better", "Better."]);
    compare(&terminal, "undo");
}

#[test]
fn nothing_to_undo() {
    let room = Room::new([]);
    let terminal = room.sit(&[]);
    let answer = command(&terminal, "/undo");
    assert!(answer.trim().len() > PROMPT.len(), "it says so: {answer}");
}

#[test]
fn saving_writes_the_talk_into_the_workspace() {
    let room = Room::new([Turn::text("Forty-two.")]);
    let terminal = room.sit(&[]);
    say(&terminal, "The question?");
    let answer = command(&terminal, "/save talk.md");
    assert!(answer.contains("talk.md"), "{answer}");
    let saved = room.pinza.text("talk.md");
    assert!(saved.contains("The question?") && saved.contains("Forty-two."), "{saved}");
    // Not over what is there, and nowhere else.
    room.pinza.put("mine.md", "precious");
    command(&terminal, "/save mine.md");
    assert_eq!(room.pinza.text("mine.md"), "precious");
    command(&terminal, "/save ../../outside.md");
    assert!(!room.pinza.directory().join("outside.md").exists());
    compare(&terminal, "save");
}
