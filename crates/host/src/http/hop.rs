//! One station of a request, and the way to the next.
//!
//! A redirect is a server's wish, so what it may carry to another origin is an allow-list:
//! a header that we do not know may be a credential.

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, USER_AGENT},
};
use url::Url;

use super::{
    error::HttpError,
    request::{HttpRequest, Redirects, has_userinfo, is_web, shown},
};

const HARMLESS: [HeaderName; 4] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];

/// Headers that speak of a body, and leave with it.
const ABOUT_BODY: [&str; 4] = ["content-type", "content-encoding", "content-language", "content-location"];

pub(super) struct Hop {
    pub(super) url: Url,
    /// For messages.
    pub(super) written: String,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    /// Whether the way here left an origin: then `net` is asked for again.
    pub(super) crossed: bool,
    redirects: Redirects,
}

impl Hop {
    pub(super) fn first(request: HttpRequest) -> Self {
        Self {
            url: request.url,
            written: request.written,
            method: request.method,
            headers: request.headers,
            body: request.body,
            crossed: false,
            redirects: request.redirects,
        }
    }

    /// Where the answer sends us, if it does.
    pub(super) fn next(mut self, status: StatusCode, headers: &HeaderMap) -> Result<Step, HttpError> {
        let location = headers.get(LOCATION).filter(|_| is_redirect(status));
        let (Some(location), Redirects::Follow) = (location, self.redirects) else {
            return Ok(Step::Arrived(self.url));
        };
        let location = String::from_utf8_lossy(location.as_bytes());
        let target = self.url.join(&location).ok().filter(is_web);
        let target = target.ok_or_else(|| HttpError::BadRedirect { location: location.into_owned() })?;
        if becomes_get(status, &self.method) {
            self.method = Method::GET;
            self.body = None;
            for name in ABOUT_BODY {
                self.headers.remove(name);
            }
        }
        self.move_to(target);
        Ok(Step::Onward(self))
    }

    fn move_to(&mut self, mut target: Url) {
        self.crossed = target.origin() != self.url.origin();
        if self.crossed {
            let harmful = self.headers.keys().filter(|name| !HARMLESS.contains(name));
            for name in harmful.cloned().collect::<Vec<_>>() {
                self.headers.remove(name);
            }
        } else if !has_userinfo(&target) {
            // A web URL can always carry credentials.
            let _ = target.set_username(self.url.username());
            let _ = target.set_password(self.url.password());
        }
        self.written = shown(&target);
        self.url = target;
    }
}

pub(super) enum Step {
    Onward(Hop),
    /// At this URL.
    Arrived(Url),
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// What browsers do: 303 always asks for a page, 301 and 302 only after a POST.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        301 | 302 => method == Method::POST,
        303 => method != Method::HEAD,
        _ => false,
    }
}
