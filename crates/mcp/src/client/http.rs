//! Requests to an upstream over HTTP: what rmcp's transport asks for, with bodies bounded, nothing followed to
//! another place, and a sign-in where the server wants one.
//!
//! rmcp has such a client on top of reqwest as well. It reads a JSON body of any size, and leaves the reaction to
//! `401` and `403` to the caller of each request; here both belong to the link, so that many callers share one
//! sign-in.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream_rmcp::{Sse, SseStream};

use super::{MESSAGE_LIMIT, oauth::Authorizer};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// How often one request is sent again after a sign-in.
const SIGN_INS: usize = 3;

/// What an error page may weigh; all of it goes into a message.
const COMPLAINT_LIMIT: usize = 2000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("{}", told(.0))]
    Request(reqwest::Error),
    #[error("{0}")]
    SignIn(String),
    #[error("the server sent a message of more than {} MiB", MESSAGE_LIMIT >> 20)]
    TooLarge,
    #[error("no HTTP client can be made: {0}")]
    Client(String),
}

type Failed = StreamableHttpError<LinkError>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// One upstream's HTTP side. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Link {
    client: reqwest::Client,
    authorizer: Option<Arc<Authorizer>>,
}

impl Link {
    /// With an authorizer, a server that wants a sign-in gets one.
    pub(crate) fn new(authorizer: Option<Arc<Authorizer>>) -> Result<Self, LinkError> {
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("pinza/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(Duration::from_secs(10))
                .tcp_nodelay(true)
                .referer(false)
                // A proxy would see what is meant for the server, and connect out of our sight.
                .no_proxy()
                // Tokens and arguments are for the address that was configured.
                .redirect(reqwest::redirect::Policy::none())
        };
        let built =
            pinza_host::http::build_client(builder).map_err(|error| LinkError::Client(error.to_string()))?;
        Ok(Self { client: built.client, authorizer })
    }

    /// Sends a request, again after each sign-in that the server asks for.
    async fn send(
        &self,
        given: Option<String>,
        request: impl Fn(&reqwest::Client) -> reqwest::RequestBuilder,
    ) -> Result<Response, Failed> {
        for _ in 0..SIGN_INS {
            let token = match (&given, &self.authorizer) {
                (Some(token), _) => Some(token.clone()),
                (None, Some(authorizer)) => authorizer.token().await.map_err(refused)?,
                (None, None) => None,
            };
            let mut builder = request(&self.client);
            if let Some(token) = &token {
                builder = builder.bearer_auth(token);
            }
            let response = builder.send().await.map_err(failed)?;
            let Some(authorizer) = &self.authorizer else { return Ok(response) };
            let challenge = challenge(&response);
            match response.status() {
                StatusCode::UNAUTHORIZED => {
                    authorizer.sign_in(challenge.as_deref(), token.as_deref()).await.map_err(refused)?;
                }
                StatusCode::FORBIDDEN
                    if challenge.as_deref().is_some_and(|text| text.contains("insufficient_scope")) =>
                {
                    let challenge = challenge.unwrap_or_default();
                    authorizer.step_up(&challenge, token.as_deref()).await.map_err(refused)?;
                }
                _ => return Ok(response),
            }
        }
        Err(refused(format!(
            "the server asked for a sign-in {SIGN_INS} times for one request and was not content"
        )))
    }
}

impl StreamableHttpClient for Link {
    type Error = LinkError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let response = self
            .send(token, |client| {
                let request = client.post(&*uri).header(ACCEPT, format!("{JSON}, {EVENTS}"));
                let request = decorated(request, &headers, session.as_deref());
                request.header(CONTENT_TYPE, JSON).body(body.clone())
            })
            .await?;
        answer(response, &message, session.is_some()).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        let response = self
            .send(token, |client| {
                let request = client.get(&*uri).header(ACCEPT, EVENTS);
                let request = decorated(request, &headers, session.as_deref());
                match &last_event {
                    Some(id) => request.header(LAST_EVENT, id),
                    None => request,
                }
            })
            .await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            status if !status.is_success() => Err(status_error(&response)),
            _ if has_type(&response, EVENTS) => Ok(events(response)),
            _ => Err(StreamableHttpError::UnexpectedContentType(content_type(&response))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        let request = |client: &reqwest::Client| decorated(client.delete(&*uri), &headers, Some(&session));
        let response = self.send(token, request).await?;
        match response.status() {
            // It keeps no sessions, or has none of this name any more.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(status_error(&response)),
        }
    }
}

fn decorated(
    request: reqwest::RequestBuilder,
    headers: &Headers,
    session: Option<&str>,
) -> reqwest::RequestBuilder {
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    match session {
        Some(session) => request.header(SESSION, session),
        None => request,
    }
}

/// What a POST was answered with.
async fn answer(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if !status.is_success() {
        return rejection(response, message, has_session, session).await;
    }
    if has_type(&response, EVENTS) {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    let expects_answer = matches!(message, JsonRpcMessage::Request(_));
    if !has_type(&response, JSON) {
        let kind = content_type(&response);
        return match expects_answer {
            true => Err(StreamableHttpError::UnexpectedContentType(kind)),
            false => Ok(StreamableHttpPostResponse::Accepted),
        };
    }
    let body = bounded(response).await?;
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
        Err(_) if !expects_answer => Ok(StreamableHttpPostResponse::Accepted),
        Err(error) => {
            let start = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            let text =
                format!("the answer is no JSON-RPC message ({error}): {}", pinza_core::visible(&start));
            Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text)))
        }
    }
}

/// What a refused POST means. A JSON-RPC error in its body is the answer; a refused `server/discover` means an
/// older server, whatever its body says.
async fn rejection(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let is_sign_in = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_sign_in
        || status == StatusCode::TOO_MANY_REQUESTS
        || !has_type(&response, JSON) && status.is_server_error()
    {
        return Err(status_error(&response));
    }
    let fallback = status_error(&response);
    let body = bounded(response).await?;
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(JsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    if let JsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !has_session
    {
        let error = error.map_or_else(
            || ErrorData::invalid_request(format!("server/discover was refused with HTTP {status}"), None),
            |error| error.error,
        );
        // Whoever refused it may not have read its id.
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) => Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session)),
        None => Err(with_complaint(fallback, status, &body)),
    }
}

fn status_error(response: &Response) -> Failed {
    let status = response.status();
    if status.is_redirection() {
        let target =
            response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("elsewhere");
        let text = format!(
            "HTTP {status}: the server is at {}; configure that address",
            pinza_core::visible(target)
        );
        return StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text));
    }
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    HttpStatusError::new(status.as_u16(), retry_after.map(str::to_owned)).into()
}

fn with_complaint(error: Failed, status: StatusCode, body: &[u8]) -> Failed {
    if body.is_empty() || status.is_redirection() {
        return error;
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(COMPLAINT_LIMIT)]).into_owned();
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
        "HTTP {status}: {}",
        pinza_core::visible(&text)
    )))
}

/// All challenges of an answer, as one.
fn challenge(response: &Response) -> Option<String> {
    let values: Vec<&str> =
        response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()).collect();
    // A server may offer other ways too; only Bearer is ours.
    let bearer = values.iter().find(|value| value.to_ascii_lowercase().starts_with("bearer"));
    bearer.or(values.first()).map(|value| (*value).to_owned())
}

fn has_type(response: &Response, kind: &str) -> bool {
    content_type(response).is_some_and(|given| given.to_ascii_lowercase().starts_with(kind))
}

fn content_type(response: &Response) -> Option<String> {
    let given = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(given.as_bytes()).into_owned())
}

async fn bounded(response: Response) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(failed)?;
        if body.len() + piece.len() > MESSAGE_LIMIT {
            return Err(StreamableHttpError::Client(LinkError::TooLarge));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn events(response: Response) -> Events {
    let pieces = response.bytes_stream().map(|piece| piece.map_err(io::Error::other));
    SseStream::from_bytes_stream(event_bounded(pieces, MESSAGE_LIMIT)).boxed()
}

/// The same pieces, until one event is larger than the limit.
fn event_bounded(
    pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    limit: usize,
) -> BoxStream<'static, io::Result<Bytes>> {
    let mut gauge = EventGauge::default();
    pieces
        .map(move |piece| {
            let piece = piece?;
            match gauge.largest_after(&piece) > limit {
                true => Err(io::Error::other(LinkError::TooLarge)),
                false => Ok(piece),
            }
        })
        .boxed()
}

/// Counts the bytes since the last empty line.
#[derive(Default)]
struct EventGauge {
    size: usize,
    line_is_empty: bool,
}

impl EventGauge {
    fn largest_after(&mut self, piece: &[u8]) -> usize {
        let mut largest = self.size;
        for byte in piece {
            self.size += 1;
            match byte {
                b'\n' if self.line_is_empty => self.size = 0,
                b'\n' => self.line_is_empty = true,
                // Either half of a line's end.
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
            largest = largest.max(self.size);
        }
        largest
    }
}

fn failed(error: reqwest::Error) -> Failed {
    StreamableHttpError::Client(LinkError::Request(error))
}

fn refused(reason: String) -> Failed {
    StreamableHttpError::Client(LinkError::SignIn(reason))
}

/// reqwest's own words are about the request; why it failed is below them.
fn told(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let place = error.url().and_then(|url| url.host_str()).unwrap_or("the server");
    format!("{place} cannot be reached: {deepest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passes(pieces: &[&'static str], limit: usize) -> bool {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect();
        let bounded = event_bounded(futures_util::stream::iter(pieces), limit);
        bounded.collect::<Vec<_>>().await.iter().all(Result::is_ok)
    }

    #[tokio::test]
    async fn only_single_events_are_bounded() {
        assert!(passes(&["data: 12345\n\n", "data: 12345\n\ndata: 1\r\n\r\ndata: 12345\n"], 16).await);
        assert!(!passes(&["data: 12345", "67890123456"], 16).await);
        assert!(!passes(&["data: 1\ndata: 2\ndata: 3\ndata: 4\n"], 16).await);
    }
}
