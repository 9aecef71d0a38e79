//! Requests as they are written: the parts that a conversation with a server does not show.

use pinza_agent::{
    Call, CallResult, Message, Offer, Opaque, Part, ProviderErrorKind, ProviderKind, Request, Reveal,
    ToolGroup, adapter,
};
use pinza_core::{
    CallId, Content, Effect, GroupName, Parameter, Parameters, ShownTool, ToolName, ToolOutput,
};
use serde_json::{Value, json};

fn tool(name: &str) -> ShownTool {
    ShownTool {
        name: ToolName::new(name).unwrap(),
        description: format!("Does {name}"),
        parameters: Parameters::build().required("x", Parameter::string("X")).done(),
    }
}

struct World {
    core: Vec<ShownTool>,
    groups: Vec<ToolGroup>,
    loaded: Vec<ShownTool>,
    messages: Vec<Message>,
}

impl World {
    fn new() -> Self {
        let group = |name: &'static str, tools: &[&str]| ToolGroup {
            name: GroupName::known(name),
            description: format!("About {name}"),
            tools: tools.iter().map(|name| tool(name)).collect(),
        };
        Self {
            core: vec![tool("read_file"), tool("load_tool_group")],
            groups: vec![group("web", &["web_fetch", "web.search"]), group("git.hub", &["issues"])],
            loaded: Vec::new(),
            messages: vec![Message::user("Hello")],
        }
    }

    fn encode(&self, kind: ProviderKind, reveal: Reveal) -> Value {
        let (core, groups, loaded) = (&self.core, &self.groups, &self.loaded);
        let request = Request {
            model: "model-1",
            system: "Be brief.",
            messages: &self.messages,
            tools: Offer { core, groups, loaded, loader: Some("load_tool_group") },
            reveal,
            max_tokens: None,
            effort: None,
            cache_key: Some("session"),
        };
        adapter(kind).encode(&request).unwrap().body
    }
}

fn call(id: &str, name: &str, arguments: Value, opaque: Option<(ProviderKind, Value)>) -> Part {
    let opaque = opaque.map(|(kind, value)| Opaque { kind, value });
    Part::ToolCall(Call { id: CallId::new(id), name: name.into(), arguments, malformed: None, opaque })
}

fn answer(id: &str, name: &str, output: ToolOutput) -> CallResult {
    CallResult { id: CallId::new(id), name: name.into(), result: Ok(output) }
}

fn load(group: &'static str) -> ToolOutput {
    let mut output = ToolOutput::text("Loaded");
    output.effects.push(Effect::ActivateGroup { group: GroupName::known(group) });
    output
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap_or_default()).collect()
}

#[test]
fn anthropic_native_sends_every_tool_and_names_the_loaded_ones() {
    let mut world = World::new();
    world.messages.extend([
        Message::Assistant {
            parts: vec![call("c1", "load_tool_group", json!({ "group_name": "web" }), None)],
        },
        Message::Results { results: vec![answer("c1", "load_tool_group", load("web"))] },
    ]);
    // Loading shows them to the conversation too; they are in the array already.
    world.loaded = world.groups[0].tools.clone();
    let body = world.encode(ProviderKind::Anthropic, Reveal::Native);
    let tools = &body["tools"];
    let search = names(tools)[3];
    assert_eq!(names(tools), ["read_file", "load_tool_group", "web_fetch", search, "issues"]);
    assert!(search.starts_with("web_search_"), "{search}");
    for (index, deferred) in [(0, false), (1, false), (2, true), (3, true), (4, true)] {
        assert_eq!(tools[index].get("defer_loading").is_some(), deferred);
    }
    assert_eq!(
        body["messages"][2]["content"][0],
        json!({
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [
                { "type": "tool_reference", "tool_name": "web_fetch" },
                { "type": "tool_reference", "tool_name": search },
            ],
            "cache_control": { "type": "ephemeral" },
        })
    );
    // With the other ways the result is the envelope, as it is for every tool.
    let body = world.encode(ProviderKind::Anthropic, Reveal::Append);
    assert_eq!(body["messages"][2]["content"][0]["content"], r#"{"status":"success","result":"Loaded"}"#);
    assert_eq!(names(&body["tools"]), ["read_file", "load_tool_group", "web_fetch", search]);
    assert_eq!(names(&world.encode(ProviderKind::Anthropic, Reveal::Stable)["tools"]).len(), 2);
}

#[test]
fn anthropic_marks_what_is_to_be_cached() {
    let mut world = World::new();
    for turn in 0..4 {
        let text = Part::Text { text: format!("Answer {turn}"), opaque: None };
        world.messages.extend([Message::Assistant { parts: vec![text] }, Message::user("And?")]);
    }
    for reveal in Reveal::ALL {
        let body = world.encode(ProviderKind::Anthropic, reveal);
        assert_eq!(body.to_string().matches("cache_control").count(), 4, "{reveal}");
        assert!(body["tools"][1]["cache_control"].is_object(), "the last tool that is in the prompt");
        assert!(body["system"][0]["cache_control"].is_object());
        for index in [6, 8] {
            assert!(body["messages"][index]["content"][0]["cache_control"].is_object(), "{index}");
        }
    }
}

#[test]
fn responses_native_sends_groups_as_namespaces_and_the_loader_as_tool_search() {
    let mut world = World::new();
    world.messages.extend([
        Message::Assistant {
            parts: vec![call("c1", "load_tool_group", json!({ "group_name": "git.hub" }), None)],
        },
        Message::Results { results: vec![answer("c1", "load_tool_group", load("git.hub"))] },
        Message::Assistant { parts: vec![call("c2", "issues", json!({ "x": "y" }), None)] },
        Message::Results { results: vec![answer("c2", "issues", "none".into())] },
    ]);
    let body = world.encode(ProviderKind::OpenAiResponses, Reveal::Native);
    let tools = &body["tools"];
    assert_eq!(tools.as_array().unwrap().len(), 4);
    assert_eq!((&tools[0]["type"], &tools[0]["strict"]), (&json!("function"), &json!(false)));
    assert_eq!(tools[1]["type"], "tool_search");
    assert_eq!(tools[1]["execution"], "client");
    assert_eq!(tools[1]["parameters"]["required"], json!(["x"]));
    assert_eq!(tools[2]["type"], "namespace");
    assert_eq!((&tools[2]["name"], &tools[2]["description"]), (&json!("web"), &json!("About web")));
    let hub = tools[3]["name"].as_str().unwrap();
    assert!(hub.starts_with("git_hub_"), "{hub}");
    assert!(tools[3]["tools"][0]["defer_loading"].as_bool().unwrap());
    assert!(tools[3].get("defer_loading").is_none());
    let input = &body["input"];
    assert_eq!(
        input[1],
        json!({
            "type": "tool_search_call", "call_id": "c1", "execution": "client", "status": "completed",
            "arguments": { "group_name": "git.hub" },
        })
    );
    assert_eq!(input[2]["type"], "tool_search_output");
    assert_eq!(input[2]["tools"], json!([tools[3]]));
    assert_eq!((&input[3]["namespace"], &input[3]["name"]), (&json!(hub), &json!("issues")));
    assert_eq!(input[4]["type"], "function_call_output");
    assert_eq!(body["prompt_cache_key"], "session");
    assert_eq!(body["store"], false);
}

#[test]
fn a_group_that_got_a_tool_since_changes_nothing_that_was_sent() {
    let mut world = World::new();
    for kind in [ProviderKind::Anthropic, ProviderKind::OpenAiResponses] {
        world.loaded.clear();
        let before = world.encode(kind, Reveal::Native)["tools"].clone();
        // Named to look like the wire name of another tool.
        let taken = pinza_agent::NameMap::new(["web.search"]).to_wire("web.search").to_owned();
        world.loaded = vec![tool("web_fetch"), tool("web.search"), tool("web_new"), tool(&taken)];
        let after = world.encode(kind, Reveal::Native)["tools"].clone();
        let (before, after) = (before.as_array().unwrap(), after.as_array().unwrap());
        assert_eq!(after[..before.len()], before[..], "{kind}");
        assert_eq!(after.len(), before.len() + 2, "{kind}");
        assert_eq!(after[before.len()]["name"], "web_new");
        assert_ne!(after[before.len() + 1]["name"], taken.as_str(), "{kind}: no two tools have one name");
    }
}

#[test]
fn thoughts_go_back_to_whom_they_came_from() {
    let sealed = |kind, value| Some(Opaque { kind, value });
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA==" });
    let parts = vec![
        Part::Thinking {
            text: "a".into(),
            opaque: sealed(ProviderKind::Anthropic, json!({ "signature": "S" })),
        },
        Part::Thinking {
            text: String::new(),
            opaque: sealed(ProviderKind::Anthropic, json!({ "redacted": "R" })),
        },
        Part::Thinking { text: "b".into(), opaque: sealed(ProviderKind::OpenAiResponses, reasoning.clone()) },
        Part::Thinking {
            text: "c".into(),
            opaque: sealed(ProviderKind::OpenAi, json!({ "field": "reasoning_content" })),
        },
        Part::Thinking { text: "d".into(), opaque: None },
        Part::Thinking {
            text: "f".into(),
            opaque: sealed(ProviderKind::OpenAi, json!({ "field": "reasoning_content" })),
        },
        Part::Text {
            text: "e".into(),
            opaque: sealed(ProviderKind::Gemini, json!({ "thoughtSignature": "G1" })),
        },
        call(
            "c1",
            "read_file",
            json!({ "x": "1" }),
            Some((ProviderKind::Gemini, json!({ "thoughtSignature": "G2", "id": "g-1" }))),
        ),
        call("c2", "read_file", json!({ "x": "2" }), Some((ProviderKind::Gemini, json!({})))),
    ];
    let mut world = World::new();
    let results = ["c1", "c2"].map(|id| answer(id, "read_file", "ok".into()));
    world.messages.extend([Message::Assistant { parts }, Message::Results { results: results.into() }]);

    let body = world.encode(ProviderKind::Anthropic, Reveal::Append);
    assert_eq!(
        body["messages"][1]["content"].as_array().unwrap()[..3],
        [
            json!({ "type": "thinking", "thinking": "a", "signature": "S" }),
            json!({ "type": "redacted_thinking", "data": "R" }),
            json!({ "type": "text", "text": "e" }),
        ]
    );
    // Both results in one message.
    assert_eq!(body["messages"][2]["content"].as_array().unwrap().len(), 2);

    let body = world.encode(ProviderKind::OpenAiResponses, Reveal::Append);
    assert_eq!(body["input"][1], reasoning);
    assert_eq!(body["input"][2]["role"], "assistant");

    let body = world.encode(ProviderKind::OpenAi, Reveal::Append);
    assert_eq!(body["messages"][2]["reasoning_content"], "cf");
    assert_eq!(body["messages"][2]["tool_calls"].as_array().unwrap().len(), 2);

    let body = world.encode(ProviderKind::Gemini, Reveal::Append);
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            { "text": "e", "thoughtSignature": "G1" },
            { "functionCall": { "id": "g-1", "name": "read_file", "args": { "x": "1" } }, "thoughtSignature": "G2" },
            { "functionCall": { "name": "read_file", "args": { "x": "2" } } },
        ])
    );
    let response = |at: usize| &body["contents"][2]["parts"][at]["functionResponse"];
    assert_eq!((&response(0)["name"], &response(0)["id"]), (&json!("read_file"), &json!("g-1")));
    assert!(response(1).get("id").is_none());
    assert_eq!(body["contents"][2]["role"], "user");
}

#[test]
fn images_reach_those_who_can_see_them() {
    let image = |mime: &str| Content::Image { data: "aGk=".into(), mime_type: mime.into() };
    let mut world = World::new();
    let output =
        ToolOutput { content: vec![Content::text("a picture"), image("image/png")], ..Default::default() };
    world.messages = vec![
        Message::User { content: vec![Content::text("See"), image("image/jpg"), image("image/tiff")] },
        Message::Assistant { parts: vec![call("c1", "read_file", json!({}), None)] },
        Message::Results { results: vec![answer("c1", "read_file", output)] },
    ];
    let body = world.encode(ProviderKind::OpenAi, Reveal::Append);
    assert_eq!(body["messages"][1]["content"][1]["image_url"]["url"], "data:image/jpeg;base64,aGk=");
    assert_eq!(body["messages"][1]["content"][2]["text"], "[image image/tiff, 2 bytes]");
    assert!(body["messages"][3]["content"].as_str().unwrap().contains("[image image/png, 2 bytes]"));
    let body = world.encode(ProviderKind::OpenAiResponses, Reveal::Append);
    assert_eq!(body["input"][0]["content"][1]["image_url"], "data:image/jpeg;base64,aGk=");
    assert_eq!(body["input"][2]["output"][1]["type"], "input_image");
    let body = world.encode(ProviderKind::Anthropic, Reveal::Append);
    assert_eq!(body["messages"][0]["content"][1]["source"]["media_type"], "image/jpeg");
    assert_eq!(body["messages"][2]["content"][0]["content"][1]["type"], "image");
    let body = world.encode(ProviderKind::Gemini, Reveal::Append);
    assert_eq!(body["contents"][0]["parts"][1]["inlineData"]["mimeType"], "image/jpeg");
    assert!(body["contents"][2]["parts"][0].get("functionResponse").is_some());
    assert_eq!(body["contents"][2]["parts"][1]["inlineData"]["mimeType"], "image/png");
}

#[test]
fn odd_ids_and_names_of_another_provider_are_made_to_fit() {
    let mut world = World::new();
    let id = format!("functions.read file:{}", "9".repeat(80));
    world.messages.extend([
        Message::Assistant { parts: vec![call(&id, "rm -rf /", json!({}), None)] },
        Message::Results { results: vec![answer(&id, "rm -rf /", "no".into())] },
    ]);
    let body = world.encode(ProviderKind::Anthropic, Reveal::Append);
    let used = &body["messages"][1]["content"][0];
    assert_eq!(used["id"], body["messages"][2]["content"][0]["tool_use_id"]);
    let fits = |text: &str| {
        text.len() <= 64
            && !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    assert!(fits(used["id"].as_str().unwrap()) && fits(used["name"].as_str().unwrap()), "{used}");
    let body = world.encode(ProviderKind::Gemini, Reveal::Stable);
    let (used, answered) = (&body["contents"][1]["parts"][0], &body["contents"][2]["parts"][0]);
    assert_eq!(used["functionCall"]["name"], answered["functionResponse"]["name"]);
    assert_eq!(used["thoughtSignature"], "skip_thought_signature_validator");
}

#[test]
fn what_nothing_was_said_in_is_not_sent() {
    let mut world = World::new();
    let blank = Part::Text { text: "  \n".into(), opaque: None };
    world.messages.extend([
        Message::Assistant { parts: Vec::new() },
        Message::Assistant { parts: vec![blank] },
        Message::user("Still there?"),
    ]);
    assert_eq!(
        world.encode(ProviderKind::Anthropic, Reveal::Append)["messages"].as_array().unwrap().len(),
        2
    );
    assert_eq!(world.encode(ProviderKind::Gemini, Reveal::Append)["contents"].as_array().unwrap().len(), 3);
    assert_eq!(world.encode(ProviderKind::OpenAi, Reveal::Append)["messages"].as_array().unwrap().len(), 4);
}

/// What servers of a kind disagree on is said in the other way; any other complaint is not ours to mend.
#[test]
fn complaints_are_understood() {
    let check = |kind: ProviderKind, before: Value, complaint: &str, after: Option<Value>| {
        let mut body = before.clone();
        let rewritten = adapter(kind).relax(&mut body, complaint);
        assert_eq!(rewritten.then_some(&body), after.as_ref(), "{kind}: {complaint}");
        assert!(rewritten || body == before, "{kind}: {complaint}");
    };
    use ProviderKind as Kind;
    let limit = json!({ "max_tokens": 9 });
    let renamed = json!({ "max_completion_tokens": 9 });
    check(Kind::OpenAi, limit.clone(), "use 'max_completion_tokens' instead", Some(renamed.clone()));
    check(Kind::OpenAi, renamed, "max_completion_tokens is too large", None);
    check(Kind::OpenAi, json!({ "reasoning_effort": "low" }), "reasoning_effort: unknown", Some(json!({})));
    check(Kind::OpenAi, limit.clone(), "messages: field required", None);
    let thinking = json!({ "max_tokens": 5000, "thinking": { "type": "adaptive" }, "output_config": { "effort": "high" } });
    let budget = json!({ "max_tokens": 5000, "thinking": { "type": "enabled", "budget_tokens": 4999 } });
    check(
        Kind::Anthropic,
        thinking.clone(),
        "adaptive thinking is not supported on this model",
        Some(budget),
    );
    check(Kind::Anthropic, thinking, "messages: roles must alternate", None);
    check(
        Kind::Anthropic,
        json!({ "max_tokens": 99 }),
        "max_tokens: 99 > 50, which is",
        Some(json!({ "max_tokens": 50 })),
    );
    check(Kind::Anthropic, json!({ "max_tokens": 99 }), "max_tokens: 99 > 500", None);
    let reasoning = json!({ "include": ["x"], "reasoning": { "effort": "low", "summary": "auto" } });
    let without = json!({ "include": ["x"], "reasoning": { "effort": "low" } });
    check(Kind::OpenAiResponses, reasoning.clone(), "verify to use `reasoning.summary`", Some(without));
    let without = json!({ "reasoning": { "effort": "low", "summary": "auto" } });
    check(
        Kind::OpenAiResponses,
        reasoning.clone(),
        "Encrypted content is not supported with this model.",
        Some(without),
    );
    check(Kind::OpenAiResponses, reasoning, "provided without its required 'reasoning' item", None);
    let config = json!({ "generationConfig": { "maxOutputTokens": 1, "thinkingConfig": {} } });
    let without = json!({ "generationConfig": { "maxOutputTokens": 1 } });
    check(Kind::Gemini, config.clone(), "Thinking level is not supported for this model.", Some(without));
    check(Kind::Gemini, config, "contents is required", None);
}

#[test]
fn a_way_to_reveal_that_a_provider_lacks_is_refused() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Gemini] {
        let request = Request { reveal: Reveal::Native, ..super::world::question(&[]) };
        let error = adapter(kind).encode(&request).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Unsupported);
        assert_eq!(error.message, format!("the provider {kind} cannot reveal tools the 'native' way"));
        assert_eq!(error.hint, Some(format!("use --reveal {}", Reveal::default_for(kind))));
    }
}
