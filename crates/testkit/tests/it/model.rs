//! Scripted models: what they say, and what they refuse.

use std::{fs, path::Path};

use pinza_testkit::{
    ModelServer, Script,
    model::{Expect, Provider, Turn},
};
use serde_json::{Value, json};

use crate::support::post;

fn path(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "/v1/chat/completions",
        Provider::OpenAiResponses => "/v1/responses",
        Provider::Anthropic => "/v1/messages",
        Provider::Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
    }
}

fn hello(provider: Provider) -> Value {
    match provider {
        Provider::OpenAi => json!({ "model": "m", "messages": [{ "role": "user", "content": "Hello" }] }),
        Provider::OpenAiResponses => {
            json!({ "model": "m", "input": [{ "role": "user", "content": "Hello" }] })
        }
        Provider::Anthropic => json!({
            "model": "m", "max_tokens": 9,
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Hello" }] }],
        }),
        Provider::Gemini => json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hello" }] }] }),
    }
}

/// Every event is JSON, but for the goodbye of one provider.
fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[test]
fn the_path_decides_which_provider_is_spoken() {
    let first = |body: &str| events(body).remove(0);
    let server = ModelServer::start(Script::new([Turn { keep: true, ..Turn::text("Hello to you") }]));
    let ask = |provider| post(&(server.url() + path(provider)), "", &hello(provider)).body;
    assert_eq!(first(&ask(Provider::OpenAi))["object"], "chat.completion.chunk");
    assert!(ask(Provider::OpenAi).ends_with("data: [DONE]\n\n"));
    assert_eq!(first(&ask(Provider::OpenAiResponses))["type"], "response.created");
    assert_eq!(first(&ask(Provider::Anthropic))["type"], "message_start");
    assert!(first(&ask(Provider::Gemini))["candidates"].is_array());
    let unknown = post(&(server.url() + "/v1/embeddings"), "", &json!({}));
    assert_eq!(unknown.status, 404);
}

/// Every kind of answer, written to `target/tmp/provider-streams`, where `./test providers` reads it
/// with the providers' own SDKs.
#[test]
fn all_kinds_of_answers_are_written() {
    let both = [("read", json!({ "path": "a" })), ("load", json!({ "group": "web" }))];
    let stop = |provider| match provider {
        Provider::OpenAi => "length",
        Provider::OpenAiResponses => "max_output_tokens",
        Provider::Anthropic => "max_tokens",
        Provider::Gemini => "MAX_TOKENS",
    };
    for provider in Provider::ALL {
        let turns = [
            ("text", Turn::text("Grüße aus 日本")),
            ("thinking", Turn { thinking: "Let me think.".into(), ..Turn::text("Four.") }),
            ("calls", Turn { text: "Both.".into(), ..Turn::calls(both.clone()) }),
            ("cut", Turn { stop: Some(stop(provider).into()), ..Turn::text("Once upon") }),
        ];
        for (name, turn) in turns {
            let server = ModelServer::start(Script::new([turn]));
            let mut request = hello(provider);
            if provider == Provider::OpenAiResponses {
                let read = json!({ "type": "function", "name": "read", "parameters": {}, "strict": false });
                let search = json!({ "type": "tool_search", "execution": "client", "parameters": { "required": ["group"] } });
                request["tools"] = json!([{ "type": "namespace", "name": "fs", "description": "Files", "tools": [read] }, search]);
            }
            request["stream_options"] = json!({ "include_usage": true });
            let answer = post(&(server.url() + path(provider)), "", &request);
            assert_eq!(answer.status, 200, "{provider} {name}: {}", answer.body);
            assert!(!events(&answer.body).is_empty());
            let directory =
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("provider-streams").join(provider.to_string());
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("{name}.sse")), answer.body).unwrap();
        }
    }
}

#[test]
fn expectations_and_keys_are_checked() {
    let expect = Expect { tools: vec!["read".into()], ..Expect::contains(["Hello"]) };
    let turns =
        [Turn::text("1").expect(expect.clone()), Turn::text("2").expect(Expect::contains(["Goodbye"]))];
    let server = ModelServer::start(Script { key: Some("k".into()), turns: turns.into() });
    let url = server.url() + path(Provider::OpenAi);
    assert_eq!(post(&url, "", &hello(Provider::OpenAi)).status, 401);
    let key = "authorization: Bearer k\r\n";
    let refused = post(&url, key, &hello(Provider::OpenAi));
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("there is no tool 'read'"), "{}", refused.body);
    assert!(post(&url, key, &hello(Provider::OpenAi)).body.contains("lacks 'Goodbye'"));
    assert!(post(&url, key, &hello(Provider::OpenAi)).body.contains("no turn for this request"));
    assert_eq!(server.failures().len(), 3);
}

#[test]
fn turns_can_wait_for_their_request() {
    let when = |text: &str| Some(Expect::contains([text]));
    let server = ModelServer::start(Script::new([
        Turn { when: when("Goodbye"), ..Turn::text("So long.") },
        Turn { when: when("Hello"), ..Turn::text("Welcome.") },
    ]));
    let said = |provider| post(&(server.url() + path(provider)), "", &hello(provider)).body;
    assert!(said(Provider::Gemini).contains("Welcome."));
    assert_eq!(server.turns_left(), 1);
    assert!(said(Provider::Gemini).contains("no turn"));
}

/// What the real servers refuse: calls and results that do not belong together.
#[test]
fn broken_conversations_are_refused() {
    let chat = |messages: Value| (Provider::OpenAi, json!({ "model": "m", "messages": messages }));
    let responses = |input: Value| (Provider::OpenAiResponses, json!({ "model": "m", "input": input }));
    let anthropic = |messages: Value| {
        (Provider::Anthropic, json!({ "model": "m", "max_tokens": 9, "messages": messages }))
    };
    let gemini = |contents: Value| (Provider::Gemini, json!({ "contents": contents }));
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "t", "arguments": "{}" } });
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "" });
    let used = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "t", "input": {} }] });
    let answered =
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": "" }] });
    let reference = json!([{ "type": "tool_reference", "tool_name": "t" }]);
    let unknown = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": reference }] });
    let function =
        json!({ "role": "model", "parts": [{ "functionCall": { "name": "t" }, "thoughtSignature": "x" }] });
    let said = json!({ "role": "user", "parts": [{ "text": "and?" }] });
    let cases = [
        (chat(json!([{ "role": "assistant", "tool_calls": [call] }])), "has no result"),
        (chat(json!([result])), "answers no call"),
        (chat(json!([{ "role": "assistant", "tool_calls": [call, call] }, result, result])), "two calls"),
        (responses(json!([{ "type": "function_call", "call_id": "c1" }])), "has no result"),
        (responses(json!([{ "type": "function_call_output", "call_id": "c1" }])), "No tool call found"),
        (
            responses(
                json!([{ "type": "tool_search_call", "call_id": "c1" }, { "type": "function_call_output", "call_id": "c1" }]),
            ),
            "No tool call found",
        ),
        (anthropic(json!([used])), "has no result"),
        (
            anthropic(json!([used, { "role": "user", "content": [{ "type": "text", "text": "and?" }] }])),
            "has no result",
        ),
        (anthropic(json!([answered])), "unexpected `tool_use_id`"),
        (anthropic(json!([used, answered, used, answered])), "must be unique"),
        (anthropic(json!([used, unknown])), "not found in available tools"),
        (anthropic(json!([{ "role": "user", "content": [] }])), "non-empty"),
        (gemini(json!([function, said])), "has no result"),
        (
            gemini(json!([{ "role": "user", "parts": [{ "functionResponse": { "name": "t" } }] }])),
            "answers no function call",
        ),
        (gemini(json!([{ "role": "user", "parts": [] }])), "must not be empty"),
    ];
    let server = ModelServer::start(Script::new([Turn { keep: true, ..Turn::text("?") }]));
    for ((provider, body), fault) in cases {
        let answer = post(&(server.url() + path(provider)), "", &body);
        assert_eq!(answer.status, 400, "{provider} {body}");
        assert!(answer.body.contains(fault), "{provider} {body}: {}", answer.body);
    }
}

#[test]
fn scripts_are_read_strictly() {
    let script = r#"{"turns": [{"text": "hi", "calls": [{"name": "t", "arguments": {"a": 1}}], "chunks": {"bytes": 3}}]}"#;
    let script = Script::parse(script).unwrap();
    assert_eq!(script.turns[0].calls[0].arguments, json!({ "a": 1 }));
    assert_eq!(Script::parse(&serde_json::to_string(&script).unwrap()).unwrap(), script);
    let error = Script::parse(r#"{"turns": [{"txt": "hi"}]}"#).unwrap_err();
    assert!(error.contains("unknown field `txt`") && error.contains("line 1 column"), "{error}");
}
