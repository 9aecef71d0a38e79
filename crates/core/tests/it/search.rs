//! What a search finds, in which order, how it is shown, and what it never shows.

use std::sync::Arc;

use pinza_core::{
    CallScope, Caller, Capability, Engine, Group, GroupName, Parameter, Parameters, Policy, Registry,
    Selection, Snapshot, Source, ToolCall, ToolContext, ToolDefinition, ToolMeta, ToolName, meta,
    search::WordTable,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{definition, describe, echo, rules};

/// Group (or none), name, description.
type Row = (Option<&'static str>, &'static str, &'static str);

const CATALOG: [Row; 14] = [
    (None, "read_file", "Read the contents of a file"),
    (None, "write_file", "Write text to a file"),
    (Some("mail"), "mail_send", "Send an email to somebody. Attachments are possible."),
    (Some("mail"), "mail_search", "Search the messages of a mailbox"),
    (Some("calendar"), "calendarCreateEvent", "Create an appointment"),
    (Some("calendar"), "calendarDeleteEvent", "Remove an appointment"),
    (Some("weather"), "weather_forecast", "Get the forecast for a city"),
    (Some("pdf"), "pdf_info", "Get page count and metadata of a PDF"),
    (Some("pdf"), "pdf_extract_text", "Extract the text of a PDF"),
    (Some("law"), "statutes", "Quick look-up of relevant laws"),
    (Some("repos"), "listRepositories", "List all repositories of an account"),
    (Some("repos"), "create_issue", "Create an issue in a repository"),
    (Some("image"), "resize", "Scale a picture to a width and a height"),
    (Some("image"), "rotate_image", "Turn a picture by some degrees"),
];

fn registry(rows: &[Row]) -> Registry {
    let mut registry = Registry::new();
    meta::register(&mut registry).unwrap();
    for (group, name, description) in rows {
        add(&mut registry, *group, ToolDefinition::new(ToolName::new(name).unwrap(), *description));
    }
    registry
}

fn add(registry: &mut Registry, group: Option<&str>, definition: ToolDefinition) {
    let meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
    let group = group.map(|group| GroupName::new(group).unwrap());
    registry.register(echo(definition), Some(ToolMeta { group, ..meta })).unwrap();
}

fn freeze(registry: &Registry) -> Arc<Snapshot> {
    Arc::new(
        registry
            .resolve_all(&ToolContext::default())
            .into_snapshot(registry, |meta| meta.id != "switched_off"),
    )
}

fn catalog() -> Arc<Snapshot> {
    freeze(&registry(&CATALOG))
}

/// The answer of `search_tools`, as its caller reads it.
async fn ask(scope: &CallScope, policy: Policy, arguments: Value) -> String {
    let call = ToolCall::new("1", "search_tools", arguments);
    describe(&Engine::new(policy).call(call, scope).await.result)
}

async fn search(snapshot: &Arc<Snapshot>, arguments: Value) -> String {
    ask(&CallScope::new(Caller::Library, Arc::clone(snapshot)), Policy::default(), arguments).await
}

/// The names in the lines of an answer.
fn names(answer: &str) -> Vec<&str> {
    answer.lines().filter_map(|line| line.split('(').next()).collect()
}

#[tokio::test]
async fn the_best_tool_comes_first() {
    let snapshot = catalog();
    for (query, expected) in [
        ("Could you please send an email to Bob?", "mail_send"),
        ("read files", "read_file"),
        ("delete an event from my calendar", "calendarDeleteEvent"),
        ("create event", "calendarCreateEvent"),
        ("repositories", "listRepositories"),
        ("extracting texts from pdfs", "pdf_extract_text"),
        // Concepts.
        ("I need a lawyer", "statutes"),
        ("is there going to be rain tomorrow", "weather_forecast"),
        ("make this photo smaller in width", "resize"),
        // A letter too many, and one too few.
        ("calendarr event removal", "calendarDeleteEvent"),
        ("repositries", "listRepositories"),
    ] {
        let answer = search(&snapshot, json!({ "query": query })).await;
        assert_eq!(names(&answer).first(), Some(&expected), "{query}: {answer}");
    }
}

#[tokio::test]
async fn a_name_beats_everything_and_a_beginning_the_rest() {
    let mut registry = registry(&CATALOG);
    let text = "resize resize resize pictures, rotate them, create_issue create issue repositories pdf";
    add(&mut registry, None, ToolDefinition::new(ToolName::new("everything").unwrap(), text));
    add(&mut registry, Some("hub"), definition("hub__create_issue_now"));
    let snapshot = freeze(&registry);
    for (query, expected) in [
        ("resize", vec!["resize"]),
        ("create_issue", vec!["create_issue", "hub__create_issue_now"]),
        ("CreateIssue", vec!["create_issue", "hub__create_issue_now"]),
        ("create issue", vec!["create_issue"]),
        ("pdf_", vec!["pdf_info", "pdf_extract_text"]),
    ] {
        let answer = search(&snapshot, json!({ "query": query })).await;
        let mut first = names(&answer);
        first.truncate(expected.len());
        first.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(first, expected, "{query}: {answer}");
    }
}

#[tokio::test]
async fn a_hit_is_one_line() {
    let mut registry = registry(&CATALOG);
    let parameters = Parameters::build()
        .required("title", Parameter::string("What to call it"))
        .optional("due", Parameter::string("When"))
        .done();
    let text = "Adds a chore\nto the list. It is kept until it is done.";
    add(
        &mut registry,
        Some("todo"),
        ToolDefinition::new(ToolName::known("todo_add"), text).parameters(parameters),
    );
    let answer = search(&freeze(&registry), json!({ "query": "add a chore", "limit": 1 })).await;
    assert_eq!(answer, "todo_add(title, due?) [todo]: Adds a chore to the list.");
}

#[tokio::test]
async fn keywords_examples_parameters_and_values_are_found() {
    let mut registry = registry(&CATALOG);
    let tool = |name: &str| ToolDefinition::new(ToolName::new(name).unwrap(), "Does it");
    add(&mut registry, None, tool("one").keywords(["ledger"]));
    add(
        &mut registry,
        None,
        tool("two").example("how tall is the giraffe").example(json!({"place": "zanzibar"})),
    );
    let values = Parameter::string("One of some").one_of(["tarragon", "basil"]);
    add(&mut registry, None, tool("three").parameters(Parameters::build().optional("herb", values).done()));
    let snapshot = freeze(&registry);
    for (query, expected) in [
        ("ledgers", "one"),
        ("giraffe", "two"),
        ("Zanzibar", "two"),
        ("tarragon", "three"),
        ("herb", "three"),
    ] {
        assert_eq!(names(&search(&snapshot, json!({ "query": query })).await), [expected], "{query}");
    }
}

#[tokio::test]
async fn several_queries_are_answered_together() {
    let snapshot = catalog();
    let both = json!({ "queries": ["send an email", "rotate a picture"], "query": "statutes", "limit": 1 });
    assert_eq!(names(&search(&snapshot, both).await), ["statutes", "mail_send", "rotate_image"]);
    let twice = json!({ "queries": ["send an email", "email sending"], "limit": 1 });
    assert_eq!(names(&search(&snapshot, twice).await), ["mail_send"]);
}

#[tokio::test]
async fn several_requests_in_one_query_all_find_their_tool() {
    let query = "Send an email about the PDF to Bob. Then rotate the picture by 90 degrees. Finally create an \
                 appointment for Monday.";
    let answer = search(&catalog(), json!({ "query": query, "limit": 4 })).await;
    for expected in ["mail_send", "rotate_image", "calendarCreateEvent"] {
        assert!(names(&answer).contains(&expected), "{expected}: {answer}");
    }
}

#[tokio::test]
async fn a_group_and_a_limit_narrow() {
    let snapshot = catalog();
    let answer = search(&snapshot, json!({ "query": "create", "group": "repos" })).await;
    assert_eq!(names(&answer), ["create_issue"]);
    let answer = search(&snapshot, json!({ "query": "picture file text email", "limit": 2 })).await;
    assert_eq!(names(&answer).len(), 2);
}

#[tokio::test]
async fn wrong_searches_say_what_is_wrong() {
    let snapshot = catalog();
    let groups = "mail, calendar, weather, pdf, law, repos, image";
    for (arguments, expected) in [
        (json!({}), "validation_error: Missing required parameter: 'query'".to_owned()),
        (
            json!({ "query": "  ", "queries": [] }),
            "validation_error: Missing required parameter: 'query'".to_owned(),
        ),
        (
            json!({ "query": "x", "limit": 0 }),
            "validation_error: Parameter 'limit' must be from 1 to 50".to_owned(),
        ),
        (
            json!({ "query": "x", "limit": 51 }),
            "validation_error: Parameter 'limit' must be from 1 to 50".to_owned(),
        ),
        (
            json!({ "queries": vec!["x"; 17] }),
            "validation_error: Parameter 'queries' has more than 16 entries".to_owned(),
        ),
        (
            json!({ "query": "x", "group": "nope" }),
            format!("not_found: Tool group 'nope' not found. Available groups: {groups}"),
        ),
        (json!({ "query": "qqqqqq" }), format!("No tools found. Tool groups: {groups}")),
        (json!({ "query": "please, could you?" }), format!("No tools found. Tool groups: {groups}")),
    ] {
        let answer = search(&snapshot, arguments.clone()).await;
        assert!(answer.starts_with(&expected), "{arguments}: {answer}");
    }
}

#[tokio::test]
async fn tools_that_are_almost_the_same_share_a_line() {
    let mut registry = registry(&[]);
    for server in ["desk", "disk", "dusk"] {
        let name = ToolName::new(format!("{server}__write_file")).unwrap();
        add(
            &mut registry,
            Some(server),
            ToolDefinition::new(name, "Write a text to a file on this computer"),
        );
    }
    let text = "Write a text to a file on another computer, over the network, with a password";
    add(&mut registry, None, ToolDefinition::new(ToolName::known("write_remotely"), text));
    let snapshot = freeze(&registry);
    let answer = search(&snapshot, json!({ "query": "write text to file on this computer" })).await;
    let first = "desk__write_file() [desk]: Write a text to a file on this computer (also: disk__write_file, \
                 dusk__write_file)";
    assert_eq!(answer.lines().next(), Some(first));
    assert_eq!(names(&answer), ["desk__write_file", "write_remotely"]);
    // Nobody hears of one that is not for them, not even beside another.
    let scope = CallScope::new(Caller::Library, snapshot);
    let policy = Policy::new(rules(&[json!({ "effect": "deny", "tool": "disk__*" })]), []);
    let answer = ask(&scope, policy, json!({ "query": "write text to file on this computer" })).await;
    assert!(answer.contains("(also: dusk__write_file)") && !answer.contains("disk"), "{answer}");
}

/// One secret tool for each reason not to show it, of each kind of source; and one that may be seen.
fn secrets(source: &Source) -> Arc<Snapshot> {
    let mut registry = registry(&CATALOG);
    let mut put = |group: Option<&str>, definition: ToolDefinition| {
        let group = group.map(|group| GroupName::new(group).unwrap());
        let meta = ToolMeta::new(definition.name.clone(), definition.description.clone());
        let meta = ToolMeta { source: source.clone(), group, ..meta };
        registry.register(echo(definition), Some(meta)).unwrap();
    };
    let secret = |name: &str| ToolDefinition::new(ToolName::new(name).unwrap(), "Finds the hidden treasure");
    put(Some("open"), secret("seen"));
    put(Some("open"), secret("switched_off").keywords(["treasure", "chest"]));
    put(Some("open"), secret("denied_by_name"));
    put(None, secret("denied_by_capability").needs(Capability::new("dig").unwrap()));
    put(Some("open"), secret("not_in_set"));
    put(Some("closed"), secret("group_not_in_set"));
    registry.register_group(Group::new(GroupName::new("closed").unwrap(), "Treasure", "All about treasure"));
    freeze(&registry)
}

#[tokio::test]
async fn nobody_finds_what_they_may_not_use() {
    let sources = [
        Source::Builtin,
        Source::Native,
        Source::Js("a.js".into()),
        Source::Module("a".into()),
        Source::Mcp("a".into()),
    ];
    let callers = || {
        [
            Caller::Library,
            Caller::Cli,
            Caller::Agent { session: "s".into() },
            Caller::Mcp { client: "c".into() },
            Caller::Web,
            Caller::Schedule { id: "1".into() },
            Caller::Tool { name: ToolName::known("read_file"), depth: 1 },
        ]
    };
    for source in sources {
        let snapshot = secrets(&source);
        for caller in callers() {
            let exclude = vec!["not_in_set".to_owned(), "group:closed".to_owned()];
            let toolset = Arc::new(Selection { exclude, ..Selection::default() });
            let scope = CallScope { toolset, ..CallScope::new(caller, Arc::clone(&snapshot)) };
            let denied = [
                json!({ "effect": "deny", "tool": "denied_by_name" }),
                json!({ "effect": "deny", "capability": "dig" }),
            ];
            let policy = || Policy::new(rules(&denied), []);
            let expected = "seen() [open]: Finds the hidden treasure";
            for query in ["hidden treasure", "treasure chest"] {
                assert_eq!(ask(&scope, policy(), json!({ "query": query, "limit": 50 })).await, expected);
            }
            let all =
                ["denied_by_name", "denied_by_capability", "switched_off", "not_in_set", "group_not_in_set"];
            for name in all {
                let answer = ask(&scope, policy(), json!({ "query": name, "limit": 50 })).await;
                assert!(!all.iter().any(|name| answer.contains(name)), "{name}: {answer}");
            }
            let answer = ask(&scope, policy(), json!({ "query": "treasure", "group": "closed" })).await;
            assert!(answer.starts_with("not_found: ") && !answer.contains("groups: closed"), "{answer}");
            assert!(!answer.contains(", closed"), "{answer}");
        }
    }
}

#[tokio::test]
async fn the_tools_about_tools_are_not_found() {
    let answer =
        search(&catalog(), json!({ "query": "search_tools load tool group call_tool", "limit": 50 })).await;
    assert!(!answer.contains("search_tools(") && !answer.contains("load_tool_group("), "{answer}");
}

#[test]
fn an_index_is_made_once() {
    let snapshot = catalog();
    assert!(std::ptr::eq(snapshot.index(), snapshot.index()));
}

/// Knows two directions: money, and everything else.
#[derive(Debug)]
struct Money;

impl WordTable for Money {
    fn vector(&self, word: &str) -> Option<Vec<f32>> {
        Some(match word {
            "lucre" | "kopeck" => vec![1.0, 0.0],
            "unknown" => return None,
            _ => vec![0.0, 1.0],
        })
    }
}

#[tokio::test]
async fn a_table_finds_what_shares_no_word() {
    let mut with_kopeck = registry(&CATALOG);
    add(&mut with_kopeck, None, ToolDefinition::new(ToolName::known("kopeck"), "Kopeck"));
    let alone = freeze(&with_kopeck);
    assert!(search(&alone, json!({ "query": "lucre" })).await.starts_with("No tools found"));
    with_kopeck.set_word_table(Arc::new(Money));
    let fused = freeze(&with_kopeck);
    assert_eq!(names(&search(&fused, json!({ "query": "lucre" })).await), ["kopeck"]);
    // Words still count, and a table that knows none of them changes nothing.
    assert_eq!(names(&search(&fused, json!({ "query": "rotate pictures" })).await)[0], "rotate_image");
    assert!(search(&fused, json!({ "query": "unknown" })).await.starts_with("No tools found"));
}

proptest! {
    #[test]
    fn any_text_is_answered(queries in prop::collection::vec(any::<String>(), 1..4), limit in 1..8_usize) {
        let snapshot = catalog();
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        let search = pinza_core::search::Search { queries: &queries, group: None, limit };
        let hits = snapshot.index().search(&search, &|document| document % 2 == 0);
        prop_assert!(hits.len() <= limit * queries.len());
        prop_assert!(hits.iter().all(|hit| hit.document % 2 == 0 && hit.also.iter().all(|also| also % 2 == 0)));
    }
}
