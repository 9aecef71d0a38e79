//! rmcp's OAuth requests through Pinza's guarded HTTP client.
//!
//! A server names the places that discovery then visits. So it could point at this machine, or at the network
//! behind it: such addresses are refused unless the upstream itself is at one on this machine, or it is the
//! upstream's own host.

use std::time::Duration;

use pinza_core::{BoxFuture, Permission, Permits, ToolError, capability};
use pinza_host::http::{AddressClass, HttpClient, HttpRequest, Redirects, classify};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use url::{Host, Url};

/// Metadata documents and tokens are small.
const BODY_LIMIT: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct GuardedClient {
    http: HttpClient,
    reach: Reach,
}

impl GuardedClient {
    pub(crate) fn new(http: HttpClient, upstream: &Url) -> Self {
        Self { http, reach: Reach::of(upstream) }
    }

    async fn send(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let (parts, body) = request.request.into_parts();
        let mut sent = HttpRequest::new(parts.method.as_str(), &parts.uri.to_string())?.max_body(BODY_LIMIT);
        for (name, value) in &parts.headers {
            // Its length and its place are the client's business.
            if matches!(name.as_str(), "content-length" | "host") {
                continue;
            }
            sent = sent.header(name.as_str(), value.to_str()?)?;
        }
        if !body.is_empty() || parts.method == "POST" {
            sent = sent.body(body);
        }
        if request.redirect_policy != OAuthHttpRedirectPolicy::Follow {
            sent = sent.redirects(Redirects::None);
        }
        let answer = tokio::time::timeout(PATIENCE, self.http.send(sent, &self.reach)).await??;
        if answer.truncated {
            return Err(format!("the answer of {} is larger than {BODY_LIMIT} bytes", answer.url).into());
        }
        let mut response = http::Response::builder().status(answer.status);
        for (name, value) in &answer.headers {
            response = response.header(name, value);
        }
        Ok(response.body(answer.body)?)
    }
}

impl OAuthHttpClient for GuardedClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request))
    }
}

/// What the sign-in to one upstream may touch.
pub(crate) struct Reach {
    host: Option<String>,
    is_local: bool,
}

impl Reach {
    pub(crate) fn of(upstream: &Url) -> Self {
        let is_local = match upstream.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => is_localhost(name),
            None => false,
        };
        Self { host: upstream.host_str().map(str::to_owned), is_local }
    }

    /// Whether a person may be sent to this page. Their browser looks the name up, so only what is plain to see counts:
    /// an address, and names that stand for this machine or its network.
    pub(crate) fn allows_page(&self, page: &Url) -> bool {
        let is_public = match page.host() {
            Some(Host::Ipv4(address)) => classify(address.into()) == AddressClass::Public,
            Some(Host::Ipv6(address)) => classify(address.into()) == AddressClass::Public,
            Some(Host::Domain(name)) => !is_localhost(name) && !is_of_this_network(name),
            None => false,
        };
        is_public || self.is_local || (page.host_str().is_some() && page.host_str() == self.host.as_deref())
    }

    fn allows(&self, permission: &Permission) -> bool {
        if permission.capability == *capability::NET {
            return true;
        }
        let target = permission.subject.as_ref().and_then(|subject| Url::parse(&subject.text).ok());
        let is_own = || target.as_ref().and_then(Url::host_str) == self.host.as_deref();
        permission.capability == *capability::NET_PRIVATE && (self.is_local || is_own())
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name == "localhost.localdomain" || name.ends_with(".localhost")
}

/// Names that no public server has.
fn is_of_this_network(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    !name.contains('.') || [".local", ".internal", ".home.arpa"].iter().any(|end| name.ends_with(end))
}

impl Permits for Reach {
    fn permit(&self, permission: Permission) -> BoxFuture<'_, Result<(), ToolError>> {
        let answer = match self.allows(&permission) {
            true => Ok(()),
            false => Err(ToolError::denied(
                &permission.capability,
                "A server may not send its sign-in to this machine or a private network.",
            )),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[cfg(test)]
mod tests {
    use pinza_core::Capability;

    use super::*;

    #[test]
    fn a_public_server_leads_nobody_inside() {
        let asks = |upstream: &str, target: &str| {
            let permission = Permission::new(Capability::known(capability::NET_PRIVATE)).about("url", target);
            Reach::of(&upstream.parse().unwrap()).allows(&permission)
        };
        assert!(!asks("https://mcp.example.com/mcp", "http://127.0.0.1:9/token"));
        assert!(!asks("https://mcp.example.com/mcp", "http://sso.corp/token"));
        assert!(!asks("http://10.0.0.5/mcp", "http://10.0.0.6/token"));
        assert!(asks("http://10.0.0.5/mcp", "http://10.0.0.5/.well-known/x"));
        assert!(asks("http://localhost:3000/mcp", "http://127.0.0.1:9/token"));
    }
}
