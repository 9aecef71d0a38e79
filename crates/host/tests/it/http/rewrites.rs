//! The user's own detours.

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
