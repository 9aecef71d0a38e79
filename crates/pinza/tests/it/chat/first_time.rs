//! No model is set up, and somebody sits there: a few questions, a test, and a configuration.

use pinza_testkit::{
    ModelServer, Script,
    model::{Provider, Turn},
};

use super::seat::{CTRL_C, CTRL_D, DOWN, ENTER, Seat};
use crate::support::{fine, pinza};

const KEY: &str = "sk-very-secret-key";

#[test]
fn a_server_of_ones_own_is_set_up_tested_and_talked_with() {
    let turns = [Turn::text("OK"), Turn::text("Hello to you.")];
    let model = ModelServer::start(Script { key: Some(KEY.into()), ..Script::new(turns) });
    let pinza = pinza();
    std::fs::write(pinza.config_file(), "# mine\n[env]\nREGION = \"eu\" # stays\n").unwrap();
    let seat = Seat::start(&pinza, &["chat"]).shows("error: no model is set up");
    let seat = seat.shows("hint: ").shows("hint: ").shows("hint: ").shows("Set one up now?").keys(ENTER);
    let seat = seat.shows("Whose model?").shows("4. ").keys("4\r");
    let address = format!("\x15{}\r", model.base_url(Provider::OpenAi));
    let seat = seat.shows("Its address: ").keys(&address);
    // The wrong key first: it is said, and can be changed.
    let seat = seat.shows("Its key").keys("sk-wrong-key\r").shows("model's name: ").keys("m\r");
    let seat = seat.shows("it did not work: ").shows("401").shows("What now?").keys(DOWN).keys(ENTER);
    let seat = seat.shows("Its key").keys(KEY).keys(ENTER);
    let seat = seat.shows("it has: m, scripted").shows("Which model?").keys(ENTER);
    let seat = seat.shows("it works").shows("[providers.own]");
    let (code, screen) = seat.types("hi\r").shows("Hello to you.").types(CTRL_D).end();
    assert_eq!(code, Some(0), "{screen}");
    let config = std::fs::read_to_string(pinza.config_file()).unwrap();
    let written = format!(
        "[providers.own]\ntype = \"openai\"\nbase_url = \"{}\"\napi_key_env = \"OWN_API_KEY\"\nmodel = \"m\"\n",
        model.base_url(Provider::OpenAi)
    );
    assert!(config.starts_with("# mine\n[env]\nREGION = \"eu\" # stays\n"), "{config}");
    assert!(config.contains(&written), "{config}");
    assert_eq!(fine(&pinza, &["env", "list"]).stdout, "OWN_API_KEY\n");
    let history = std::fs::read_to_string(pinza.home().join("history")).unwrap();
    for shown in [screen, config, history] {
        assert!(!shown.contains("sk-"), "{shown}");
    }
    assert_eq!(model.failures(), Vec::<String>::new());
}

#[test]
fn leaving_at_any_question_leaves_everything_as_it_was() {
    let pinza = pinza();
    let steps: [(&str, &str); 4] =
        [("Set one up now?", ENTER), ("Whose model?", "4\r"), ("Its address: ", ENTER), ("Its key", ENTER)];
    for count in 0..=steps.len() {
        let mut seat = Seat::start(&pinza, &["chat"]);
        for (question, answer) in &steps[..count] {
            seat = seat.shows(question).keys(answer);
        }
        let next = steps.get(count).map_or("model's name: ", |(question, _)| question);
        let seat = seat.shows(next);
        // The list draws its rows after its title.
        let seat = if next == "Whose model?" { seat.shows("4. ") } else { seat };
        let (code, screen) = seat.keys(CTRL_C).end();
        assert_eq!(code, Some(1), "{next}: {screen}");
        assert!(!pinza.config_file().exists(), "{next}");
        assert_eq!(fine(&pinza, &["env", "list"]).stdout, "", "{next}");
    }
    let (code, screen) = Seat::start(&pinza, &["chat"]).shows("Set one up now?").keys("n\r").end();
    assert_eq!(code, Some(1), "{screen}");
}
