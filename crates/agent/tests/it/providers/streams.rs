//! Streams from `fixtures/provider-sse`, and what is heard in them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use pinza_agent::{
    Asked, Call, Message, Offer, Part, ProviderError, ProviderKind, Request, Reveal, StopReason, StreamEvent,
    ToolGroup, Usage, read_answer,
};
use pinza_core::{GroupName, Parameters, ShownTool, ToolName};
use serde_json::{Value, json};

pub(super) struct Fixture {
    pub(super) kind: ProviderKind,
    pub(super) file: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// All streams of one provider.
pub(super) fn fixtures(kind: ProviderKind) -> Vec<Fixture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/provider-sse");
    let entries = fs::read_dir(root.join(kind.name())).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|x| x == "sse")).collect();
    files.sort();
    files.into_iter().map(|file| Fixture { kind, bytes: fs::read(&file).unwrap(), file }).collect()
}

/// What a stream came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heard {
    pub(super) events: Vec<StreamEvent>,
    pub(super) error: Option<ProviderError>,
}

impl Heard {
    pub(super) fn ends(&self) -> Vec<&Call> {
        let ends = self.events.iter().filter_map(|event| match event {
            StreamEvent::ToolcallEnd { call } => Some(call),
            _ => None,
        });
        ends.collect()
    }

    pub(super) fn done(&self) -> Option<(StopReason, &Message)> {
        match self.events.last() {
            Some(StreamEvent::Done { stop, message, .. }) => Some((*stop, message)),
            _ => None,
        }
    }

    fn usage(&self) -> Option<Usage> {
        let usage = |event| if let &StreamEvent::Usage { usage } = event { Some(usage) } else { None };
        self.events.iter().find_map(usage)
    }

    fn text(&self, wanted: fn(&StreamEvent) -> Option<&str>) -> String {
        self.events.iter().filter_map(wanted).collect()
    }
}

/// Reads a stream that arrives in these pieces.
pub(super) async fn hear(kind: ProviderKind, pieces: Vec<Bytes>) -> Heard {
    let tool = |name: &'static str| ShownTool {
        name: ToolName::known(name),
        description: String::new(),
        parameters: Parameters::none(),
    };
    let core = ["read_file", "list_files", "load_tool_group"].map(tool);
    let groups = [ToolGroup {
        name: GroupName::known("web"),
        description: "The web".into(),
        tools: vec![tool("web_fetch")],
    }];
    let tools = Offer { core: &core, groups: &groups, loaded: &[], loader: Some("load_tool_group") };
    let request = Request {
        model: "m",
        system: "",
        messages: &[],
        tools,
        reveal: Reveal::default_for(kind),
        max_tokens: None,
        effort: None,
        cache_key: None,
    };
    let mut heard = Heard { events: Vec::new(), error: None };
    let mut answer = Box::pin(read_answer(kind, &Asked::of(&request, "seed"), stream::iter(pieces)));
    while let Some(item) = answer.next().await {
        assert!(heard.error.is_none(), "nothing follows an error");
        match item {
            Ok(event) => heard.events.push(event),
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

/// What holds for every stream, damaged or not.
pub(super) fn check_laws(heard: &Heard, place: &str) {
    if let Some(first) = heard.events.first() {
        assert!(matches!(first, StreamEvent::Start { .. }), "{place}: {first:?}");
    }
    let count = |is: fn(&StreamEvent) -> bool| heard.events.iter().filter(|event| is(event)).count();
    assert!(count(|event| matches!(event, StreamEvent::Start { .. })) <= 1, "{place}");
    let done = count(|event| matches!(event, StreamEvent::Done { .. }));
    assert_eq!(done, usize::from(heard.error.is_none()), "{place}: one of done and error");
    for call in heard.ends() {
        assert!(call.malformed.is_some() || call.arguments.is_object(), "{place}: {call:?}");
    }
    let Some((_, message)) = heard.done() else { return };
    let said =
        heard.text(|event| if let StreamEvent::TextDelta { text } = event { Some(text) } else { None });
    assert_eq!(said, message.text(), "{place}");
    let Message::Assistant { parts } = message else { panic!("{place}: {message:?}") };
    let thought =
        |part: &Part| if let Part::Thinking { text, .. } = part { Some(text.clone()) } else { None };
    let thought: String = parts.iter().filter_map(thought).collect();
    let thinking =
        heard.text(|event| if let StreamEvent::ThinkingDelta { text } = event { Some(text) } else { None });
    assert_eq!(thinking, thought, "{place}");
    let mut ends = heard.ends();
    let mut calls: Vec<&Call> = message.calls().collect();
    ends.sort_by_key(|call| call.id.as_str());
    calls.sort_by_key(|call| call.id.as_str());
    assert_eq!(ends, calls, "{place}: calls that are whole are in the message, and no other");
    for call in calls {
        let begun = heard.events.iter().position(
            |event| matches!(event, StreamEvent::ToolcallStart { id, name } if *id == call.id && *name == call.name),
        );
        let ended = heard
            .events
            .iter()
            .position(|event| matches!(event, StreamEvent::ToolcallEnd { call: end } if end.id == call.id));
        assert!(begun.is_some() && begun < ended, "{place}: {call:?}");
    }
}

/// A call is what its deltas said. Not so in a stream whose bytes were changed: where a provider sums
/// a call up at its end, the sum counts.
pub(super) fn check_deltas(heard: &Heard, place: &str) {
    for call in heard.ends() {
        let arguments: String = heard.text_of_call(call);
        if call.malformed.is_none() && !arguments.is_empty() {
            assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), call.arguments, "{place}");
        }
    }
}

impl Heard {
    fn text_of_call(&self, call: &Call) -> String {
        let delta = |event: &StreamEvent| match event {
            StreamEvent::ToolcallDelta { id, delta } if *id == call.id => Some(delta.clone()),
            _ => None,
        };
        self.events.iter().filter_map(delta).collect()
    }
}

fn render(heard: &Heard) -> Value {
    let detail = match heard.events.last() {
        Some(StreamEvent::Done { detail, .. }) => detail.clone(),
        _ => None,
    };
    let model = match heard.events.first() {
        Some(StreamEvent::Start { model }) => model.clone(),
        _ => None,
    };
    json!({
        "model": model,
        "stop": heard.done().map(|(stop, _)| stop),
        "detail": detail,
        "usage": heard.usage(),
        "message": heard.done().map(|(_, message)| message),
        "error": heard.error.as_ref().map(|error| json!({
            "kind": error.kind.code(),
            "message": error.message,
            "content_began": error.content_began,
        })),
    })
}

/// Every stream against the JSON beside it. `PINZA_BLESS=1` writes them anew.
#[tokio::test]
async fn every_stream_is_heard_as_expected() {
    let mut checked = 0;
    for fixture in ProviderKind::ALL.into_iter().flat_map(fixtures) {
        let place = fixture.file.display().to_string();
        let heard = hear(fixture.kind, vec![fixture.bytes.into()]).await;
        check_laws(&heard, &place);
        check_deltas(&heard, &place);
        let expected = fixture.file.with_extension("json");
        let found = serde_json::to_string_pretty(&render(&heard)).unwrap() + "\n";
        if std::env::var_os("PINZA_BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(found, expected, "{place}");
        checked += 1;
    }
    assert!(checked >= 40, "{checked}");
}
