//! The terminal goes away and no signal tells it: the program ends, whatever it was waiting for.

use pinza_testkit::model::{Chunks, Provider, Turn};

use super::{
    World,
    seat::{ENTER, PATIENCE, Seat},
};
use crate::support::{fine, pinza};

const WAYS: [&[&str]; 2] = [&[], &["--plain"]];

fn aside(world: &World, way: &[&str], more: &[&str]) -> Seat {
    Seat::chat_by(Seat::aside, world, &[way, more].concat())
}

#[test]
fn at_the_prompt() {
    let world = World::new(Provider::OpenAi, []);
    for way in WAYS {
        assert_eq!(aside(&world, way, &[]).types("half a mess").shows("mess").hang_up(), Some(0), "{way:?}");
    }
}

#[test]
fn while_a_session_is_chosen() {
    let world = World::new(Provider::OpenAi, [Turn::text("Hello.")]);
    world.say("hi", &[]);
    for way in WAYS {
        let asked = if way.is_empty() { "Esc leaves" } else { "Its number" };
        let seat = aside(&world, way, &["--resume"]).shows(asked);
        assert_eq!(seat.hang_up(), Some(0), "{way:?}");
        let enter = if way.is_empty() { ENTER } else { "\n" };
        let seat = aside(&world, way, &[]).types("/sessions").keys(enter).shows(asked);
        assert_eq!(seat.hang_up(), Some(0), "{way:?}, at the desk");
    }
}

#[test]
fn at_every_question_of_the_setup() {
    let pinza = pinza();
    let steps = [
        ("Set one up now?", "\r"),
        ("Whose model?", "4\r"),
        ("Its address: ", "\r"),
        ("Its key", "\r"),
        ("model's name: ", ""),
    ];
    for way in WAYS {
        for count in 0..steps.len() {
            let mut seat = Seat::aside(&pinza, &[&["chat"], way].concat());
            for (question, answer) in &steps[..count] {
                seat = seat.shows(question).keys(answer);
            }
            let seat = seat.shows(steps[count].0);
            assert_eq!(seat.hang_up(), Some(1), "{way:?}: {}", steps[count].0);
            assert!(!pinza.config_file().exists(), "{way:?}: {}", steps[count].0);
        }
    }
}

#[test]
fn while_a_message_is_answered() {
    for way in WAYS {
        // It would go on for much longer than the program is waited for.
        let chunks = Chunks { bytes: Some(100), delay_ms: 100 };
        let text = format!("Half an answer {}", "and on ".repeat(70 * 15 * 10));
        assert!(u128::try_from(text.len() / 100).unwrap() * 100 > PATIENCE.as_millis());
        let world = World::new(Provider::OpenAi, [Turn { chunks, ..Turn::text(text) }]);
        let enter = if way.is_empty() { ENTER } else { "\n" };
        let seat = aside(&world, way, &["--session", "s"]).types("go").keys(enter).shows("an answer");
        assert_eq!(seat.hang_up(), Some(0), "{way:?}");
        // What was said so far is kept.
        let kept = fine(&world.pinza, &["sessions", "show", "s"]).stdout;
        assert!(kept.contains("Half an answer"), "{way:?}: {kept}");
    }
}
