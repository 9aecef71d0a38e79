//! The borders of policy: what a rule matches, and which rules match nothing.

use std::sync::Arc;

use pinza_core::{
    Because, Capability, Parameter, Parameters, Permission, Policy, Rule, RuleSource, Snapshot, ToolName,
    Verdict,
};
use serde_json::{Value, json};

use crate::support::{definition, echo, named, object, rule, rules, snapshot};

/// The verdict on `tool(arguments)` needing `capability`, or nothing for `""`.
fn verdict(values: &[Value], tool: &str, capability: &str, arguments: Value) -> Verdict {
    let permission = (!capability.is_empty()).then(|| Permission::new(Capability::new(capability).unwrap()));
    let policy = Policy::new(rules(values), []);
    policy.decide(&ToolName::new(tool).unwrap(), &object(arguments), permission.as_ref()).verdict
}

#[test]
fn tools_and_capabilities_are_globs() {
    let cases = [
        (json!({"effect": "deny", "tool": "web_*"}), "web_fetch", "net", Verdict::Deny),
        (json!({"effect": "deny", "tool": "web_*"}), "webfetch", "net", Verdict::Allow),
        (json!({"effect": "deny", "tool": "WEB_*"}), "web_fetch", "net", Verdict::Allow),
        (json!({"effect": "deny", "tool": "?xec"}), "exec", "exec", Verdict::Deny),
        (json!({"effect": "deny", "tool": "exec"}), "exec2", "exec", Verdict::Ask),
        (json!({"effect": "allow", "capability": "fs.*"}), "x", "fs.write", Verdict::Allow),
        (json!({"effect": "deny", "capability": "net"}), "x", "net.private", Verdict::Ask),
        (json!({"effect": "deny", "capability": "net*"}), "x", "net.private", Verdict::Deny),
        // A rule about a capability says nothing of a call that needs none.
        (json!({"effect": "deny", "capability": "*"}), "x", "", Verdict::Allow),
        (json!({"effect": "deny", "tool": "x"}), "x", "", Verdict::Deny),
        (json!({"effect": "ask", "tool": "x"}), "x", "", Verdict::Ask),
        (json!({"effect": "deny"}), "anything", "", Verdict::Deny),
        (json!({"effect": "allow"}), "anything", "exec", Verdict::Allow),
        // Every part that is given must match.
        (json!({"effect": "deny", "tool": "x", "capability": "exec"}), "x", "net", Verdict::Allow),
        (json!({"effect": "deny", "tool": "x", "capability": "exec"}), "y", "exec", Verdict::Ask),
    ];
    for (rule, tool, capability, expected) in cases {
        assert_eq!(
            verdict(std::slice::from_ref(&rule), tool, capability, json!({})),
            expected,
            "{rule} {tool} {capability}"
        );
    }
}

#[test]
fn arguments_are_matched_by_their_text() {
    let allow = |args: Value| json!({"effect": "allow", "args": args});
    let cases = [
        (allow(json!({"command": "git *"})), json!({"command": "git log"}), Verdict::Allow),
        (allow(json!({"command": "git *"})), json!({"command": "gitk"}), Verdict::Ask),
        (allow(json!({"command": "git *"})), json!({}), Verdict::Ask),
        (allow(json!({"command": "*"})), json!({"command": "a;b"}), Verdict::Ask),
        (allow(json!({"path": "*"})), json!({"path": "a;b"}), Verdict::Ask),
        (allow(json!({"command": "*", "path": "x"})), json!({"command": "a"}), Verdict::Ask),
        (allow(json!({"command": "*", "path": "x"})), json!({"command": "a", "path": "x"}), Verdict::Allow),
        // Not a text: its JSON.
        (allow(json!({"count": "5"})), json!({"count": 5}), Verdict::Allow),
        (allow(json!({"flag": "true"})), json!({"flag": true}), Verdict::Allow),
        (allow(json!({"list": "[1,*"})), json!({"list": [1, 2]}), Verdict::Allow),
        (
            json!({"effect": "deny", "args": {"command": "*rm*"}}),
            json!({"command": "a; rm b"}),
            Verdict::Deny,
        ),
    ];
    for (rule, arguments, expected) in cases {
        assert_eq!(
            verdict(std::slice::from_ref(&rule), "x", "exec", arguments.clone()),
            expected,
            "{rule} {arguments}"
        );
    }
    // The `&` of a URL is no shell syntax where nothing is run.
    let rule = json!({"effect": "allow", "args": {"url": "http://127.0.0.1/*"}});
    assert_eq!(verdict(&[rule], "x", "net.private", json!({"url": "http://127.0.0.1/?a&b"})), Verdict::Allow);
}

#[test]
fn a_decision_names_its_rule() {
    let config = rules(&[json!({"effect": "allow", "tool": "x"}), json!({"effect": "deny", "tool": "y"})]);
    let flags = [Rule::capability(Verdict::Deny, "exec"), Rule::capability(Verdict::Deny, "ex*")];
    let policy = Policy::new(config, flags);
    let because = |tool: &'static str, capability: &'static str| {
        let permission = Permission::new(Capability::known(capability));
        policy.decide(&ToolName::known(tool), &object(json!({})), Some(&permission)).because
    };
    assert_eq!(because("x", "net"), Because::Rule { number: 1, source: RuleSource::Config });
    assert_eq!(because("y", "exec"), Because::Rule { number: 2, source: RuleSource::Config });
    assert_eq!(because("x", "exec"), Because::Rule { number: 3, source: RuleSource::Flag });
    assert_eq!(because("z", "net"), Because::Default);
    assert_eq!(policy.rules().len(), 4);
}

/// A catalog with an `exec`, something of the network, and something plain.
fn catalog() -> Arc<Snapshot> {
    let with = |name: &str, parameter: &str, capability: &'static str| {
        let parameters = Parameters::build().optional(parameter, Parameter::string("")).done();
        echo(definition(name).parameters(parameters).needs(Capability::known(capability)))
    };
    snapshot([with("exec", "command", "exec"), with("http_request", "url", "net"), named("plain")])
}

#[test]
fn rules_that_can_match_nothing_are_reported() {
    let cases = [
        (json!({"effect": "deny"}), None),
        (json!({"effect": "deny", "tool": "ex*"}), None),
        (json!({"effect": "deny", "tool": "exce"}), Some("no tool matches 'exce'")),
        (json!({"effect": "deny", "tool": "\u{1b}["}), Some("no tool matches '\\u{1b}['")),
        (json!({"effect": "deny", "capability": "browser"}), None),
        (json!({"effect": "deny", "capability": "fs.*"}), None),
        (json!({"effect": "deny", "capability": "exce"}), Some("no such tool needs the capability 'exce'")),
        (json!({"effect": "allow", "tool": "http*", "capability": "net.private"}), None),
        (
            json!({"effect": "deny", "tool": "plain", "capability": "exec"}),
            Some("no such tool needs the capability 'exec'"),
        ),
        (json!({"effect": "allow", "tool": "exec", "args": {"command": "git *"}}), None),
        (
            json!({"effect": "allow", "tool": "exec", "args": {"comand": "git *"}}),
            Some("no such tool has a parameter 'comand'"),
        ),
        (
            json!({"effect": "allow", "tool": "plain", "args": {"command": "*"}}),
            Some("no such tool has a parameter 'command'"),
        ),
        (json!({"effect": "allow", "args": {"url": "*"}}), None),
    ];
    let catalog = catalog();
    for (value, expected) in cases {
        let policy = Policy::new([rule(json!({"effect": "ask"})), rule(value.clone())], []);
        let idle = policy.idle_rules(&catalog);
        let expected: Vec<(usize, String)> = expected.map(|why| (2, why.to_owned())).into_iter().collect();
        assert_eq!(idle, expected, "{value}");
    }
}

#[test]
fn a_rule_with_a_typing_error_is_refused() {
    for wrong in [
        json!({"effect": "permit"}),
        json!({"tool": "exec"}),
        json!({"effect": "deny", "tols": "exec"}),
        json!({"effect": "deny", "args": "git *"}),
    ] {
        assert!(serde_json::from_value::<Rule>(wrong.clone()).is_err(), "{wrong}");
    }
    let written = json!({"effect": "ask", "tool": "x", "args": {"a": "b*"}});
    assert_eq!(serde_json::to_value(rule(written.clone())).unwrap(), written, "and the rest comes back");
}
