//! `http_request` against a scripted server on this machine.

use std::time::Duration;

use pinza_testkit::{Program, RecordedRequest, Reply, WireServer, wire};
use serde_json::json;

use crate::support::{Expected, check_call, fine, pinza};

fn get(pinza: &Program, url: &str, expected: Expected) -> serde_json::Value {
    check_call(pinza, &["http_request", &format!("url={url}"), "--allow", "net.private"], expected)
}

#[test]
fn a_status_line_two_headers_a_blank_line_and_the_body() {
    let server = WireServer::start(|request| match request.path() {
        "/json" => Reply::json(&json!({"a": 1})),
        "/missing" => Reply::new("404 Not Found", &[("content-type", "text/plain"), ("x-other", "1")], "no"),
        "/empty" => Reply::new("204 No Content", &[], ""),
        "/bare" => Reply::Bytes(wire::head("200 OK", &[]).into_iter().chain(*b"bare").collect()),
        "/latin1" => Reply::new("200 OK", &[("content-type", "text/plain; charset=latin1")], b"gr\xfcn"),
        "/moved" => Reply::redirect("302 Found", "/json"),
        _ => Reply::ok(""),
    });
    let pinza = pinza();
    let json = "HTTP 200 OK\nContent-Type: application/json\nContent-Length: 7\n\n{\"a\":1}";
    for (path, expected) in [
        ("/json", json),
        ("/moved", json),
        ("/missing", "HTTP 404 Not Found\nContent-Type: text/plain\nContent-Length: 2\n\nno"),
        ("/empty", "HTTP 204 No Content\n...\n\n(empty response body)"),
        ("/bare", "HTTP 200 OK\n\nbare"),
        ("/latin1", "HTTP 200 OK\n...\n\ngrün"),
        ("/", "HTTP 200 OK\nContent-Type: text/plain\nContent-Length: 0\n\n(empty response body)"),
    ] {
        get(&pinza, &server.url(path), Ok(expected));
    }
    let answer = get(&pinza, &server.url("/moved"), Ok(json));
    let details = json!({"status": 200, "url": server.url("/json"), "truncated": false});
    assert_eq!(answer["details"].to_string(), details.to_string());
}

#[test]
fn long_bodies_are_cut_while_they_are_read() {
    let server = WireServer::start(|request| match request.path() {
        "/known" => Reply::ok("x".repeat(250 * 1024)),
        "/exact" => Reply::ok("x".repeat(100 * 1024)),
        _ => Reply::Endless {
            head: wire::head("200 OK", &[("content-type", "text/plain")]),
            again: vec![b'x'; 8192],
            pause: Duration::ZERO,
        },
    });
    let pinza = pinza();
    let ended = |path: &str| {
        let run =
            pinza.run(&["call", "http_request", &format!("url={}", server.url(path)), "--allow=net.private"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let body = run.stdout.split_once("\n\n").unwrap().1.to_owned();
        let kept = body.chars().take_while(|c| *c == 'x').count();
        (kept, body[kept..].to_owned())
    };
    let known = "\n\n(Response truncated. Showing first 100KB of 250KB total.)\n";
    assert_eq!(ended("/known"), (100 * 1024, known.to_owned()));
    assert_eq!(
        ended("/endless"),
        (100 * 1024, "\n\n(Response truncated. Showing first 100KB.)\n".to_owned())
    );
    assert_eq!(ended("/exact"), (100 * 1024, "\n".to_owned()));
}

#[test]
fn methods_headers_and_bodies() {
    let server = WireServer::start(|_| Reply::ok("ok"));
    let pinza = pinza();
    let send = |arguments: &[&str]| -> RecordedRequest {
        let url = format!("url={}", server.url("/x?q=1"));
        fine(&pinza, &[&["--allow", "net.private", "call", "http_request", &url], arguments].concat());
        server.requests().pop().unwrap()
    };
    let request = send(&[]);
    assert_eq!((request.method(), request.path(), &*request.text()), ("GET", "/x?q=1", ""));
    let request = send(&["method=POST", r#"body={"a":1}"#]);
    assert_eq!((request.method(), &*request.text()), ("POST", r#"{"a":1}"#));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let request = send(&["method=PUT", "body=a=1", r#"headers={"content-type":"text/plain","X-Number":5}"#]);
    assert_eq!((request.method(), &*request.text()), ("PUT", "a=1"));
    assert_eq!(request.header("content-type"), Some("text/plain"));
    assert_eq!(request.header("x-number"), Some("5"));
    let request = send(&["method=POST"]);
    assert_eq!((request.method(), &*request.text(), request.header("content-type")), ("POST", "", None));
    assert_eq!(request.header("content-length"), Some("0"));
    let request = send(&["method=DELETE"]);
    assert_eq!((request.method(), &*request.text()), ("DELETE", ""));
    let request = send(&["body=ignored"]);
    assert_eq!((request.method(), &*request.text()), ("GET", ""));
}

#[test]
fn what_fails_on_the_way() {
    let pinza = pinza();
    let closed = WireServer::start(|_| Reply::ok(""));
    let refused = closed.url("/");
    drop(closed);
    let redirecting = WireServer::start(|_| Reply::redirect("302 Found", "file:///etc/passwd"));
    let connection_refused = format!("Connection refused: {refused}");
    let cases: [(&str, Expected); 7] = [
        (&refused, Err(("network_error", &connection_refused))),
        ("http://nothing.invalid/", Err(("network_error", "Cannot resolve host: nothing.invalid"))),
        ("nonsense", Err(("validation_error", "Invalid URL: nonsense"))),
        ("ftp://example.com/", Err(("validation_error", "Invalid URL: ftp://example.com/"))),
        ("file:///etc/passwd", Err(("validation_error", "Invalid URL: file:///etc/passwd"))),
        ("http://169.254.169.254/latest", Err(("permission_denied", "Access denied: [..]always refused"))),
        (
            &redirecting.url("/"),
            Err(("execution_error", "HTTP request failed: redirected to 'file:///etc/passwd', [..]")),
        ),
    ];
    for (url, expected) in cases {
        get(&pinza, url, expected);
    }
    let url = format!("url={}", redirecting.url("/"));
    let header = [r#"headers={"a":"b\r\nc: d"}"#, "--allow=net.private"];
    let expected = Err(("validation_error", "Invalid header 'a': [..]"));
    check_call(&pinza, &[&["http_request", &url], &header[..]].concat(), expected);
    assert_eq!(redirecting.requests().len(), 1, "a bad header is never sent");
}

#[test]
fn private_addresses_are_decided_at_every_hop() {
    let inner = WireServer::start(|_| Reply::ok("secret"));
    let target = inner.url("/inner");
    let outer = WireServer::start(move |_| Reply::redirect("302 Found", &target));
    let pinza = pinza();
    let request = ["http_request", &format!("url={}", outer.url("/"))];
    let denied = Err(("permission_denied", "Required permissions were denied: net.private"));
    check_call(&pinza, &request, denied);
    assert_eq!(outer.connections(), 0, "nobody is connected to before the answer");

    let allow = |server: &WireServer| {
        let glob = format!("url=http://{}/*", server.address());
        fine(&pinza, &["policy", "allow", "net.private", "--arg", &glob]);
    };
    allow(&outer);
    check_call(&pinza, &request, denied);
    assert_eq!((outer.connections(), inner.connections()), (1, 0), "the first hop, and no other");
    allow(&inner);
    check_call(&pinza, &request, Ok("HTTP 200 OK\n...\nsecret"));
}

#[test]
fn a_url_is_judged_as_it_will_be_understood() {
    let server = WireServer::start(|_| Reply::ok("ok"));
    let pinza = pinza();
    let port = server.address().port();
    fine(&pinza, &["policy", "allow", "net.private", "--arg", "url=http://good.example*"]);
    fine(
        &pinza,
        &["policy", "deny", "--tool=http_request", "--arg", &format!("url=http://127.0.0.1:{port}/no*")],
    );
    for url in [
        format!("http://good.example@127.0.0.1:{port}/"),
        format!("http://127.1:{port}/no"),
        format!("http://0x7f000001:{port}/no"),
        format!("http://127.0.0.1:{port}/yes/../no"),
        format!("HTTP://127.0.0.1:{port}\\no"),
    ] {
        let expected = Err(("permission_denied", "Required permissions were denied: [..]"));
        check_call(&pinza, &["http_request", &format!("url={url}")], expected);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_rewritten_origin_goes_elsewhere_and_proxies_do_not_count() {
    let server = WireServer::start(|request| Reply::ok(request.path()));
    let pinza = pinza();
    let origin = server.url("");
    fine(&pinza, &["config", "set", r#"net.rewrite."https://api.example.com""#, &origin]);
    let run = {
        let mut command = pinza.command(["call", "http_request", "url=https://api.example.com/v1"]);
        command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
        pinza_testkit::program::finish(&mut command, "")
    };
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.ends_with("\n\n/v1\n"), "{run:?}");
}
