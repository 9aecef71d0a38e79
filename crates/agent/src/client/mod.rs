//! The way to a provider and back: connection, key, retries, stream.
//!
//! The base URL is the user's own choice and so exempt from the guard that tools' requests go
//! through. What it is not exempt from: redirects are not followed, because they would take the
//! key along; everything that is read is bounded; and no error repeats the key.

mod attempt;
mod config;
mod context;
mod models;
mod reading;
mod retry;

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{self, Poll},
};

use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};

pub use config::{ProviderConfig, Retries};
pub use reading::read_answer;

use self::{attempt::Asking, context::Context};
use crate::{
    event::StreamEvent,
    providers::{Adapter, Asked, ProviderError, ProviderKind, Request, adapter},
};

type Item = Result<StreamEvent, ProviderError>;

/// One provider, ready to be asked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProviderClient {
    server: Arc<Server>,
}

#[derive(Debug)]
struct Server {
    http: reqwest::Client,
    adapter: &'static dyn Adapter,
    config: ProviderConfig,
    base: url::Url,
    /// What this server complained about so far: the next request is written to suit it.
    complaints: Mutex<Vec<String>>,
}

impl ProviderClient {
    pub fn new(config: ProviderConfig) -> Result<Self, ProviderError> {
        let base = config.base()?;
        let http = config.http(&base)?;
        let adapter = adapter(config.kind);
        let server = Server { http, adapter, config, base, complaints: Mutex::default() };
        Ok(Self { server: Arc::new(server) })
    }

    pub fn kind(&self) -> ProviderKind {
        self.server.config.kind
    }

    /// Asks. What fails before the model has said anything, and may pass, is tried again; any other
    /// failure is the last item of the stream.
    pub fn stream(&self, request: &Request<'_>) -> Result<EventStream, ProviderError> {
        let server = self.server.clone();
        let encoded = server.adapter.encode(request)?;
        let context = Arc::new(Context::new(&server.config, &server.base, &encoded, request)?);
        let asked = Asked::of(request, &seed()?);
        let asking = Asking::new(server, context.clone(), asked, encoded);
        let answer = async move {
            match asking.persist().await {
                Ok(reading) => reading
                    .into_stream()
                    .map(move |item| item.map_err(|error| context.dress(error)))
                    .left_stream(),
                Err(error) => stream::iter([Err(context.dress(error))]).right_stream(),
            }
        };
        Ok(EventStream { events: Box::pin(answer.flatten_stream()) })
    }
}

/// The answer to one request, as it comes. Dropping it ends the request.
pub struct EventStream {
    events: Pin<Box<dyn Stream<Item = Item> + Send>>,
}

impl Stream for EventStream {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<Option<Item>> {
        self.events.as_mut().poll_next(context)
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EventStream")
    }
}

/// What ids that we make begin with: no two requests have the same.
fn seed() -> Result<String, ProviderError> {
    let random = getrandom::u64().map_err(|error| {
        let message = format!("the system has no random numbers: {error}");
        ProviderError::new(crate::providers::ProviderErrorKind::Unsupported, message)
    })?;
    Ok(format!("{random:016x}"))
}
