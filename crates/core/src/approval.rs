//! Asking a person.
//!
//! RFC-004 kept one pending prompt, so that the answer to one call could approve another.
//! Here every prompt has its own id, a desk shows one at a time, and a prompt vanishes with
//! the call that raised it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};

use crate::{
    names::ToolName,
    policy::{CurrentPolicy, Rule},
    tool::{Arguments, BoxFuture, CallId, Permission},
};

/// Whoever can be asked: a terminal, a web console, an MCP client.
pub trait Approver: Send + Sync {
    /// Shows the prompt and waits for the answer. Dropping the future withdraws the prompt.
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer>;

    /// Writes down the rule that "always" stands for; the person has seen it.
    fn remember(&self, _rule: &Rule) -> Result<(), String> {
        Err("this approver cannot keep rules".into())
    }
}

/// A question about one permission of one call. Its texts are foreign: show them through
/// [`visible`](crate::visible).
#[derive(Clone, Debug)]
pub struct Prompt {
    pub id: u64,
    pub call: CallId,
    pub tool: ToolName,
    pub permission: Permission,
    pub arguments: Arc<Arguments>,
    /// What "this session" and "always" would allow; `None` where only this one call can be
    /// answered.
    pub rule: Option<Rule>,
    /// Whether "always" would help: not against a rule that says ask.
    pub can_keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Once,
    Session,
    Always,
    Deny,
}

/// What a call wants to know of whoever is behind a desk.
pub(crate) struct Question<'a> {
    pub(crate) call: &'a CallId,
    pub(crate) tool: &'a ToolName,
    pub(crate) arguments: &'a Arc<Arguments>,
    pub(crate) permission: Permission,
    /// Whether a rule would help.
    pub(crate) can_keep: bool,
    pub(crate) policy: &'a CurrentPolicy,
}

impl Question<'_> {
    /// Whether a rule that came after the call began has answered it.
    fn is_ruled(&self) -> bool {
        self.policy.get().allows(self.tool, self.arguments, &self.permission)
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Granted,
    /// A person said no.
    Refused,
    /// Nobody can be asked here.
    Nobody,
}

/// Serialises prompts and remembers this session's answers. Cheap to share.
pub struct PromptDesk {
    approver: Option<Arc<dyn Approver>>,
    /// Held while a prompt is shown. An async lock, because its holder waits for a person.
    turn: tokio::sync::Mutex<()>,
    next_id: AtomicU64,
    /// A std lock: it is held for a look-up only, never across an await.
    granted: Mutex<Vec<Rule>>,
}

impl PromptDesk {
    pub fn new(approver: Arc<dyn Approver>) -> Self {
        Self::with(Some(approver))
    }

    /// A desk with nobody behind it: every ask is a no.
    pub fn closed() -> Self {
        Self::with(None)
    }

    fn with(approver: Option<Arc<dyn Approver>>) -> Self {
        Self {
            approver,
            turn: tokio::sync::Mutex::new(()),
            next_id: AtomicU64::new(1),
            granted: Mutex::new(Vec::new()),
        }
    }

    pub(crate) async fn ask(&self, question: Question<'_>) -> Ruling {
        let Some(approver) = &self.approver else { return Ruling::Nobody };
        if self.is_granted(&question) {
            return Ruling::Granted;
        }
        let _turn = self.turn.lock().await;
        // The prompt before this one may have been answered for the whole session, or for good.
        if self.is_granted(&question) {
            return Ruling::Granted;
        }
        let prompt = Prompt {
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            call: question.call.clone(),
            tool: question.tool.clone(),
            rule: Rule::remembering(question.tool, &question.permission),
            can_keep: question.can_keep,
            permission: question.permission.clone(),
            arguments: Arc::clone(question.arguments),
        };
        match approver.ask(&prompt).await {
            Answer::Deny => return Ruling::Refused,
            Answer::Once => {}
            Answer::Session => self.grant(prompt.rule),
            Answer::Always => {
                // One that would not help is not written at all.
                let _ = prompt.rule.as_ref().filter(|_| prompt.can_keep).map(|rule| approver.remember(rule));
                // Where the rule holds from now on, it answers alone: an answer beside it would outlive it when it
                // is revoked. One that could not be written still holds for this session, as the person meant it.
                if !question.is_ruled() {
                    self.grant(prompt.rule);
                }
            }
        }
        Ruling::Granted
    }

    fn is_granted(&self, question: &Question<'_>) -> bool {
        let Question { tool, arguments, permission, .. } = question;
        let is_answered = {
            let granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
            granted.iter().any(|rule| rule.matches(tool, arguments, Some(permission)))
        };
        is_answered || question.is_ruled()
    }

    fn grant(&self, rule: Option<Rule>) {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).extend(rule);
    }
}

impl std::fmt::Debug for PromptDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PromptDesk").field("open", &self.approver.is_some()).finish_non_exhaustive()
    }
}

/// Answers every question with yes: the flag `--yes`. A deny never comes this far.
#[derive(Debug)]
pub struct YesApprover;

impl Approver for YesApprover {
    fn ask<'a>(&'a self, _prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Once))
    }
}
