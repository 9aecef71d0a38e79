//! `pinza policy`: the rules, and what they would decide.

use std::path::Path;

use indexmap::IndexMap;
use pinza::{
    Rule, ToolError, Verdict,
    core::{Because, Capability, ErrorKind, Glob, RuleSource, capability, default_verdict},
};
use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::{
    Done, Global, Result,
    args::{Call, Policy, RuleWords},
    call,
    session::Session,
};
use crate::{
    config::{ConfigFile, table},
    terminal::Printer,
};

pub(crate) fn run(global: &Global, printer: &Printer, command: Policy) -> Result {
    match command {
        Policy::List => list(global, printer),
        Policy::Allow(words) => add(global, printer, Verdict::Allow, words),
        Policy::Ask(words) => add(global, printer, Verdict::Ask, words),
        Policy::Deny(words) => add(global, printer, Verdict::Deny, words),
        Policy::Revoke { number } => revoke(global, printer, number),
        Policy::Test(call) => test(global, printer, &call),
    }?;
    Ok(Done::Well)
}

fn list(global: &Global, printer: &Printer) -> Result<()> {
    let session = Session::open(global)?;
    let policy = session.pinza.engine().policy();
    let defaults = capability::KNOWN.map(|name| (name, default_verdict(&Capability::known(name))));
    printer.json_or(
        || {
            let rule = |(index, (rule, source)): (usize, &(Rule, RuleSource))| {
                let mut shown = json!(rule);
                shown["number"] = json!(index + 1);
                shown["source"] = json!(source);
                shown
            };
            let default = |(name, verdict): (&str, Verdict)| json!({ "capability": name, "effect": verdict });
            json!({
                "rules": policy.rules().iter().enumerate().map(rule).collect::<Vec<_>>(),
                "defaults": defaults.map(default),
                "problems": session.problems,
            })
        },
        |out| {
            out.heading("Rules (deny beats ask beats allow)");
            if policy.rules().is_empty() {
                out.line("  none");
            }
            out.columns(policy.rules().iter().enumerate().map(|(index, (rule, source))| {
                let source = match source {
                    RuleSource::Config => "",
                    RuleSource::Flag => "(flag)",
                    RuleSource::Project => "(project)",
                };
                [(index + 1).to_string(), rule.to_string(), source.to_owned()]
            }));
            out.line("");
            out.heading("Where no rule matches");
            let known = defaults.iter().map(|(name, verdict)| (verdict.to_string(), (*name).to_owned()));
            let rest = [(Verdict::Ask.to_string(), "any other capability".to_owned())];
            out.columns(known.chain(rest).map(|(verdict, name)| [verdict, name]));
            printer.problems(&session.problems);
        },
    );
    Ok(())
}

fn add(global: &Global, printer: &Printer, effect: Verdict, words: RuleWords) -> Result<()> {
    let rule = Rule {
        effect,
        tool: words.tool.map(Glob::new),
        capability: words.capability.map(Glob::new),
        args: words.args.into_iter().map(|(name, glob)| (name, Glob::new(glob))).collect::<IndexMap<_, _>>(),
    };
    let session = Session::open(global)?;
    let edited = ConfigFile::edit(session.home.config_file(), |document| append(document, &rule))?;
    let number = edited.config.policy.rule.len();
    printer.json_or(
        || json!({ "status": "success", "number": number, "rule": rule }),
        |out| out.line(&format!("Rule {number}: {rule}")),
    );
    let alone = pinza::Policy::new([rule], []);
    for (_, reason) in alone.idle_rules(&session.pinza.snapshot()) {
        printer.warning(&format!("this rule can match nothing: {reason}"));
    }
    Ok(())
}

/// Writes down what "always" stands for, unless it is there already.
pub(crate) fn keep(config_file: &Path, rule: &Rule) -> std::result::Result<(), String> {
    let keep = || {
        let rules = ConfigFile::read(config_file.to_owned())?.config.policy.rule;
        if !rules.contains(rule) {
            ConfigFile::edit(config_file.to_owned(), |document| append(document, rule))?;
        }
        anyhow::Ok(())
    };
    keep().map_err(|error| format!("{error:#}"))
}

/// Adds a rule at the end of the file's rules.
fn append(document: &mut DocumentMut, rule: &Rule) -> Result<()> {
    let policy = table(document, "policy")?;
    let rules = policy.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let rules = rules.as_array_of_tables_mut().ok_or_else(|| {
        anyhow::anyhow!("'policy.rule' is written inline; write its rules as [[policy.rule]]")
    })?;
    let mut written = Table::new();
    written.insert("effect", value(rule.effect.to_string()));
    if let Some(tool) = &rule.tool {
        written.insert("tool", value(tool.as_str()));
    }
    if let Some(capability) = &rule.capability {
        written.insert("capability", value(capability.as_str()));
    }
    if !rule.args.is_empty() {
        let mut args = InlineTable::new();
        for (name, glob) in &rule.args {
            args.insert(name, glob.as_str().into());
        }
        written.insert("args", value(args));
    }
    rules.push(written);
    Ok(())
}

fn revoke(global: &Global, printer: &Printer, number: usize) -> Result<()> {
    let session = Session::open(global)?;
    let rules = &session.config.policy.rule;
    let Some(rule) = number.checked_sub(1).and_then(|index| rules.get(index)) else {
        let message = format!("There is no rule {number} in the configuration");
        return Err(ToolError::new(ErrorKind::NotFound, message)
            .hint("See their numbers: pinza policy list")
            .into());
    };
    ConfigFile::edit(session.home.config_file(), |document| {
        let rules = table(document, "policy")?.get_mut("rule").and_then(Item::as_array_of_tables_mut);
        let rules =
            rules.ok_or_else(|| anyhow::anyhow!("'policy.rule' is not written as [[policy.rule]]"))?;
        // Another process may have removed some since they were read.
        anyhow::ensure!(number <= rules.len(), "there is no rule {number} any more");
        rules.remove(number - 1);
        Ok(())
    })?;
    printer.json_or(
        || json!({ "status": "success", "revoked": rule }),
        |out| out.line(&format!("Revoked: {rule}")),
    );
    Ok(())
}

fn test(global: &Global, printer: &Printer, call: &Call) -> Result<()> {
    let session = Session::open(global)?;
    let snapshot = &*session.pinza.snapshot();
    let arguments = call::arguments(call, snapshot)?;
    let Some(entry) = snapshot.get(&call.name) else {
        let message = format!("Tool '{}' not found", pinza::core::visible(&call.name));
        return Err(ToolError::new(ErrorKind::ToolNotFound, message).into());
    };
    let Value::Object(mut arguments) = arguments else { anyhow::bail!("the arguments must be an object") };
    // Rules see arguments under their real names, as they do in a call.
    for (alias, parameter) in &entry.definition().aliases {
        if !arguments.contains_key(parameter)
            && let Some(value) = arguments.shift_remove(alias)
        {
            arguments.insert(parameter.clone(), value);
        }
    }
    let decisions = session.pinza.engine().policy().preview(entry, &arguments);
    let verdict = decisions.iter().map(|(_, decision)| decision.verdict).max().unwrap_or(Verdict::Allow);
    let why = |because: &Because| match because {
        Because::Default => "the default".to_owned(),
        Because::Rule { number, source: RuleSource::Config } => format!("rule {number}"),
        Because::Rule { source: RuleSource::Flag, .. } => "a flag".to_owned(),
        Because::Rule { source: RuleSource::Project, .. } => "a rule of the project".to_owned(),
    };
    printer.json_or(
        || {
            let decisions: Vec<Value> = decisions
                .iter()
                .map(|(capability, decision)| {
                    json!({ "capability": capability, "effect": decision.verdict, "because": why(&decision.because) })
                })
                .collect();
            json!({ "tool": call.name, "effect": verdict, "decisions": decisions })
        },
        |out| {
            out.line(&format!("{}: {verdict}", call.name));
            out.columns(decisions.iter().map(|(capability, decision)| {
                let what = capability.as_ref().map_or("the call itself", Capability::as_str);
                [what.to_owned(), decision.verdict.to_string(), format!("by {}", why(&decision.because))]
            }));
        },
    );
    Ok(())
}
