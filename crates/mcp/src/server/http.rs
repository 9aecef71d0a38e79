//! The server as an HTTP endpoint, for whoever binds a port and guards it.

use std::{error::Error, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, request};
use http_body::Body;
use http_body_util::{Either, Full};
use pinza_core::CancellationToken;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::local::{LocalSessionManager, SessionConfig},
};

use super::{
    Server,
    brief::{Begun, brief},
    connection::Transport,
    handler::Handler,
    http_session::{CallInSession, HttpSession, HttpSessions},
    plain::only,
    refused,
};

/// The largest request.
pub const BODY_LIMIT: usize = 4 << 20;
/// From this revision on there are no sessions.
const STATELESS: &str = "2026-07-28";
/// Sessions at one time.
const SESSIONS: usize = 1000;
/// Sessions that nobody uses end after this time.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Answers requests of both revisions: with sessions (2025-11-25) and without (2026-07-28). Checks neither
/// `Host` nor `Origin` nor tokens. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint {
    server: Server,
    service: Service,
    sessions: Arc<LocalSessionManager>,
    known: Arc<HttpSessions>,
}

impl Server {
    /// An endpoint that ends its streams when `stop` is cancelled.
    pub fn endpoint(&self, stop: CancellationToken) -> Endpoint {
        let mut sessions = LocalSessionManager::default();
        let mut session = SessionConfig::default();
        session.keep_alive = Some(IDLE);
        sessions.session_config = session;
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(BODY_LIMIT)
            // Whoever binds the port guards it, for this and for all else that it serves.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(stop);
        let (server, sessions) = (self.clone(), Arc::new(sessions));
        let serving = server.clone();
        let service = StreamableHttpService::new(
            move || Ok(serving.handler(Transport::Http)),
            Arc::clone(&sessions),
            config,
        );
        Endpoint { server, service, sessions, known: Arc::default() }
    }
}

impl Endpoint {
    /// Whether a request with this head could open a session, and there is no place for one more.
    pub async fn is_full(&self, method: &Method, headers: &HeaderMap) -> bool {
        let version = headers.get("mcp-protocol-version").map(HeaderValue::as_bytes);
        let has_sessions = version.is_none_or(|version| version < STATELESS.as_bytes());
        let could_open = method == Method::POST && has_sessions && !headers.contains_key("mcp-session-id");
        could_open && self.sessions.sessions.read().await.len() >= SESSIONS
    }

    /// Whether a request names a session that there is.
    async fn is_open(&self, headers: &HeaderMap) -> bool {
        let id = headers.get("mcp-session-id").and_then(|id| id.to_str().ok());
        match id {
            Some(id) => self.sessions.sessions.read().await.contains_key(id),
            None => false,
        }
    }

    /// Whoever drops the future of a request without a session cancels it.
    pub async fn answer(
        &self,
        mut head: request::Parts,
        body: Bytes,
    ) -> Response<impl Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static + use<>>
    {
        let body = refused::unmarked(body);
        if let Some(answer) = self.server.call_plainly(&head, &body).await {
            return answer.map(|body| Either::Left(Full::new(body)));
        }
        let is_json = refused::name_json(&mut head.headers);
        let method = head.method.clone();
        let is_open = method == Method::DELETE && self.is_open(&head.headers).await;
        let mut request = Request::from_parts(head, Full::new(body.clone()));
        if method == Method::POST
            && let Some(session) = self.session(request.headers())
        {
            match session.begin(&self.server, request.headers(), &body) {
                Some(call) => {
                    let mut passing = Passing { service: &self.service, request, call };
                    if let Some(answer) = passing.call.answer().await {
                        return answer.map(|body| Either::Left(Full::new(body)));
                    }
                    request = passing.hand_over();
                }
                None => session.hear(request.extensions_mut(), &body),
            }
        }
        let mut answer = self.service.handle(request).await;
        if method == Method::POST {
            if is_json && let Some(refusal) = refused::reword(&answer, &body) {
                return refusal.map(|body| Either::Left(Full::new(body)));
            }
            return brief(answer).await.map(Either::Right);
        }
        if method == Method::DELETE && answer.status() == StatusCode::ACCEPTED {
            if !is_open {
                return refused::no_session().map(|body| Either::Left(Full::new(body)));
            }
            // The session is gone already, not only marked; clients warn of anything else.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer.map(|body| Either::Right(Either::Right(Begun::whole(body))))
    }
}

impl Endpoint {
    fn session(&self, headers: &HeaderMap) -> Option<Arc<HttpSession>> {
        let id = only(headers, "mcp-session-id")?;
        // Where somebody comes or goes right now, it is the SDK's turn.
        let sessions = self.sessions.sessions.try_read().ok()?;
        self.known.get(id, |id| sessions.contains_key(id))
    }
}

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// A call in a session on its way past the SDK. A client that hangs up does not cancel it: dropped, it goes on there.
struct Passing<'a> {
    service: &'a Service,
    request: Request<Full<Bytes>>,
    call: CallInSession,
}

impl Passing<'_> {
    /// The request, for the SDK to go on with.
    fn hand_over(&mut self) -> Request<Full<Bytes>> {
        let mut request = std::mem::take(&mut self.request);
        self.call.hand_over(request.extensions_mut());
        request
    }
}

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        if self.call.is_under_way()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (service, request) = (self.service.clone(), self.hand_over());
            runtime.spawn(async move { drop(service.handle(request).await) });
        }
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}
