//! The loop, where the program cannot reach: messages that come while it works, and the user's no.

use std::sync::{Arc, Mutex};

use pinza_agent::{
    Event, Inbox, Limits, Message, ProviderClient, ProviderConfig, ProviderKind, Reveal, Setup, Stage, Talk,
    TalkError,
};
use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Content, Engine, Policy, Registry, Tool,
    ToolContext, ToolDefinition, ToolName, ToolOutput, ToolResult,
};
use pinza_state::Store;
use pinza_testkit::{
    ModelServer, Script,
    model::{Expect, Provider, Turn},
};
use serde_json::json;

/// Runs a closure; sleeps for ever where it says so.
struct Deed {
    definition: ToolDefinition,
    deed: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Tool for Deed {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            if (self.deed)() {
                std::future::pending::<()>().await;
            }
            Ok(ToolOutput::text("done"))
        })
    }
}

struct World {
    _home: tempfile::TempDir,
    store: Store,
    model: ModelServer,
    setup: Setup,
    stage: Stage,
    events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    fn new(
        turns: impl IntoIterator<Item = Turn>,
        deed: impl Fn(&Stage) -> bool + Send + Sync + 'static,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("state.db")).unwrap();
        let model = ModelServer::start(Script::new(turns));
        let base_url = Some(model.base_url(Provider::OpenAi));
        let client =
            ProviderClient::new(ProviderConfig { base_url, ..ProviderConfig::new(ProviderKind::OpenAi) });
        let setup = Setup {
            client: client.unwrap(),
            model: "m".into(),
            reveal: Reveal::Append,
            prompt: "Help.".into(),
            limits: Limits { rounds: Limits::ROUNDS, tokens: None, window: 100_000 },
            max_tokens: None,
            effort: None,
        };
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let told = Arc::clone(&events);
        let engine = Arc::new(Engine::new(Policy::default()));
        let shared: Arc<Mutex<Option<Stage>>> = Arc::default();
        let seen = Arc::clone(&shared);
        let deed = move || deed(seen.lock().unwrap().as_ref().unwrap());
        let definition = ToolDefinition::new(ToolName::known("act"), "Act");
        let mut registry = Registry::new();
        registry.register(Arc::new(Deed { definition, deed: Box::new(deed) }), None).unwrap();
        let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
        let stage = Stage {
            engine,
            scope: CallScope::new(Caller::Library, Arc::new(snapshot)),
            events: Arc::new(move |event| told.lock().unwrap().push(event)),
            inbox: Inbox::default(),
        };
        *shared.lock().unwrap() = Some(stage.clone());
        Self { _home: home, store, model, setup, stage, events }
    }

    async fn open(&self) -> Talk {
        let view = self.stage.scope.view(self.stage.engine.policy());
        Talk::open(&self.store, "s", None, &self.setup, &view).await.unwrap().0
    }

    async fn say(&self, talk: &mut Talk, text: &str) -> Result<String, TalkError> {
        talk.say(vec![Content::text(text)], &self.setup, &self.stage).await.map(|finish| finish.text)
    }

    /// The last event, of which there is exactly one of its kind.
    fn last(&self) -> Event {
        let events = self.events.lock().unwrap();
        let ends = events.iter().filter(|event| matches!(event, Event::Done(_) | Event::Error { .. }));
        assert_eq!(ends.count(), 1, "{events:?}");
        events.last().unwrap().clone()
    }
}

fn act() -> Turn {
    Turn::calls([("act", json!({}))])
}

#[tokio::test]
async fn a_message_that_comes_meanwhile_goes_in_between_rounds() {
    let turns = [act(), Turn::text("Both.").expect(Expect::contains(["done", "And this too"]))];
    let world = World::new(turns, |stage| {
        stage.inbox.put(vec![Content::text("And this too")]);
        false
    });
    let mut talk = world.open().await;
    assert_eq!(world.say(&mut talk, "Do this").await.unwrap(), "Both.");
    assert_eq!(world.model.failures(), Vec::<String>::new());
    let texts: Vec<String> =
        talk.messages().iter().map(Message::text).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["Do this", "And this too", "Both."]);
}

#[tokio::test]
async fn cancelling_ends_the_tools_and_the_talk_goes_on_later() {
    let turns = [act(), Turn::text("Where were we?").expect(Expect::contains(["cancelled", "Go on"]))];
    let world = World::new(turns, |stage| {
        stage.scope.cancellation.cancel();
        true
    });
    let mut talk = world.open().await;
    let error = world.say(&mut talk, "Do this").await.unwrap_err();
    assert!(matches!(error, TalkError::Cancelled), "{error}");
    assert!(matches!(world.last(), Event::Error { error_type: "cancelled", .. }));

    let stage = Stage {
        scope: CallScope { cancellation: Default::default(), ..world.stage.scope.clone() },
        ..world.stage.clone()
    };
    let mut again = world.open().await;
    let finish = again.say(vec![Content::text("Go on")], &world.setup, &stage).await.unwrap();
    assert_eq!(finish.text, "Where were we?");
    assert_eq!(world.model.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn cancelling_in_the_middle_of_a_word_keeps_what_was_said() {
    let half = Turn { stall: true, cut: None, ..Turn::text("Half an answ") };
    let world = World::new([half], |_| false);
    let token = world.stage.scope.cancellation.clone();
    let told = Arc::clone(&world.events);
    let stage = Stage {
        events: Arc::new(move |event| {
            if matches!(event, Event::TextDelta { .. }) {
                token.cancel();
            }
            told.lock().unwrap().push(event);
        }),
        ..world.stage.clone()
    };
    let mut talk = world.open().await;
    let said = talk.say(vec![Content::text("Speak")], &world.setup, &stage).await;
    assert!(matches!(said, Err(TalkError::Cancelled)), "{said:?}");
    let kept = world.open().await;
    assert!("Half an answ".starts_with(&kept.messages().last().unwrap().text()));
    assert_eq!(kept.messages().len(), 2);
}

#[tokio::test]
async fn a_message_is_taken_back_with_all_that_followed_but_what_it_cost() {
    let turns = [
        Turn::text("One."),
        act(),
        Turn::text("Two."),
        Turn::text("Three.")
            .expect(Expect { lacks: vec!["Do that".into()], ..Expect::contains(["Do this", "Do it"]) }),
    ];
    let world = World::new(turns, |_| false);
    let mut talk = world.open().await;
    assert!(matches!(talk.undo().await, Err(TalkError::NothingSaid)));
    world.say(&mut talk, "Do this").await.unwrap();
    world.say(&mut talk, "Do that").await.unwrap();
    let spent = talk.usage();
    assert!(spent.total() > 0);
    assert_eq!(talk.undo().await.unwrap(), [Content::text("Do that")]);
    let texts = |talk: &Talk| talk.messages().iter().map(Message::text).collect::<Vec<_>>();
    assert_eq!((texts(&talk), talk.usage()), (vec!["Do this".to_owned(), "One.".to_owned()], spent));
    // As it is on disk.
    let mut again = world.open().await;
    assert_eq!((texts(&again), again.usage()), (texts(&talk), spent));
    assert_eq!(world.say(&mut again, "Do it").await.unwrap(), "Three.");
    assert_eq!(world.model.failures(), Vec::<String>::new());
    again.undo().await.unwrap();
    again.undo().await.unwrap();
    assert!(matches!(again.undo().await, Err(TalkError::NothingSaid)));
    assert!(world.open().await.messages().is_empty());
}

#[tokio::test]
async fn what_became_part_of_a_summary_is_not_taken_back() {
    let turns = [Turn::text("word ".repeat(2000)), Turn::text("A summary."), Turn::text("Two.")];
    let mut world = World::new(turns, |_| false);
    world.setup.limits.window = 1000;
    let mut talk = world.open().await;
    world.say(&mut talk, "One?").await.unwrap();
    world.say(&mut talk, "Two?").await.unwrap();
    assert!(talk.record().summary.is_some());
    assert_eq!(talk.undo().await.unwrap(), [Content::text("Two?")]);
    let before = talk.messages().len();
    assert!(matches!(talk.undo().await, Err(TalkError::SummedUp)));
    assert_eq!((talk.messages().len(), world.open().await.messages().len()), (before, before));
}
