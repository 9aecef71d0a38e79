//! The port for whoever watches calls: a journal, a console, a metric.

use std::{sync::Arc, time::Duration};

use crate::{
    gate::DecisionRecord,
    scope::Caller,
    tool::{Arguments, BoxFuture, CallId, ToolResult},
};

/// Told of every call. Must return at once: it runs on the call's own time.
pub trait CallObserver: Send + Sync {
    /// The arguments are valid; permissions come next.
    fn started(&self, _call: &Started<'_>) {}

    /// Asked when the call is permitted and about to run: whoever must have it written down before
    /// anything happens answers with a future, which is awaited. If that fails, the call does not run.
    fn before_run<'a>(&'a self, _call: &Started<'a>) -> Option<BoxFuture<'a, Result<(), String>>> {
        None
    }

    /// Exactly once for every call, also for one that never started or was dropped.
    fn finished(&self, call: &Finished<'_>);
}

/// Which call.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    /// Its number among the calls of this engine; ids are the callers' own and may come twice.
    pub serial: u64,
    pub id: &'a CallId,
    /// The inner one of a call that forwards.
    pub tool: &'a str,
    pub caller: &'a Caller,
    /// The session that it belongs to, also from inside another call.
    pub session: Option<&'a Arc<str>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Started<'a> {
    pub of: Of<'a>,
    /// Shared, so that whoever keeps them need not copy them on the call's own time.
    pub arguments: &'a Arc<Arguments>,
    pub read_only: bool,
}

#[derive(Debug)]
pub struct Finished<'a> {
    pub of: Of<'a>,
    /// `None` for a call that never came as far as valid arguments.
    pub arguments: Option<&'a Arc<Arguments>>,
    pub decisions: &'a [DecisionRecord],
    pub result: &'a ToolResult,
    pub duration: Duration,
}
