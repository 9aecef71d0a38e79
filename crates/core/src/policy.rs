//! What is allowed, asked and denied.
//!
//! Rules come from the configuration and from flags. Among those that match, deny beats ask
//! beats allow; where none matches, the defaults hold.

use std::sync::{Arc, PoisonError, RwLock};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    glob::Glob,
    names::{Capability, ToolName, capability},
    registry::{Entry, Snapshot},
    tool::{Arguments, Permission},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    // The order is the precedence: the greatest that matches wins.
    Allow,
    Ask,
    Deny,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One `[[policy.rule]]`: every part that is given must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub effect: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<Glob>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub args: IndexMap<String, Glob>,
}

impl Rule {
    /// The rule that `--allow CAP` and `--deny CAP` stand for.
    pub fn capability(effect: Verdict, capability: &str) -> Self {
        Self { effect, tool: None, capability: Some(Glob::new(capability)), args: IndexMap::new() }
    }

    /// What "always" and "this session" remember: this tool, this capability, this subject.
    /// `None` where no rule could ever match again.
    pub(crate) fn remembering(tool: &ToolName, permission: &Permission) -> Option<Self> {
        let mut args = IndexMap::new();
        if let Some(subject) = &permission.subject {
            if is_command(&subject.argument, Some(permission)) && is_compound(&subject.text) {
                return None;
            }
            args.insert(subject.argument.clone(), Glob::exactly(&subject.text));
        }
        Some(Self {
            effect: Verdict::Allow,
            tool: Some(Glob::exactly(tool.as_str())),
            capability: Some(Glob::exactly(permission.capability.as_str())),
            args,
        })
    }

    pub(crate) fn matches(
        &self,
        tool: &ToolName,
        arguments: &Arguments,
        permission: Option<&Permission>,
    ) -> bool {
        if self.tool.as_ref().is_some_and(|glob| !glob.matches(tool.as_str())) {
            return false;
        }
        if let Some(glob) = &self.capability
            && !permission.is_some_and(|permission| glob.matches(permission.capability.as_str()))
        {
            return false;
        }
        self.args.iter().all(|(name, glob)| {
            let subject = permission.and_then(|permission| permission.subject.as_ref());
            let text = match subject.filter(|subject| subject.argument == *name) {
                Some(subject) => Some(subject.text.clone()),
                None => arguments.get(name).map(argument_text),
            };
            // A pattern cannot see through a shell's syntax: `git *` must not allow
            // `git status; rm -rf .`.
            let blind = self.effect == Verdict::Allow && is_command(name, permission);
            text.is_some_and(|text| !(blind && is_compound(&text)) && glob.matches(&text))
        })
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.effect)?;
        if let Some(tool) = &self.tool {
            write!(f, " tool {}", crate::visible(tool.as_str()))?;
        }
        if let Some(capability) = &self.capability {
            write!(f, " capability {}", crate::visible(capability.as_str()))?;
        }
        for (name, glob) in &self.args {
            write!(f, " where {} is \"{}\"", crate::visible(name), crate::visible(glob.as_str()))?;
        }
        Ok(())
    }
}

/// Where a rule was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    Config,
    Flag,
    /// A trusted project's, which asks or denies and never allows.
    Project,
}

/// Why a permission was decided as it was.
#[derive(Clone, Debug, PartialEq)]
pub enum Because {
    Rule { number: usize, source: RuleSource },
    Default,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    pub because: Because,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    rules: Vec<(Rule, RuleSource)>,
}

impl Policy {
    pub fn new(config: impl IntoIterator<Item = Rule>, flags: impl IntoIterator<Item = Rule>) -> Self {
        let config = config.into_iter().map(|rule| (rule, RuleSource::Config));
        let flags = flags.into_iter().map(|rule| (rule, RuleSource::Flag));
        Self { rules: config.chain(flags).collect() }
    }

    /// Adds a trusted project's rules behind the user's own.
    #[must_use]
    pub fn and_project(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        let narrowing = rules.into_iter().filter(|rule| rule.effect != Verdict::Allow);
        self.rules.extend(narrowing.map(|rule| (rule, RuleSource::Project)));
        self
    }

    /// The rules in order; a rule's number is its place, counted from 1.
    pub fn rules(&self) -> &[(Rule, RuleSource)] {
        &self.rules
    }

    /// Decides one permission of a call, or, with `None`, a call that needs none.
    pub fn decide(
        &self,
        tool: &ToolName,
        arguments: &Arguments,
        permission: Option<&Permission>,
    ) -> Decision {
        let matching = self
            .rules
            .iter()
            .enumerate()
            .filter(|(_, (rule, _))| rule.matches(tool, arguments, permission))
            // Of equals the first is named.
            .rev()
            .max_by_key(|(_, (rule, _))| rule.effect);
        match matching {
            Some((index, (rule, source))) => Decision {
                verdict: rule.effect,
                because: Because::Rule { number: index + 1, source: *source },
            },
            None => Decision {
                verdict: permission
                    .map_or(Verdict::Allow, |permission| default_verdict(&permission.capability)),
                because: Because::Default,
            },
        }
    }

    /// Whether a rule lets a permission pass; a default is no rule.
    pub(crate) fn allows(&self, tool: &ToolName, arguments: &Arguments, permission: &Permission) -> bool {
        let decision = self.decide(tool, arguments, Some(permission));
        decision.verdict == Verdict::Allow && decision.because != Because::Default
    }

    /// Whether a rule denies every call of a tool, whatever its arguments.
    pub fn forbids(&self, entry: &Entry) -> bool {
        let nothing = Arguments::new();
        let mut denials = self
            .rules
            .iter()
            .map(|(rule, _)| rule)
            .filter(|rule| rule.effect == Verdict::Deny && rule.args.is_empty())
            .peekable();
        // Most policies deny nothing, and then no tool is asked what it needs.
        if denials.peek().is_none() {
            return false;
        }
        let tool = &entry.definition().name;
        let permissions = entry.tool.permissions(&nothing);
        denials.any(|rule| {
            rule.matches(tool, &nothing, None)
                || permissions.iter().any(|permission| rule.matches(tool, &nothing, Some(permission)))
        })
    }

    /// What would be decided for a call before it runs, one decision a permission. Arguments
    /// need not be complete.
    pub fn preview(&self, entry: &Entry, arguments: &Arguments) -> Vec<(Option<Capability>, Decision)> {
        let tool = &entry.definition().name;
        let permissions = entry.tool.permissions(arguments);
        if permissions.is_empty() {
            return vec![(None, self.decide(tool, arguments, None))];
        }
        let decide = |permission: Permission| {
            let decision = self.decide(tool, arguments, Some(&permission));
            (Some(permission.capability), decision)
        };
        permissions.into_iter().map(decide).collect()
    }

    /// Rules that can match nothing: (number, why).
    pub fn idle_rules(&self, snapshot: &Snapshot) -> Vec<(usize, String)> {
        let numbered = self.rules.iter().enumerate();
        numbered.filter_map(|(index, (rule, _))| Some((index + 1, why_idle(rule, snapshot)?))).collect()
    }
}

/// The policy of this moment, for whoever holds on to it. Swapped whole; a std lock, held to take a clone or to put
/// another one.
#[derive(Clone, Debug)]
pub(crate) struct CurrentPolicy(Arc<RwLock<Arc<Policy>>>);

impl CurrentPolicy {
    pub(crate) fn new(policy: Policy) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(policy))))
    }

    pub(crate) fn get(&self) -> Arc<Policy> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }
}

/// What holds where no rule says otherwise: workspace files and the public network are
/// allowed, everything else that is known to be powerful, or not known at all, asks.
pub fn default_verdict(capability: &Capability) -> Verdict {
    match capability.as_str() {
        capability::FS_READ | capability::FS_WRITE | capability::NET | capability::SCHEDULE => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

/// Whether an argument's text goes to a shell. The `&` of a URL is no shell syntax.
fn is_command(argument: &str, permission: Option<&Permission>) -> bool {
    argument == "command" || permission.is_some_and(|permission| permission.capability == capability::EXEC)
}

/// A command that a shell would take apart.
fn is_compound(text: &str) -> bool {
    text.contains([';', '&', '|', '`', '\n', '\r']) || text.contains("$(")
}

/// What patterns are matched against: a text as it is, anything else as its JSON.
pub(crate) fn argument_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn why_idle(rule: &Rule, snapshot: &Snapshot) -> Option<String> {
    let tools: Vec<_> = snapshot
        .tools()
        .map(|entry| entry.definition())
        .filter(|tool| rule.tool.as_ref().is_none_or(|glob| glob.matches(tool.name.as_str())))
        .collect();
    if tools.is_empty() {
        let glob = rule.tool.as_ref().map_or("*", Glob::as_str);
        return Some(format!("no tool matches '{}'", crate::visible(glob)));
    }
    if let Some(glob) = &rule.capability {
        let declared = tools.iter().flat_map(|tool| &tool.capabilities).map(Capability::as_str);
        // A private address is decided at connect, so whoever has `net` may come to need it.
        let implied = tools
            .iter()
            .any(|tool| tool.capabilities.iter().any(|c| *c == capability::NET))
            .then_some(capability::NET_PRIVATE);
        let known = rule.tool.is_none().then_some(capability::KNOWN).into_iter().flatten();
        if !declared.chain(implied).chain(known).any(|name| glob.matches(name)) {
            return Some(format!("no such tool needs the capability '{}'", crate::visible(glob.as_str())));
        }
    }
    let unknown =
        rule.args.keys().find(|name| !tools.iter().any(|tool| tool.parameters.property(name).is_some()));
    unknown.map(|name| format!("no such tool has a parameter '{}'", crate::visible(name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(value: Value) -> Rule {
        serde_json::from_value(value).unwrap()
    }

    fn decide(rules: &[Value], flags: &[Rule], capability: &str, arguments: Value) -> Verdict {
        let policy = Policy::new(rules.iter().cloned().map(rule), flags.to_vec());
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        let permission = Permission::new(Capability::new(capability).unwrap());
        policy.decide(&ToolName::known("exec"), &arguments, Some(&permission)).verdict
    }

    #[test]
    fn deny_beats_ask_beats_allow_beats_defaults() {
        let allow = json!({"effect": "allow", "tool": "exec"});
        let ask = json!({"effect": "ask", "capability": "exec"});
        let deny = json!({"effect": "deny", "tool": "ex*"});
        let none = json!({});
        let cases = [
            (vec![], Verdict::Ask),
            (vec![allow.clone()], Verdict::Allow),
            (vec![ask.clone(), allow.clone()], Verdict::Ask),
            (vec![deny.clone(), ask, allow.clone()], Verdict::Deny),
        ];
        for (rules, verdict) in cases {
            assert_eq!(decide(&rules, &[], "exec", none.clone()), verdict, "{rules:?}");
        }
        let flag = Rule::capability(Verdict::Deny, "exec");
        assert_eq!(decide(&[allow], &[flag], "exec", none.clone()), Verdict::Deny);
        let flag = Rule::capability(Verdict::Allow, "exec");
        assert_eq!(
            decide(&[deny], &[flag], "exec", none),
            Verdict::Deny,
            "a flag is no stronger than a rule"
        );
    }

    #[test]
    fn defaults() {
        for (capability, verdict) in [
            ("fs.read", Verdict::Allow),
            ("fs.write", Verdict::Allow),
            ("net", Verdict::Allow),
            ("net.private", Verdict::Ask),
            ("exec", Verdict::Ask),
            ("browser", Verdict::Ask),
            ("node", Verdict::Ask),
            ("message", Verdict::Ask),
            ("my.own", Verdict::Ask),
        ] {
            assert_eq!(decide(&[], &[], capability, json!({})), verdict, "{capability}");
        }
    }

    #[test]
    fn a_compound_command_never_matches_an_allow() {
        let rules = [json!({"effect": "allow", "tool": "exec", "args": {"command": "git *"}})];
        assert_eq!(decide(&rules, &[], "exec", json!({"command": "git status"})), Verdict::Allow);
        for tail in ["; rm x", " && rm x", " | sh", " `id`", " $(id)", "\nrm x", " & rm x"] {
            let command = format!("git log{tail}");
            assert_eq!(
                decide(&rules, &[], "exec", json!({ "command": command })),
                Verdict::Ask,
                "{command:?}"
            );
        }
        let rules = [json!({"effect": "deny", "args": {"command": "*rm *"}})];
        assert_eq!(decide(&rules, &[], "exec", json!({"command": "a; rm x"})), Verdict::Deny, "a deny does");
    }

    #[test]
    fn the_subject_stands_for_the_argument() {
        let policy =
            Policy::new([rule(json!({"effect": "allow", "args": {"url": "http://127.0.0.1:1/*"}}))], []);
        let Value::Object(arguments) = json!({"url": "http://127.0.0.1:1/"}) else { panic!() };
        let at = |url: &str| {
            let permission = Permission::new(Capability::known("net.private")).about("url", url);
            policy.decide(&ToolName::known("http_request"), &arguments, Some(&permission)).verdict
        };
        assert_eq!(at("http://127.0.0.1:1/x"), Verdict::Allow);
        assert_eq!(at("http://127.0.0.1:2/x"), Verdict::Ask, "where a redirect led, not where it began");
    }
}
