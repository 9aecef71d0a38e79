//! The port for whoever watches calls: a journal, a console, a metric.

use std::time::Duration;

use crate::{
    gate::DecisionRecord,
    scope::Caller,
    tool::{Arguments, CallId, ToolResult},
};

/// Told of every call. Must return at once: it runs on the call's own time.
pub trait CallObserver: Send + Sync {
    /// The arguments are valid; permissions come next.
    fn started(&self, _call: &Started<'_>) {}

    /// Exactly once for every call, also for one that never started or was dropped.
    fn finished(&self, call: &Finished<'_>);
}

#[derive(Debug)]
pub struct Started<'a> {
    pub id: &'a CallId,
    pub tool: &'a str,
    pub caller: &'a Caller,
    pub arguments: &'a Arguments,
}

#[derive(Debug)]
pub struct Finished<'a> {
    pub id: &'a CallId,
    pub tool: &'a str,
    pub caller: &'a Caller,
    /// `None` for a call that never came as far as valid arguments.
    pub arguments: Option<&'a Arguments>,
    pub decisions: &'a [DecisionRecord],
    pub result: &'a ToolResult,
    pub duration: Duration,
}
