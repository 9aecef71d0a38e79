//! What can go wrong with a request, and the words in which a model hears of it.

use std::{error::Error, net::IpAddr};

use pinza_core::{ErrorKind, ToolError, visible};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("Invalid URL: {url}")]
    InvalidUrl { url: String },
    #[error("Unsupported HTTP method: {method}")]
    InvalidMethod { method: String },
    #[error("Invalid header '{name}': {reason}")]
    InvalidHeader { name: String, reason: &'static str },
    #[error(transparent)]
    Denied(ToolError),
    #[error(
        "Access denied: {host} is at {address}, a link-local, metadata or multicast address; \
         these are always refused"
    )]
    ForbiddenAddress { host: String, address: IpAddr },
    #[error("Cannot resolve host: {host}")]
    Unresolvable { host: String },
    #[error("Connection refused: {url}")]
    Refused { url: String },
    #[error("HTTP request timed out")]
    TimedOut,
    #[error("HTTP request failed: more than {limit} redirects")]
    TooManyRedirects { limit: usize },
    #[error("HTTP request failed: redirected to '{location}', which is not an http or https URL")]
    BadRedirect { location: String },
    #[error("HTTP request failed: no CA certificates on this system, so https cannot be checked")]
    NoCertificates,
    #[error("HTTP request failed: {reason}")]
    Failed { reason: String },
}

impl HttpError {
    pub fn answer(self) -> ToolError {
        let kind = match &self {
            Self::Denied(_) | Self::ForbiddenAddress { .. } => ErrorKind::PermissionDenied,
            Self::InvalidUrl { .. } | Self::InvalidMethod { .. } | Self::InvalidHeader { .. } => {
                ErrorKind::ValidationError
            }
            Self::Unresolvable { .. } | Self::Refused { .. } => ErrorKind::NetworkError,
            Self::TimedOut => ErrorKind::Timeout,
            Self::TooManyRedirects { .. }
            | Self::BadRedirect { .. }
            | Self::NoCertificates
            | Self::Failed { .. } => ErrorKind::ExecutionError,
        };
        match self {
            Self::Denied(inner) => inner,
            Self::NoCertificates => ToolError::new(kind, self.to_string())
                .hint("Install the system's CA certificates, or name them in SSL_CERT_FILE."),
            // Servers write the location and the host, so neither is shown raw.
            other => ToolError::new(kind, visible(&other.to_string())),
        }
    }

    /// A failure of the transport while talking to `url`.
    pub(super) fn of_transport(error: reqwest::Error, url: &str) -> Self {
        if error.is_timeout() {
            return Self::TimedOut;
        }
        match io_kind(&error) {
            Some(std::io::ErrorKind::ConnectionRefused) => Self::Refused { url: url.to_owned() },
            Some(std::io::ErrorKind::TimedOut) => Self::TimedOut,
            _ => Self::Failed { reason: reason(&error.without_url()) },
        }
    }
}

fn io_kind(error: &reqwest::Error) -> Option<std::io::ErrorKind> {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        source = inner.source();
    }
    None
}

/// The end of the chain: the layers above it only name themselves.
fn reason(error: &reqwest::Error) -> String {
    let mut deepest: &dyn Error = error;
    while let Some(inner) = deepest.source() {
        deepest = inner;
    }
    deepest.to_string()
}
