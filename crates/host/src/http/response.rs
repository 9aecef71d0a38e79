//! An answer, its body read no further than the caller wants.
//!
//! The bound holds for decoded bytes while they arrive, so a compression bomb or an endless
//! body costs what was asked for and no more.

use std::time::Duration;

use reqwest::header::CONTENT_LENGTH;
use tokio::time::timeout;
use url::Url;

use super::{error::HttpError, request::shown};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// The status' usual words; empty where it has none.
    pub reason: String,
    /// Names in lower case, repeated ones side by side. Without `content-encoding` and
    /// `content-length` where the body was decoded.
    pub headers: Vec<(String, String)>,
    /// Where the answer came from, after redirects; without credentials.
    pub url: String,
    /// Decoded.
    pub body: Vec<u8>,
    /// There was more body than the caller wanted.
    pub truncated: bool,
    /// The whole body's size, where the server said it and no decoding changed it.
    pub total: Option<u64>,
}

impl HttpResponse {
    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

pub(super) async fn read(
    mut response: reqwest::Response,
    url: &Url,
    max_body: usize,
    idle: Duration,
) -> Result<HttpResponse, HttpError> {
    let headers: Vec<_> = response
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    // Decoding removes the header, so what is left counts the bytes we see.
    let length = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let total = length.and_then(|length| length.trim().parse().ok());
    let status = response.status();

    let mut body = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = next_chunk(&mut response, url, idle).await? {
        let room = max_body - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(HttpResponse {
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default().to_owned(),
        headers,
        url: shown(url),
        body,
        truncated,
        total,
    })
}

/// The wait is for decoded bytes: a stream that decodes to nothing is as silent as none.
async fn next_chunk(
    response: &mut reqwest::Response,
    url: &Url,
    idle: Duration,
) -> Result<Option<bytes::Bytes>, HttpError> {
    match timeout(idle, response.chunk()).await {
        Err(_) => Err(HttpError::TimedOut),
        Ok(chunk) => chunk.map_err(|error| HttpError::of_transport(error, &shown(url))),
    }
}
