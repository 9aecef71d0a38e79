//! Snapshots: pinned, chosen from, and searched for a name that was meant.

use std::sync::Arc;

use pinza_core::{
    CallScope, Caller, Engine, GroupName, Policy, Profile, Registry, Selection, Snapshot, ToolCall,
    ToolContext, ToolMeta, ToolName, catalog_row,
};
use serde_json::json;

use crate::support::{answering, definition, describe, named};

fn pin(registry: &Registry) -> Arc<Snapshot> {
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(registry, |_| true))
}

#[tokio::test]
async fn a_pinned_snapshot_keeps_running_the_old_code() {
    let mut registry = Registry::new();
    registry.register(answering(definition("tool"), "old"), None).unwrap();
    let pinned = pin(&registry);

    registry.replace(answering(definition("tool"), "new"), None);
    registry.register(named("later"), None).unwrap();
    let engine = Engine::new(Policy::default());
    let call = async |snapshot: &Arc<Snapshot>, name: &str| {
        let scope = CallScope::new(Caller::Library, Arc::clone(snapshot));
        describe(&engine.call(ToolCall::new("1", name, json!({})), &scope).await.result)
    };
    assert_eq!(call(&pinned, "tool").await, "old");
    assert_eq!(call(&pinned, "later").await, "tool_not_found: Tool 'later' not found");
    assert_eq!((pinned.len(), pin(&registry).len()), (1, 2));
    assert_eq!(call(&pin(&registry), "tool").await, "new");

    registry.clear();
    assert_eq!(call(&pinned, "tool").await, "old");
    assert!(pin(&registry).is_empty());
}

#[test]
fn enabled_flags_are_decided_when_the_snapshot_is_made() {
    let mut registry = Registry::new();
    registry.register(named("a"), None).unwrap();
    registry.register(named("b"), None).unwrap();
    let snapshot =
        registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |meta| meta.id != "b");
    let enabled: Vec<bool> = snapshot.tools().map(|entry| entry.is_enabled()).collect();
    assert_eq!(enabled, [true, false], "a disabled tool is known, not gone");
}

/// Built-in tools of three sections, one grouped script.
fn shop() -> Arc<Snapshot> {
    let mut registry = Registry::new();
    for id in ["read", "write", "edit", "exec", "web_search", "web_fetch", "session_status"] {
        let meta = ToolMeta::catalogued(catalog_row(id).unwrap());
        registry.register(named(id), Some(meta)).unwrap();
    }
    let script = ToolMeta::new(ToolName::known("gmail_send"), "").group(GroupName::known("gmail"));
    registry.register(named("gmail_send"), Some(script)).unwrap();
    pin(&registry)
}

#[test]
fn selections() {
    let all = ["read", "write", "edit", "exec", "web_search", "web_fetch", "session_status", "gmail_send"];
    type Case<'a> = (Option<Profile>, &'a [&'a str], &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let coding: &[&str] = &["read", "write", "edit", "exec", "session_status"];
    let cases: [Case<'_>; 12] = [
        (None, &[], &[], &all, &[]),
        (None, &["write", "read"], &[], &["read", "write"], &[]),
        (None, &["read", "nothing"], &[], &["read"], &["nothing"]),
        (None, &["group:fs"], &[], &["read", "write", "edit"], &[]),
        (None, &["group:fs"], &["write"], &["read", "edit"], &[]),
        (None, &["group:openclaw"], &[], &["web_search", "web_fetch", "session_status"], &[]),
        (None, &["group:gmail"], &[], &["gmail_send"], &[]),
        (None, &[], &["group:web", "group:gmail"], &["read", "write", "edit", "exec", "session_status"], &[]),
        (Some(Profile::Coding), &[], &[], coding, &[]),
        (Some(Profile::Minimal), &["group:web"], &["web_fetch"], &["web_search", "session_status"], &[]),
        (Some(Profile::Full), &[], &["group:zoo"], &all, &["group:zoo"]),
        (None, &["fs"], &[], &[], &["fs"]),
    ];
    let shop = shop();
    for (profile, include, exclude, expected, idle) in cases {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection { profile, include: owned(include), exclude: owned(exclude) };
        let chosen: Vec<&str> = selection.of(&shop).map(|entry| entry.meta().id.as_str()).collect();
        assert_eq!(chosen, expected, "{selection:?}");
        assert_eq!(selection.idle(&shop).collect::<Vec<_>>(), idle, "{selection:?}");
    }
}

#[test]
fn near_names() {
    let shop = shop();
    let cases: [(&str, &[&str]); 6] = [
        ("raed", &["read"]),
        ("WRITE", &["write"]),
        ("web_serch", &["web_search", "web_fetch"]),
        ("gmail-send", &["gmail_send"]),
        ("zebra", &[]),
        ("", &[]),
    ];
    for (name, near) in cases {
        assert_eq!(shop.near_names(name), near, "{name}");
    }
}

#[test]
fn a_monstrous_name_is_near_to_nothing_and_costs_nothing() {
    let shop = shop();
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        assert!(shop.near_names(&"read".repeat(1 << 20)).is_empty());
    }
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}
