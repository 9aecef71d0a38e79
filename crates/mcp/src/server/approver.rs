//! Asks the client's user for permission, by a form that shows the tool that would run and its
//! arguments: the inner ones of `call_tool`, because the engine asks about those.

use std::{collections::BTreeMap, fmt::Write as _};

use pinza_core::{Answer, Approver, BoxFuture, Prompt, Rule, visible};
use serde_json::{Value, json};

use super::{
    Remember,
    client::{Acceptance, Question},
    connection::Callers,
};

/// Of a longer value a person is shown head and tail.
const VALUE_LIMIT: usize = 2000;
const TAIL: usize = 500;

pub(super) struct ClientApprover {
    pub(super) callers: Callers,
    pub(super) remember: Option<Remember>,
    pub(super) holds: Holds,
}

/// How long an answer can hold at most, short of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Session,
    /// There is no session.
    Call,
}

impl Approver for ClientApprover {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let Some(client) = self.callers.of(&prompt.call) else { return Answer::Deny };
            let can_hold = prompt.rule.is_some();
            let choices = Choices {
                session: can_hold && self.holds == Holds::Session,
                always: can_hold && prompt.can_keep && self.remember.is_some(),
            };
            let form = Question::Form { message: message(prompt, &choices), schema: choices.schema() };
            let key = format!("approval-{}", prompt.id);
            let asked = client.put(BTreeMap::from([(key.clone(), form)]), Acceptance::Asked).await;
            asked.map_or(Answer::Deny, |answers| choices.chosen(answers.get(&key)))
        })
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        self.remember.as_ref().map_or_else(|| Err("rules cannot be kept here".into()), |keep| keep(rule))
    }
}

/// What a person may answer.
struct Choices {
    session: bool,
    always: bool,
}

impl Choices {
    /// Nothing is chosen beforehand: a form that is sent as it came permits nothing.
    fn schema(&self) -> Value {
        let mut decisions = vec!["once"];
        if self.session {
            decisions.push("session");
        }
        if self.always {
            decisions.push("always");
        }
        decisions.push("deny");
        json!({
            "type": "object",
            "properties": { "decision": { "type": "string", "title": "Decision", "enum": decisions } },
            "required": ["decision"],
        })
    }

    fn chosen(&self, answer: Option<&Value>) -> Answer {
        let accepted = answer.filter(|answer| answer["action"] == "accept");
        match accepted.and_then(|answer| answer["content"]["decision"].as_str()) {
            Some("once") => Answer::Once,
            Some("session") if self.session => Answer::Session,
            Some("always") if self.always => Answer::Always,
            _ => Answer::Deny,
        }
    }
}

/// Everything that a tool or a model wrote is shown with its odd characters visible.
fn message(prompt: &Prompt, choices: &Choices) -> String {
    let (tool, capability) = (prompt.tool.as_str(), prompt.permission.capability.as_str());
    let mut text = format!("{} asks for: {}", visible(tool), visible(capability));
    // Writing to a String cannot fail.
    if let Some(detail) = &prompt.permission.detail {
        let _ = write!(text, "\n  {}", shown(detail));
    }
    for (name, value) in prompt.arguments.iter() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(text, "\n  {}: {}", visible(name), shown(&value));
    }
    if let Some(rule) = prompt.rule.as_ref().filter(|_| choices.always) {
        let _ = write!(text, "\n\"always\" writes this rule: {}", rule);
    }
    text
}

fn shown(text: &str) -> String {
    if text.len() <= VALUE_LIMIT {
        return visible(text);
    }
    let head = &text[..text.floor_char_boundary(VALUE_LIMIT - TAIL)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{} [… {left_out} bytes not shown …] {}", visible(head), visible(tail))
}
