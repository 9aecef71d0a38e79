//! `load_skill`: instructions for a conversation, and the tools that they speak of.

use std::sync::Arc;

use pinza_core::{
    CallScope, Caller, Conversation, Engine, Group, GroupName, Loading, Outcome, Policy, Registry, Selection,
    Skill, Snapshot, ToolCall, ToolContext, ToolMeta, ToolResult, meta,
};
use serde_json::{Value, json};

use crate::support::{definition, describe, echo, rules};

const TRIP: &str = "---\nname: plan-a-trip\ndisplay_name: Plan a Trip\ndescription: Plan a trip by train\nversion: '2.0'\n\
    tools_required: [core_tool, mail_send, pdf_text, pdf_info, teleport]\n\
    parameters:\n  - {name: city, description: Where to, required: true}\n  - {name: days, default: two}\n---\n\
    Go to {{city}} for {{days}} days.\n";
const PLAIN: &str =
    "---\nname: be-brief\ndisplay_name: Be Brief\ndescription: |\n  Answer in\n  few words\n---\nBe brief.";

fn skill(text: &str) -> Skill {
    let (skill, faults) = Skill::parse(text);
    assert_eq!(faults, []);
    skill.unwrap()
}

fn snapshot(skills: &[&str]) -> Arc<Snapshot> {
    let mut registry = Registry::new();
    meta::register(&mut registry).unwrap();
    registry.register(echo(definition("core_tool")), None).unwrap();
    for (group, tool) in [("pdf", "pdf_info"), ("pdf", "pdf_text"), ("mail", "mail_send")] {
        let name = GroupName::new(group).unwrap();
        registry.register_group(Group::new(
            name.clone(),
            format!("The {group}"),
            format!("All about {group}"),
        ));
        let tool = echo(definition(tool));
        let meta = ToolMeta::new(tool.definition().name.clone(), "x").group(name);
        registry.register(tool, Some(meta)).unwrap();
    }
    for text in skills {
        registry.register_skill(skill(text)).unwrap();
    }
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true))
}

struct Chat {
    engine: Arc<Engine>,
    scope: CallScope,
    conversation: Conversation,
}

impl Chat {
    fn new(skills: &[&str]) -> Self {
        Self::with(skills, &[], Selection::default(), Loading::Grows)
    }

    fn with(skills: &[&str], denied: &[Value], toolset: Selection, loading: Loading) -> Self {
        let caller = Caller::Agent { session: "s".into() };
        let scope =
            CallScope { toolset: Arc::new(toolset), loading, ..CallScope::new(caller, snapshot(skills)) };
        let engine = Arc::new(Engine::new(Policy::new(rules(denied), [])));
        let conversation = Conversation::start(&scope.view(engine.policy()));
        Self { engine, scope, conversation }
    }

    async fn load(&mut self, arguments: Value) -> ToolResult {
        self.calls(&[("load_skill", arguments)]).await.remove(0)
    }

    async fn calls(&mut self, calls: &[(&str, Value)]) -> Vec<ToolResult> {
        let call = |(index, (name, arguments)): (usize, &(&str, Value))| {
            ToolCall::new(index.to_string(), *name, arguments.clone())
        };
        let calls = calls.iter().enumerate().map(call).collect();
        let round = self.conversation.round(&self.engine, calls, &self.scope, |_: &Outcome| {}).await;
        round.outcomes.into_iter().map(|outcome| outcome.result).collect()
    }

    fn groups(&self) -> Vec<&str> {
        self.conversation.groups().iter().map(GroupName::as_str).collect()
    }
}

#[tokio::test]
async fn a_skill_comes_with_its_tools() {
    let mut chat = Chat::new(&[TRIP]);
    let before = chat.conversation.tools().to_vec();
    let output =
        chat.load(json!({"name": "plan-a-trip", "parameters": {"city": "Genova", "mood": 1}})).await.unwrap();
    assert_eq!(
        output.as_text(),
        "Loaded skill 'Plan a Trip' (plan-a-trip 2.0): Plan a trip by train\n\
         Loaded 1 tools from group 'The mail'.\nLoaded 2 tools from group 'The pdf'.\n\
         Not available here: teleport. Do without, or say so.\nIt has no parameters: mood\n\n\
         Go to Genova for two days."
    );
    assert_eq!(
        output.details,
        Some(json!({"skill": "plan-a-trip", "groups": ["mail", "pdf"], "notAvailable": ["teleport"]}))
    );
    assert_eq!(chat.groups(), ["mail", "pdf"]);
    assert_eq!(chat.conversation.tools()[..before.len()], before, "what was sent stays");
    assert_eq!(chat.conversation.tools().len(), before.len() + 3);
}

#[tokio::test]
async fn its_tools_can_be_used_in_the_same_round() {
    let mut chat = Chat::new(&[TRIP]);
    let calls = [
        ("mail_send", json!({"to": "ada"})),
        ("load_skill", json!({"name": "plan-a-trip", "parameters": {"city": "Rome"}})),
    ];
    let answers = chat.calls(&calls).await;
    assert_eq!(describe(&answers[0]), r#"{"to":"ada"}"#);
}

#[tokio::test]
async fn where_the_array_stays_the_schemas_are_in_the_text() {
    let mut chat = Chat::with(&[TRIP], &[], Selection::default(), Loading::Describes);
    let before = chat.conversation.tools().to_vec();
    let output = chat.load(json!({"name": "plan-a-trip", "parameters": {"city": "Rome"}})).await.unwrap();
    assert!(
        output.as_text().contains("Loaded 2 tools from group 'The pdf':\n- pdf_info: "),
        "{}",
        output.as_text()
    );
    assert!(output.as_text().contains("  arguments: {"), "{}", output.as_text());
    assert_eq!(chat.conversation.tools(), before);
    assert!(chat.conversation.visibility().sees("pdf_info"));
}

#[tokio::test]
async fn what_is_wrong_is_told() {
    let mut chat = Chat::new(&[TRIP, PLAIN]);
    let unknown = chat.load(json!({"name": "teleport\u{1b}"})).await;
    assert_eq!(
        describe(&unknown),
        "not_found: Skill 'teleport\\u{1b}' not found. Available skills: plan-a-trip, be-brief"
    );
    for arguments in
        [json!({"name": "plan-a-trip"}), json!({"name": "plan-a-trip", "parameters": {"city": null}})]
    {
        let missing = chat.load(arguments).await;
        assert_eq!(
            describe(&missing),
            "validation_error: Missing required parameter: 'city' (Give it in 'parameters'. Skill 'plan-a-trip' takes: \
             city (Where to, required); days)"
        );
    }
    assert!(chat.groups().is_empty(), "a load that failed loads nothing");
    assert_eq!(describe(&chat.load(json!({})).await), "validation_error: Missing required parameter: 'name'");
    assert_eq!(
        describe(&chat.load(json!({"name": "be-brief"})).await),
        "Loaded skill 'Be Brief' (be-brief): Answer in few words\n\nBe brief."
    );
}

#[tokio::test]
async fn a_skill_gives_no_tool_that_its_caller_may_not_use() {
    let denied = [json!({"effect": "deny", "tool": "mail_*"})];
    let toolset = Selection { exclude: vec!["pdf_text".into()], ..Selection::default() };
    let mut chat = Chat::with(&[TRIP], &denied, toolset, Loading::Grows);
    let output = chat.load(json!({"name": "plan-a-trip", "parameters": {"city": "Rome"}})).await.unwrap();
    assert!(
        output.as_text().contains("Not available here: mail_send, pdf_text, teleport."),
        "{}",
        output.as_text()
    );
    assert_eq!(chat.groups(), ["pdf"]);
    assert!(!chat.conversation.visibility().sees("mail_send"));
    assert!(!chat.conversation.visibility().sees("pdf_text"));
    let blind = chat.calls(&[("mail_send", json!({}))]).await;
    assert!(blind[0].is_err());
}

const SKILLS: &str = "## Available Skills\n\nUse `load_skill` to load a skill's instructions before a task that it is about.\n\n\
    - plan-a-trip: Plan a trip by train\n- be-brief: Answer in few words";
const GROUPS: &str = "## Available Tool Groups\n\nUse `load_tool_group` to load tools from a group before using them.\n\n\
    - pdf: All about pdf\n- mail: All about mail";

#[test]
fn the_listing_names_skills_before_groups() {
    let chat = Chat::new(&[TRIP, PLAIN]);
    assert_eq!(chat.conversation.listing(), format!("{SKILLS}\n\n---\n\n{GROUPS}"));
    assert_eq!(chat.conversation.skills_listing(), SKILLS);
    let text = serde_json::to_string(&chat.conversation).unwrap();
    assert_eq!(serde_json::from_str::<Conversation>(&text).unwrap(), chat.conversation);

    // A tool set is about tools.
    let toolset = Selection { include: vec!["core_tool".into()], ..Selection::default() };
    let narrow = Chat::with(&[TRIP, PLAIN], &[], toolset, Loading::Grows);
    assert_eq!(narrow.conversation.listing(), SKILLS);
}

#[test]
fn without_skills_or_the_right_to_load_them_nothing_is_said() {
    let has = |chat: &Chat| chat.conversation.tools().iter().any(|tool| tool.name == "load_skill");
    let none = Chat::new(&[]);
    assert_eq!((none.conversation.listing(), has(&none)), (GROUPS, false));
    let denied = [json!({"effect": "deny", "tool": "load_skill"})];
    let denied = Chat::with(&[TRIP], &denied, Selection::default(), Loading::Grows);
    assert_eq!((denied.conversation.listing(), has(&denied)), (GROUPS, false));
    assert!(has(&Chat::new(&[TRIP])));
}

#[test]
fn one_name_one_skill() {
    let mut registry = Registry::new();
    registry.register_skill(skill(PLAIN)).unwrap();
    let clash = registry.register_skill(skill(PLAIN)).unwrap_err();
    assert_eq!(clash.to_string(), "Skill 'be-brief' is already registered");
    registry.replace_skill(Skill { body: "Other.".into(), ..skill(PLAIN) });
    assert_eq!(registry.skills().map(|skill| &*skill.body).collect::<Vec<_>>(), ["Other."]);
}
