//! The one trusted way to run a tool.
//!
//! Every entry (terminal, MCP, web, agent loop, schedule, a script's `tools.call`) comes
//! through [`Engine::call`]. A call goes down once and comes up once: look-up, visibility,
//! arguments, policy, admission, the run under timeout and panic guard, bounds, observers,
//! and exactly one outcome, whatever happened on the way.

use std::{
    borrow::Cow,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    admission::Admission,
    bounds::{OutputStore, bound, bound_error},
    error::{ErrorKind, ToolError},
    gate::{Decisions, Gate, denied_hint},
    meta::MetaTool,
    names::Capability,
    observer::{CallObserver, Finished, Of, Started},
    policy::{CurrentPolicy, Policy},
    registry::{Entry, panic_text},
    scope::{CallScope, Caller, Visibility},
    stopwatch::Stopwatch,
    tool::{Arguments, CallContext, CallId, Forward, ToolCall, ToolResult},
    view::{Loading, in_toolset},
};

/// The one answer to one call.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub id: CallId,
    pub tool: String,
    pub result: ToolResult,
    pub duration: Duration,
}

impl Outcome {
    /// For a call whose task ended without an answer.
    pub(crate) fn lost(id: CallId, tool: String) -> Self {
        let error = ToolError::new(ErrorKind::Interrupted, "The call was lost while the program stopped");
        Self { id, tool, result: Err(error), duration: Duration::ZERO }
    }
}

pub struct Engine {
    /// Another one when the configuration changes; a call keeps the one it began with.
    policy: CurrentPolicy,
    admission: Admission,
    observers: Vec<Arc<dyn CallObserver>>,
    outputs: Option<Arc<dyn OutputStore>>,
    /// The number of the next call.
    serial: AtomicU64,
}

impl Engine {
    pub fn new(policy: Policy) -> Self {
        Self {
            policy: CurrentPolicy::new(policy),
            admission: Admission::default(),
            observers: Vec::new(),
            outputs: None,
            serial: AtomicU64::new(1),
        }
    }

    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Where texts go that are too long for their reader.
    #[must_use]
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.outputs = Some(outputs);
        self
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.policy.get()
    }

    pub fn set_policy(&self, policy: Policy) {
        self.policy.set(policy);
    }

    /// Runs one call. Never fails, never panics: the outcome says what happened.
    pub async fn call(&self, call: ToolCall, scope: &CallScope) -> Outcome {
        let begun = Instant::now();
        let ToolCall { id, name, arguments } = call;
        let serial = self.serial.fetch_add(1, Relaxed);
        let mut trace = Trace::new(&self.observers, serial, &id, &name, scope, begun);
        let run = self.run(&id, &name, arguments, scope, &mut trace);
        let result = match AssertUnwindSafe(run).catch_unwind().await {
            Ok(result) => result,
            Err(panic) => Err(crashed(&*panic)),
        };
        let result = result.map_err(|error| bound_error(error, scope.text_limit));
        let duration = begun.elapsed();
        trace.finish(&result, duration);
        drop(trace);
        Outcome { id, tool: name, result, duration }
    }

    /// Runs calls side by side; outcomes come in the order of the calls.
    pub async fn call_all(self: &Arc<Self>, calls: Vec<ToolCall>, scope: &CallScope) -> Vec<Outcome> {
        let labels: Vec<(CallId, String)> =
            calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        let mut outcomes: Vec<Option<Outcome>> = labels.iter().map(|_| None).collect();
        // The set owns its tasks: dropping this future ends them all.
        let mut tasks = JoinSet::new();
        for (index, call) in calls.into_iter().enumerate() {
            let (engine, scope) = (Arc::clone(self), scope.clone());
            tasks.spawn(async move { (index, engine.call(call, &scope).await) });
        }
        while let Some(joined) = tasks.join_next().await {
            if let Ok((index, outcome)) = joined {
                outcomes[index] = Some(outcome);
            }
        }
        let answered = labels.into_iter().zip(outcomes);
        answered.map(|((id, tool), outcome)| outcome.unwrap_or_else(|| Outcome::lost(id, tool))).collect()
    }

    async fn run(
        &self,
        id: &CallId,
        name: &str,
        arguments: serde_json::Value,
        scope: &CallScope,
        trace: &mut Trace<'_>,
    ) -> ToolResult {
        let entry = find(scope, name, &scope.visibility, &self.policy)?;
        let arguments = entry.checker.check(entry.definition(), arguments)?;
        if let Some(forward) = entry.tool.forwards(&arguments) {
            return self.run_forwarded(id, entry, arguments, forward, scope, trace).await;
        }
        self.run_found(id, entry, arguments, scope, trace).await
    }

    /// Goes on with the inner tool. The outer one has still to be permitted as such.
    async fn run_forwarded(
        &self,
        id: &CallId,
        outer: &Entry,
        outer_arguments: Arguments,
        forward: Forward,
        scope: &CallScope,
        trace: &mut Trace<'_>,
    ) -> ToolResult {
        trace.tool = Cow::Owned(forward.name.clone());
        // Whoever may forward reaches all that the caller may ever come to see.
        let inner = find(scope, &forward.name, &Visibility::All, &self.policy)?;
        let arguments = inner.checker.check(inner.definition(), forward.arguments)?;
        if inner.tool.forwards(&arguments).is_some() {
            let message = format!("{} cannot call {}", outer.definition().name, forward.name);
            return Err(ToolError::validation(message));
        }
        let gate = self.gate(id, outer, Arc::new(outer_arguments), scope, trace);
        gate.pass_all(Vec::new()).await?;
        self.run_found(id, inner, arguments, scope, trace).await
    }

    async fn run_found(
        &self,
        id: &CallId,
        entry: &Entry,
        arguments: Arguments,
        scope: &CallScope,
        trace: &mut Trace<'_>,
    ) -> ToolResult {
        let arguments = Arc::new(arguments);
        let gate = self.gate(id, entry, Arc::clone(&arguments), scope, trace);
        let progress = scope.progress.clone();
        let context = CallContext { engine: self, scope, id: id.clone(), progress, gate };
        trace.start(&arguments, entry.definition().read_only);
        self.run_permitted(entry, &arguments, &context, trace).await
    }

    fn gate(
        &self,
        id: &CallId,
        entry: &Entry,
        arguments: Arc<Arguments>,
        scope: &CallScope,
        trace: &Trace<'_>,
    ) -> Gate {
        Gate {
            policy: self.policy(),
            current: self.policy.clone(),
            desk: Arc::clone(&scope.desk),
            call: id.clone(),
            tool: entry.definition().name.clone(),
            arguments,
            cancellation: scope.cancellation.clone(),
            ceiling: lower(scope.ceiling.as_ref(), entry.definition().ceiling.as_ref()),
            stopwatch: Stopwatch::start(trace.begun),
            decisions: trace.decisions.clone(),
        }
    }

    async fn run_permitted(
        &self,
        entry: &Entry,
        arguments: &Arc<Arguments>,
        context: &CallContext<'_>,
        trace: &Trace<'_>,
    ) -> ToolResult {
        let scope = context.scope;
        let tool = entry.tool.as_ref();
        let definition = tool.definition();
        context.gate.pass_all(tool.permissions(arguments)).await?;
        let _admitted = self.admission.enter(definition.exclusive, scope).await?;
        if scope.cancellation.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        trace.write_down(arguments, definition.read_only).await?;
        let stopwatch = &context.gate.stopwatch;
        stopwatch.restart();
        let running = AssertUnwindSafe(tool.call(arguments, context)).catch_unwind();
        let result = tokio::select! {
            // The tool first: a call that is ready at once never touches the timer.
            biased;
            result = running => result.unwrap_or_else(|panic| Err(crashed(&*panic))),
            () = scope.cancellation.cancelled() => Err(ToolError::cancelled()),
            () = stopwatch.expired(definition.timeout) => Err(ToolError::timed_out(definition.timeout)),
        };
        bound(result?, &context.id, scope.text_limit, self.outputs.as_deref()).await
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("policy", &self.policy()).finish_non_exhaustive()
    }
}

/// What both ceilings allow.
fn lower(above: Option<&Arc<[Capability]>>, own: Option<&Arc<[Capability]>>) -> Option<Arc<[Capability]>> {
    match (above, own) {
        (Some(above), Some(own)) => Some(own.iter().filter(|name| above.contains(name)).cloned().collect()),
        (one, other) => one.or(other).cloned(),
    }
}

/// Hops 3 and 4: does it exist, is it switched on, may this caller see it.
fn find<'a>(
    scope: &'a CallScope,
    name: &str,
    visibility: &Visibility,
    policy: &CurrentPolicy,
) -> Result<&'a Entry, ToolError> {
    let sees = |entry: &Entry| in_toolset(&scope.toolset, entry) && visibility.sees(entry.meta().id.as_str());
    let Some(entry) = scope.snapshot.get(name) else {
        let error =
            ToolError::new(ErrorKind::ToolNotFound, format!("Tool '{}' not found", crate::visible(name)));
        let near = scope.snapshot.near_names_where(name, |entry| entry.is_enabled() && sees(entry));
        return Err(match near.as_slice() {
            [] => error,
            near => error.hint(format!("Did you mean {}?", near.join(", "))),
        });
    };
    if !entry.is_enabled() {
        let error = ToolError::new(ErrorKind::ToolDisabled, format!("Tool '{name}' is disabled"));
        return Err(error.hint(format!("Enable it with: pinza tools enable {name}")));
    }
    if sees(entry) { Ok(entry) } else { Err(not_available(entry, scope, &policy.get())) }
}

/// Names a way to the tool, if there is one that is open; to an agent also the parameters, so that it need not call
/// blindly again.
fn not_available(entry: &Entry, scope: &CallScope, policy: &Policy) -> ToolError {
    let name = &entry.definition().name;
    let message = format!("Tool '{name}' is not available for this agent");
    let error = ToolError::new(ErrorKind::ToolNotAvailable, message);
    if !in_toolset(&scope.toolset, entry) {
        return error;
    }
    if policy.forbids(entry) {
        return error.hint(denied_hint(name));
    }
    match (way_to(entry, scope), &scope.caller) {
        (None, _) => error,
        (Some(way), Caller::Agent { .. }) => {
            error.hint(format!("{way}. Its arguments are: {}", entry.definition().parameters.schema()))
        }
        (Some(way), _) => error.hint(way),
    }
}

/// How a caller comes to call a tool that it does not see.
fn way_to(entry: &Entry, scope: &CallScope) -> Option<String> {
    let is_open = |which: MetaTool| {
        let mut ways = scope.snapshot.tools().filter(|way| way.meta().meta_tool == Some(which));
        ways.any(|way| {
            let is_seen = scope.visibility.sees(way.meta().id.as_str());
            is_seen && way.is_enabled() && in_toolset(&scope.toolset, way)
        })
    };
    match (scope.loading, &entry.meta().group) {
        (Loading::Grows, Some(group)) if is_open(MetaTool::LoadToolGroup) => {
            Some(format!("Load its group first: load_tool_group {{\"group_name\": \"{group}\"}}"))
        }
        (Loading::Describes, _) if is_open(MetaTool::CallTool) => {
            let name = &entry.definition().name;
            Some(format!("Call it with: call_tool {{\"name\": \"{name}\", \"arguments\": {{…}}}}"))
        }
        _ => None,
    }
}

fn crashed(panic: &(dyn std::any::Any + Send)) -> ToolError {
    ToolError::execution(format!("Tool execution failed: {}", panic_text(panic)))
}

/// Tells observers of a call, once at its start and once at its end, also when the caller
/// drops the call in the middle.
struct Trace<'a> {
    observers: &'a [Arc<dyn CallObserver>],
    serial: u64,
    id: &'a CallId,
    /// The inner one of a call that forwards.
    tool: Cow<'a, str>,
    scope: &'a CallScope,
    begun: Instant,
    arguments: Option<Arc<Arguments>>,
    decisions: Decisions,
    finished: bool,
}

impl<'a> Trace<'a> {
    fn new(
        observers: &'a [Arc<dyn CallObserver>],
        serial: u64,
        id: &'a CallId,
        tool: &'a str,
        scope: &'a CallScope,
        begun: Instant,
    ) -> Self {
        Self {
            observers,
            serial,
            id,
            tool: Cow::Borrowed(tool),
            scope,
            begun,
            arguments: None,
            decisions: Decisions::default(),
            finished: false,
        }
    }

    fn of(&self) -> Of<'_> {
        Of {
            serial: self.serial,
            id: self.id,
            tool: &self.tool,
            caller: &self.scope.caller,
            session: self.scope.session.as_ref(),
        }
    }

    fn start(&mut self, arguments: &Arc<Arguments>, read_only: bool) {
        self.arguments = Some(Arc::clone(arguments));
        let started = Started { of: self.of(), arguments, read_only };
        self.tell(|observer| observer.started(&started));
    }

    /// Waits for observers that must have the call written down before it runs.
    async fn write_down(&self, arguments: &Arc<Arguments>, read_only: bool) -> Result<(), ToolError> {
        let started = Started { of: self.of(), arguments, read_only };
        for observer in self.observers {
            if let Some(writing) = observer.before_run(&started) {
                writing.await.map_err(|reason| {
                    ToolError::execution(format!(
                        "The call was not run, because it could not be noted: {reason}"
                    ))
                })?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, result: &ToolResult, duration: Duration) {
        self.finished = true;
        let decisions = self.decisions.take();
        self.tell(|observer| {
            observer.finished(&Finished {
                of: self.of(),
                arguments: self.arguments.as_ref(),
                decisions: &decisions,
                result,
                duration,
            });
        });
    }

    /// An observer that panics must not cost the caller the answer.
    fn tell(&self, say: impl Fn(&dyn CallObserver)) {
        for observer in self.observers {
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| say(observer.as_ref())));
        }
    }
}

impl Drop for Trace<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.finish(&Err(ToolError::cancelled()), self.begun.elapsed());
        }
    }
}
