//! Groups and core tools: RFC-040's registry tests, and what they leave open.

use std::{collections::BTreeSet, sync::Arc};

use pinza_core::{
    CallScope, Caller, Entry, Group, GroupName, Registry, Snapshot, Source, ToolContext, ToolMeta, ToolName,
};

use crate::support::named;

/// Tools as `name` or `group/name`.
fn registry(tools: &[&'static str]) -> Registry {
    let mut registry = Registry::new();
    for tool in tools {
        let (group, name) = tool.split_once('/').map_or((None, *tool), |(group, name)| (Some(group), name));
        let meta = ToolMeta { source: Source::Builtin, ..ToolMeta::new(ToolName::known(name), "") };
        let meta = group.map_or(meta.clone(), |group| meta.group(GroupName::known(group)));
        registry.register(named(name), Some(meta)).unwrap();
    }
    registry
}

fn snapshot(registry: &Registry) -> Snapshot {
    registry.resolve_all(&ToolContext::default()).into_snapshot(registry, |_| true)
}

fn names<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<&'a str> {
    entries.map(|entry| entry.definition().name.as_str()).collect()
}

#[test]
fn core_tools_are_those_in_no_group() {
    let snapshot = snapshot(&registry(&["core_tool", "config/grouped_tool"]));
    let view = CallScope::new(Caller::Library, Arc::new(snapshot)).view(Arc::default());
    assert_eq!(names(view.core()), ["core_tool"]);
}

#[test]
fn a_group_has_its_own_tools_and_an_unknown_one_has_none() {
    let snapshot = snapshot(&registry(&["config/a", "config/b", "pdf/c", "core"]));
    let cases: [(&str, &[&str]); 4] =
        [("config", &["a", "b"]), ("pdf", &["c"]), ("nonexistent", &[]), ("", &[])];
    for (group, tools) in cases {
        assert_eq!(names(snapshot.group_tools(group)), tools, "{group}");
    }
}

#[test]
fn registered_groups_are_listed_with_their_words() {
    let mut registry = Registry::new();
    registry.register_group(Group::new(GroupName::known("config"), "Configuration", "Config tools"));
    let all: Vec<&Group> = registry.groups().collect();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].name.as_str(), all[0].display_name.as_str()), ("config", "Configuration"));
    assert_eq!(registry.group("config").unwrap().description, "Config tools");
    assert!(registry.group("pdf").is_none());
    assert_eq!(snapshot(&registry).group("config"), registry.group("config"));
    registry.clear();
    assert_eq!(registry.groups().count(), 0);
}

#[test]
fn any_source_can_be_in_a_group() {
    let mut registry = registry(&["config/a"]);
    let gmail = ToolMeta {
        source: Source::Js("google_gmail.js".into()),
        ..ToolMeta::new(ToolName::known("b"), "").group(GroupName::known("google_gmail"))
    };
    registry.register(named("b"), Some(gmail)).unwrap();
    let snapshot = snapshot(&registry);
    let groups: BTreeSet<&str> = snapshot.groups().map(|group| group.name.as_str()).collect();
    assert_eq!(groups, BTreeSet::from(["config", "google_gmail"]));
}

#[test]
fn a_group_that_nobody_described_gets_words_of_its_own() {
    let cases = [
        ("my_tools", "My Tools", "Tools from my_tools group"),
        ("pdf", "Pdf", "Tools from pdf group"),
        ("a__b", "A  B", "Tools from a__b group"),
        ("été_x", "Été X", "Tools from été_x group"),
    ];
    for (name, display_name, description) in cases {
        let group = Group::unnamed(GroupName::new(name).unwrap());
        assert_eq!((group.display_name.as_str(), group.description.as_str()), (display_name, description));
    }
    let mut registry = registry(&["my_tools/a", "pdf/b"]);
    registry.register_group(Group::new(GroupName::known("pdf"), "PDF", "Reads PDF files"));
    let snapshot = snapshot(&registry);
    assert_eq!(snapshot.group("my_tools").unwrap().display_name, "My Tools");
    assert_eq!(snapshot.group("pdf").unwrap().display_name, "PDF", "given words are kept");
}
