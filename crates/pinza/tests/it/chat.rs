//! Talks with scripted models that speak each provider's true wire format, through the program.

mod at_terminal;
mod first_time;
mod flows;
mod gone;
mod limits;
mod loading;
mod memory;
mod receipts;
mod resuming;
mod screen;
mod seat;
mod setup;

use pinza_testkit::{
    Program, Run,
    model::{Expect, ModelServer, Provider, Script, Turn},
};
use serde_json::Value;

use crate::support::pinza;

/// A program and the model that it talks to.
struct World {
    pinza: Program,
    model: ModelServer,
    provider: Provider,
}

impl World {
    fn new(provider: Provider, turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with(pinza(), provider, turns)
    }

    fn with(pinza: Program, provider: Provider, turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { pinza, model: ModelServer::start(Script::new(turns)), provider }
    }

    fn arguments(&self, prompt: &str, more: &[&str]) -> Vec<String> {
        let base = self.model.base_url(self.provider);
        let provider = self.provider.to_string();
        let fixed =
            ["--json", "chat", "-p", prompt, "--provider", &provider, "--base-url", &base, "--model", "m"];
        fixed.iter().chain(more).map(ToString::to_string).collect()
    }

    fn run(&self, prompt: &str, more: &[&str]) -> Run {
        let arguments = self.arguments(prompt, more);
        self.pinza.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A talk that ends well, with all of the script used and nothing in it complained of.
    #[track_caller]
    fn say(&self, prompt: &str, more: &[&str]) -> Vec<Value> {
        let run = self.run(prompt, more);
        assert_eq!(self.model.failures(), Vec::<String>::new(), "{}: {run:?}", self.provider);
        assert_eq!(run.code, Some(0), "{}: {run:?}", self.provider);
        events(&run)
    }

    #[track_caller]
    fn fails(&self, prompt: &str, more: &[&str], error_type: &str, message: &str) -> Vec<Value> {
        let run = self.run(prompt, more);
        assert_eq!(run.code, Some(1), "{}: {run:?}", self.provider);
        let events = events(&run);
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["error_type"]), (&"error".into(), &error_type.into()), "{last}");
        assert!(last["message"].as_str().unwrap().contains(message), "{last}");
        events
    }
}

/// `start` first, exactly one of `done` and `error` last, each with its session.
#[track_caller]
fn events(run: &Run) -> Vec<Value> {
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends = |event: &&Value| event["type"] == "done" || event["type"] == "error";
    assert_eq!(events[0]["type"], "start", "{run:?}");
    assert_eq!(events.iter().filter(ends).count(), 1, "{run:?}");
    assert!(ends(&events.last().unwrap()), "{run:?}");
    let session = &events[0]["session"];
    assert!(session.is_string() && events.iter().all(|event| &event["session"] == session), "{run:?}");
    events
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The model's words.
fn text(events: &[Value]) -> String {
    of_type(events, "text_delta").iter().map(|event| event["text"].as_str().unwrap()).collect()
}

/// How each tool ended: `name status`, in the order of their ends.
fn finished(events: &[Value]) -> Vec<String> {
    let line = |event: &&Value| {
        let kind = event["error_type"].as_str().unwrap_or_else(|| event["status"].as_str().unwrap());
        format!("{} {kind}", event["name"].as_str().unwrap())
    };
    of_type(events, "tool_finished").iter().map(line).collect()
}

/// The request for this turn must have these texts, which no earlier one had.
fn after(texts: &[&str], turn: Turn) -> Turn {
    turn.expect(Expect::contains(texts.iter().copied()))
}
