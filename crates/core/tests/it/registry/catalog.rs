//! Registering, listing and removing.

use pinza_core::{CATALOG, Profile, Registry, Source, ToolContext, ToolMeta, ToolName, catalog_row};

use crate::support::{answering, definition, named};

fn registry(names: &[&str]) -> Registry {
    let mut registry = Registry::new();
    names.iter().for_each(|name| registry.register(named(name), None).unwrap());
    registry
}

fn ids(registry: &Registry) -> Vec<&str> {
    registry.list().map(|meta| meta.id.as_str()).collect()
}

#[test]
fn a_registered_tool_is_found_by_its_name() {
    let registry = registry(&["a", "b"]);
    assert!(registry.has("a") && registry.has("b") && !registry.has("c"));
    let tool = registry.resolve("b", &ToolContext::default()).unwrap().unwrap();
    assert_eq!(tool.definition().name, "b");
    assert!(registry.resolve("c", &ToolContext::default()).is_none());
}

#[test]
fn a_second_tool_of_one_name_is_refused_and_the_first_stays() {
    let mut registry = registry(&["a"]);
    let other = answering(definition("a"), "other");
    let clash = registry.register(other, None).unwrap_err();
    assert_eq!(clash.to_string(), "Tool 'a' is already registered");
    let factory = |_: &ToolContext| Ok(vec![]);
    let meta = ToolMeta::new(ToolName::known("a"), "");
    assert!(registry.register_factory(std::sync::Arc::new(factory), meta).is_err());
    assert_eq!(registry.len(), 1);
    assert_eq!(registry.list().next().unwrap().description, "The tool a");
}

#[test]
fn a_tool_that_says_nothing_is_custom_and_full() {
    let registry = registry(&["a"]);
    let meta = registry.list().next().unwrap();
    assert_eq!((meta.id.as_str(), meta.label.as_str()), ("a", "a"));
    assert_eq!((meta.description.as_str(), meta.section.as_str()), ("The tool a", "custom"));
    assert_eq!((&*meta.profiles, &meta.source), (&[Profile::Full][..], &Source::Native));
    assert!(meta.group.is_none());
}

#[test]
fn given_meta_overrides_all_but_the_name() {
    let mut registry = Registry::new();
    let meta = ToolMeta {
        section: "web".into(),
        profiles: vec![Profile::Coding],
        source: Source::Js("greet.js".into()),
        ..ToolMeta::new(ToolName::known("wrong"), "A better description")
    };
    registry.register(named("greet"), Some(meta)).unwrap();
    let meta = registry.list().next().unwrap();
    assert_eq!((meta.id.as_str(), meta.section.as_str()), ("greet", "web"));
    assert_eq!(meta.description, "A better description");
    assert_eq!(meta.source.to_string(), "js:greet.js");
}

#[test]
fn builtin_meta_comes_from_the_catalog() {
    assert_eq!(CATALOG.len(), 23);
    for row in &CATALOG {
        let meta = ToolMeta::catalogued(catalog_row(row.id).unwrap());
        assert_eq!((meta.id.as_str(), meta.section.as_str()), (row.id, row.section));
        assert_eq!((meta.description.as_str(), &*meta.profiles), (row.description, row.profiles));
        assert_eq!(meta.source, Source::Builtin);
    }
    assert!(catalog_row("not_in_the_catalog").is_none());
    let meta = ToolMeta::builtin("not_in_the_catalog", "", "media");
    assert_eq!((meta.section.as_str(), &*meta.profiles), ("media", &[Profile::Full][..]));
}

#[test]
fn the_list_keeps_the_order_of_registration() {
    let mut registry = registry(&["c", "a", "b"]);
    assert_eq!(ids(&registry), ["c", "a", "b"]);
    assert!(registry.unregister("a"));
    assert!(!registry.unregister("a"), "it is gone");
    assert_eq!(ids(&registry), ["c", "b"]);
    assert_eq!((registry.len(), registry.is_empty()), (2, false));
    registry.clear();
    assert_eq!((registry.len(), registry.is_empty(), registry.has("c")), (0, true, false));
}

#[test]
fn sections_come_in_the_catalogs_order_and_unknown_ones_last() {
    let mut registry = Registry::new();
    for (name, section) in [("x", "garden"), ("y", "custom"), ("z", "web"), ("w", "fs"), ("v", "web")] {
        let meta = ToolMeta { section: section.into(), ..ToolMeta::new(ToolName::known(name), "") };
        registry.register(named(name), Some(meta)).unwrap();
    }
    let sections: Vec<String> = registry
        .list_by_section()
        .into_iter()
        .map(|(id, label, tools)| {
            let tools: Vec<&str> = tools.iter().map(|meta| meta.id.as_str()).collect();
            format!("{id} {label}: {}", tools.join(" "))
        })
        .collect();
    assert_eq!(sections, ["fs Files: w", "web Web: z v", "custom Custom: y", "garden garden: x"]);
}

#[test]
fn replace_keeps_place_and_group() {
    let mut registry = Registry::new();
    let group = pinza_core::GroupName::known("web");
    let meta = ToolMeta::new(ToolName::known("a"), "").group(group.clone());
    registry.register(named("a"), Some(meta)).unwrap();
    registry.register(named("b"), None).unwrap();

    let elsewhere = ToolMeta::new(ToolName::known("a"), "mine").group(pinza_core::GroupName::known("mine"));
    registry.replace(answering(definition("a"), "mine"), Some(elsewhere.clone()));
    registry.replace(named("c"), Some(ToolMeta { id: ToolName::known("c"), ..elsewhere }));
    assert_eq!(ids(&registry), ["a", "b", "c"]);
    let groups: Vec<_> =
        registry.list().map(|meta| meta.group.as_ref().map(|name| name.as_str().to_owned())).collect();
    assert_eq!(groups, [Some("web".into()), None, Some("mine".into())]);
    assert_eq!(registry.list().next().unwrap().description, "mine");
}
