//! What a server may do by sending us elsewhere.

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
    let asked =
        [format!("net.private {}", outer.url("/")), format!("net {target}"), format!("net.private {target}")];
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
