//! What is where.

use std::{error::Error as _, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware,
    response::{Html, IntoResponse, Response},
    routing::{any, get},
};
use http_body_util::LengthLimitError;
use pinza_mcp::server::{BODY_LIMIT, Endpoint};

use crate::{
    guard::{Guard, guard},
    metrics::CallMeter,
    page::page,
};

/// How long a client may take to send a body.
const BODY: Duration = Duration::from_secs(30);

/// Everything that is served.
#[derive(Clone)]
pub struct Site {
    pub endpoint: Endpoint,
    pub guard: Guard,
    pub meter: Arc<CallMeter>,
    /// What the page and the metrics say of this server, now.
    pub about: Arc<dyn Fn() -> About + Send + Sync>,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub version: String,
    pub tools: usize,
    pub exposure: &'static str,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("guard", &self.guard).finish_non_exhaustive()
    }
}

impl Site {
    pub fn into_router(self) -> Router {
        let guarded = middleware::from_fn_with_state(Arc::new(self.guard.clone()), guard);
        Router::new()
            .route("/", get(home))
            .route("/mcp", any(mcp))
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/metrics", get(metrics))
            // Shared: every request gets its own copy of the state.
            .with_state(Arc::new(self))
            .layer(guarded)
    }
}

async fn home(State(site): State<Arc<Site>>) -> Response {
    // Nothing of this page is anybody else's to frame, sniff or script.
    let headers = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, Html(page(&(site.about)()))).into_response()
}

async fn metrics(State(site): State<Arc<Site>>) -> Response {
    let About { version, tools, .. } = (site.about)();
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, site.meter.text(&version, tools)).into_response()
}

async fn mcp(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    if site.endpoint.is_full(&head.method, &head.headers).await {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open\n").into_response();
    }
    let body = if head.method == Method::POST {
        match read(body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        }
    } else {
        Bytes::new()
    };
    site.endpoint.answer(head, body).await.map(Body::new)
}

/// The whole body, if it is not too large and does not take too long.
async fn read(body: Body) -> Result<Bytes, Response> {
    match tokio::time::timeout(BODY, to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.source().is_some_and(|source| source.is::<LengthLimitError>()) => {
            let reason = format!("the body has more than {BODY_LIMIT} bytes\n");
            Err((StatusCode::PAYLOAD_TOO_LARGE, reason).into_response())
        }
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body is broken\n").into_response()),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long\n").into_response()),
    }
}
