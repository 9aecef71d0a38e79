//! Hop 6 of a call: policy first, then a person where policy says ask.
//!
//! A gate belongs to one call. The engine passes it before the tool runs; the tool passes it
//! again for what shows only on the way, such as a private address.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    approval::{PromptDesk, Question, Ruling},
    error::ToolError,
    names::{Capability, ToolName, capability},
    policy::{Because, CurrentPolicy, Decision, Policy, Verdict},
    stopwatch::Stopwatch,
    tool::{Arguments, CallId, Permission},
};

/// One decided permission, for the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionRecord {
    pub capability: Capability,
    pub granted: bool,
    /// Whether a person was asked.
    pub asked: bool,
}

/// The decisions of one call. Shared with whoever tells of the call, because a call that is
/// dropped can no longer hand them over. The lock is never held across an await.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decisions(Arc<Mutex<Vec<DecisionRecord>>>);

impl Decisions {
    pub(crate) fn take(&self) -> Vec<DecisionRecord> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, record: DecisionRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

pub(crate) struct Gate {
    pub(crate) policy: Arc<Policy>,
    /// Asked before a person is: somebody may have said "always" since the call began.
    pub(crate) current: CurrentPolicy,
    pub(crate) desk: Arc<PromptDesk>,
    pub(crate) call: CallId,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Arc<Arguments>,
    pub(crate) cancellation: CancellationToken,
    /// What nothing in this call may go beyond, whatever policy says.
    pub(crate) ceiling: Option<Arc<[Capability]>>,
    pub(crate) stopwatch: Stopwatch,
    pub(crate) decisions: Decisions,
}

impl Gate {
    /// Everything that a call needs before it runs.
    pub(crate) async fn pass_all(&self, permissions: Vec<Permission>) -> Result<(), ToolError> {
        if permissions.is_empty() {
            return self.pass_tool().await;
        }
        // Nobody is asked about one permission of a call that another one forbids.
        let is_denied = |permission: &&Permission| self.decide(permission).verdict == Verdict::Deny;
        if permissions.len() > 1
            && let Some(denied) = permissions.iter().find(is_denied)
        {
            return Err(self.deny(denied.capability.clone()));
        }
        for permission in permissions {
            self.pass(permission).await?;
        }
        Ok(())
    }

    /// A tool that needs nothing still obeys rules that name it.
    async fn pass_tool(&self) -> Result<(), ToolError> {
        match self.policy.decide(&self.tool, &self.arguments, None).verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask => self.ask(Permission::new(Capability::known(capability::CALL)), false).await,
            Verdict::Deny => {
                self.record(Capability::known(capability::CALL), false, false);
                Err(self.denied_by_policy(self.tool.as_str()))
            }
        }
    }

    async fn pass(&self, permission: Permission) -> Result<(), ToolError> {
        if self.ceiling.as_ref().is_some_and(|ceiling| !ceiling.contains(&permission.capability)) {
            let hint = "The tool's own manifest does not declare it.";
            let error = ToolError::denied(&permission.capability, hint);
            self.record(permission.capability, false, false);
            return Err(error);
        }
        let decision = self.decide(&permission);
        match decision.verdict {
            Verdict::Allow => {
                self.record(permission.capability, true, false);
                Ok(())
            }
            Verdict::Deny => Err(self.deny(permission.capability)),
            Verdict::Ask => self.ask(permission, decision.because == Because::Default).await,
        }
    }

    /// As [`pass`](Self::pass), for a running tool: its clock stands still while a person thinks.
    pub(crate) async fn pass_pausing(&self, permission: Permission) -> Result<(), ToolError> {
        let _hold = self.stopwatch.hold();
        self.pass(permission).await
    }

    async fn ask(&self, permission: Permission, can_keep: bool) -> Result<(), ToolError> {
        let capability = permission.capability.clone();
        let question = Question {
            call: &self.call,
            tool: &self.tool,
            arguments: &self.arguments,
            permission,
            can_keep,
            policy: &self.current,
        };
        let asking = self.desk.ask(question);
        let ruling = tokio::select! {
            // Cancellation first: a call that nobody wants any more asks nobody.
            biased;
            () = self.cancellation.cancelled() => return Err(ToolError::cancelled()),
            ruling = asking => ruling,
        };
        self.record(capability.clone(), ruling == Ruling::Granted, ruling != Ruling::Nobody);
        match ruling {
            Ruling::Granted => Ok(()),
            Ruling::Refused => Err(ToolError::denied(&capability, "The user said no to this call.")),
            Ruling::Nobody => Err(ToolError::denied(
                &capability,
                format!(
                    "Nobody can be asked here. Allow it with --allow {capability}, or for good with: \
                     pinza policy allow {capability}"
                ),
            )),
        }
    }

    fn decide(&self, permission: &Permission) -> Decision {
        self.policy.decide(&self.tool, &self.arguments, Some(permission))
    }

    fn deny(&self, capability: Capability) -> ToolError {
        let error = self.denied_by_policy(capability.as_str());
        self.record(capability, false, false);
        error
    }

    fn denied_by_policy(&self, what: &str) -> ToolError {
        ToolError::new(
            crate::ErrorKind::PermissionDenied,
            format!("Required permissions were denied: {what}"),
        )
        .hint(denied_hint(&self.tool))
    }

    fn record(&self, capability: Capability, granted: bool, asked: bool) {
        self.decisions.push(DecisionRecord { capability, granted, asked });
    }
}

/// What to do about a denial by policy.
pub(crate) fn denied_hint(tool: &ToolName) -> String {
    format!("A rule or flag denies it. See which with: pinza policy test {tool}")
}
