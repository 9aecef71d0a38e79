//! An engine with its surroundings. Every call through a world also checks the promise made
//! to observers: told exactly once, and told what the caller was told.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use pinza_core::{
    Approver, CallObserver, CallScope, Caller, DecisionRecord, Engine, Finished, OutputStore, Policy,
    PromptDesk, Started, Tool, ToolCall, ToolResult,
};
use serde_json::Value;

use super::{rules, tools::snapshot};

/// What an observer was told of the end of a call.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) answer: String,
    pub(crate) decisions: Vec<DecisionRecord>,
    pub(crate) arguments: Option<Value>,
}

#[derive(Default)]
pub(crate) struct Watcher {
    pub(crate) started: Mutex<Vec<String>>,
    pub(crate) finished: Mutex<Vec<Told>>,
}

impl CallObserver for Watcher {
    fn started(&self, call: &Started<'_>) {
        self.started.lock().unwrap().push(call.of.id.to_string());
    }

    fn finished(&self, call: &Finished<'_>) {
        self.finished.lock().unwrap().push(Told {
            id: call.of.id.to_string(),
            answer: describe(call.result),
            decisions: call.decisions.to_vec(),
            arguments: call.arguments.map(|arguments| Value::Object((**arguments).clone())),
        });
    }
}

/// Stands before the watcher in the engine: its panics must not reach anybody.
struct Clumsy;

impl CallObserver for Clumsy {
    fn started(&self, _: &Started<'_>) {
        std::panic::resume_unwind(Box::new("clumsy at the start"));
    }

    fn finished(&self, _: &Finished<'_>) {
        std::panic::resume_unwind(Box::new("clumsy at the end"));
    }
}

pub(crate) struct World {
    pub(crate) engine: Arc<Engine>,
    pub(crate) scope: CallScope,
    pub(crate) watcher: Arc<Watcher>,
    next: AtomicUsize,
}

impl World {
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self::with(tools, Policy::default(), None)
    }

    pub(crate) fn with_rules(tools: impl IntoIterator<Item = Arc<dyn Tool>>, values: &[Value]) -> Self {
        Self::with(tools, Policy::new(rules(values), []), None)
    }

    pub(crate) fn with_store(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        store: Arc<dyn OutputStore>,
    ) -> Self {
        Self::with(tools, Policy::default(), Some(store))
    }

    fn with(
        tools: impl IntoIterator<Item = Arc<dyn Tool>>,
        policy: Policy,
        store: Option<Arc<dyn OutputStore>>,
    ) -> Self {
        let watcher = Arc::new(Watcher::default());
        let engine = Engine::new(policy)
            .observer(Arc::new(Clumsy))
            .observer(Arc::clone(&watcher) as Arc<dyn CallObserver>);
        let engine = match store {
            Some(store) => engine.outputs(store),
            None => engine,
        };
        let scope = CallScope::new(Caller::Library, snapshot(tools));
        Self { engine: Arc::new(engine), scope, watcher, next: AtomicUsize::new(1) }
    }

    #[must_use]
    pub(crate) fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.scope.desk = Arc::new(PromptDesk::new(approver));
        self
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.call_in(&self.scope, name, arguments).await
    }

    /// One call, under an id of its own.
    pub(crate) async fn call_in(&self, scope: &CallScope, name: &str, arguments: Value) -> ToolResult {
        let id = format!("call-{}", self.next.fetch_add(1, SeqCst));
        let outcome = self.engine.call(ToolCall::new(&id, name, arguments), scope).await;
        assert_eq!((outcome.id.as_str(), outcome.tool.as_str()), (id.as_str(), name));
        assert_eq!(self.told_of(&id).answer, describe(&outcome.result), "observers hear the outcome");
        outcome.result
    }

    pub(crate) async fn check(&self, name: &str, arguments: Value, expected: &str) {
        let case = format!("{name} {arguments}");
        assert_eq!(describe(&self.call(name, arguments).await), expected, "{case}");
    }

    /// What observers were told of a call, which they must have been exactly once.
    pub(crate) fn told_of(&self, id: &str) -> Told {
        let finished = self.watcher.finished.lock().unwrap();
        let told: Vec<&Told> = finished.iter().filter(|told| told.id == id).collect();
        assert_eq!(told.len(), 1, "told exactly once of {id}: {told:?}");
        assert!(self.watcher.started.lock().unwrap().iter().filter(|started| *started == id).count() <= 1);
        told[0].clone()
    }

    pub(crate) fn last_told(&self) -> Told {
        self.watcher.finished.lock().unwrap().last().unwrap().clone()
    }
}

/// An outcome as one text: the answer, or `code: message`, then `(hint)`.
pub(crate) fn describe(result: &ToolResult) -> String {
    match result {
        Ok(output) => output.as_text(),
        Err(error) => match &error.hint {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
    }
}
