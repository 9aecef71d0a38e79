//! The guarded HTTP client against hostile URLs, resolvers and servers.

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
use tokio::io::AsyncWriteExt as _;

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
    client.send(get(&server.url("/")).max_body(max_body), &Desk::grants_all()).await
}

mod addresses {
    use super::*;

    #[derive(Debug)]
    struct Row {
        url: String,
        class: String,
        resolves: Vec<String>,
        /// Another spelling of this machine: with a grant it really arrives.
        loopback: bool,
    }

    fn table(port: u16) -> Vec<Row> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hostile/urls.json");
        let rows: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let row = |row: &serde_json::Value| Row {
            url: row["url"].as_str().unwrap().replace("{port}", &port.to_string()),
            class: row["class"].as_str().unwrap().to_owned(),
            resolves: row["resolves"].as_array().map_or(Vec::new(), |found| {
                found.iter().map(|address| address.as_str().unwrap().to_owned()).collect()
            }),
            loopback: row["loopback"] == true,
        };
        rows.as_array().unwrap().iter().map(row).collect()
    }

    async fn send(row: &Row, desk: &Desk) -> Result<HttpResponse, HttpError> {
        let answers = row.resolves.clone();
        let resolver = names(move |_, _| answers.clone());
        let client = HttpClient::new(HttpOptions { resolver, ..brief() }).unwrap();
        client.send(HttpRequest::new("GET", &row.url)?, desk).await
    }

    #[tokio::test]
    async fn every_hostile_url_meets_its_fate() {
        let server = WireServer::start(|_| Reply::ok("in"));
        for row in table(server.address().port()) {
            // A forbidden address is refused though all is granted, a private one asks.
            let desk = Desk::new(match row.class.as_str() {
                "forbidden" => |_: &str| true,
                _ => |_: &str| false,
            });
            let error = send(&row, &desk).await.expect_err(&row.url);
            match (row.class.as_str(), &error) {
                ("invalid", HttpError::InvalidUrl { url }) => assert_eq!(*url, row.url),
                ("forbidden", HttpError::ForbiddenAddress { .. }) => assert_eq!(desk.asked().len(), 0),
                ("private", HttpError::Denied(inner)) => {
                    assert_eq!(inner.kind, ErrorKind::PermissionDenied);
                    let [asked] = &desk.asked()[..] else { panic!("{row:?}: {:?}", desk.asked()) };
                    assert!(asked.starts_with("net.private http"), "{row:?}: {asked}");
                    assert!(!asked.contains("secret"), "{asked}");
                }
                (_, error) => panic!("{row:?}: {error:?}"),
            }
        }
        assert_eq!(server.connections(), 0);
    }

    #[tokio::test]
    async fn the_odd_spellings_are_real_ways_in() {
        let server = WireServer::start(|_| Reply::ok("in"));
        let rows = table(server.address().port());
        for row in rows.iter().filter(|row| row.loopback) {
            let response = send(row, &Desk::grants_all()).await;
            assert_eq!(response.expect(&row.url).body, b"in", "{row:?}");
        }
    }

    #[tokio::test]
    async fn ipv6_literals_connect_to_themselves() {
        let server = WireServer::start(|_| Reply::ok("mapped"));
        let url = format!("http://[::ffff:127.0.0.1]:{}/", server.address().port());
        match fetch(get(&url)).await {
            Ok(response) => assert_eq!(response.body, b"mapped"),
            // A machine without IPv6 has no way there.
            Err(error) => assert!(matches!(error, HttpError::Failed { .. }), "{error:?}"),
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_up_once() {
        let server = WireServer::start(|_| Reply::ok("rebound"));
        let resolver = names(|_, before| vec![[NOWHERE, "127.0.0.1"][before.min(1)].to_owned()]);
        let client = HttpClient::new(HttpOptions { resolver: resolver.clone(), ..brief() }).unwrap();
        let desk = Desk::denies_all();
        let url = format!("http://rebind.test:{}/", server.address().port());
        client.send(get(&url), &desk).await.expect_err("nowhere");
        assert_eq!(resolver.lookups.load(Ordering::SeqCst), 1);
        assert_eq!(server.connections(), 0);
        assert!(desk.asked().is_empty(), "the first answer is public: {:?}", desk.asked());
    }

    #[tokio::test]
    async fn a_connection_serves_one_hop() {
        // The server would keep the connection, and answers no second request on it.
        let whole = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec();
        let parts = vec![(NOW, whole), (Duration::from_secs(600), Vec::new())];
        let server = WireServer::start(move |_| Reply::Parts(parts.clone()));
        let client = HttpClient::new(brief()).unwrap();
        for expected in 1..=2 {
            let response = client.send(get(&server.url("/")), &Desk::grants_all()).await.unwrap();
            assert_eq!((response.body.as_slice(), server.connections()), (&b"ok"[..], expected));
        }
    }

    #[tokio::test]
    async fn the_real_resolver_knows_localhost() {
        let server = WireServer::start(|_| Reply::ok("in"));
        let url = format!("http://localhost:{}/", server.address().port());
        let desk = Desk::denies_all();
        patient().send(get(&url), &desk).await.expect_err("denied");
        assert_eq!(desk.asked(), [format!("net.private {url}")]);
        assert_eq!(server.connections(), 0);
        assert_eq!(fetch(get(&url)).await.unwrap().body, b"in");
    }

    #[test]
    fn what_a_model_hears() {
        let address = "169.254.169.254".parse().unwrap();
        let error = HttpError::ForbiddenAddress { host: "m.test".into(), address }.answer();
        assert_eq!(error.kind, ErrorKind::PermissionDenied);
        assert!(error.message.contains("always refused"), "{}", error.message);
        let denied = ToolError::denied(&Capability::known("net.private"), "--allow net.private");
        assert_eq!(HttpError::Denied(denied.clone()).answer(), denied);
    }
}

mod redirects {
    use super::*;

    fn redirecting(status: &'static str, location: impl Into<String>) -> WireServer {
        let location = location.into();
        WireServer::start(move |request| match request.path() {
            "/" => Reply::redirect(status, &location),
            _ => Reply::ok("arrived"),
        })
    }

    #[tokio::test]
    async fn a_private_target_is_asked_for_again() {
        let inner = WireServer::start(|_| Reply::ok("inner"));
        let outer = redirecting("302 Found", inner.url("/secret"));
        let first = outer.url("/");
        let desk = Desk::new(move |question| question.starts_with("net ") || question.ends_with(&first));
        let error = patient().send(get(&outer.url("/")), &desk).await.expect_err("denied");
        assert!(matches!(error, HttpError::Denied(_)), "{error:?}");
        let target = inner.url("/secret");
        let asked = [
            format!("net.private {}", outer.url("/")),
            format!("net {target}"),
            format!("net.private {target}"),
        ];
        assert_eq!(desk.asked(), asked);
        assert_eq!(inner.connections(), 0);
    }

    #[tokio::test]
    async fn another_origin_needs_net_again() {
        let inner = WireServer::start(|_| Reply::ok("inner"));
        let outer = redirecting("302 Found", inner.url("/"));
        let desk = Desk::new(|question| question.starts_with("net.private "));
        let error = patient().send(get(&outer.url("/")), &desk).await.expect_err("denied");
        assert!(matches!(error, HttpError::Denied(_)), "{error:?}");
        assert_eq!(inner.connections(), 0);
    }

    #[tokio::test]
    async fn metadata_is_refused_whatever_is_granted() {
        for target in ["http://169.254.169.254/", "http://[::ffff:a9fe:a9fe]/", "http://0xa9fea9fe/"] {
            let server = redirecting("307 Temporary Redirect", target);
            let error = fetch(get(&server.url("/"))).await.expect_err(target);
            assert!(matches!(error, HttpError::ForbiddenAddress { .. }), "{error:?}");
        }
    }

    #[tokio::test]
    async fn only_the_web_is_followed() {
        for target in
            ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/", "data:,x", "http://[fe80::1%25lo]/"]
        {
            let server = redirecting("302 Found", target);
            let error = fetch(get(&server.url("/"))).await.expect_err(target);
            assert_eq!(error, HttpError::BadRedirect { location: target.into() });
            assert!(error.answer().message.starts_with("HTTP request failed: "));
        }
    }

    #[tokio::test]
    async fn chains_end() {
        let server = WireServer::start(|request| match request.path()[1..].parse::<u32>() {
            Ok(0) => Reply::ok("home"),
            Ok(left) => Reply::redirect("302 Found", &format!("/{}", left - 1)),
            Err(_) => Reply::redirect("301 Moved Permanently", "/loop"),
        });
        let arrived = fetch(get(&server.url("/10"))).await.unwrap();
        assert_eq!((arrived.body.as_slice(), arrived.url), (&b"home"[..], server.url("/0")));
        for endless in ["/11", "/loop"] {
            let error = fetch(get(&server.url(endless))).await.expect_err(endless);
            assert_eq!(error, HttpError::TooManyRedirects { limit: 10 });
        }
    }

    #[tokio::test]
    async fn a_redirect_can_be_the_answer() {
        let server = redirecting("302 Found", "/next");
        let response = fetch(get(&server.url("/")).redirects(Redirects::None)).await.unwrap();
        assert_eq!((response.status, response.reason.as_str()), (302, "Found"));
        assert_eq!(response.header("Location"), Some("/next"));
        // One without a target is an answer in any case.
        let nowhere = answer(Reply::new("302 Found", &[], "stay"), 10).await.unwrap();
        assert_eq!((nowhere.status, nowhere.body.as_slice()), (302, &b"stay"[..]));
    }

    #[tokio::test]
    async fn methods_change_as_in_browsers() {
        let cases = [
            ("301 Moved Permanently", "POST", "GET"),
            ("302 Found", "POST", "GET"),
            ("302 Found", "PUT", "PUT"),
            ("303 See Other", "POST", "GET"),
            ("303 See Other", "DELETE", "GET"),
            ("303 See Other", "HEAD", "HEAD"),
            ("307 Temporary Redirect", "POST", "POST"),
            ("308 Permanent Redirect", "POST", "POST"),
        ];
        for (status, sent, followed) in cases {
            let server = redirecting(status, "/next");
            let request = HttpRequest::new(sent, &server.url("/")).unwrap();
            let request = request.header("content-type", "text/x").unwrap().body("payload");
            fetch(request).await.unwrap();
            let second = &server.requests()[1];
            let body = if followed == sent { "payload" } else { "" };
            assert_eq!((second.method(), second.text().as_str()), (followed, body), "{status} {sent}");
            assert_eq!(second.header("content-type").is_some(), followed == sent, "{status} {sent}");
        }
    }

    #[tokio::test]
    async fn credentials_stay_with_their_origin() {
        let other = WireServer::start(|_| Reply::ok("other"));
        let target = other.url("/");
        let server = WireServer::start(move |request| match request.path() {
            "/" => Reply::redirect("302 Found", "/again"),
            _ => Reply::redirect("307 Temporary Redirect", &target),
        });
        let url = server.url("/").replace("http://", "http://me:p%40ss@");
        let mut request = get(&url);
        for (name, value) in [
            ("cookie", "id=1"),
            ("x-api-key", "secret"),
            ("accept", "text/html"),
            ("accept-language", "it"),
            ("user-agent", "mine"),
        ] {
            request = request.header(name, value).unwrap();
        }
        let desk = Desk::grants_all();
        let response = patient().send(request, &desk).await.unwrap();
        assert_eq!(response.url, other.url("/"));
        for asked in desk.asked() {
            assert!(!asked.contains("p%40ss"), "{asked}");
        }
        for within in server.requests() {
            assert_eq!(within.header("authorization"), Some("Basic bWU6cEBzcw=="));
            assert_eq!(within.header("x-api-key"), Some("secret"));
        }
        let beyond = &other.requests()[0];
        for name in ["authorization", "cookie", "x-api-key", "referer"] {
            assert_eq!(beyond.header(name), None, "{name}");
        }
        for (name, value) in [("accept", "text/html"), ("accept-language", "it"), ("user-agent", "mine")] {
            assert_eq!(beyond.header(name), Some(value));
        }
    }

    #[tokio::test]
    async fn an_explicit_authorization_wins_and_stays() {
        let other = WireServer::start(|_| Reply::ok("other"));
        let server = redirecting("302 Found", other.url("/").replace("http://", "http://own:pw@"));
        let url = server.url("/").replace("http://", "http://me:pw@");
        fetch(get(&url).header("Authorization", "Bearer mine").unwrap()).await.unwrap();
        assert_eq!(server.requests()[0].header("authorization"), Some("Bearer mine"));
        // The new origin gets what its own URL says, and nothing of ours.
        assert_eq!(other.requests()[0].header("authorization"), Some("Basic b3duOnB3"));
    }
}

mod rewrites {
    use super::*;

    #[tokio::test]
    async fn a_detour_needs_no_leave() {
        let server = WireServer::start(|request| match request.path() {
            "/base/start?q=1" => Reply::redirect("302 Found", "/v1/end"),
            path => Reply::ok(path),
        });
        let rewrite = vec![("https://api.example.com/v1".to_owned(), server.url("/base"))];
        let client = HttpClient::new(HttpOptions { rewrite, ..HttpOptions::default() }).unwrap();
        let desk = Desk::denies_all();
        let request = get("https://api.example.com/v1/start?q=1").header("x-api-key", "k").unwrap();
        let response = client.send(request, &desk).await.unwrap();
        assert_eq!(response.body, b"/base/end");
        assert_eq!(response.url, "https://api.example.com/v1/end");
        assert_eq!(server.requests()[1].header("x-api-key"), Some("k"));
        assert!(desk.asked().is_empty());
    }

    #[tokio::test]
    async fn a_lookalike_takes_no_detour() {
        let server = WireServer::start(|_| Reply::ok("detour"));
        let rewrite = vec![("http://api.example.com".to_owned(), server.url(""))];
        let resolver = names(|_, _| vec!["127.0.0.1".to_owned()]);
        let client = HttpClient::new(HttpOptions { rewrite, resolver, ..brief() }).unwrap();
        for url in
            ["http://api.example.com.evil/", "http://api.example.com@evil.test/", "http://api.example.comx/"]
        {
            let desk = Desk::denies_all();
            let error = client.send(get(url), &desk).await.expect_err(url);
            assert!(matches!(error, HttpError::Denied(_)), "{error:?}");
        }
        assert_eq!(server.connections(), 0);
    }

    #[test]
    fn a_bad_rule_is_named() {
        let rewrite = vec![("api.example.com".to_owned(), "http://127.0.0.1".to_owned())];
        let error = HttpClient::new(HttpOptions { rewrite, ..HttpOptions::default() }).expect_err("no URL");
        assert_eq!(error.to_string(), "net.rewrite: 'api.example.com' is not a plain http or https URL");
    }
}

mod requests {
    use super::*;

    #[tokio::test]
    async fn what_is_sent() {
        let server = WireServer::start(|_| Reply::ok("ok"));
        let request = HttpRequest::new("POST", &server.url("/p?q=ü#part")).unwrap();
        fetch(request.header("X-Two", "a").unwrap().header("x-two", "b").unwrap().body("hi")).await.unwrap();
        let sent = &server.requests()[0];
        assert_eq!((sent.method(), sent.path(), sent.text().as_str()), ("POST", "/p?q=%C3%BC", "hi"));
        assert_eq!(sent.header("user-agent"), Some(concat!("pinza/", env!("CARGO_PKG_VERSION"))));
        assert_eq!(sent.header("host"), Some(server.address().to_string().as_str()));
        assert_eq!(sent.head.matches("x-two: ").count(), 2);
    }

    #[test]
    fn headers_cannot_break_out() {
        let cases = [
            ("x", "a\r\nevil: 1"),
            ("x", "a\nb"),
            ("x", "a\rb"),
            ("x", "a\0b"),
            ("x\r\nevil", "1"),
            ("x y", "1"),
            ("", "1"),
            ("x:", "1"),
            ("Content-Length", "0"),
            ("transfer-encoding", "chunked"),
            ("Connection", "keep-alive"),
            ("Upgrade", "h2c"),
            ("TE", "trailers"),
            ("Trailer", "x"),
            ("Keep-Alive", "1"),
            ("Proxy-Authorization", "x"),
            ("proxy-connection", "x"),
            ("Host", "other"),
        ];
        for (name, value) in cases {
            let error = get("http://x.test/").header(name, value).expect_err(name);
            assert!(matches!(error, HttpError::InvalidHeader { .. }), "{error:?}");
            let answer = error.answer();
            assert_eq!(answer.kind, ErrorKind::ValidationError);
            assert!(!answer.message.contains(['\r', '\n']), "{}", answer.message);
        }
    }

    #[test]
    fn methods_are_for_sites() {
        for method in ["CONNECT", "trace", "GET /", "", "G\r\nT"] {
            let error = HttpRequest::new(method, "http://x.test/").expect_err(method).answer();
            assert_eq!(error.kind, ErrorKind::ValidationError);
        }
        assert!(HttpRequest::new("PATCH", "http://x.test/").is_ok());
    }

    #[test]
    fn secrets_are_not_shown() {
        let request = get("http://me:secret@x.test/").header("x-key", "secret").unwrap();
        assert_eq!(format!("{request:?}"), "HttpRequest(GET http://x.test/)");
        let error = HttpRequest::new("GET", "file:///x").expect_err("not the web").answer();
        assert_eq!(error.message, "Invalid URL: file:///x");
    }
}

mod answers {
    use super::*;

    #[tokio::test]
    async fn a_whole_answer() {
        let headers = [("x-b", "1"), ("x-a", "2"), ("x-b", "3")];
        let response = answer(Reply::new("404 Not Found", &headers, "gone"), 100).await.unwrap();
        assert_eq!((response.status, response.reason.as_str()), (404, "Not Found"));
        assert_eq!(response.body, b"gone");
        assert_eq!((response.truncated, response.total), (false, Some(4)));
        let of_b: Vec<_> = response.headers.iter().filter(|(name, _)| name == "x-b").collect();
        assert_eq!(of_b.len(), 2);
        assert_eq!(response.header("X-A"), Some("2"));
    }

    #[tokio::test]
    async fn bodies_are_cut_exactly() {
        for (max_body, body, truncated) in
            [(3, "abc", true), (4, "abcd", false), (5, "abcd", false), (0, "", true)]
        {
            let response = answer(Reply::ok("abcd"), max_body).await.unwrap();
            assert_eq!(response.body, body.as_bytes());
            assert_eq!((response.truncated, response.total), (truncated, Some(4)), "{max_body}");
        }
        let empty = answer(Reply::new("204 No Content", &[], ""), 0).await.unwrap();
        assert_eq!((empty.body.len(), empty.truncated), (0, false));
    }

    #[tokio::test]
    async fn a_body_without_length_has_no_total() {
        let bytes = [wire::head("200 OK", &[]), b"abc".to_vec()].concat();
        let response = answer(Reply::Bytes(bytes), 10).await.unwrap();
        assert_eq!((response.body.as_slice(), response.total), (&b"abc"[..], None));
    }

    #[tokio::test]
    async fn a_short_body_is_an_error() {
        let bytes = [wire::head("200 OK", &[("content-length", "10")]), b"abc".to_vec()].concat();
        let error = answer(Reply::Bytes(bytes), 10).await.expect_err("seven bytes are missing");
        assert!(matches!(error, HttpError::Failed { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn encodings_are_undone() {
        let reply = Reply::new("200 OK", &[("content-encoding", "gzip")], gzip(b"plain"));
        let response = answer(reply, 100).await.unwrap();
        assert_eq!((response.body.as_slice(), response.total), (&b"plain"[..], None));
        assert_eq!(response.header("content-encoding"), None);
        // An encoding that nobody knows is left alone, and its length counts.
        let reply = Reply::new("200 OK", &[("content-encoding", "rot13")], "cynva");
        let response = answer(reply, 100).await.unwrap();
        assert_eq!((response.body.as_slice(), response.total), (&b"cynva"[..], Some(5)));
    }

    pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }
}

mod floods {
    use super::*;

    const MAX: usize = 100 * 1024;

    fn endless(headers: &[(&str, &str)], start: &[u8], again: &[u8]) -> Reply {
        let head = [wire::head("200 OK", headers), start.to_vec()].concat();
        Reply::Endless { head, again: again.to_vec(), pause: NOW }
    }

    async fn is_cut(reply: Reply) {
        let response = answer(reply, MAX).await.unwrap();
        assert!(response.truncated);
        assert_eq!(response.body.len(), MAX);
    }

    #[tokio::test]
    async fn an_endless_body_is_cut() {
        is_cut(endless(&[], b"", &[b'x'; 8192])).await;
        is_cut(endless(&[("transfer-encoding", "chunked")], b"", b"5\r\nhello\r\n".repeat(800).as_slice()))
            .await;
    }

    #[tokio::test]
    async fn bombs_are_cut() {
        let bomb = answers::gzip(&vec![0; 64 << 20]);
        is_cut(Reply::new("200 OK", &[("content-encoding", "gzip")], bomb)).await;
        // 64 MiB of zeros.
        let brotli: [u8; 53] = [
            0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff,
            0xff, 0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f,
            0x00, 0x88, 0xc3, 0x22, 0x00, 0xdd, 0xfb, 0xff, 0xfc, 0xff, 0xff, 0xc7, 0x3f, 0x01, 0x10, 0x87,
            0x05, 0x00, 0xba, 0xf7, 0xff,
        ];
        is_cut(Reply::new("200 OK", &[("content-encoding", "br")], brotli)).await;
        // A frame head, then four bytes for every 128 KiB.
        let (start, block) = ([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38], [0x02, 0x00, 0x10, 0x00]);
        is_cut(endless(&[("content-encoding", "zstd")], &start, &block)).await;
    }

    #[tokio::test]
    async fn a_stream_that_decodes_to_nothing_is_silence() {
        let start = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let hollow = [0x00, 0x00, 0x00, 0xff, 0xff].repeat(100);
        let error = answer(endless(&[("content-encoding", "gzip")], &start, &hollow), MAX).await;
        assert_eq!(error.expect_err("no byte arrives"), HttpError::TimedOut);
    }

    #[tokio::test]
    async fn too_many_headers_are_an_error() {
        let many = (0..5000).map(|n| format!("x-{n}: {n}\r\n")).collect::<String>();
        let long = "y".repeat(8192);
        let replies = [
            Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{many}\r\n").into_bytes()),
            Reply::Endless { head: b"HTTP/1.1 200 OK\r\n".into(), again: many.into(), pause: NOW },
            Reply::Endless { head: b"HTTP/1.1 200 OK\r\nx: ".into(), again: long.into(), pause: NOW },
        ];
        for reply in replies {
            let error = answer(reply, MAX).await.expect_err("a flood");
            assert_eq!(error.to_string(), "HTTP request failed: message head is too large");
        }
    }

    #[tokio::test]
    async fn endless_preludes_time_out() {
        let again = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10);
        let error = answer(Reply::Endless { head: Vec::new(), again, pause: NOW }, MAX).await;
        assert_eq!(error.expect_err("no answer"), HttpError::TimedOut);
    }

    #[tokio::test]
    async fn nonsense_is_an_error() {
        for bytes in [
            "",
            "SSH-2.0-OpenSSH_9\r\n",
            "HTTP/1.1 999999 X\r\n\r\n",
            "\0\0\0\0",
            "HTTP/1.1 200 OK\r\nx\r\n\r\n",
        ] {
            let error = answer(Reply::Bytes(bytes.into()), MAX).await.expect_err(bytes).answer();
            assert_eq!(error.kind, ErrorKind::ExecutionError);
            assert!(error.message.starts_with("HTTP request failed: "), "{}", error.message);
        }
    }
}

mod time {
    use super::*;

    #[tokio::test]
    async fn silence_times_out() {
        let head = wire::head("200 OK", &[("content-length", "9")]);
        let forever = Duration::from_secs(600);
        let replies = [
            Reply::Hang,
            Reply::Parts(vec![(NOW, head.clone()), (forever, b"late".to_vec())]),
            Reply::Parts(vec![(NOW, head[..20].to_vec()), (forever, head[20..].to_vec())]),
            // A drip of headers is no answer either.
            Reply::Endless {
                head: b"HTTP/1.1 200 OK\r\nx: ".to_vec(),
                again: b"y".to_vec(),
                pause: Duration::from_millis(50),
            },
        ];
        for reply in replies {
            let error = answer(reply, 100).await.expect_err("silence");
            assert_eq!(error, HttpError::TimedOut);
            let answer = error.answer();
            assert_eq!(
                (answer.kind, answer.message.as_str()),
                (ErrorKind::Timeout, "HTTP request timed out")
            );
        }
    }

    #[tokio::test]
    async fn a_slow_body_that_moves_is_fine() {
        let part = |text: &str| (Duration::from_millis(150), text.as_bytes().to_vec());
        let head = wire::head("200 OK", &[("content-length", "6")]);
        let parts = vec![(NOW, head), part("a"), part("b"), part("c"), part("d"), part("e"), part("f")];
        assert_eq!(answer(Reply::Parts(parts), 100).await.unwrap().body, b"abcdef");
    }

    #[tokio::test]
    async fn a_dropped_request_leaves_no_connection() {
        let pause = Duration::from_millis(20);
        let drip = Reply::Endless { head: wire::head("200 OK", &[]), again: b"x".to_vec(), pause };
        for reply in [Reply::Hang, drip] {
            let server = WireServer::start(move |_| reply.clone());
            let request = fetch(get(&server.url("/")));
            tokio::time::timeout(Duration::from_millis(300), request).await.expect_err("it goes on");
            assert_eq!(server.connections(), 1);
            let gone = async {
                while server.open_connections() > 0 {
                    tokio::time::sleep(pause).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the connection ends");
        }
    }

    #[tokio::test]
    async fn a_resolver_that_hangs_times_out() {
        #[derive(Debug)]
        struct Silent;
        impl Resolve for Silent {
            fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
                Box::pin(std::future::pending())
            }
        }
        let client = HttpClient::new(HttpOptions { resolver: Arc::new(Silent), ..brief() }).unwrap();
        let error = client.send(get("http://x.test/"), &Desk::grants_all()).await;
        assert_eq!(error.expect_err("no answer"), HttpError::TimedOut);
    }
}

mod failures {
    use super::*;

    #[tokio::test]
    async fn a_closed_port_refuses() {
        // Bound, so that nobody else gets the port, but never listening.
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", socket.local_addr().unwrap());
        let error = fetch(get(&url)).await.expect_err("closed").answer();
        assert_eq!(
            (error.kind, error.message),
            (ErrorKind::NetworkError, format!("Connection refused: {url}"))
        );
    }

    #[tokio::test]
    async fn an_unknown_name_cannot_be_resolved() {
        let resolver = names(|_, _| Vec::new());
        let client = HttpClient::new(HttpOptions { resolver, ..brief() }).unwrap();
        let error = client.send(get("http://no.such.test/"), &Desk::grants_all()).await;
        let error = error.expect_err("unknown").answer();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::NetworkError, "Cannot resolve host: no.such.test")
        );
    }

    #[tokio::test]
    async fn https_to_a_plain_server_fails_cleanly() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let plain = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
            std::future::pending::<()>().await;
        };
        let error = tokio::select! {
            sent = fetch(get(&url)) => sent.expect_err("no TLS").answer(),
            () = plain => unreachable!(),
        };
        assert_eq!(error.kind, ErrorKind::ExecutionError);
        assert_eq!(error.message, "HTTP request failed: received corrupt message of type InvalidContentType");
    }
}

/// The environment is process-wide, so these run this binary again with another one.
mod environment {
    use super::*;

    const TARGET: &str = "PINZA_TEST_TARGET";

    async fn run_again(test: &str, target: &str, env: &[(&str, &str)]) {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "--ignored", "--nocapture", test]).env(TARGET, target);
        child.envs(env.iter().copied()).kill_on_drop(true);
        let output = child.output().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[tokio::test]
    async fn proxy_variables_are_ignored() {
        let proxy = WireServer::start(|_| Reply::ok("proxied"));
        let server = WireServer::start(|_| Reply::ok("direct"));
        let address = proxy.url("");
        let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let mut env: Vec<_> = names.iter().map(|name| (*name, address.as_str())).collect();
        env.extend([("NO_PROXY", ""), ("no_proxy", "")]);
        run_again("http::environment::child_goes_direct", &server.url("/"), &env).await;
        assert_eq!((proxy.connections(), server.connections()), (0, 1));
    }

    #[tokio::test]
    #[ignore = "run by proxy_variables_are_ignored"]
    async fn child_goes_direct() {
        let response = fetch(get(&std::env::var(TARGET).unwrap())).await.unwrap();
        assert_eq!(response.body, b"direct");
    }

    #[tokio::test]
    async fn a_machine_without_certificates_still_speaks_http() {
        let server = WireServer::start(|_| Reply::ok("direct"));
        let env = [("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")];
        run_again("http::environment::child_has_no_certificates", &server.url("/"), &env).await;
    }

    #[tokio::test]
    #[ignore = "run by a_machine_without_certificates_still_speaks_http"]
    async fn child_has_no_certificates() {
        let url = std::env::var(TARGET).unwrap();
        assert_eq!(fetch(get(&url)).await.unwrap().body, b"direct");
        let error = fetch(get(&url.replace("http:", "https:"))).await.expect_err("no trust");
        assert_eq!(error, HttpError::NoCertificates);
    }
}
