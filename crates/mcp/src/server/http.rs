//! The server as an HTTP endpoint, for whoever binds a port and guards it.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use pinza_core::CancellationToken;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::local::{LocalSessionManager, SessionConfig},
};

use super::{Server, connection::Transport, handler::Handler};

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
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
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
        let service = StreamableHttpService::new(
            move || Ok(server.handler(Transport::Http)),
            Arc::clone(&sessions),
            config,
        );
        Endpoint { service, sessions }
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

    pub async fn answer<B>(
        &self,
        request: Request<B>,
    ) -> Response<impl Body<Data = Bytes, Error = Infallible> + Send + 'static + use<B>>
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
        B::Data: Send,
    {
        let ends_session = request.method() == Method::DELETE;
        let mut answer = self.service.handle(request).await;
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            // The session is gone already, not only marked; clients warn of anything else.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}
