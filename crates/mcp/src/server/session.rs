//! Calls of a client that has a session on stdio, past the SDK.
//!
//! For each request the SDK makes tasks, channels and a context, which take longer than a small call. The first call of a
//! session is the SDK's all the same: it tells who the client is, and the way to it. Whatever is odd about a later one goes
//! that way too, so the protocol's rules are written down once; and what is answered here is answered in the SDK's
//! own words.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pinza_core::CancellationToken;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonObject, ProgressToken, RequestId,
};

use super::{
    answer,
    exchange::{Repeated, Way},
    handler::{Asked, Handler},
    plain::{self, Params},
};

pub(super) const PROGRESS_TOKEN: &str = "progressToken";
/// What a request says of itself in the protocol's own name is for the SDK to weigh.
pub(super) const RESERVED: &str = "io.modelcontextprotocol/";

pub(super) struct Session {
    handler: Handler,
    running: OwnCalls,
    /// At its end all calls are cancelled, as the SDK's are.
    stop: CancellationToken,
    /// How often the client has said who it is. One that begins anew may be another one.
    greetings: u32,
}

/// Calls that the client waits for. A std lock, held for a look-up and never across an await.
#[derive(Clone, Default)]
pub(super) struct OwnCalls(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// Counts them: a client may use the id of a call that it cancelled again before that call has ended.
    begun: u64,
    waited_for: HashMap<RequestId, (u64, CancellationToken)>,
}

impl Session {
    pub(super) fn new(handler: Handler, stop: CancellationToken) -> Self {
        Self { handler, running: OwnCalls::default(), stop, greetings: 0 }
    }

    /// Begins the call that a line asks for; it gives the answer as it is written, or nothing if nobody waits for it any
    /// more. `None` if the line is none of ours.
    pub(super) fn begin(
        &self,
        line: &[u8],
    ) -> Option<impl Future<Output = Option<Vec<u8>>> + Send + 'static + use<>> {
        let known = self.handler.known().filter(|_| self.greetings == 1)?;
        let (id, Params { name, arguments, meta }) = plain::read::<JsonObject>(line)?;
        if meta.keys().any(|key| key.starts_with(RESERVED)) {
            return None;
        }
        let progress = match meta.get(PROGRESS_TOKEN) {
            Some(token) => Some(serde_json::from_value::<ProgressToken>(token.clone()).ok()?),
            None => None,
        };
        let cancellation = self.stop.child_token();
        let number = self.running.enter(&id, &cancellation)?;
        let (handler, running) = (self.handler.clone(), self.running.clone());
        Some(async move {
            let way = Way { peer: &known.peer, cancellation: &cancellation, progress, log_level: None };
            let asked = Asked {
                name,
                arguments,
                repeated: Repeated::default(),
                who: known.who.clone(),
                way: Some(way),
                is_stateless: false,
            };
            let answered = handler.call(asked).await;
            running.leave(&id, number).then(|| answer::line(answered, id, false)).flatten()
        })
    }

    /// Hears what goes to the SDK; tells whether it was about one of these calls, and is settled.
    pub(super) fn hear(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.greetings = self.greetings.saturating_add(1);
                }
                false
            }
            ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    cancelled.params.request_id.as_ref().is_some_and(|id| self.running.cancel(id))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Nobody waits for any of them.
    pub(super) fn give_up(&self) {
        self.running.all().waited_for.drain().for_each(|(_, (_, cancellation))| cancellation.cancel());
    }
}

impl OwnCalls {
    /// The call's number, unless there is another one of that id.
    pub(super) fn enter(&self, id: &RequestId, cancellation: &CancellationToken) -> Option<u64> {
        let mut calls = self.all();
        if calls.waited_for.contains_key(id) {
            return None;
        }
        calls.begun += 1;
        let number = calls.begun;
        calls.waited_for.insert(id.clone(), (number, cancellation.clone()));
        Some(number)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().waited_for.is_empty()
    }

    /// Whether somebody still waited for it.
    pub(super) fn leave(&self, id: &RequestId, number: u64) -> bool {
        let mut calls = self.all();
        let is_waited_for = calls.waited_for.get(id).is_some_and(|(waited_for, _)| *waited_for == number);
        is_waited_for && calls.waited_for.remove(id).is_some()
    }

    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let call = self.all().waited_for.remove(id);
        call.inspect(|(_, cancellation)| cancellation.cancel()).is_some()
    }

    fn all(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
