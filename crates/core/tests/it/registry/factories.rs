//! Factories: called late, with the context, and never trusted.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use pinza_core::{
    Arguments, BoxFuture, CallContext, Factory, Profile, Registry, Resolution, Tool, ToolContext,
    ToolDefinition, ToolMeta, ToolName, ToolResult, need,
};

use crate::support::{answering, named};

type Made = Result<Vec<Arc<dyn Tool>>, String>;
type Make = fn(&ToolContext) -> Made;

fn factory(make: impl Fn(&ToolContext) -> Made + Send + Sync + 'static) -> Factory {
    Arc::new(make)
}

fn meta(name: &'static str, profiles: &[Profile]) -> ToolMeta {
    ToolMeta { profiles: profiles.to_vec(), ..ToolMeta::new(ToolName::known(name), "lazy") }
}

/// A registry with one factory of this id.
fn with_factory(id: &'static str, make: impl Fn(&ToolContext) -> Made + Send + Sync + 'static) -> Registry {
    let mut registry = Registry::new();
    registry.register_factory(factory(make), meta(id, &[])).unwrap();
    registry
}

fn names(resolution: &Resolution) -> Vec<&str> {
    resolution.tools().map(|tool| tool.definition().name.as_str()).collect()
}

fn failures(resolution: &Resolution) -> Vec<String> {
    resolution.failures.iter().map(|failure| format!("{}: {}", failure.id, failure.reason)).collect()
}

#[test]
fn no_query_runs_a_factory() {
    let made = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    for (name, profile) in [("coder", Profile::Coding), ("talker", Profile::Messaging)] {
        let made = Arc::clone(&made);
        let lazy = factory(move |_| {
            made.fetch_add(1, SeqCst);
            Ok(vec![named(name)])
        });
        registry.register_factory(lazy, meta(name, &[profile])).unwrap();
    }
    assert_eq!(registry.list().count(), 2);
    assert_eq!(registry.list_by_section().len(), 1);
    assert!(registry.has("coder") && !registry.has("other"));
    assert_eq!((registry.len(), registry.groups().count()), (2, 0));
    assert!(format!("{registry:?}").contains("coder"));
    assert!(registry.resolve("other", &ToolContext::default()).is_none());
    assert_eq!(made.load(SeqCst), 0, "queries are free");

    assert!(registry.resolve("coder", &ToolContext::default()).unwrap().is_ok());
    assert_eq!(made.load(SeqCst), 1, "resolving one makes one");
    registry.resolve_by_profile(Profile::Coding, &ToolContext::default());
    assert_eq!(made.load(SeqCst), 2, "a profile makes only its own");
    registry.resolve_all(&ToolContext::default());
    assert_eq!(made.load(SeqCst), 4);
}

#[test]
fn a_factory_gets_the_context() {
    let registry = with_factory("greet", |context| {
        let who = need(&context.agent_id, "agentId").map_err(|error| error.to_string())?;
        Ok(vec![answering(ToolDefinition::new(ToolName::known("greet"), format!("Greets {who}")), "")])
    });
    let context = ToolContext { agent_id: Some("writer".into()), ..ToolContext::default() };
    let tool = registry.resolve("greet", &context).unwrap().unwrap();
    assert_eq!(tool.definition().description, "Greets writer");

    let missing = registry.resolve_all(&ToolContext::default());
    assert_eq!(failures(&missing), ["greet: the context has no 'agentId'"]);
    let missing = registry.resolve("greet", &ToolContext::default()).unwrap().unwrap_err();
    assert_eq!(missing.reason, "the context has no 'agentId'");
}

/// A tool whose definition cannot even be looked at.
struct Shy;

impl Tool for Shy {
    fn definition(&self) -> &ToolDefinition {
        resume_unwind(Box::new("shy"))
    }

    fn call<'a>(&'a self, _: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn what_a_factory_does_is_its_own_affair() {
    // resume_unwind is a panic without the noise of the hook.
    type Case = (Make, &'static [&'static str], &'static [&'static str]);
    let cases: [Case; 8] = [
        (|_| Ok(vec![named("lazy")]), &["before", "lazy", "after"], &[]),
        (|_| Ok(vec![]), &["before", "after"], &[]),
        (
            |_| Ok(vec![named("one"), named("lazy"), named("two")]),
            &["before", "one", "lazy", "two", "after"],
            &[],
        ),
        (|_| Err("no key".into()), &["before", "after"], &["lazy: no key"]),
        (
            |_| resume_unwind(Box::new("at once")),
            &["before", "after"],
            &["lazy: its factory panicked: at once"],
        ),
        (
            |_| resume_unwind(Box::new(7_u8)),
            &["before", "after"],
            &["lazy: its factory panicked: unknown panic"],
        ),
        (|_| Ok(vec![Arc::new(Shy)]), &["before", "after"], &["lazy: its factory panicked: shy"]),
        (
            |_| Ok(vec![named("before"), named("lazy")]),
            &["before", "lazy", "after"],
            &["lazy: another tool is already called 'before'"],
        ),
    ];
    for (index, (make, expected, faults)) in cases.into_iter().enumerate() {
        let mut registry = Registry::new();
        registry.register(named("before"), None).unwrap();
        registry.register_factory(factory(make), meta("lazy", &[])).unwrap();
        registry.register(named("after"), None).unwrap();
        let resolution = registry.resolve_all(&ToolContext::default());
        assert_eq!(names(&resolution), expected, "case {index}");
        assert_eq!(failures(&resolution), faults, "case {index}");
    }
}

#[test]
fn resolving_one_says_why_not() {
    let cases: [(Make, &str); 5] = [
        (|_| Ok(vec![named("other"), named("lazy")]), ""),
        (|_| Ok(vec![]), "its factory made no tool called 'lazy'"),
        (|_| Ok(vec![named("other")]), "its factory made no tool called 'lazy'"),
        (|_| Err("no key".into()), "no key"),
        (|_| Ok(vec![Arc::new(Shy)]), "its factory panicked: shy"),
    ];
    for (make, reason) in cases {
        let resolved = with_factory("lazy", make).resolve("lazy", &ToolContext::default()).unwrap();
        let said = resolved.map_or_else(
            |failure| failure.reason,
            |tool| {
                assert_eq!(tool.definition().name, "lazy");
                String::new()
            },
        );
        assert_eq!(said, reason);
    }
}

#[test]
fn each_of_several_stands_under_its_own_name() {
    let registry = with_factory("pair", |_| Ok(vec![named("left"), named("right")]));
    let snapshot = registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true);
    let left = snapshot.get("left").unwrap().meta();
    assert_eq!((left.id.as_str(), left.label.as_str()), ("left", "left"));
    assert_eq!((left.description.as_str(), left.section.as_str()), ("The tool left", "custom"));
    assert!(snapshot.get("pair").is_none() && snapshot.get("right").is_some());
}

#[test]
fn full_is_everything_and_other_profiles_are_lists() {
    let mut registry = Registry::new();
    let tools: [(&'static str, &[Profile]); 4] = [
        ("none", &[]),
        ("coding", &[Profile::Coding]),
        ("both", &[Profile::Coding, Profile::Messaging]),
        ("full", &[Profile::Full]),
    ];
    for (name, profiles) in tools {
        registry.register(named(name), Some(meta(name, profiles))).unwrap();
    }
    let cases: [(Profile, &[&str]); 4] = [
        (Profile::Minimal, &[]),
        (Profile::Coding, &["coding", "both"]),
        (Profile::Messaging, &["both"]),
        (Profile::Full, &["none", "coding", "both", "full"]),
    ];
    for (profile, expected) in cases {
        let resolution = registry.resolve_by_profile(profile, &ToolContext::default());
        assert_eq!(names(&resolution), expected, "{profile}");
        assert_eq!(profile.name().parse(), Ok(profile));
    }
    assert!("everything".parse::<Profile>().unwrap_err().contains("minimal, coding, messaging, full"));
}
