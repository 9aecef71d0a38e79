//! Receipts: the figures are those of the requests that the server received, counted here on their own.

use pinza_testkit::model::{Provider, Turn, Usage};
use serde_json::{Value, json};

use super::{
    World,
    loading::{load, reveals, use_of, with_groups},
};
use crate::{
    approval::Terminal,
    support::{check, fine},
};

fn tokens(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64
}

/// JSON with its texts as they are, which is how a model gets them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => ["\"", text, "\""].concat(),
        Value::Array(items) => ["[", &items.iter().map(plain).collect::<Vec<_>>().join(","), "]"].concat(),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(k, v)| format!("\"{k}\":{}", plain(v))).collect();
            ["{", &fields.join(","), "}"].concat()
        }
        other => other.to_string(),
    }
}

/// What one request had in it, in tokens.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    definitions: u64,
    names: Vec<String>,
    listing: u64,
    loading: u64,
    prompt: u64,
    /// With what `call_tool` adds.
    messages: u64,
}

impl Counted {
    fn of(provider: Provider, body: &Value) -> Self {
        let mut body = body.clone();
        unmark(&mut body);
        let mut counted = Self::default();
        let tools = match provider {
            Provider::Gemini => body["tools"][0]["functionDeclarations"].clone(),
            _ => body["tools"].clone(),
        };
        for tool in tools.as_array().unwrap() {
            counted.tool(tool);
        }
        counted.system(&match provider {
            Provider::OpenAi => body["messages"][0]["content"].clone(),
            Provider::Anthropic => body["system"][0]["text"].clone(),
            Provider::OpenAiResponses => body["instructions"].clone(),
            Provider::Gemini => body["systemInstruction"]["parts"][0]["text"].clone(),
        });
        match provider {
            Provider::OpenAi => counted.chat(&body["messages"].as_array().unwrap()[1..]),
            Provider::OpenAiResponses => counted.items(body["input"].as_array().unwrap()),
            Provider::Anthropic => counted.anthropic(&body["messages"], &tools),
            Provider::Gemini => counted.gemini(&body["contents"]),
        }
        counted
    }

    fn tool(&mut self, tool: &Value) {
        let mut tool = tool.clone();
        if tool["defer_loading"] == true {
            return;
        }
        if tool["type"] == "namespace" {
            tool.as_object_mut().unwrap().shift_remove("tools");
            self.listing += tokens(&format!("{},", plain(&tool)));
            return;
        }
        self.definitions += tokens(&format!("{},", plain(&tool)));
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap_or("load_tool_group");
        self.names.push(name.to_owned());
    }

    fn revealed(&mut self, tool: &Value) {
        let mut tool = tool.clone();
        assert_eq!(tool.as_object_mut().unwrap().shift_remove("defer_loading"), Some(true.into()));
        self.tool(&tool);
    }

    fn system(&mut self, system: &Value) {
        let system = system.as_str().unwrap();
        let cut = system.find("## Available").unwrap_or(system.len());
        self.prompt += tokens(&system[..cut]);
        self.listing += tokens(&system[cut..]);
    }

    fn say(&mut self, value: &Value, is_load: bool) {
        *(if is_load { &mut self.loading } else { &mut self.messages }) += tokens(&plain(value));
    }

    fn chat(&mut self, messages: &[Value]) {
        let mut loads = Vec::new();
        for message in messages {
            let mut message = message.clone();
            let calls = message.as_object_mut().unwrap().shift_remove("tool_calls").unwrap_or_default();
            let calls = calls.as_array().cloned().unwrap_or_default();
            let is_load = |call: &Value| call["function"]["name"] == "load_tool_group";
            let mut about_loads = !calls.is_empty() && calls.iter().all(is_load);
            for call in &calls {
                loads.extend(is_load(call).then(|| call["id"].clone()));
                self.say(call, is_load(call));
            }
            about_loads |= message["role"] == "tool" && loads.contains(&message["tool_call_id"]);
            self.say(&message, about_loads);
        }
    }

    fn items(&mut self, items: &[Value]) {
        let mut loads = Vec::new();
        for item in items {
            let mut item = item.clone();
            let mut is_load = item["type"] == "tool_search_call" || item["name"] == "load_tool_group";
            loads.extend(is_load.then(|| item["call_id"].clone()));
            is_load |= loads.contains(&item["call_id"]);
            for group in item.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
                for tool in std::mem::replace(&mut group["tools"], json!([])).as_array().unwrap() {
                    self.revealed(tool);
                }
            }
            self.say(&item, is_load);
        }
    }

    fn anthropic(&mut self, messages: &Value, tools: &Value) {
        let mut loads = Vec::new();
        for message in messages.as_array().unwrap() {
            let mut all = true;
            for block in message["content"].as_array().unwrap() {
                let mut is_load = block["name"] == "load_tool_group";
                loads.extend(is_load.then(|| block["id"].clone()));
                is_load |= block["type"] == "tool_result" && loads.contains(&block["tool_use_id"]);
                all &= is_load;
                self.say(block, is_load);
                for reference in block["content"].as_array().into_iter().flatten() {
                    let named =
                        tools.as_array().unwrap().iter().find(|t| t["name"] == reference["tool_name"]);
                    self.revealed(named.unwrap());
                }
            }
            self.say(&json!({ "role": message["role"] }), all);
        }
    }

    fn gemini(&mut self, contents: &Value) {
        for content in contents.as_array().unwrap() {
            let mut all = true;
            for part in content["parts"].as_array().unwrap() {
                let names = [&part["functionCall"]["name"], &part["functionResponse"]["name"]];
                let is_load = names.into_iter().any(|name| name == "load_tool_group");
                all &= is_load;
                self.say(part, is_load);
            }
            self.say(&json!({ "role": content["role"] }), all);
        }
    }
}

fn unmark(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unmark),
        Value::Object(fields) => {
            fields.retain(|name, _| name != "cache_control" && name != "thoughtSignature");
            fields.values_mut().for_each(unmark);
        }
        _ => {}
    }
}

/// All tools as `pinza schema` prints them, in tokens, but for those about tools.
fn everything(world: &World) -> (u64, u64) {
    let provider = match world.provider {
        Provider::OpenAi | Provider::OpenAiResponses => "openai",
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gemini",
    };
    let mut tools = fine(&world.pinza, &["--json", "schema", "--provider", provider, "--all"]).json();
    if provider == "gemini" {
        tools = tools["function_declarations"].take();
    }
    let name = |tool: &Value| {
        tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap_or_default().to_owned()
    };
    let meta = ["load_tool_group", "search_tools", "load_skill", "call_tool"];
    let tools = tools.as_array().unwrap().iter().filter(|tool| !meta.contains(&&*name(tool)));
    let written = tools.map(|tool| match world.provider {
        Provider::OpenAiResponses => {
            let function = &tool["function"];
            let (name, about, schema) =
                (&function["name"], &function["description"], &function["parameters"]);
            let tool = json!({"type": "function", "name": name, "description": about, "parameters": schema, "strict": false});
            tokens(&format!("{},", plain(&tool)))
        }
        _ => tokens(&format!("{},", plain(tool))),
    });
    let counts: Vec<u64> = written.collect();
    (counts.len() as u64, counts.iter().sum())
}

fn receipt(world: &World, session: &str) -> Value {
    fine(&world.pinza, &["--json", "sessions", "show", session, "--receipt"]).json()
}

fn sum(receipt: &Value, field: &str) -> u64 {
    receipt["each"].as_array().unwrap().iter().map(|request| request[field].as_u64().unwrap()).sum()
}

#[test]
fn the_figures_are_those_of_the_requests() {
    for provider in Provider::ALL {
        for reveal in reveals(provider) {
            let turns = [
                Turn::calls([load("mail")]),
                Turn::calls([use_of("mail_list", reveal)]),
                Turn::text("You have mail."),
                // Another process.
                Turn::calls([("get_current_time", json!({}))]),
                Turn::text("Noon."),
            ];
            let world = World::with(with_groups(), provider, turns);
            world.say("check my email", &["--session", "s", "--reveal", reveal]);
            world.say("and the time?", &["--session", "s", "--reveal", reveal]);
            let receipt = receipt(&world, "s");
            let case = format!("{provider} {reveal}: {receipt}");
            let bodies = world.model.bodies();
            let (all, all_tokens) = everything(&world);
            assert_eq!((bodies.len(), receipt["requests"].as_u64()), (5, Some(5)), "{case}");
            for (body, each) in bodies.iter().zip(receipt["each"].as_array().unwrap()) {
                let figure = |name: &str| each[name].as_u64().unwrap();
                let said = Counted {
                    definitions: figure("definitions"),
                    names: serde_json::from_value(each["tools"].clone()).unwrap(),
                    listing: figure("listing"),
                    loading: figure("loading"),
                    prompt: figure("prompt"),
                    messages: figure("messages") + figure("wrapping"),
                };
                assert_eq!(said, Counted::of(provider, body), "{case}");
                assert_eq!(figure("everything"), all_tokens, "{case}");
            }
            totals(&receipt, all, all_tokens, &case);
            tools(&receipt, reveal, &case);
        }
    }
}

/// The first request only loaded, so everything would have taken four.
fn totals(receipt: &Value, all: u64, all_tokens: u64, case: &str) {
    let spent = &receipt["spent"];
    assert_eq!(
        receipt["everything"],
        json!({"tools": all, "requests": 4, "tokens": 4 * all_tokens}),
        "{case}"
    );
    assert_eq!((&spent["loadingRequests"], &receipt["each"][0]["loadingOnly"]), (&1.into(), &true.into()));
    let first = &receipt["each"][0];
    let figure = |value: &Value| value.as_u64().unwrap();
    for part in ["definitions", "listing"] {
        assert_eq!(figure(&spent[part]), sum(receipt, part), "{case}");
    }
    assert_eq!(figure(&spent["loading"]), sum(receipt, "loading") + figure(&first["answer"]), "{case}");
    assert_eq!(figure(&spent["again"]), figure(&first["prompt"]) + figure(&first["messages"]), "{case}");
    let parts = ["definitions", "listing", "loading", "wrapping", "again"];
    assert_eq!(
        figure(&spent["total"]),
        parts.iter().map(|part| figure(&spent[*part])).sum::<u64>(),
        "{case}"
    );
    let saved = i64::try_from(4 * all_tokens).unwrap() - spent["total"].as_i64().unwrap();
    assert_eq!(receipt["savedTokens"], saved, "{case}");
}

fn tools(receipt: &Value, reveal: &str, case: &str) {
    let tool = |name: &str| {
        let tools = receipt["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["tool"] == name).unwrap_or_else(|| panic!("{name}: {case}"))
    };
    let definitions = receipt["tools"].as_array().unwrap().iter();
    let definitions: u64 = definitions.map(|tool| tool["definitionTokens"].as_u64().unwrap()).sum();
    assert_eq!(definitions, sum(receipt, "definitions"), "{case}");
    let mail = tool("mail_list");
    // Whatever the way, it is not paid for before it is loaded.
    let shown = if reveal == "stable" { 0 } else { 4 };
    assert_eq!((&mail["calls"], &mail["requests"]), (&1.into(), &shown.into()), "{case}");
    assert!(mail["callTokens"].as_u64().unwrap() > 0 && mail["resultTokens"].as_u64().unwrap() > 0, "{case}");
    assert_eq!(
        (&tool("get_current_time")["calls"], &tool("get_current_time")["requests"]),
        (&1.into(), &5.into())
    );
    assert_eq!(receipt["spent"]["wrapping"].as_u64().unwrap() > 0, reveal == "stable", "{case}");
    let rewrites = &receipt["rewrites"];
    assert_eq!(rewrites["times"], u64::from(reveal == "append"), "{case}");
    assert_eq!(rewrites["tokens"].as_u64().unwrap() > 0, reveal == "append", "{case}");
    let groups: Vec<&str> =
        receipt["groups"].as_array().unwrap().iter().filter_map(|group| group["group"].as_str()).collect();
    assert_eq!(groups, ["mail"], "{case}");
}

fn usage(input: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input, output: 7, cache_read, cache_write, ..Usage::default() }
}

#[test]
fn what_the_provider_counts_is_kept_and_told_apart() {
    let turns = [(1000, 0, 900), (1100, 900, 100)]
        .map(|(input, read, written)| Turn { usage: usage(input, read, written), ..Turn::text("Hello.") });
    let world = World::new(Provider::Anthropic, turns);
    world.say("one", &["--session", "s"]);
    world.say("two", &["--session", "s"]);
    let receipt = receipt(&world, "s");
    let usage = json!({
        "input_tokens": 2100, "cache_read_tokens": 900, "cache_write_tokens": 1000, "output_tokens": 14, "reasoning_tokens": 0,
    });
    assert_eq!(receipt["provider"], json!({ "requests": 2, "usage": usage }));
    assert_eq!(receipt["each"][1]["usage"]["cache_read_tokens"], 900);
    let shown = check(
        &world.pinza,
        &["sessions", "show", "s", "--receipt"],
        0,
        "tools: [..] tokens in 2 requests; sending all [..] tools each time: [..] ([..])\n...\n\
         The provider counted 2,100 in, 14 out, in 2 requests.\nIts cache: 900 read, 1,000 written.\n...\n\
         Tokens are counted with o200k; this provider counts a little differently. Only the provider's figures are its own.\n\
         A deferred tool is not in the prompt and costs nothing until it is loaded.\n",
        "",
    );
    assert!(!shown.stdout.contains("no longer cached"), "{shown:?}");
}

#[test]
fn a_provider_that_reports_nothing_is_not_made_up() {
    let silent = Turn { usage: Usage { absent: true, ..Usage::default() }, ..Turn::text("Hello.") };
    let world = World::new(Provider::OpenAi, [silent]);
    world.say("one", &["--session", "s"]);
    assert_eq!(receipt(&world, "s")["provider"], Value::Null);
    let shown = fine(&world.pinza, &["sessions", "show", "s", "--receipt"]).stdout;
    assert!(shown.contains("\nThe provider reported no figures of its own.\n"), "{shown}");
    assert!(shown.contains("Tokens are counted with o200k. Only"), "{shown}");
}

/// What was sent was sent, whatever becomes of the tools.
#[test]
fn a_receipt_stays_when_the_tools_change() {
    let turns =
        [Turn::calls([load("mail")]), Turn::calls([use_of("mail_list", "append")]), Turn::text("Mail.")];
    let world = World::with(with_groups(), Provider::OpenAi, turns);
    world.say("check my email", &["--session", "s"]);
    let before = receipt(&world, "s");
    let tools = world.pinza.home().join("tools");
    std::fs::remove_file(tools.join("mail.json")).unwrap();
    std::fs::remove_file(tools.join("sheets.json")).unwrap();
    fine(&world.pinza, &["tools", "disable", "group:fs", "get_current_time"]);
    assert_eq!(receipt(&world, "s"), before);
}

/// Where there is nothing to save, groups cost more than they bring, and the receipt says so.
#[test]
fn a_loss_is_no_saving() {
    let pinza = with_groups();
    let config = "[agents.small]\ntools = [\"get_current_time\"]\n";
    std::fs::write(pinza.config_file(), config).unwrap();
    let world = World::with(pinza, Provider::OpenAi, [Turn::text("Hello.")]);
    world.say("hi", &["--session", "s", "--agent", "small"]);
    let receipt = receipt(&world, "s");
    assert_eq!(receipt["everything"]["tools"], 1, "{receipt}");
    assert!(receipt["savedTokens"].as_i64().unwrap() < 0 && receipt["savedPercent"].as_f64().unwrap() < 0.0);
    let shown = fine(&world.pinza, &["sessions", "show", "s", "--receipt"]).stdout;
    let first = shown.lines().next().unwrap();
    assert!(first.contains("; sending the one tool each time: ") && first.ends_with(" % more)"), "{first}");
}

/// As those of a Pinza that wrote nothing down.
#[test]
fn a_session_without_records_says_so() {
    let world = World::new(Provider::OpenAi, [Turn::error(401, "no such key")]);
    world.fails("one", &["--session", "old"], "unauthorized", "no such key");
    let none = "error: not_found: There is no receipt of the session 'old'\nhint: Nothing was asked in it, or it is of a \
                Pinza that did not write down what it sent.\n";
    check(&world.pinza, &["sessions", "show", "old", "--receipt"], 1, "", none);
    let unknown = "error: not_found: There is no session 'new'\n...\n";
    check(&world.pinza, &["sessions", "show", "new", "--receipt"], 1, "", unknown);
}

/// Among the last lines of a chat at a terminal, before the one that says how to come back.
#[test]
fn a_chat_at_a_terminal_ends_with_what_it_cost() {
    let world = World::new(Provider::OpenAi, [Turn::text("Hello.")]);
    let base = world.model.base_url(Provider::OpenAi);
    let chat = ["chat", "--plain", "--provider", "openai", "--base-url", &base, "--model", "m"];
    let terminal = Terminal::start_whole(&world.pinza, &chat).shows("› ", 1).answer("hi\n");
    let (code, screen, _) = terminal.shows("Hello.", 1).shows("› ", 2).answer("\x04").end();
    assert_eq!(code, Some(0), "{screen}");
    let last = screen.trim_end().lines().rev().nth(1).unwrap_or_default().trim_end();
    let told = last.contains("tools: ") && last.contains(" tokens in 1 request; sending all ");
    assert!(told && last.ends_with(')'), "{screen}");
    // Whoever says nothing has nothing to pay.
    let (_, screen, _) = Terminal::start_whole(&world.pinza, &chat).shows("› ", 1).answer("\x04").end();
    assert!(!screen.contains("tools: "), "{screen}");
}
