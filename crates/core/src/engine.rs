//! The one trusted way to run a tool.
//!
//! Every entry (terminal, MCP, web, agent loop, schedule, a script's `tools.call`) comes
//! through [`Engine::call`]. A call goes down once and comes up once: look-up, visibility,
//! arguments, policy, admission, the run under timeout and panic guard, bounds, observers,
//! and exactly one outcome, whatever happened on the way.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    admission::Admission,
    bounds::{OutputStore, bound, bound_error},
    error::{ErrorKind, ToolError},
    gate::{Decisions, Gate},
    names::Capability,
    observer::{CallObserver, Finished, Started},
    policy::Policy,
    registry::{Entry, Snapshot, panic_text},
    scope::{CallScope, Visibility},
    stopwatch::Stopwatch,
    tool::{Arguments, CallContext, CallId, ToolCall, ToolResult},
};

/// The one answer to one call.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub id: CallId,
    pub tool: String,
    pub result: ToolResult,
    pub duration: Duration,
}

pub struct Engine {
    /// Swapped whole when the configuration changes; a call keeps the one it began with.
    policy: RwLock<Arc<Policy>>,
    admission: Admission,
    observers: Vec<Arc<dyn CallObserver>>,
    outputs: Option<Arc<dyn OutputStore>>,
}

impl Engine {
    pub fn new(policy: Policy) -> Self {
        Self {
            policy: RwLock::new(Arc::new(policy)),
            admission: Admission::default(),
            observers: Vec::new(),
            outputs: None,
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
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// Runs one call. Never fails, never panics: the outcome says what happened.
    pub async fn call(&self, call: ToolCall, scope: &CallScope) -> Outcome {
        let begun = Instant::now();
        let ToolCall { id, name, arguments } = call;
        let mut trace = Trace::new(&self.observers, &id, &name, scope, begun);
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
        let lost = |(id, tool): (CallId, String)| Outcome {
            id,
            tool,
            result: Err(ToolError::new(
                ErrorKind::Interrupted,
                "The call was lost while the program stopped",
            )),
            duration: Duration::ZERO,
        };
        labels
            .into_iter()
            .zip(outcomes)
            .map(|(label, outcome)| outcome.unwrap_or_else(|| lost(label)))
            .collect()
    }

    async fn run(
        &self,
        id: &CallId,
        name: &str,
        arguments: serde_json::Value,
        scope: &CallScope,
        trace: &mut Trace<'_>,
    ) -> ToolResult {
        let entry = find(&scope.snapshot, name, &scope.visibility)?;
        let arguments = Arc::new(entry.checker.check(entry.definition(), arguments)?);
        let context = CallContext {
            engine: self,
            scope,
            id: id.clone(),
            progress: scope.progress.clone(),
            gate: Gate {
                policy: self.policy(),
                desk: Arc::clone(&scope.desk),
                call: id.clone(),
                tool: entry.definition().name.clone(),
                arguments: Arc::clone(&arguments),
                cancellation: scope.cancellation.clone(),
                ceiling: lower(scope.ceiling.as_ref(), entry.definition().ceiling.as_ref()),
                stopwatch: Stopwatch::start(trace.begun),
                decisions: trace.decisions.clone(),
            },
        };
        trace.start(&arguments);
        self.run_permitted(entry, &arguments, &context, scope).await
    }

    async fn run_permitted(
        &self,
        entry: &Entry,
        arguments: &Arguments,
        context: &CallContext<'_>,
        scope: &CallScope,
    ) -> ToolResult {
        let tool = entry.tool.as_ref();
        let definition = tool.definition();
        context.gate.pass_all(tool.permissions(arguments)).await?;
        let _admitted = self.admission.enter(definition.exclusive, scope).await?;
        if scope.cancellation.is_cancelled() {
            return Err(ToolError::cancelled());
        }
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
fn find<'a>(snapshot: &'a Snapshot, name: &str, visibility: &Visibility) -> Result<&'a Entry, ToolError> {
    let Some(entry) = snapshot.get(name) else {
        let error =
            ToolError::new(ErrorKind::ToolNotFound, format!("Tool '{}' not found", crate::visible(name)));
        let callable = |entry: &Entry| entry.is_enabled() && visibility.sees(entry.meta().id.as_str());
        let near = snapshot.near_names_where(name, callable);
        return Err(match near.as_slice() {
            [] => error,
            near => error.hint(format!("Did you mean {}?", near.join(", "))),
        });
    };
    if !entry.is_enabled() {
        let error = ToolError::new(ErrorKind::ToolDisabled, format!("Tool '{name}' is disabled"));
        return Err(error.hint(format!("Enable it with: pinza tools enable {name}")));
    }
    if !visibility.sees(name) {
        let message = format!("Tool '{name}' is not available for this agent");
        let error = ToolError::new(ErrorKind::ToolNotAvailable, message);
        return Err(match &entry.meta().group {
            Some(group) => {
                error.hint(format!("Load its group first: load_tool_group {{\"group_name\": \"{group}\"}}"))
            }
            None => error,
        });
    }
    Ok(entry)
}

fn crashed(panic: &(dyn std::any::Any + Send)) -> ToolError {
    ToolError::execution(format!("Tool execution failed: {}", panic_text(panic)))
}

/// Tells observers of a call, once at its start and once at its end, also when the caller
/// drops the call in the middle.
struct Trace<'a> {
    observers: &'a [Arc<dyn CallObserver>],
    id: &'a CallId,
    tool: &'a str,
    scope: &'a CallScope,
    begun: Instant,
    arguments: Option<Arc<Arguments>>,
    decisions: Decisions,
    finished: bool,
}

impl<'a> Trace<'a> {
    fn new(
        observers: &'a [Arc<dyn CallObserver>],
        id: &'a CallId,
        tool: &'a str,
        scope: &'a CallScope,
        begun: Instant,
    ) -> Self {
        Self {
            observers,
            id,
            tool,
            scope,
            begun,
            arguments: None,
            decisions: Decisions::default(),
            finished: false,
        }
    }

    fn start(&mut self, arguments: &Arc<Arguments>) {
        self.arguments = Some(Arc::clone(arguments));
        self.tell(|observer| {
            observer.started(&Started {
                id: self.id,
                tool: self.tool,
                caller: &self.scope.caller,
                arguments,
            });
        });
    }

    fn finish(&mut self, result: &ToolResult, duration: Duration) {
        self.finished = true;
        let decisions = self.decisions.take();
        self.tell(|observer| {
            observer.finished(&Finished {
                id: self.id,
                tool: self.tool,
                caller: &self.scope.caller,
                arguments: self.arguments.as_deref(),
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
