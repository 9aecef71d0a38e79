//! The chat at a terminal: editing, commands, leaving.

use std::os::unix::fs::PermissionsExt as _;

use pinza_testkit::model::{Expect, Provider, Turn};
use rustix::process::Signal;
use serde_json::json;

use super::{
    World,
    loading::{use_of, with_groups},
    seat::{ALT_ENTER, CTRL_C, CTRL_D, CTRL_J, DOWN, ENTER, Seat, UP, said},
};
use crate::support::{fine, pinza};

fn world(answers: &[&str]) -> World {
    World::new(Provider::OpenAi, answers.iter().map(|answer| Turn::text(*answer)))
}

/// The one session that was kept.
fn session(world: &World) -> String {
    let sessions = fine(&world.pinza, &["--json", "sessions", "list"]).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
    sessions["sessions"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_talk_and_the_way_back_to_it() {
    let world = world(&["The first answer.", "The second answer."]);
    let seat = Seat::chat(&world, &[]).shows("m (openai) · ").shows(" tools, ").shows("/help");
    let (code, screen) = seat.types("hello\r").shows("The first answer.").types(CTRL_D).end();
    assert_eq!(code, Some(0), "{screen}");
    let id = session(&world);
    assert!(screen.contains(&format!("pinza chat --session {id}")), "{screen}");

    // What was typed is there the next time, and nobody else reads it.
    let history = world.pinza.home().join("history");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let seat = Seat::chat(&world, &["--session", &id]).types(UP).keys(" again\r");
    seat.shows("The second answer.").types(CTRL_D).end();
    assert_eq!(said(&world), ["hello", "hello again"]);
    assert_eq!(world.model.failures(), Vec::<String>::new());
}

#[test]
fn several_lines_are_one_message() {
    let world = world(&["One.", "Two.", "Three."]);
    let seat = Seat::chat(&world, &[]);
    let typed = format!("a{CTRL_J}b{ALT_ENTER}c\\{ENTER}d ünï 日本{ENTER}");
    let seat = seat.types(&typed).shows("One.");
    // A backslash that is pasted is the paste's own.
    let seat = seat.types("\x1b[200~curl \\\r\n  -H x\x1b[201~").keys(ENTER).shows("Two.");
    // One that is thrown away comes back with an arrow.
    let seat = seat.types("oops").keys(CTRL_C).types(UP).keys(" no\r").shows("Three.");
    seat.types(CTRL_D).end();
    assert_eq!(said(&world), ["a\nb\nc\nd ünï 日本", "curl \\\n  -H x", "oops no"]);
}

#[test]
fn leaving() {
    let world = world(&[]);
    let seat = Seat::chat(&world, &[]).types(CTRL_C).shows("Ctrl-C again or Ctrl-D to leave");
    let (code, screen) = seat.types(CTRL_C).end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(Seat::chat(&world, &[]).types("/quit\r").end().0, Some(0));
    let sessions = fine(&world.pinza, &["--json", "sessions", "list"]).json();
    assert_eq!(sessions["sessions"], json!([]), "nothing was said, so there is nothing to keep");
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let world = world(&["Hi."]);
    for signal in [Signal::TERM, Signal::HUP] {
        let seat = Seat::chat(&world, &[]);
        assert!(seat.is_cooked());
        let seat = seat.types("half a mess").shows("mess");
        assert!(!seat.is_cooked());
        let mut seat = seat.signal(signal).shows("\x1b[?2004l");
        assert!(seat.is_cooked());
        seat.screen.clear();
        assert_eq!(seat.end().0, Some(0));
    }
}

#[test]
fn commands_and_completion() {
    let world = World::with(with_groups(), Provider::OpenAi, []);
    world.pinza.put("in/a file.txt", "");
    let seat = Seat::chat(&world, &[]);
    let seat = seat.types("/help\r").shows("/tools [GROUP|WORD]").shows("Ctrl-R");
    let seat = seat.types("/tols\r").shows("there is no command /tols; did you mean /tools");
    let seat = seat.types("/quit now\r").shows("/quit stands alone");
    let seat = seat.types("/gr\t\r").shows("mail").shows("All about mail");
    let seat = seat.types("/tools mail\r").shows("is not loaded").shows("mail_list");
    let seat = seat.types("/tools list my mail\r").shows("mail_list");
    let seat = seat.types("/tools\r").shows("load_tool_group").shows("it can load: ").shows("mail (2)");
    let seat = seat.types("/load nothing\r").shows("error: ").shows("nothing");
    let seat = seat.types("/load\r").shows("which group?");
    let seat = seat.types("/skills\r").shows("  ");
    let seat = seat.types("/tokens\r").shows("nothing was sent yet");
    let seat = seat.types("/model\r").shows("m of openai");
    let seat = seat.types("/agent nobody\r").shows("there is no agent 'nobody'");
    let seat = seat.types("/undo\r").shows("there is no message to take back");
    let seat = seat.types("/save\r").shows("nothing to save yet");
    let seat = seat.types("see @in/a\t").shows("see @\"in/a file.txt\"").keys(CTRL_C);
    let seat = seat.types("use mail_l\t").shows("use mail_list");
    assert_eq!(seat.keys(CTRL_C).types(CTRL_D).end().0, Some(0));
}

#[test]
fn a_group_that_is_loaded_by_hand_is_one_that_the_model_loaded() {
    for provider in Provider::ALL {
        let reveal = if provider == Provider::Gemini { "stable" } else { "append" };
        let turns = [
            Turn::calls([use_of("mail_list", reveal)]).expect(Expect::contains(["mail_make", "Any mail?"])),
            Turn::text("Yes.").expect(Expect::contains(["mail listed"])),
        ];
        let world = World::with(with_groups(), provider, turns);
        let seat = Seat::chat(&world, &["--session", "s"]).types("/load mail\r").shows("group mail");
        seat.types(CTRL_D).end();
        // Also after a restart.
        let seat = Seat::chat(&world, &["--session", "s"]).types("/groups\r").shows("✓ mail");
        seat.types("Any mail?\r").shows("Yes.").types(CTRL_D).end();
        assert_eq!(world.model.failures(), Vec::<String>::new(), "{provider}");
    }
}

#[test]
fn a_message_is_taken_back_and_said_otherwise() {
    let world = world(&["Apples.", "Pears.", "Plums."]);
    let seat = Seat::chat(&world, &["--session", "s"]).types("what is red?\r").shows("Apples.");
    let seat = seat.types("what is yellow?\r").shows("Pears.");
    let seat = seat.types("/undo\r").shows("taken back").types(" And blue?\r").shows("Plums.");
    seat.types(CTRL_D).end();
    assert_eq!(said(&world), ["what is red?", "what is yellow? And blue?"]);
    let kept = fine(&world.pinza, &["sessions", "show", "s"]).stdout;
    assert!(!kept.contains("Pears") && kept.contains("Plums"), "{kept}");
}

#[test]
fn sessions_are_saved_left_and_chosen() {
    let world = world(&["About Oslo.", "About Rome.", "More of Oslo."]);
    let seat = Seat::chat(&world, &["--session", "oslo"]).types("tell me of Oslo\r").shows("About Oslo.");
    let seat = seat.types("/save talk.md\r").shows("talk.md in the workspace");
    let seat = seat.types("/save talk.md\r").shows("talk.md is there already");
    let seat = seat.types("/save ../talk.md\r").shows("cannot write ../talk.md");
    let seat = seat.types("/new\r").shows("a new session begins");
    let seat = seat.types("and Rome\r").shows("About Rome.");
    assert_eq!(said(&world), ["and Rome"]);
    // The newest is first.
    let seat = seat.types("/sessions\r").shows("1. ").shows("and Rome").shows("2. ").shows("tell me of Oslo");
    let seat = seat.keys(DOWN).keys(ENTER).shows("session oslo");
    seat.types(CTRL_D).end();
    let seat = Seat::chat(&world, &["--resume"]).shows("Which session?").shows("tell me of Oslo");
    let seat = seat.keys("2\r").shows("session oslo").types("more\r").shows("More of Oslo.");
    seat.types(CTRL_D).end();
    assert_eq!(said(&world), ["tell me of Oslo", "more"]);
    let text = world.pinza.text("talk.md");
    assert_eq!(text, "# Session oslo\n\n## You\n\ntell me of Oslo\n\n## Model\n\nAbout Oslo.\n");
}

#[test]
fn another_model_goes_on_with_the_same_session() {
    let second =
        pinza_testkit::ModelServer::start(pinza_testkit::Script::new([Turn::text("I am another one.")
            .expect(Expect { model: Some("n".into()), ..Expect::contains(["hello"]) })]));
    let world = world(&["Hi."]);
    let config = format!(
        "[providers.other]\ntype = \"anthropic\"\nmodel = \"n\"\nbase_url = \"{}\"\n",
        second.base_url(Provider::Anthropic)
    );
    std::fs::write(world.pinza.config_file(), config).unwrap();
    let seat = Seat::chat(&world, &[]).types("hello\r").shows("Hi.");
    let seat = seat.types("/model oth\t\r").shows("from here on: n of anthropic");
    let seat = seat.types("and you?\r").shows("I am another one.");
    seat.types(CTRL_D).end();
    assert_eq!(second.failures(), Vec::<String>::new());
}

#[test]
fn an_image_goes_along() {
    let world = world(&["A picture."]);
    world.pinza.put("a.png", b"\x89PNG\r\n\x1a\nrest");
    world.pinza.put("notes.txt", "xyzzy");
    let seat = Seat::chat(&world, &[]).types("what is @a.png and @notes.txt?\r");
    seat.shows("a.png goes along (1 KB)").shows("A picture.").types(CTRL_D).end();
    let body = world.model.bodies().pop().unwrap().to_string();
    assert!(body.contains("data:image/png;base64,iVBORw0KGgpyZXN0"), "{body}");
    assert!(body.contains("@notes.txt?") && !body.contains("xyzzy"), "{body}");
}

#[test]
fn plain_lines_are_never_drawn_again() {
    let world = world(&["Fine."]);
    let seat = Seat::chat(&world, &["--plain"]).types("how are \\\nyou?\n").shows("Fine.");
    let seat = seat.types("/help\n").shows("/tools");
    let seat = seat.types(CTRL_C).shows("Ctrl-C again or Ctrl-D to leave");
    let (code, screen) = seat.types(CTRL_C).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
    assert_eq!(said(&world), ["how are \nyou?"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let pinza = pinza();
    crate::support::refused(&pinza, &["chat", "--resume"], "error: --resume needs a terminal[..]\n");
}
