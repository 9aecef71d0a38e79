//! The way to a server and back: retries, errors for people, keys, cancellation.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt as _;
use pinza_agent::{
    Message, ProviderClient, ProviderConfig, ProviderErrorKind, ProviderKind, StopReason, StreamEvent,
};
use pinza_host::secrets::Secret;
use pinza_testkit::{
    ModelServer, Reply, Script, WireServer,
    model::{Chunks, Expect, Failure, Turn},
};
use serde_json::json;

use super::world::{KEY, client, config, listen, question};

fn failing(status: u16, headers: &[(&str, &str)], message: &str) -> Turn {
    let headers: BTreeMap<String, String> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let error = Failure { status, headers, message: message.into(), body: None };
    Turn { error: Some(error), ..Turn::default() }
}

fn said(events: &[StreamEvent]) -> String {
    let text = |event: &StreamEvent| match event {
        StreamEvent::TextDelta { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for kind in ProviderKind::ALL {
        let script = Script::new([
            failing(429, &[("retry-after", "0")], "slow down"),
            failing(503, &[("retry-after-ms", "2")], "busy"),
            failing(529, &[], "overloaded"),
            Turn::text("At last."),
        ]);
        let server = ModelServer::start(script);
        let events = listen(&client(&server, kind), &question(&[Message::user("Hi")])).await.unwrap();
        assert_eq!(said(&events), "At last.", "{kind}");
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 4);
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{kind}: the same request each time");
    }
}

#[tokio::test]
async fn attempts_are_counted_and_long_waits_left_to_the_person() {
    let server = ModelServer::start(Script::new([Turn { keep: true, ..failing(500, &[], "broken") }]));
    let error =
        listen(&client(&server, ProviderKind::OpenAi), &question(&[Message::user("Hi")])).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Server);
    assert_eq!(server.requests().len(), 4, "once, and three times again");

    let busy = failing(429, &[("retry-after", "3600")], "come back tomorrow");
    let server = ModelServer::start(Script::new([Turn { keep: true, ..busy }]));
    let error = listen(&client(&server, ProviderKind::Anthropic), &question(&[Message::user("Hi")]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::RateLimited);
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    for status in [400, 401, 403, 404, 413, 422] {
        let server = ModelServer::start(Script::new([failing(status, &[], "no"), Turn::text("?")]));
        let error = listen(&client(&server, ProviderKind::OpenAi), &question(&[Message::user("Hi")])).await;
        assert!(!error.unwrap_err().may_retry());
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

/// An error that a stream begins with is an error of the request.
#[tokio::test]
async fn a_stream_that_fails_before_its_first_word_is_tried_again() {
    let raw = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let overloaded = Turn { raw: Some(raw.into()), ..Turn::default() };
    let cut = Turn { cut: Some(40), ..Turn::text("never heard") };
    let empty = Turn { cut: Some(0), ..Turn::text("never heard") };
    let server = ModelServer::start(Script::new([overloaded, cut, empty, Turn::text("Here.")]));
    let client = client(&server, ProviderKind::Anthropic);
    let events = listen(&client, &question(&[Message::user("Hi")])).await.unwrap();
    assert_eq!(said(&events), "Here.");
    assert_eq!(server.requests().len(), 4);
    let starts = events.iter().filter(|event| matches!(event, StreamEvent::Start { .. })).count();
    assert_eq!(starts, 1, "nothing of a failed attempt is heard");
}

/// From the first word on nothing is repeated, wherever the stream breaks: a second answer could
/// run a tool twice.
#[tokio::test]
async fn nothing_is_asked_twice_once_the_model_spoke() {
    for kind in ProviderKind::ALL {
        let turn =
            || Turn { text: "Working on it.".into(), ..Turn::calls([("say", json!({ "value": "x" }))]) };
        let whole = ModelServer::start(Script::new([turn()]));
        let events = listen(&client(&whole, kind), &question(&[Message::user("Hi")])).await.unwrap();
        assert!(matches!(events.last(), Some(StreamEvent::Done { stop: StopReason::ToolCalls, .. })));
        let mut interrupted = 0;
        for cut in (200..2400).step_by(100) {
            let spare = Turn { keep: true, ..Turn::text("A second answer.") };
            let server = ModelServer::start(Script::new([Turn { cut: Some(cut), ..turn() }, spare]));
            let mut stream = client(&server, kind).stream(&question(&[Message::user("Hi")])).unwrap();
            let (mut heard, mut error) = (Vec::new(), None);
            while let Some(item) = stream.next().await {
                match item {
                    Ok(event) => heard.push(event),
                    Err(failure) => error = Some(failure),
                }
            }
            let spoke = said(&heard).starts_with("Working");
            assert_eq!(server.requests().len(), if spoke { 1 } else { 2 }, "{kind} cut at {cut}");
            if let Some(error) = error {
                interrupted += 1;
                assert!(error.content_began && !error.may_retry(), "{kind} cut at {cut}: {error:?}");
                assert_eq!(error.kind, ProviderErrorKind::Truncated, "{kind} cut at {cut}: {error}");
            }
        }
        assert!(interrupted > 0, "{kind}");
    }
}

#[tokio::test]
async fn errors_say_what_to_mend() {
    let cases = [
        (401, "Incorrect API key provided", ProviderErrorKind::Unauthorized, "; the key came from WORK_KEY"),
        (
            404,
            "The model does not exist",
            ProviderErrorKind::ModelNotFound,
            "the model 'model-1' was not found at http://127.0.0.1:",
        ),
        (
            400,
            "This model's maximum context length is 8192 tokens",
            ProviderErrorKind::ContextTooLong,
            "the conversation is too long for 'model-1': ",
        ),
        (
            400,
            "messages: field required",
            ProviderErrorKind::BadRequest,
            "the provider answered 400: messages: field required",
        ),
    ];
    for (status, message, kind, expected) in cases {
        let server = ModelServer::start(Script::new([failing(status, &[], message)]));
        let config =
            ProviderConfig { key_env: Some("WORK_KEY".into()), ..config(&server, ProviderKind::OpenAi) };
        let client = ProviderClient::new(config).unwrap();
        let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.message.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = ModelServer::start(Script::new([]));
    let mut config = config(&server, ProviderKind::Anthropic);
    config.base_url = Some(format!("http://user:secret-password@127.0.0.1:{port}"));
    let client = ProviderClient::new(config).unwrap();
    let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::Unreachable);
    let expected = format!("cannot reach anthropic at http://127.0.0.1:{port}/v1/messages: ");
    assert!(error.message.starts_with(&expected), "{error}");
    assert!(error.message.contains("refused") && !error.message.contains("secret-password"), "{error}");
}

/// A server that repeats the key, in an answer or in a stream.
#[tokio::test]
async fn the_key_goes_where_it_belongs_and_nowhere_else() {
    for (kind, header, value) in [
        (ProviderKind::OpenAi, "authorization", format!("Bearer {KEY}")),
        (ProviderKind::OpenAiResponses, "authorization", format!("Bearer {KEY}")),
        (ProviderKind::Anthropic, "x-api-key", KEY.to_owned()),
        (ProviderKind::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        let midstream = format!(
            "data: {{\"type\":\"error\",\"error\":{{\"message\":\"bad key {KEY}\"}},\"message\":\"bad key {KEY}\"}}\n\n"
        );
        let midstream = Turn { raw: Some(midstream), ..Turn::default() };
        let answered = failing(400, &[], &format!("bad key {KEY}"));
        for turn in [answered, midstream] {
            let headers = BTreeMap::from([(header.to_owned(), value.clone())]);
            let turn = Turn { keep: true, ..turn }.expect(Expect { headers, ..Expect::default() });
            let server = ModelServer::start(Script::new([turn]));
            let client = client(&server, kind);
            let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
            assert!(error.message.contains("bad key [key]"), "{kind}: {error}");
            assert!(!format!("{error:?} {client:?}").contains(KEY), "{kind}: {error:?}");
            assert_eq!(server.failures(), [""; 0], "{kind}");
            for request in server.requests() {
                assert!(!request.text().contains(KEY) && !request.path().contains(KEY), "{kind}");
            }
        }
    }
}

/// A redirect would take the key to wherever it leads.
#[tokio::test]
async fn redirects_are_not_followed() {
    let thief = WireServer::start(|_| Reply::ok("thanks"));
    let place = thief.url("/v1/chat/completions?token=1");
    let server = WireServer::start(move |_| Reply::redirect("307 Temporary Redirect", &place));
    let mut config = ProviderConfig::new(ProviderKind::OpenAi);
    config.base_url = Some(server.url("/v1"));
    config.key = Some(Secret::new(KEY));
    let client = ProviderClient::new(config).unwrap();
    let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
    assert!(
        error.message.contains(&thief.url("/v1/chat/completions")) && !error.message.contains("token"),
        "{error}"
    );
    assert_eq!(thief.connections(), 0);
}

#[tokio::test]
async fn a_page_in_place_of_a_stream_is_no_answer() {
    let server = WireServer::start(|_| {
        Reply::new("200 OK", &[("content-type", "text/html; charset=utf-8")], "<html>Welcome</html>")
    });
    let mut config = ProviderConfig::new(ProviderKind::OpenAi);
    config.base_url = Some(server.url("/v1"));
    let client = ProviderClient::new(config).unwrap();
    let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
    assert_eq!(error.message, "the provider answered with text/html in place of a stream");
    assert_eq!(error.hint.as_deref(), Some("check the base URL"));
    assert_eq!(server.connections(), 1);
    let failure = json!({ "error": { "type": "invalid_request_error", "message": "no such deployment" } });
    let server = WireServer::start(move |_| Reply::json(&failure));
    let mut config = ProviderConfig::new(ProviderKind::OpenAi);
    config.base_url = Some(server.url("/v1"));
    let client = ProviderClient::new(config).unwrap();
    let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
    assert_eq!(error.message, "the provider reports: no such deployment");
}

/// Whoever has no end is given none of our memory.
#[tokio::test]
async fn what_a_server_sends_is_bounded() {
    let endless = |status: &'static str, kind: &'static str| {
        let head = pinza_testkit::wire::head(status, &[("content-type", kind)]);
        let again = format!(": {}\n", "x".repeat(1 << 20)).into_bytes();
        WireServer::start(move |_| Reply::Endless {
            head: head.clone(),
            again: again.clone(),
            pause: Duration::ZERO,
        })
    };
    let ask = async |server: &WireServer| {
        let mut config = ProviderConfig::new(ProviderKind::OpenAi);
        config.base_url = Some(server.url("/v1"));
        let client = ProviderClient::new(config).unwrap();
        listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err()
    };
    let stream = endless("200 OK", "text/event-stream");
    let error = ask(&stream).await;
    assert_eq!(error.message, "the provider's answer is longer than 128 MiB");
    assert_eq!((error.kind, stream.connections()), (ProviderErrorKind::Malformed, 1));
    let failure = endless("400 Bad Request", "text/plain");
    let error = ask(&failure).await;
    assert!(
        error.message.starts_with("the provider answered 400: : xxxx") && error.message.len() < 700,
        "{error}"
    );
}

/// A server that breaks off after the last word, in place of saying goodbye.
#[tokio::test]
async fn an_answer_that_is_whole_is_not_lost() {
    let raw = "data: {\"choices\":[{\"delta\":{\"content\":\"Hm\"},\"finish_reason\":\"stop\"}]}\n\n";
    let turn = Turn { raw: Some(raw.into()), cut: Some(raw.len()), ..Turn::default() };
    let server = ModelServer::start(Script::new([turn]));
    let events =
        listen(&client(&server, ProviderKind::OpenAi), &question(&[Message::user("Hi")])).await.unwrap();
    assert!(matches!(events.last(), Some(StreamEvent::Done { stop: StopReason::EndTurn, .. })));
}

/// A server that goes silent in the middle ends the answer, not the program.
#[tokio::test]
async fn silence_is_bounded() {
    let raw = "data: {\"choices\":[{\"delta\":{\"content\":\"Hm\"}}]}\n\n";
    let turn = Turn { stall: true, keep: true, raw: Some(raw.into()), ..Turn::default() };
    let server = ModelServer::start(Script::new([turn]));
    let config =
        ProviderConfig { silence: Duration::from_millis(300), ..config(&server, ProviderKind::OpenAi) };
    let client = ProviderClient::new(config).unwrap();
    let error = listen(&client, &question(&[Message::user("Hi")])).await.unwrap_err();
    assert_eq!(error.kind, ProviderErrorKind::TimedOut);
    assert!(error.message.starts_with("the provider was silent for too long (http://"), "{error}");
    assert!(error.content_began);
}

/// Cancelling is dropping.
#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let raw = "data: {\"choices\":[{\"delta\":{\"content\":\"Hm\"}}]}\n\n";
    let turn = Turn { stall: true, raw: Some(raw.into()), ..Turn::default() };
    let server = ModelServer::start(Script::new([turn]));
    let client = client(&server, ProviderKind::OpenAi);
    let mut stream = client.stream(&question(&[Message::user("Hi")])).unwrap();
    while let Some(Ok(event)) = stream.next().await {
        if matches!(event, StreamEvent::TextDelta { .. }) {
            break;
        }
    }
    assert_eq!(server.open_connections(), 1);
    drop(stream);
    while server.open_connections() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Chunks of any size, with pauses, are one stream.
#[tokio::test]
async fn a_slow_server_is_heard_word_by_word() {
    for kind in ProviderKind::ALL {
        let chunks = Chunks { bytes: Some(29), delay_ms: 1 };
        let turn = Turn { chunks, thinking: "Hm.".into(), ..Turn::text("Grüße aus 日本 🦀, langsam.") };
        let server = ModelServer::start(Script::new([turn]));
        let events = listen(&client(&server, kind), &question(&[Message::user("Hi")])).await.unwrap();
        assert_eq!(said(&events), "Grüße aus 日本 🦀, langsam.", "{kind}");
        assert!(events.iter().filter(|event| matches!(event, StreamEvent::TextDelta { .. })).count() > 1);
    }
}

/// Servers that call themselves compatible disagree on some fields. The request is written anew, and
/// the next one is right from the start.
#[tokio::test]
async fn a_request_is_rewritten_to_suit_its_server() {
    let complaint = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let script = Script::new([
        failing(400, &[], complaint),
        failing(422, &[], "Extra inputs are not permitted: stream_options"),
        Turn::text("One."),
        Turn::text("Two."),
    ]);
    let server = ModelServer::start(script);
    let client = client(&server, ProviderKind::OpenAi);
    let messages = [Message::user("Hi")];
    let mut request = question(&messages);
    request.max_tokens = Some(77);
    assert_eq!(said(&listen(&client, &request).await.unwrap()), "One.");
    assert_eq!(said(&listen(&client, &request).await.unwrap()), "Two.");
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 4);
    for body in &bodies[2..] {
        assert_eq!(body["max_completion_tokens"], 77);
        assert!(body.get("max_tokens").is_none() && body.get("stream_options").is_none(), "{body}");
    }

    let complaint =
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for model-1";
    let server = ModelServer::start(Script::new([failing(400, &[], complaint), Turn::text("Short.")]));
    let client = super::world::client(&server, ProviderKind::Anthropic);
    assert_eq!(said(&listen(&client, &question(&messages)).await.unwrap()), "Short.");
    assert_eq!(server.bodies()[1]["max_tokens"], 8192);
}
