//! What a conversation is given: core tools first, groups when they are loaded, nothing that its
//! caller may not use, and never a word of what was given changed.

use std::{sync::Arc, time::Duration};

use pinza_core::{
    Applied, CallScope, Caller, Conversation, Effect, Engine, Group, GroupName, Loading, Outcome, Policy,
    Registry, Selection, Snapshot, Stop, Tool, ToolCall, ToolContext, ToolMeta, ToolName, View, meta,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{definition, describe, echo, rules, sleeping};

/// The tools about tools, one core tool, and groups with their tools.
fn snapshot_of(groups: &[(&str, &[&str])]) -> Arc<Snapshot> {
    snapshot_with(groups, |_| true)
}

fn snapshot_with(groups: &[(&str, &[&str])], is_enabled: impl Fn(&ToolMeta) -> bool) -> Arc<Snapshot> {
    let mut registry = Registry::new();
    meta::register(&mut registry).unwrap();
    registry.register(echo(definition("core_tool")), None).unwrap();
    for (group, tools) in groups {
        let name = GroupName::new(group).unwrap();
        registry.register_group(Group::new(
            name.clone(),
            format!("The {group}"),
            format!("All about {group}"),
        ));
        for tool in *tools {
            let tool: Arc<dyn Tool> = match *tool {
                "slow" => sleeping(definition("slow"), Duration::from_secs(20)),
                name => echo(definition(name)),
            };
            let meta = ToolMeta::new(tool.definition().name.clone(), "x").group(name.clone());
            registry.register(tool, Some(meta)).unwrap();
        }
    }
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, is_enabled))
}

const GROUPS: [(&str, &[&str]); 3] =
    [("pdf", &["pdf_info", "pdf_text"]), ("mail", &["mail_send"]), ("empty", &[])];

struct Chat {
    engine: Arc<Engine>,
    scope: CallScope,
    conversation: Conversation,
}

impl Chat {
    fn new(snapshot: Arc<Snapshot>) -> Self {
        Self::with(snapshot, Policy::default(), Selection::default(), Loading::Grows)
    }

    fn with(snapshot: Arc<Snapshot>, policy: Policy, toolset: Selection, loading: Loading) -> Self {
        let caller = Caller::Agent { session: "s".into() };
        let scope = CallScope { toolset: Arc::new(toolset), loading, ..CallScope::new(caller, snapshot) };
        let engine = Arc::new(Engine::new(policy));
        let conversation = Conversation::start(&scope.view(engine.policy()));
        Self { engine, scope, conversation }
    }

    fn view(&self) -> View {
        self.scope.view(self.engine.policy())
    }

    fn names(&self) -> Vec<&str> {
        self.conversation.tools().iter().map(|tool| tool.name.as_str()).collect()
    }

    async fn round(&mut self, calls: &[(&str, Value)]) -> (Vec<String>, Vec<GroupName>, Option<Stop>) {
        let calls = calls.iter().enumerate();
        let calls = calls
            .map(|(index, (name, arguments))| ToolCall::new(index.to_string(), *name, arguments.clone()));
        let mut told = 0;
        let calls: Vec<ToolCall> = calls.collect();
        let count = calls.len();
        let round = self.conversation.round(&self.engine, calls, &self.scope, |_: &Outcome| told += 1).await;
        assert_eq!((told, round.outcomes.len()), (count, count), "each call is answered and told of once");
        let answers = round.outcomes.iter().map(|outcome| describe(&outcome.result)).collect();
        (answers, round.loaded, round.stop)
    }

    async fn one(&mut self, name: &str, arguments: Value) -> String {
        self.round(&[(name, arguments)]).await.0.remove(0)
    }

    async fn load(&mut self, group: &str) -> String {
        self.one("load_tool_group", json!({ "group_name": group })).await
    }
}

#[test]
fn it_begins_with_core_tools_and_a_listing() {
    let chat = Chat::new(snapshot_of(&GROUPS));
    assert!(!chat.names().iter().any(|name| name.starts_with("pdf_") || *name == "call_tool"));
    assert!(chat.names().contains(&"core_tool") && chat.names().contains(&"load_tool_group"));
    let listing = "## Available Tool Groups\n\nUse `load_tool_group` to load tools from a group before using \
                   them.\n\n- pdf: All about pdf\n- mail: All about mail";
    assert_eq!(chat.conversation.listing(), listing);
    assert_eq!(Chat::new(snapshot_of(&[])).conversation.listing(), "");
}

#[tokio::test]
async fn a_load_adds_its_tools_at_the_end() {
    let mut chat = Chat::new(snapshot_of(&GROUPS));
    let before = chat.conversation.tools().to_vec();
    let answer = chat.load("pdf").await;
    assert_eq!(
        answer,
        "Loaded 2 tools from group 'The pdf':\n- pdf_info: The tool pdf_info\n- pdf_text: The tool pdf_text"
    );
    assert_eq!(chat.conversation.tools()[..before.len()], before);
    assert_eq!(chat.names()[before.len()..], ["pdf_info", "pdf_text"]);
    assert_eq!(chat.one("pdf_info", json!({"a": 1})).await, r#"{"a":1}"#);
    // Again is no harm and changes nothing.
    let (_, loaded, _) = chat.round(&[("load_tool_group", json!({"group_name": "pdf"}))]).await;
    assert!(loaded.is_empty());
    assert_eq!(chat.names().len(), before.len() + 2);
}

#[tokio::test]
async fn what_cannot_be_loaded_is_said() {
    let mut chat = Chat::new(snapshot_of(&GROUPS));
    assert_eq!(
        chat.load("nonexistent").await,
        "not_found: Tool group 'nonexistent' not found. Available groups: pdf, mail"
    );
    assert_eq!(chat.load("empty").await, "empty_group: Tool group 'empty' has no available tools.");
    let missing = chat.one("load_tool_group", json!({})).await;
    assert_eq!(missing, "validation_error: Missing required parameter: 'group_name'");
    let off = snapshot_with(&GROUPS, |meta| meta.group.as_ref().is_none_or(|group| *group != "mail"));
    let mut chat = Chat::new(off);
    assert_eq!(chat.load("mail").await, "empty_group: Tool group 'mail' has no available tools.");
    assert!(!chat.conversation.listing().contains("mail"));
}

#[tokio::test(start_paused = true)]
async fn a_use_waits_for_the_load_beside_it_and_for_nothing_else() {
    let mut chat = Chat::new(snapshot_of(&[("pdf", &["pdf_info"]), ("late", &["slow"])]));
    chat.load("late").await;
    let start = tokio::time::Instant::now();
    let mut pdf_after = None;
    let calls = vec![
        ToolCall::new("1", "pdf_info", json!({})),
        ToolCall::new("2", "slow", json!({})),
        ToolCall::new("3", "load_tool_group", json!({"group_name": "pdf"})),
    ];
    let told = |outcome: &Outcome| {
        if outcome.tool == "pdf_info" {
            pdf_after = Some(start.elapsed());
        }
    };
    let round = chat.conversation.round(&chat.engine, calls, &chat.scope, told).await;
    let answers: Vec<String> = round.outcomes.iter().map(|outcome| describe(&outcome.result)).collect();
    assert_eq!(answers[..2], ["{}", "slow"]);
    assert_eq!(round.loaded, ["pdf"]);
    assert_eq!(pdf_after, Some(Duration::ZERO), "it does not wait for the slow one");
}

#[tokio::test]
async fn the_third_identical_blind_call_ends_the_loop() {
    let mut chat = Chat::new(snapshot_of(&GROUPS));
    let blind = [("pdf_info", json!({"a": 1, "b": 2}))];
    let (answers, _, stop) = chat.round(&blind).await;
    assert_eq!(
        answers[0],
        "tool_not_available: Tool 'pdf_info' is not available for this agent (Load its group first: \
         load_tool_group {\"group_name\": \"pdf\"}. Its arguments are: {\"type\":\"object\",\"properties\":{}})"
    );
    assert_eq!(stop, None);
    // Another call is no identical one.
    assert_eq!(chat.round(&[("pdf_info", json!({"a": 2}))]).await.2, None);
    // It is remembered with the conversation.
    chat.conversation = serde_json::from_value(serde_json::to_value(&chat.conversation).unwrap()).unwrap();
    assert_eq!(chat.round(&blind).await.2, None);
    let (answers, _, stop) = chat.round(&[("pdf_info", json!({"b": 2, "a": 1}))]).await;
    assert_eq!(answers.len(), 1, "it is answered all the same");
    let (tool, group) = (ToolName::known("pdf_info"), GroupName::known("pdf"));
    assert_eq!(stop, Some(Stop::BlindCalls { tool, group, times: 3 }));
}

#[tokio::test]
async fn a_tool_set_hides_all_else() {
    let toolset = Selection { include: vec!["group:pdf".into()], ..Selection::default() };
    let mut chat = Chat::with(snapshot_of(&GROUPS), Policy::default(), toolset, Loading::Grows);
    assert!(!chat.names().contains(&"core_tool"));
    assert!(!chat.conversation.listing().contains("mail"));
    assert!(
        chat.load("mail").await.starts_with("not_found: Tool group 'mail' not found. Available groups: pdf")
    );
    let call = chat.one("mail_send", json!({})).await;
    assert_eq!(call, "tool_not_available: Tool 'mail_send' is not available for this agent");
    let near = chat.one("mail_sen", json!({})).await;
    assert_eq!(near, "tool_not_found: Tool 'mail_sen' not found", "it does not give the name away");
    assert!(chat.load("pdf").await.starts_with("Loaded 2 tools"));
    assert_eq!(chat.one("pdf_text", json!({})).await, "{}");
}

#[tokio::test]
async fn what_policy_forbids_is_neither_listed_nor_loaded() {
    let policy = Policy::new(
        rules(&[json!({"effect": "deny", "tool": "mail_*"}), json!({"effect": "deny", "tool": "pdf_text"})]),
        [],
    );
    let mut chat = Chat::with(snapshot_of(&GROUPS), policy, Selection::default(), Loading::Grows);
    assert!(!chat.conversation.listing().contains("mail"));
    assert!(chat.load("mail").await.starts_with("not_found"));
    assert_eq!(chat.load("pdf").await, "Loaded 1 tools from group 'The pdf':\n- pdf_info: The tool pdf_info");
    assert!(chat.one("pdf_text", json!({})).await.starts_with("tool_not_available"));
}

#[test]
fn a_denied_loader_takes_nothing_with_it() {
    let policy = Policy::new(rules(&[json!({"effect": "deny", "tool": "load_tool_group"})]), []);
    let chat = Chat::with(snapshot_of(&GROUPS), policy, Selection::default(), Loading::Grows);
    assert!(chat.names().contains(&"core_tool"));
    assert_eq!(chat.conversation.listing(), "");
}

#[tokio::test]
async fn it_survives_being_kept_and_can_be_made_from_its_effects() {
    let mut chat = Chat::new(snapshot_of(&GROUPS));
    chat.load("mail").await;
    chat.load("pdf").await;
    let kept = serde_json::to_string(&chat.conversation).unwrap();
    let back: Conversation = serde_json::from_str(&kept).unwrap();
    assert_eq!(back, chat.conversation);
    let effects = ["mail", "pdf"].map(|group| Effect::ActivateGroup { group: GroupName::known(group) });
    let (restored, gone) = Conversation::restore(&chat.view(), &effects);
    assert_eq!((restored, gone), (back, vec![]));
}

#[test]
fn a_group_that_is_gone_changes_nothing_and_is_reported() {
    let chat = Chat::new(snapshot_of(&GROUPS));
    let effects = ["pdf", "gone"].map(|group| Effect::ActivateGroup { group: GroupName::known(group) });
    let (restored, gone) = Conversation::restore(&chat.view(), &effects);
    assert_eq!(restored.groups(), ["pdf"]);
    assert_eq!(gone, [Applied::Gone { group: GroupName::known("gone") }]);
    // One that was loaded and then went stays as it was shown.
    let later = Chat::new(snapshot_of(&[]));
    assert_eq!(restored.gone(&later.view()), ["pdf"]);
    assert!(restored.tools().iter().any(|tool| tool.name == "pdf_info"));
}

proptest! {
    #[test]
    fn loads_in_any_order_only_append(loads in prop::collection::vec(0..8usize, 20)) {
        let names: Vec<(String, Vec<String>)> = (0..8)
            .map(|group| (format!("g{group}"), (0..=group).map(|tool| format!("g{group}_t{tool}")).collect()))
            .collect();
        let tools: Vec<Vec<&str>> =
            names.iter().map(|(_, tools)| tools.iter().map(String::as_str).collect()).collect();
        let groups: Vec<(&str, &[&str])> =
            names.iter().zip(&tools).map(|((group, _), tools)| (group.as_str(), tools.as_slice())).collect();
        let chat = Chat::new(snapshot_of(&groups));
        let view = chat.view();
        let mut conversation = Conversation::start(&view);
        let mut seen = std::collections::HashSet::new();
        for group in loads {
            let before = conversation.clone();
            let effect = Effect::ActivateGroup { group: GroupName::new(&names[group].0).unwrap() };
            conversation.apply(&effect, &view);
            prop_assert_eq!(&conversation.tools()[..before.tools().len()], before.tools());
            prop_assert_eq!(conversation.listing(), before.listing());
            let grown = conversation.tools().len() - before.tools().len();
            prop_assert_eq!(grown, if seen.insert(group) { names[group].1.len() } else { 0 });
        }
    }
}

mod described {
    use super::*;

    fn chat(policy: Policy) -> Chat {
        Chat::with(snapshot_of(&GROUPS), policy, Selection::default(), Loading::Describes)
    }

    #[tokio::test]
    async fn a_load_describes_and_shows_nothing_new() {
        let mut chat = chat(Policy::default());
        let before = chat.conversation.tools().to_vec();
        assert!(chat.names().contains(&"call_tool"));
        assert_eq!(
            chat.load("mail").await,
            "Loaded 1 tools from group 'The mail':\n- mail_send: The tool mail_send\n  arguments: \
             {\"type\":\"object\",\"properties\":{}}\nCall them with call_tool {\"name\": …, \"arguments\": {…}}."
        );
        assert_eq!(chat.conversation.tools(), before);
        assert_eq!(chat.conversation.groups(), ["mail"]);
    }

    #[tokio::test]
    async fn call_tool_reaches_what_may_be_used_and_nothing_else() {
        let policy = Policy::new(rules(&[json!({"effect": "deny", "tool": "mail_send"})]), []);
        let mut chat = chat(policy);
        for (name, arguments, expected) in [
            ("pdf_info", json!({"x": 1}), r#"{"x":1}"#),
            ("core_tool", json!({}), "{}"),
            ("mail_send", json!({}), "permission_denied: Required permissions were denied: mail_send"),
            ("pdf_inf", json!({}), "tool_not_found: Tool 'pdf_inf' not found (Did you mean pdf_info?)"),
            ("call_tool", json!({"name": "pdf_info"}), "validation_error: call_tool cannot call call_tool"),
        ] {
            let call = json!({"name": name, "arguments": arguments});
            let answer = chat.one("call_tool", call).await;
            assert!(answer.starts_with(expected), "{name}: {answer}");
        }
        assert_eq!(chat.one("call_tool", json!({"name": "pdf_info"})).await, "{}", "no arguments are none");
        let answer = chat.one("call_tool", json!({"arguments": {}})).await;
        assert_eq!(answer, "validation_error: Missing required parameter: 'name'");
    }

    #[tokio::test]
    async fn an_inner_tool_outside_the_tool_set_is_out_of_reach() {
        let toolset = Selection { exclude: vec!["mail_send".into()], ..Selection::default() };
        let mut chat = Chat::with(snapshot_of(&GROUPS), Policy::default(), toolset, Loading::Describes);
        let answer = chat.one("call_tool", json!({"name": "mail_send"})).await;
        assert_eq!(answer, "tool_not_available: Tool 'mail_send' is not available for this agent");
    }
}
