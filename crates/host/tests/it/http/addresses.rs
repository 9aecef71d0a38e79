//! Which addresses are connected, and who is asked first.

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
