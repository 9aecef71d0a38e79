//! Whole conversations with scripted models, for every provider and every way to reveal: what the
//! server gets, request after request.
//!
//! The bodies of these requests also go to `target/tmp/provider-bodies`, where `./test providers`
//! validates them with the providers' own SDKs.

use std::{fs, path::PathBuf};

use pinza_agent::{
    CallResult, Effort, Message, NameMap, ProviderKind, Reveal, StopReason, StreamEvent, Usage,
};
use pinza_core::{Content, ToolError};
use pinza_testkit::{
    ModelServer, Script,
    model::{Expect, Turn, Usage as Counted},
};
use serde_json::{Value, json};

use super::world::{GROUPS, KEY, LOADER, Session, client, listen, question, spoken};

const TURNS: usize = 20;

/// Which of the turns load a group.
const LOADS: [usize; 5] = [2, 5, 8, 11, 14];

fn wire(name: &str) -> String {
    NameMap::new([name]).to_wire(name).to_owned()
}

/// Twenty turns: five that load a group and use it beside a core tool, the others talk.
fn script(kind: ProviderKind, reveal: Reveal) -> Script {
    let mut turns = Vec::new();
    for turn in 1..=TURNS {
        if let Some(load) = LOADS.iter().position(|at| *at == turn) {
            let group = GROUPS[load];
            let tool = format!("{group}_paint");
            turns.push(Turn {
                thinking: format!("I need {group}."),
                ..Turn::calls([(LOADER, json!({ "group_name": group }))])
            });
            let arguments = json!({ "value": format!("from {group}") });
            let (name, arguments) = match reveal {
                Reveal::Stable => ("call_tool".to_owned(), json!({ "name": tool, "arguments": arguments })),
                Reveal::Append | Reveal::Native => (wire(&tool), arguments),
            };
            let calls = [(name.as_str(), arguments), ("say", json!({ "value": "beside it", "times": 2 }))];
            turns.push(Turn { text: "Both at once.".into(), ..Turn::calls(calls) });
            let answers = Expect::contains([format!("from {group}"), "beside it".to_owned()]);
            turns.push(Turn::text(format!("Done with {group}.")).expect(answers));
        } else if turn == 17 {
            let odd = wire("files__do.it");
            turns.push(Turn::calls([
                (odd.as_str(), json!({ "value": "odd name" })),
                ("nothing_like_it", json!({})),
            ]));
            turns.push(Turn::text("One worked.").expect(Expect::contains(["odd name", "tool_not_found"])));
        } else {
            turns.push(Turn { thinking: "Easy.".into(), ..Turn::text(format!("Answer {turn}.")) });
        }
    }
    let usage =
        Counted { input: 1000, output: 50, cache_read: 800, cache_write: 100, reasoning: 10, absent: false };
    for turn in &mut turns {
        turn.usage = usage;
        turn.expect.provider = Some(spoken(kind).to_string());
        turn.expect.model = Some("model-1".to_owned());
    }
    Script { key: Some(KEY.to_owned()), turns }
}

async fn converse(kind: ProviderKind, reveal: Reveal) -> (Vec<Value>, Session) {
    let server = ModelServer::start(script(kind, reveal));
    let mut session = Session::new(client(&server, kind), reveal);
    for turn in 1..=TURNS {
        let mut content = vec![Content::text(format!("Question {turn}"))];
        if turn == 4 {
            content.push(Content::Image { data: "aGk=".into(), mime_type: "image/png".into() });
        }
        let stop = session.say(Message::User { content }).await;
        assert_eq!(stop, Ok(StopReason::EndTurn), "{kind} {reveal} turn {turn}: {:?}", server.failures());
    }
    assert_eq!(server.failures(), [""; 0], "{kind} {reveal}");
    assert_eq!(server.turns_left(), 0);
    (server.bodies(), session)
}

fn messages(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenAi | ProviderKind::Anthropic => "messages",
        ProviderKind::OpenAiResponses => "input",
        ProviderKind::Gemini => "contents",
    }
}

/// The tools, one by one as they were written.
fn tools(kind: ProviderKind, body: &Value) -> Vec<String> {
    let tools = match kind {
        ProviderKind::Gemini => &body["tools"][0]["functionDeclarations"],
        _ => &body["tools"],
    };
    tools.as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Marks for the cache move along with the end, and are no part of what is cached.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "cache_control")
            .map(|(name, value)| (name.clone(), unmarked(value)))
            .collect(),
        Value::Array(values) => values.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

fn elements(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Nothing that was sent changes: the messages only grow, and the tools do as their way says.
fn check_growth(kind: ProviderKind, reveal: Reveal, bodies: &[Value]) {
    for (number, pair) in bodies.windows(2).enumerate() {
        let [before, after] = pair else { unreachable!() };
        let place = format!("{kind} {reveal} request {number}");
        let (older, newer) = (unmarked(before), unmarked(after));
        let (sent, now) = (elements(&older[messages(kind)]), elements(&newer[messages(kind)]));
        assert!(now.len() > sent.len() && now.starts_with(&sent), "{place}: messages were rewritten");
        match reveal {
            Reveal::Native | Reveal::Stable => {
                assert_eq!(tools(kind, before), tools(kind, after), "{place}: tools changed");
            }
            Reveal::Append => {
                let (sent, now) = (tools(kind, &older), tools(kind, &newer));
                assert!(now.starts_with(&sent), "{place}: tools were not only appended");
            }
        }
        let rest = |body: &Value| {
            let mut body = body.clone();
            let fields = body.as_object_mut().unwrap();
            fields.retain(|name, _| name != messages(kind) && name != "tools");
            body.to_string()
        };
        assert_eq!(rest(before), rest(after), "{place}: something else changed");
    }
}

fn dump(kind: ProviderKind, reveal: Reveal, bodies: &[Value]) {
    for (number, body) in bodies.iter().enumerate() {
        dump_one(kind, &format!("{reveal}-{number:02}"), body);
    }
}

async fn check(kind: ProviderKind, reveal: Reveal) {
    let (bodies, session) = converse(kind, reveal).await;
    assert_eq!(bodies.len(), TURNS + 2 * LOADS.len() + 1);
    check_growth(kind, reveal, &bodies);
    dump(kind, reveal, &bodies);
    let grown = tools(kind, &bodies[bodies.len() - 1]).len() - tools(kind, &bodies[0]).len();
    assert_eq!(grown, if reveal == Reveal::Append { GROUPS.len() * 3 } else { 0 });
    let requests = bodies.len() as u64;
    // Gemini does not say what it writes to its cache.
    let written = if kind == ProviderKind::Gemini { 0 } else { 100 * requests };
    let reasoning = if kind == ProviderKind::Anthropic { 0 } else { 10 * requests };
    let expected = Usage {
        input_tokens: 1000 * requests,
        cache_read_tokens: 800 * requests,
        cache_write_tokens: written,
        output_tokens: 50 * requests,
        reasoning_tokens: reasoning,
    };
    assert_eq!(session.usage, expected, "{kind}");
    // A session that is kept and resumed goes on with the very same words.
    let kept = serde_json::to_string(&session.messages).unwrap();
    let resumed: Vec<Message> = serde_json::from_str(&kept).unwrap();
    assert_eq!(resumed, session.messages);
}

macro_rules! conversations {
    ($($name:ident: $kind:ident $reveal:ident;)*) => { $(
        #[tokio::test]
        async fn $name() {
            check(ProviderKind::$kind, Reveal::$reveal).await;
        }
    )* };
}

conversations! {
    openai_append: OpenAi Append;
    openai_stable: OpenAi Stable;
    openai_responses_append: OpenAiResponses Append;
    openai_responses_native: OpenAiResponses Native;
    openai_responses_stable: OpenAiResponses Stable;
    anthropic_append: Anthropic Append;
    anthropic_native: Anthropic Native;
    anthropic_stable: Anthropic Stable;
    gemini_append: Gemini Append;
    gemini_stable: Gemini Stable;
}

/// A conversation begun with one provider goes on with any other: what only the first one
/// understands is left out, and every server takes what is left.
#[tokio::test]
async fn a_conversation_moves_between_providers() {
    for first in ProviderKind::ALL {
        for second in ProviderKind::ALL {
            let turns = || {
                [
                    Turn {
                        thinking: "Hm.".into(),
                        text: "Wait.".into(),
                        ..Turn::calls([("say", json!({ "value": "a" })), ("say", json!({ "value": "b" }))])
                    },
                    Turn::text("Done."),
                ]
            };
            let script = Script::new(turns().into_iter().chain(turns()));
            let server = ModelServer::start(script);
            let mut session = Session::new(client(&server, first), Reveal::Append);
            session.say(Message::user("One")).await.unwrap();
            session.go_on_with(client(&server, second));
            let went_on = session.say(Message::user("Two")).await;
            assert_eq!(went_on, Ok(StopReason::EndTurn), "{first} to {second}: {:?}", server.failures());
            let last = server.bodies().pop().unwrap();
            dump_one(second, &format!("from-{first}"), &last);
        }
    }
}

/// A load that fails tells the model why, in each way to reveal.
#[tokio::test]
async fn a_load_that_fails_says_why() {
    for kind in ProviderKind::ALL {
        for reveal in Reveal::ALL.into_iter().filter(|reveal| reveal.works_with(kind)) {
            let why = Expect::contains(["Tool group 'nope' not found"]);
            let script = Script::new([
                Turn::calls([(LOADER, json!({ "group_name": "nope" })), ("say", json!({ "value": "x" }))]),
                Turn::text("I see.").expect(why),
            ]);
            let server = ModelServer::start(script);
            let mut session = Session::new(client(&server, kind), reveal);
            session.say(Message::user("Load")).await.unwrap();
            assert_eq!(server.failures(), [""; 0], "{kind} {reveal}");
            dump_one(kind, &format!("failed-load-{reveal}"), &server.bodies()[1]);
        }
    }
}

/// Some servers count their calls from zero in every answer, or give all of them one id.
#[tokio::test]
async fn ids_that_a_server_uses_twice_are_told_apart() {
    for kind in ProviderKind::ALL {
        let turn = || {
            let mut turn = Turn::calls([("say", json!({ "value": "a" })), ("say", json!({ "value": "b" }))]);
            turn.calls.iter_mut().for_each(|call| call.id = Some("call_0".into()));
            turn
        };
        let server = ModelServer::start(Script::new([turn(), turn(), Turn::text("Done.")]));
        let mut session = Session::new(client(&server, kind), Reveal::Append);
        session.say(Message::user("Go")).await.unwrap();
        assert_eq!(server.failures(), [""; 0], "{kind}");
        let calls = session.messages.iter().flat_map(Message::calls);
        let ids: std::collections::HashSet<&str> = calls.map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), 4, "{kind}: {ids:?}");
    }
}

/// Arguments that are no JSON go back to the model in a form that every provider takes.
#[tokio::test]
async fn malformed_arguments_can_be_sent_back() {
    for kind in [ProviderKind::OpenAi, ProviderKind::OpenAiResponses, ProviderKind::Anthropic] {
        let script = Script::new([
            Turn::calls([("say", json!("{\"value\": oops"))]),
            Turn::text("Sorry.").expect(Expect::contains(["{\"value\": oops", "not valid JSON"])),
        ]);
        let server = ModelServer::start(script);
        let client = client(&server, kind);
        let mut messages = vec![Message::user("Go")];
        let events = listen(&client, &question(&messages)).await.unwrap();
        let Some(StreamEvent::Done { message, stop, .. }) = events.into_iter().last() else { panic!() };
        assert_eq!(stop, StopReason::ToolCalls);
        let call = message.calls().next().unwrap();
        assert_eq!(call.to_tool_call(), Err("{\"value\": oops"));
        let result = Err(ToolError::validation("The arguments are not valid JSON"));
        let results = vec![CallResult { id: call.id.clone(), name: call.name.clone(), result }];
        messages.extend([message, Message::Results { results }]);
        listen(&client, &question(&messages)).await.unwrap();
        assert_eq!(server.failures(), [""; 0], "{kind}");
        dump_one(kind, "malformed", &server.bodies()[1]);
    }
}

/// How hard to think, for the SDKs to check.
#[tokio::test]
async fn effort_is_written_for_every_provider() {
    for kind in ProviderKind::ALL {
        let server = ModelServer::start(Script::new([Turn::text("4")]));
        let messages = [Message::user("2 + 2?")];
        let mut request = question(&messages);
        request.effort = Some(Effort::High);
        request.max_tokens = Some(30_000);
        listen(&client(&server, kind), &request).await.unwrap();
        let body = server.bodies().remove(0);
        assert!(body.to_string().contains("high"), "{kind}: {body}");
        dump_one(kind, "effort", &body);
    }
}

fn dump_one(kind: ProviderKind, name: &str, body: &Value) {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("provider-bodies").join(kind.name());
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(format!("{name}.json")), body.to_string()).unwrap();
}
