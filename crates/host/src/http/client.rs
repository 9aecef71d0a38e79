//! The client: options, and the loop over hops.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use pinza_core::{Permits, capability};

use super::{
    error::HttpError,
    guard,
    hop::{Hop, Step},
    request::HttpRequest,
    resolve::{Resolve, SystemResolver},
    response::{self, HttpResponse},
    rewrite::{RewriteError, Rewrites},
    transport::Transport,
};

const MAX_REDIRECTS: usize = 10;

#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// `[net.rewrite]`: origin or URL prefix, and what stands in for it. The target is the
    /// user's own choice and exempt from the address guard.
    pub rewrite: Vec<(String, String)>,
    pub resolver: Arc<dyn Resolve>,
    pub user_agent: String,
    /// For the look-up, and again for the connection.
    pub connect_timeout: Duration,
    /// For the answer's head, and for every silence within its body.
    pub idle_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            rewrite: Vec::new(),
            resolver: Arc::new(SystemResolver),
            user_agent: concat!("pinza/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(20),
        }
    }
}

/// Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: HttpOptions,
    rewrites: Rewrites,
    /// Built at first use: it reads the system's certificates, which most runs never need.
    transport: OnceLock<Result<Transport, HttpError>>,
}

impl HttpClient {
    pub fn new(options: HttpOptions) -> Result<Self, RewriteError> {
        let rewrites = Rewrites::new(&options.rewrite)?;
        Ok(Self { shared: Arc::new(Shared { options, rewrites, transport: OnceLock::new() }) })
    }

    /// Sends a request and reads its answer. The caller has been granted `net` for the
    /// request's own URL; everything beyond it (private addresses, other origins on the way)
    /// is asked of `permits` here. Dropping the future ends the connection.
    pub async fn send(&self, request: HttpRequest, permits: &dyn Permits) -> Result<HttpResponse, HttpError> {
        let max_body = request.max_body;
        let mut hop = Hop::first(request);
        for _ in 0..=MAX_REDIRECTS {
            let response = self.visit(&hop, permits).await?;
            match hop.next(response.status(), response.headers())? {
                Step::Onward(next) => hop = next,
                Step::Arrived(url) => {
                    let idle = self.shared.options.idle_timeout;
                    return response::read(response, &url, max_body, idle).await;
                }
            }
        }
        Err(HttpError::TooManyRedirects { limit: MAX_REDIRECTS })
    }

    async fn visit(&self, hop: &Hop, permits: &dyn Permits) -> Result<reqwest::Response, HttpError> {
        let HttpOptions { resolver, connect_timeout, idle_timeout, .. } = &self.shared.options;
        // Before the look-up, which itself tells a name server something.
        if hop.crossed {
            guard::ask(capability::NET, &hop.url, None, permits).await?;
        }
        let detour = self.shared.rewrites.apply(&hop.url);
        let target = detour.clone().unwrap_or_else(|| hop.url.clone());
        let addresses = guard::addresses(&target, &**resolver, *connect_timeout).await?;
        if detour.is_none() {
            guard::vet(&target, &addresses, permits).await?;
        }
        let limit = *connect_timeout + *idle_timeout;
        self.transport()?.send(hop, target, addresses, limit).await
    }

    fn transport(&self) -> Result<&Transport, HttpError> {
        let HttpOptions { user_agent, connect_timeout, .. } = &self.shared.options;
        let built = self.shared.transport.get_or_init(|| Transport::new(user_agent, *connect_timeout));
        built.as_ref().map_err(Clone::clone)
    }
}
