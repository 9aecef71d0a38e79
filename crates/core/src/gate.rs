//! Hop 6 of a call: policy first, then a person where policy says ask.
//!
//! A gate belongs to one call. The engine passes it before the tool runs; the tool passes it
//! again for what shows only on the way, such as a private address.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    approval::{PromptDesk, Ruling},
    error::ToolError,
    names::{Capability, ToolName, capability},
    policy::{Because, Policy, Verdict},
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

pub(crate) struct Gate {
    pub(crate) policy: Arc<Policy>,
    pub(crate) desk: Arc<PromptDesk>,
    pub(crate) call: CallId,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Arc<Arguments>,
    pub(crate) cancellation: CancellationToken,
    pub(crate) stopwatch: Arc<Stopwatch>,
    /// Filled while the call runs, taken once at its end; never locked across an await.
    pub(crate) decisions: Mutex<Vec<DecisionRecord>>,
}

impl Gate {
    /// A tool that needs nothing still obeys rules that name it.
    pub(crate) async fn pass_tool(&self) -> Result<(), ToolError> {
        match self.policy.decide(&self.tool, &self.arguments, None).verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask => self.ask(Permission::new(Capability::known(capability::CALL)), false).await,
            Verdict::Deny => Err(self.denied_by_policy(self.tool.as_str())),
        }
    }

    pub(crate) async fn pass(&self, permission: Permission) -> Result<(), ToolError> {
        let decision = self.policy.decide(&self.tool, &self.arguments, Some(&permission));
        match decision.verdict {
            Verdict::Allow => {
                self.record(permission.capability, true, false);
                Ok(())
            }
            Verdict::Deny => {
                let error = self.denied_by_policy(permission.capability.as_str());
                self.record(permission.capability, false, false);
                Err(error)
            }
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
        let asking = self.desk.ask(&self.call, &self.tool, &self.arguments, permission, can_keep);
        let ruling = tokio::select! {
            ruling = asking => ruling,
            () = self.cancellation.cancelled() => return Err(ToolError::cancelled()),
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

    fn denied_by_policy(&self, what: &str) -> ToolError {
        ToolError::new(
            crate::ErrorKind::PermissionDenied,
            format!("Required permissions were denied: {what}"),
        )
        .hint(format!("A rule or flag denies it. See which with: pinza policy test {}", self.tool))
    }

    fn record(&self, capability: Capability, granted: bool, asked: bool) {
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        decisions.push(DecisionRecord { capability, granted, asked });
    }

    pub(crate) fn take_decisions(&self) -> Vec<DecisionRecord> {
        std::mem::take(&mut *self.decisions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
