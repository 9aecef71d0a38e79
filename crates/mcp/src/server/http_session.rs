//! Calls of a client that has a session over HTTP, past the SDK, as long as they take a moment.
//!
//! As on stdio ([`session`](super::session)), the first call of a session is the SDK's, and whatever is odd about a later one
//! goes that way too. A session over HTTP has streams as well, which can be taken up again, and on which a call asks its
//! client: so a call that takes longer than a moment, or has anything to say before its answer, is handed over to the SDK as
//! it runs, and so is one whose client has hung up, which does not cancel it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Extensions, HeaderMap, Response, header, request};
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientNotification, JsonObject, RequestId},
    service::RequestContext,
};

use super::{
    Exposure, Server,
    brief::MOMENT,
    connection::Connection,
    exchange,
    handler::Handler,
    plain::{self, JSON, Params, only},
    session::{OwnCalls, PROGRESS_TOKEN, RESERVED},
};

/// Those that have sessions, and say so with each request.
const REVISIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The SDK ends sessions that it has not heard of for a while, so it hears of a busy one as often as this.
const HEARD: Duration = Duration::from_secs(60);

/// The sessions that the SDK has, as far as they are known here.
#[derive(Default)]
pub(super) struct HttpSessions(Mutex<HashMap<Box<str>, Arc<HttpSession>>>);

#[derive(Default)]
pub(super) struct HttpSession {
    /// Since its first call. It ends with the SDK's session.
    connection: OnceLock<Weak<Connection>>,
    /// Calls that the SDK does not know of.
    running: OwnCalls,
    /// When the SDK last heard of it. Std locks, held for a look and never across an await.
    heard: Mutex<Option<Instant>>,
}

/// Goes with a request to the SDK: the handler that gets it says whose session it is.
#[derive(Clone)]
struct Introduction(Arc<HttpSession>);

/// Goes with a request to the SDK: the call is under way.
#[derive(Clone)]
struct Handed(Arc<Mutex<Option<exchange::Running>>>);

/// Tells whose session a request belongs to, if that is asked.
pub(super) fn introduce(context: &RequestContext<RoleServer>, connection: &Arc<Connection>) {
    if let Some(Introduction(session)) = extension(context) {
        session.connection.get_or_init(|| Arc::downgrade(connection));
    }
}

/// The call that a request asks for, if it is under way.
pub(super) fn handed_over(context: &RequestContext<RoleServer>) -> Option<exchange::Running> {
    let Handed(running) = extension(context)?;
    running.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn extension<T: Clone + Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<&T> {
    context.extensions.get::<request::Parts>()?.extensions.get()
}

impl HttpSessions {
    /// What is known of a session. `is_there` tells which sessions the SDK has.
    pub(super) fn get(&self, id: &str, is_there: impl Fn(&str) -> bool) -> Option<Arc<HttpSession>> {
        if !is_there(id) {
            return None;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = known.get(id) {
            return Some(Arc::clone(session));
        }
        known.retain(|id, _| is_there(id));
        let session = Arc::<HttpSession>::default();
        known.insert(id.into(), Arc::clone(&session));
        Some(session)
    }
}

impl HttpSession {
    /// Begins the call that a request asks for; `None` if the request is none of ours.
    pub(super) fn begin(
        self: &Arc<Self>,
        server: &Server,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<CallInSession> {
        let accepts = only(headers, header::ACCEPT.as_str())?;
        let is_plain = accepts.contains(JSON)
            && accepts.contains("text/event-stream")
            && only(headers, header::CONTENT_TYPE.as_str())? == JSON
            && REVISIONS.contains(&only(headers, "mcp-protocol-version")?);
        let connection = self.connection.get().filter(|_| is_plain && self.is_fresh())?.upgrade()?;
        let known = connection.known.get().filter(|_| !connection.begun_anew.load(Ordering::Relaxed))?;
        let shared = server.late.loaded()?;
        let (id, Params { name, arguments, meta }) = plain::read::<JsonObject>(body)?;
        let is_whole = shared.listing_alone().is_whole_without_headers(&name)
            && !meta.keys().any(|key| key == PROGRESS_TOKEN || key.starts_with(RESERVED));
        // A client that is told of tools as they are loaded is told by the SDK.
        if !is_whole || shared.served.exposure == Exposure::Dynamic {
            return None;
        }
        let who = known.who.clone();
        let handler = Handler::new(Arc::clone(&server.late), Arc::clone(&connection));
        let call = handler.begin(shared, who, name, arguments);
        let number = self.running.enter(&id, &call.cancellation)?;
        Some(CallInSession { session: Arc::clone(self), id, number, call: Some(call) })
    }

    /// Takes note of a request that goes to the SDK.
    pub(super) fn hear(self: &Arc<Self>, extensions: &mut Extensions, body: &[u8]) {
        self.is_heard_of();
        if self.connection.get().is_none() {
            extensions.insert(Introduction(Arc::clone(self)));
        }
        if self.running.is_empty() {
            return;
        }
        let Ok(ClientJsonRpcMessage::Notification(told)) = serde_json::from_slice(body) else { return };
        if let ClientNotification::CancelledNotification(cancelled) = told.notification
            && let Some(id) = cancelled.params.request_id
        {
            self.running.cancel(&id);
        }
    }

    fn is_heard_of(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_fresh(&self) -> bool {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.is_some_and(|heard| heard.elapsed() < HEARD)
    }
}

/// A call that the SDK does not know of.
pub(super) struct CallInSession {
    session: Arc<HttpSession>,
    id: RequestId,
    number: u64,
    /// `None` once it is answered or handed over.
    call: Option<exchange::Running>,
}

impl CallInSession {
    /// Its answer, if it is there within a moment.
    pub(super) async fn answer(&mut self) -> Option<Response<Bytes>> {
        let answered = self.call.as_mut()?.answer_within(MOMENT).await?;
        self.call = None;
        Some(plain::response(answered, self.id.clone(), false))
    }

    /// Lets it go on with the SDK, in the request that asked for it.
    pub(super) fn hand_over(&mut self, extensions: &mut Extensions) {
        if let Some(call) = self.call.take() {
            self.session.is_heard_of();
            extensions.insert(Handed(Arc::new(Mutex::new(Some(call)))));
        }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.call.is_some()
    }
}

impl Drop for CallInSession {
    fn drop(&mut self) {
        self.session.running.leave(&self.id, self.number);
    }
}
