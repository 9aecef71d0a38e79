//! One request, tried until it has an answer or there is no hope.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use backon::{ExponentialBuilder, Retryable as _};
use reqwest::{StatusCode, header::CONTENT_TYPE};
use serde_json::Value;

use super::{
    Server,
    context::Context,
    reading::{Reading, reason},
    retry::{asked_to_wait, wait},
};
use crate::providers::{Asked, Encoded, ProviderError, ProviderErrorKind, answered};

/// How much of an error's body is read.
const ERROR_BODY: usize = 64 * 1024;

/// How long the body of an error may take.
const ERROR_PATIENCE: Duration = Duration::from_secs(10);

/// How often a request is rewritten to suit its server.
const REWRITES: usize = 4;

pub(super) struct Asking {
    server: Arc<Server>,
    context: Arc<Context>,
    asked: Asked,
    /// Rewritten when the server complains of it.
    body: Mutex<Value>,
}

impl Asking {
    pub(super) fn new(server: Arc<Server>, context: Arc<Context>, asked: Asked, encoded: Encoded) -> Self {
        let mut body = encoded.body;
        for complaint in lock(&server.complaints).iter() {
            server.adapter.relax(&mut body, complaint);
        }
        Self { server, context, asked, body: Mutex::new(body) }
    }

    /// Tries until the model speaks. From then on nothing is repeated.
    pub(super) async fn persist(&self) -> Result<Reading, ProviderError> {
        let retries = &self.server.config.retries;
        let backoff = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(retries.first)
            .with_max_delay(retries.longest)
            .with_max_times(retries.times);
        (|| self.attempt())
            .retry(backoff)
            .when(ProviderError::may_retry)
            .adjust(|error, planned| wait(error, planned, retries))
            .await
    }

    async fn attempt(&self) -> Result<Reading, ProviderError> {
        let response = self.answer().await?;
        let response = streams(response).await?;
        let decoder = self.server.adapter.decoder(&self.asked);
        let bytes = response.bytes_stream();
        let mut reading = Reading::new(bytes, reqwest::Error::is_timeout, decoder);
        reading.first_words().await?;
        Ok(reading)
    }

    /// An answer that is a success, to the request as the server wants it.
    async fn answer(&self) -> Result<reqwest::Response, ProviderError> {
        let mut complaints = Vec::new();
        loop {
            let response = self.send().await?;
            let status = response.status();
            if status.is_success() {
                self.remember(complaints);
                return Ok(response);
            }
            if status.is_redirection() {
                return Err(redirected(&response));
            }
            let headers = response.headers().clone();
            let (text, body) = read_error(response).await;
            if matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
                && complaints.len() < REWRITES
                && self.server.adapter.relax(&mut lock(&self.body), &text)
            {
                complaints.push(text);
                continue;
            }
            let mut error = answered(status.as_u16(), &body);
            error.retry_after = asked_to_wait(&headers, &body);
            return Err(error);
        }
    }

    async fn send(&self) -> Result<reqwest::Response, ProviderError> {
        let body = lock(&self.body).to_string();
        let request = self.server.http.post(self.context.url.clone());
        let request = request.headers(self.context.headers.clone()).header(CONTENT_TYPE, "application/json");
        request.body(body).send().await.map_err(unsent)
    }

    /// What it took for the server to be content, for the next request.
    fn remember(&self, complaints: Vec<String>) {
        let mut known = lock(&self.server.complaints);
        // A server has only so much to complain of.
        let room = (REWRITES * 4).saturating_sub(known.len());
        let new: Vec<String> =
            complaints.into_iter().filter(|complaint| !known.contains(complaint)).collect();
        known.extend(new.into_iter().take(room));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is not even an error to read.
pub(super) fn unsent(error: reqwest::Error) -> ProviderError {
    let kind = match error.is_timeout() && !error.is_connect() {
        true => ProviderErrorKind::TimedOut,
        false => ProviderErrorKind::Unreachable,
    };
    let reason = match error.is_timeout() {
        true => "it did not answer in time".to_owned(),
        false => reason(&error.without_url()),
    };
    ProviderError::new(kind, reason)
}

async fn read_error(response: reqwest::Response) -> (String, Value) {
    read_body(response, ERROR_BODY).await
}

/// The beginning of a body, as text and as JSON where it is some.
pub(super) async fn read_body(mut response: reqwest::Response, most: usize) -> (String, Value) {
    let mut bytes = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= most {
                break;
            }
        }
    };
    // What came until then is better than nothing.
    let _ = tokio::time::timeout(ERROR_PATIENCE, reading).await;
    bytes.truncate(most);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.clone()));
    (text, body)
}

pub(super) fn redirected(response: &reqwest::Response) -> ProviderError {
    let location = response.headers().get("location").and_then(|location| location.to_str().ok());
    let place = location.map(|place| place.split('?').next().unwrap_or_default()).unwrap_or("another place");
    let message = format!("the provider's address leads to {}", pinza_core::visible(place));
    ProviderError::new(ProviderErrorKind::Unsupported, message)
        .hint("set the base URL to where it leads: redirects are not followed, they would take the key along")
}

/// The answer, if it is a stream: a page in its place means that this is not the API, and some
/// gateways report a failure as a success.
async fn streams(response: reqwest::Response) -> Result<reqwest::Response, ProviderError> {
    let given =
        response.headers().get(CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !matches!(kind.as_str(), "text/html" | "application/json" | "application/x-ndjson") {
        return Ok(response);
    }
    let (_, body) = read_error(response).await;
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Err(answered(0, &body));
    }
    let message = format!("the provider answered with {kind} in place of a stream");
    Err(ProviderError::new(ProviderErrorKind::Malformed, message).hint("check the base URL"))
}
