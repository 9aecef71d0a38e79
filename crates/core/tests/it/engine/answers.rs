//! What a caller hears: look-up, visibility, arguments and permissions.

use std::sync::Arc;

use pinza_core::{
    Answer, CallScope, Caller, Capability, GroupName, Parameter, Parameters, Registry, Tool, ToolContext,
    ToolMeta, ToolName, Visibility,
};
use serde_json::{Value, json};

use crate::support::{Person, World, definition, describe, echo, fake, named};

/// `write_file` as RFC-004 defines it, echoing what reaches it.
fn write_file() -> Arc<dyn Tool> {
    let parameters = Parameters::build()
        .required("path", Parameter::string("Where"))
        .required("content", Parameter::string("What"))
        .optional("mode", Parameter::string("How").one_of(["overwrite", "append"]).default_value("overwrite"))
        .optional("retries", Parameter::integer("How often"))
        .done();
    echo(definition("write_file").parameters(parameters))
}

fn needing(name: &str, capability: &str) -> Arc<dyn Tool> {
    echo(definition(name).needs(Capability::new(capability).unwrap()))
}

#[tokio::test]
async fn unknown_names_are_answered_with_near_ones() {
    let world = World::new([named("read_file"), named("write_file"), named("exec")]);
    let cases = [
        ("xyz", "tool_not_found: Tool 'xyz' not found"),
        ("", "tool_not_found: Tool '' not found"),
        ("read_fle", "tool_not_found: Tool 'read_fle' not found (Did you mean read_file?)"),
        ("a\u{1b}[2J", "tool_not_found: Tool 'a\\u{1b}[2J' not found"),
    ];
    for (name, expected) in cases {
        world.check(name, json!({}), expected).await;
    }
    assert!(world.watcher.started.lock().unwrap().is_empty(), "none of them started");
    assert!(world.last_told().arguments.is_none());
}

#[tokio::test]
async fn hidden_and_disabled_tools() {
    let mut registry = Registry::new();
    registry.register(named("core_one"), None).unwrap();
    registry.register(named("core_two"), None).unwrap();
    registry.register(named("core_off"), None).unwrap();
    let meta = ToolMeta::new(ToolName::known("pdf_info"), "").group(GroupName::known("pdf"));
    registry.register(named("pdf_info"), Some(meta)).unwrap();
    pinza_core::meta::register(&mut registry).unwrap();
    let snapshot =
        registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |meta| meta.id != "core_off");
    let mut world = World::new([]);
    world.scope = CallScope {
        visibility: Visibility::only(["core_one", "core_off", "load_tool_group"].map(ToolName::known)),
        ..CallScope::new(Caller::Agent { session: "s".into() }, Arc::new(snapshot))
    };
    let cases = [
        ("core_one", "core_one"),
        ("core_two", "tool_not_available: Tool 'core_two' is not available for this agent"),
        (
            "pdf_info",
            "tool_not_available: Tool 'pdf_info' is not available for this agent \
             (Load its group first: load_tool_group {\"group_name\": \"pdf\"}. Its arguments are: {\"type\":\"object\",\"properties\":{}})",
        ),
        (
            "core_off",
            "tool_disabled: Tool 'core_off' is disabled (Enable it with: pinza tools enable core_off)",
        ),
        // Neither a hidden nor a disabled tool is worth a hint.
        ("core_owo", "tool_not_found: Tool 'core_owo' not found (Did you mean core_one?)"),
    ];
    for (name, expected) in cases {
        world.check(name, json!({}), expected).await;
    }
}

#[tokio::test]
async fn arguments_reach_the_tool_repaired_or_not_at_all() {
    let world = World::new([write_file(), echo(definition("anything"))]);
    let fine = r#"{"path":"a","content":"b","mode":"overwrite"}"#;
    let cases: [(&str, Value, &str); 14] = [
        ("write_file", json!({"path": "a", "content": "b"}), fine),
        ("write_file", json!({"path": "a", "content": "b", "mode": null, "retries": null}), fine),
        ("write_file", json!(r#"{"path": "a", "content": "b"}"#), fine),
        (
            "write_file",
            json!({"path": "a", "content": "b", "mode": "append", "retries": "3"}),
            r#"{"path":"a","content":"b","mode":"append","retries":3}"#,
        ),
        (
            "write_file",
            json!({"path": "a", "content": "b", "mode": "append", "extra": [1]}),
            r#"{"path":"a","content":"b","mode":"append","extra":[1]}"#,
        ),
        ("write_file", json!({}), "validation_error: Missing required parameter: 'path'"),
        ("write_file", Value::Null, "validation_error: Missing required parameter: 'path'"),
        (
            "write_file",
            json!({"path": "a", "content": null}),
            "validation_error: Missing required parameter: 'content'",
        ),
        (
            "write_file",
            json!({"path": 5, "content": "b"}),
            "validation_error: Parameter 'path' expected type 'string' but got integer",
        ),
        (
            "write_file",
            json!({"path": "a", "content": "b", "mode": "burn"}),
            "validation_error: Parameter 'mode' must be one of: overwrite, append",
        ),
        ("write_file", json!([]), "validation_error: Arguments must be a JSON object but got array"),
        ("anything", json!({}), "{}"),
        ("anything", Value::Null, "{}"),
        ("anything", json!({"x": null, "y": {}}), r#"{"x":null,"y":{}}"#),
    ];
    for (name, arguments, expected) in cases {
        world.check(name, arguments, expected).await;
    }
}

#[tokio::test]
async fn observers_see_the_checked_arguments() {
    let world = World::new([write_file()]);
    world.call("write_file", json!({"path": "a", "content": "b"})).await.unwrap();
    let arguments = world.last_told().arguments.unwrap();
    assert_eq!(arguments, json!({"path": "a", "content": "b", "mode": "overwrite"}));
    world.call("write_file", json!({})).await.unwrap_err();
    assert!(world.last_told().arguments.is_none(), "these were never valid");
    assert_eq!(*world.watcher.started.lock().unwrap(), ["call-1"]);
}

#[tokio::test]
async fn policy_and_people_decide() {
    let deny = json!({"effect": "deny", "tool": "forbidden"});
    let nobody = "permission_denied: Required permissions were denied: exec (Nobody can be asked here. Allow \
                  it with --allow exec, or for good with: pinza policy allow exec)";
    let ruled = "permission_denied: Required permissions were denied: net (A rule or flag denies it. See \
                 which with: pinza policy test forbidden)";
    let refused =
        "permission_denied: Required permissions were denied: exec (The user said no to this call.)";
    let cases = [
        ("free", None, "{}"),
        ("reads", None, "{}"),
        ("runs", None, nobody),
        ("runs", Some(Answer::Once), "{}"),
        ("runs", Some(Answer::Deny), refused),
        ("forbidden", Some(Answer::Once), ruled),
    ];
    for (name, answer, expected) in cases {
        let tools = [
            needing("reads", "fs.read"),
            needing("runs", "exec"),
            needing("forbidden", "net"),
            echo(definition("free")),
        ];
        let world = World::with_rules(tools, std::slice::from_ref(&deny));
        let world = match answer {
            Some(answer) => world.asking(Person::says(answer)),
            None => world,
        };
        world.check(name, json!({}), expected).await;
    }
}

#[tokio::test]
async fn decisions_are_told_to_observers() {
    let tools = || {
        let both = definition("both").needs(Capability::known("fs.read")).needs(Capability::known("exec"));
        [echo(both), echo(definition("plain"))]
    };
    let seen = |world: &World| -> Vec<String> {
        let records = world.last_told().decisions;
        records.iter().map(|one| format!("{} {} {}", one.capability, one.granted, one.asked)).collect()
    };
    let deny_plain = [json!({"effect": "deny", "tool": "plain"})];
    let world = World::with_rules(tools(), &deny_plain).asking(Person::says(Answer::Once));
    world.call("both", json!({})).await.unwrap();
    assert_eq!(seen(&world), ["fs.read true false", "exec true true"]);
    world.call("plain", json!({})).await.unwrap_err();
    assert_eq!(seen(&world), ["call false false"]);

    let world = World::new(tools());
    world.call("both", json!({})).await.unwrap_err();
    assert_eq!(seen(&world), ["fs.read true false", "exec false false"]);
}

#[tokio::test]
async fn a_call_keeps_the_policy_it_began_with() {
    let world = Arc::new(World::new([]));
    let engine = Arc::clone(&world.engine);
    let sly = fake(definition("sly").needs(Capability::known("net")), move |_, context| {
        let engine = Arc::clone(&engine);
        Box::pin(async move {
            let deny = pinza_core::Rule::capability(pinza_core::Verdict::Deny, "net");
            engine.set_policy(pinza_core::Policy::new([deny], []));
            let again = pinza_core::Permission::new(Capability::known("net"));
            pinza_core::Permits::permit(context, again).await?;
            Ok("still allowed".into())
        })
    });
    let scope = CallScope::new(Caller::Library, crate::support::snapshot([sly]));
    assert_eq!(describe(&world.call_in(&scope, "sly", json!({})).await), "still allowed");
    let next = world.call_in(&scope, "sly", json!({})).await.unwrap_err();
    assert_eq!(next.kind.code(), "permission_denied");
}
