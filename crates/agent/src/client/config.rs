//! Which server is asked, and how patiently.

use std::time::Duration;

use pinza_host::{http::build_client, secrets::Secret};
use url::Url;

use crate::providers::{ProviderError, ProviderErrorKind, ProviderKind};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);

/// How long a server may be silent. Models that think say nothing for minutes.
const SILENCE: Duration = Duration::from_secs(600);

const USER_AGENT: &str = concat!("pinza/", env!("CARGO_PKG_VERSION"));

#[derive(Clone, Debug)]
pub struct ProviderConfig {
    pub kind: ProviderKind,
    /// What the provider's own SDK takes; its default without it.
    pub base_url: Option<String>,
    pub key: Option<Secret>,
    /// Where the key comes from, for whoever has to mend it: the name of a variable.
    pub key_env: Option<String>,
    pub retries: Retries,
    /// How long the server may be silent.
    pub silence: Duration,
}

/// How often a request is sent again that got no answer, and how long it waits each time; a
/// server that names a time is given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    pub times: usize,
    /// Before the first one; doubled with each, and more by chance.
    pub first: Duration,
    /// The longest wait, also of those that a server asks for: beyond it the person decides.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { times: 4, first: Duration::from_millis(500), longest: Duration::from_secs(60) }
    }
}

impl ProviderConfig {
    pub fn new(kind: ProviderKind) -> Self {
        Self { kind, base_url: None, key: None, key_env: None, retries: Retries::default(), silence: SILENCE }
    }

    /// The base URL, which paths are put after.
    pub(super) fn base(&self) -> Result<Url, ProviderError> {
        let text = self.base_url.as_deref().unwrap_or(self.kind.default_base_url());
        let fault = |why: &str| {
            // Not the text itself: it may hold credentials.
            let message = format!("the base URL of the provider {} {why}", self.kind);
            ProviderError::new(ProviderErrorKind::Unsupported, message)
                .hint(format!("write it like {}", self.kind.default_base_url()))
        };
        let base = Url::parse(text.trim()).map_err(|error| fault(&format!("cannot be read: {error}")))?;
        match base.scheme() {
            "http" | "https" if base.has_host() => Ok(base),
            other => Err(fault(&format!(
                "must begin with http:// or https://, not {}://",
                pinza_core::visible(other)
            ))),
        }
    }

    pub(super) fn http(&self, base: &Url) -> Result<reqwest::Client, ProviderError> {
        let builder = || {
            reqwest::Client::builder()
                .user_agent(USER_AGENT)
                .connect_timeout(CONNECT)
                .read_timeout(self.silence)
                .no_proxy()
                .referer(false)
                .redirect(reqwest::redirect::Policy::none())
        };
        let unsupported = |message: String| ProviderError::new(ProviderErrorKind::Unsupported, message);
        let built = build_client(builder);
        let built = built.map_err(|error| unsupported(format!("no HTTP client: {error}")))?;
        if base.scheme() == "https" && !built.https {
            let message = "this machine has no CA certificates to check the provider's with".to_owned();
            return Err(unsupported(message).hint("install the package ca-certificates"));
        }
        Ok(built.client)
    }

    /// The name of the variable with the key.
    pub(super) fn key_name(&self) -> &str {
        self.key_env.as_deref().unwrap_or(self.kind.default_key_env())
    }
}
