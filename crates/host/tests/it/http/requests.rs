//! What leaves this machine.

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
