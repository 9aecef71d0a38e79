//! A request that has been checked: once it exists, its URL, method and headers are sound.
//!
//! Headers that frame the message or belong to the connection are the client's own business:
//! from a tool they could smuggle a second request past whoever reads the first.

use std::fmt;

use bytes::Bytes;
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use url::Url;

use super::error::HttpError;

/// Enough for a page; callers with other needs say so.
const DEFAULT_MAX_BODY: usize = 100 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    Follow,
    /// A redirect is the answer.
    None,
}

#[derive(Clone)]
pub struct HttpRequest {
    pub(super) url: Url,
    /// The URL as the caller wrote it, for messages about it.
    pub(super) written: String,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) max_body: usize,
    pub(super) redirects: Redirects,
}

impl HttpRequest {
    pub fn new(method: &str, url: &str) -> Result<Self, HttpError> {
        let parsed = parse_url(url).ok_or_else(|| HttpError::InvalidUrl { url: url.to_owned() })?;
        let written = if has_userinfo(&parsed) { shown(&parsed) } else { url.to_owned() };
        Ok(Self {
            url: parsed,
            written,
            method: parse_method(method)?,
            headers: HeaderMap::new(),
            body: None,
            max_body: DEFAULT_MAX_BODY,
            redirects: Redirects::Follow,
        })
    }

    /// Adds a header; the same name may be given more than once.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, HttpError> {
        let invalid = |reason| HttpError::InvalidHeader { name: name.to_owned(), reason };
        let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(invalid("a header name is made of letters, digits and -"));
        };
        if is_own_business(parsed.as_str()) {
            return Err(invalid("it is set by the HTTP client itself"));
        }
        let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) else {
            return Err(invalid("a header value is one line without control characters"));
        };
        if self.headers.try_append(parsed, value).is_err() {
            return Err(invalid("there are too many headers"));
        }
        Ok(self)
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(Bytes::from(body.into()));
        self
    }

    /// The most decoded bytes to take of the answer's body.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    #[must_use]
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// The normalised URL without its credentials: what permissions are about.
    pub fn url(&self) -> String {
        shown(&self.url)
    }

    pub fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }
}

/// Without headers and body: they may hold secrets, and this may end in a log.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpRequest({} {})", self.method, shown(&self.url))
    }
}

/// An http or https URL. Control characters are refused, which the URL standard would drop
/// silently: a person or a rule that looked at the text must have seen the real host.
pub(super) fn parse_url(text: &str) -> Option<Url> {
    if text.chars().any(char::is_control) {
        return None;
    }
    Url::parse(text).ok().filter(is_web)
}

pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host().is_some()
}

pub(super) fn has_userinfo(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// A URL for people, rules and results: no password, no fragment.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // These fail only for URLs without a host, which have no credentials either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// CONNECT and its like talk to proxies, not to sites.
fn parse_method(method: &str) -> Result<Method, HttpError> {
    let refused = ["CONNECT", "TRACE", "TRACK"].iter().any(|name| method.eq_ignore_ascii_case(name));
    match Method::from_bytes(method.as_bytes()) {
        Ok(method) if !refused => Ok(method),
        _ => Err(HttpError::InvalidMethod { method: method.to_owned() }),
    }
}

/// Framing, hop-by-hop, and `host`, which would name another site than the permitted one.
fn is_own_business(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    NAMES.contains(&name) || name.starts_with("proxy-")
}
