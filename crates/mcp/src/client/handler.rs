//! What a server may say unasked: progress, questions, "my tools changed". Each goes to the call that it belongs to.

#![expect(deprecated, reason = "sampling is on its way out of the protocol, and refused by name until it is")]

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pinza_core::Step;
use rmcp::{
    ClientHandler,
    model::{
        ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation,
        InitializeRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient},
};
use tokio::sync::{Notify, mpsc, oneshot};

use super::question::{Question, declined};

/// Progress that came before its call had told where to send it.
const EARLY: usize = 32;

/// How much progress may wait for a call that is busy; more is dropped, since only the last word counts.
pub(crate) const EVENTS: usize = 64;

/// What reaches a running call.
#[derive(Debug)]
pub(crate) enum Event {
    Progress(Step),
    Ask(Question, oneshot::Sender<bool>),
}

/// The calls in flight on one connection.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    running: HashMap<ProgressToken, (RequestId, mpsc::Sender<Event>)>,
    early: VecDeque<(ProgressToken, Step)>,
}

/// A call's place among them, given up on drop.
pub(crate) struct Seat {
    calls: Calls,
    token: ProgressToken,
}

impl Calls {
    pub(crate) fn enter(&self, token: ProgressToken, id: RequestId, events: mpsc::Sender<Event>) -> Seat {
        let mut inner = self.inner();
        let early = std::mem::take(&mut inner.early);
        for (whose, step) in early {
            if whose == token {
                let _ = events.try_send(Event::Progress(step));
            } else {
                inner.early.push_back((whose, step));
            }
        }
        inner.running.insert(token.clone(), (id, events));
        Seat { calls: self.clone(), token }
    }

    fn progress(&self, token: ProgressToken, step: Step) {
        let mut inner = self.inner();
        if let Some((_, events)) = inner.running.get(&token) {
            let _ = events.try_send(Event::Progress(step));
            return;
        }
        if inner.early.len() == EARLY {
            inner.early.pop_front();
        }
        inner.early.push_back((token, step));
    }

    /// The call that a question belongs to: the one it came with, or the only one. Between several, nobody can say whose
    /// person is meant.
    fn asked(&self, origin: Option<&InboundStreamOrigin>) -> Option<mpsc::Sender<Event>> {
        let inner = self.inner();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin {
            return inner.running.values().find(|(known, _)| known == id).map(|(_, events)| events.clone());
        }
        match inner.running.len() {
            1 => inner.running.values().next().map(|(_, events)| events.clone()),
            _ => None,
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.calls.inner().running.remove(&self.token);
    }
}

pub(crate) struct Handler {
    pub(crate) calls: Calls,
    /// Told when the server says that its tools changed.
    pub(crate) changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> InitializeRequestParams {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        let mut who = Implementation::new("pinza", env!("CARGO_PKG_VERSION"));
        who.title = Some("Pinza".into());
        InitializeRequestParams::new(capabilities, who).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = self.calls.asked(context.extensions.get::<InboundStreamOrigin>());
        let (Some(question), Some(call)) = (Question::of(&params), asked) else { return Ok(declined()) };
        let (reply, answer) = oneshot::channel();
        if call.send(Event::Ask(question.clone(), reply)).await.is_err() {
            return Ok(declined());
        }
        // A call that ends takes its question with it.
        Ok(question.answer(answer.await.unwrap_or(false)))
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let text = "Pinza does not lend its model to servers (sampling is not offered)";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        // Enough to read; a server could send anything.
        let message = params.message.map(|message| message.chars().take(500).collect());
        let step = Step { progress: params.progress, total: params.total, message };
        self.calls.progress(params.progress_token, step);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
