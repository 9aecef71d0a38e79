//! The guarded HTTP client against hostile URLs, resolvers and servers.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod addresses;
mod answers;
mod environment;
mod failures;
mod floods;
mod redirects;
mod requests;
mod rewrites;
mod time;

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pinza_core::{BoxFuture, Capability, ErrorKind, Permission, Permits, ToolError};
use pinza_host::http::{HttpClient, HttpError, HttpOptions, HttpRequest, HttpResponse, Redirects, Resolve};
use pinza_testkit::{Reply, WireServer, wire};

const NOW: Duration = Duration::ZERO;

/// Public as far as the guard knows, and routed nowhere: 6to4 is switched off everywhere.
const NOWHERE: &str = "2002:c01f:c401::1";

/// Decides by a rule over `capability url`, and remembers what it was asked.
struct Desk {
    grants: Box<dyn Fn(&str) -> bool + Send + Sync>,
    asked: Mutex<Vec<String>>,
}

impl Desk {
    fn new(grants: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { grants: Box::new(grants), asked: Mutex::default() }
    }

    fn grants_all() -> Self {
        Self::new(|_| true)
    }

    fn denies_all() -> Self {
        Self::new(|_| false)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Permits for Desk {
    fn permit(&self, permission: Permission) -> BoxFuture<'_, Result<(), ToolError>> {
        let subject = permission.subject.expect("a permission is about a URL");
        assert_eq!(subject.argument, "url");
        let question = format!("{} {}", permission.capability, subject.text);
        let granted = (self.grants)(&question);
        self.asked.lock().unwrap().push(question);
        let denied = || ToolError::denied(&permission.capability, "no");
        let answer = if granted { Ok(()) } else { Err(denied()) };
        Box::pin(std::future::ready(answer))
    }
}

/// Answers by a rule over the host and the number of look-ups before.
struct Names<F> {
    rule: F,
    lookups: AtomicUsize,
}

impl<F> std::fmt::Debug for Names<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Names")
    }
}

impl<F: Fn(&str, usize) -> Vec<String> + Send + Sync> Resolve for Names<F> {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let answers = (self.rule)(host, self.lookups.fetch_add(1, Ordering::SeqCst));
        let answers = answers.iter().map(|address| address.parse().unwrap()).collect();
        Box::pin(std::future::ready(Ok(answers)))
    }
}

fn names<F: Fn(&str, usize) -> Vec<String> + Send + Sync>(rule: F) -> Arc<Names<F>> {
    Arc::new(Names { rule, lookups: AtomicUsize::new(0) })
}

fn brief() -> HttpOptions {
    let timeout = Duration::from_millis(500);
    HttpOptions { connect_timeout: timeout, idle_timeout: timeout, ..HttpOptions::default() }
}

/// For exchanges that are meant to succeed, on a busy machine too.
fn patient() -> HttpClient {
    HttpClient::new(HttpOptions::default()).unwrap()
}

fn get(url: &str) -> HttpRequest {
    HttpRequest::new("GET", url).unwrap()
}

async fn fetch(request: HttpRequest) -> Result<HttpResponse, HttpError> {
    patient().send(request, &Desk::grants_all()).await
}

/// What the client makes of one reply, given by the server to every request.
async fn answer(reply: Reply, max_body: usize) -> Result<HttpResponse, HttpError> {
    let server = WireServer::start(move |_| reply.clone());
    let client = HttpClient::new(brief()).unwrap();
    let desk = Desk::grants_all();
    // Boxed as a tool would: the future must be Send.
    let sending: BoxFuture<'_, _> = Box::pin(client.send(get(&server.url("/")).max_body(max_body), &desk));
    tokio::time::timeout(Duration::from_secs(20), sending).await.expect("an end, of whatever kind")
}
