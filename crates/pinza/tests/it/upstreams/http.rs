//! Servers over HTTP: answers bounded, tokens kept and refreshed once, and nothing led astray.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use pinza::{
    Pinza, ToolError, UpstreamSettings,
    core::{BoxFuture, Permission, Permits},
    host::{
        http::{HttpClient, HttpOptions, HttpRequest},
        secrets::{KeySource, VariableStore},
    },
    mcp::client::{Browser, Launch, NoVariables, SignIn, Spec, UpstreamName},
};
use pinza_testkit::{RecordedRequest, Reply, WireServer};
use serde_json::{Value, json};

use crate::support::{check, check_call, fine, pinza};

/// An MCP server of 2025-11-25 without sessions, and what `tools/call` answers.
fn answer(request: &RecordedRequest, call: impl Fn(&Value) -> Value) -> Reply {
    let message = request.json();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "wire", "version": "1"},
        }),
        "tools/list" => {
            json!({"tools": [{"name": "say", "description": "Says", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => call(&message["params"]),
        _ if message.get("id").is_none() => return Reply::new("202 Accepted", &[], ""),
        other => {
            let error = json!({"code": -32601, "message": format!("no {other}")});
            return Reply::json(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        }
    };
    Reply::json(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

#[test]
fn a_server_over_http_is_a_group_as_well() {
    let server = WireServer::start(|request| match (request.method(), request.path()) {
        ("POST", "/mcp") => {
            let header = request.header("x-key").unwrap_or("none").to_owned();
            answer(request, move |_| text(&header))
        }
        _ => Reply::new("404 Not Found", &[], ""),
    });
    let pinza = pinza();
    pinza.run_with_input(&["env", "set", "WIRE_KEY"], "k3y");
    fine(&pinza, &["mcp", "add", "wire", "--header", "X-Key=${env.WIRE_KEY}", &server.url("/mcp")]);
    check_call(&pinza, &["wire__say"], Ok("k3y"));
    check(&pinza, &["mcp", "list"], 0, "  wire  1 tool  http://127.0.0.1:[..]/mcp\n", "");
}

/// It knew only the handshake when it was looked at, and refuses it from then on.
#[test]
fn a_server_that_has_become_newer_is_greeted_anew() {
    for refusal in ["200 OK", "400 Bad Request"] {
        let is_new = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&is_new);
        let server = WireServer::start(move |request| {
            let message = request.json();
            let whole = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            let with = |more: Value| {
                let mut result = whole.clone();
                result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                Reply::json(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            };
            match (now.load(Ordering::SeqCst), message["method"].as_str().unwrap_or_default()) {
                (0, _) => answer(request, |_| text("old")),
                (_, "server/discover") => {
                    with(json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}))
                }
                (_, "tools/list") => with(
                    json!({"tools": [{"name": "say", "description": "Says", "inputSchema": {"type": "object"}}]}),
                ),
                (_, "tools/call") => with(text("new")),
                _ => {
                    let error = json!({"code": -32601, "message": "no handshake"});
                    let body = json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string();
                    Reply::new(refusal, &[("content-type", "application/json")], &body)
                }
            }
        });
        let pinza = pinza();
        fine(&pinza, &["mcp", "add", "wire", &server.url("/mcp")]);
        check_call(&pinza, &["wire__say"], Ok("old"));
        is_new.store(1, Ordering::SeqCst);
        check_call(&pinza, &["wire__say"], Ok("new"));
    }
}

#[test]
fn answers_are_bounded_and_not_followed() {
    let huge = WireServer::start(|request| answer(request, |_| text(&"x".repeat(40 << 20))));
    let pinza = pinza();
    fine(&pinza, &["mcp", "add", "huge", &huge.url("/mcp")]);
    check_call(
        &pinza,
        &["huge__say"],
        Err(("network_error", "huge: the server sent a message of more than 32 MiB")),
    );

    let inside = WireServer::start(|_| Reply::ok("secret"));
    let target = inside.url("/mcp");
    let outside = WireServer::start(move |_| Reply::redirect("307 Temporary Redirect", &target));
    let run = pinza.run(&["mcp", "add", "away", &outside.url("/mcp")]);
    assert!(run.stderr.contains("configure that address"), "{run:?}");
    assert_eq!(inside.requests().len(), 0, "nothing was sent there");
    let run = pinza.run(&["mcp", "add", "nobody", "http://127.0.0.1:9/mcp"]);
    assert!(run.stderr.contains("127.0.0.1 cannot be reached: "), "{run:?}");
}

/// A server that wants a token, with the authorization server beside it.
struct Guarded {
    server: WireServer,
    /// The token that counts now.
    token: Arc<Mutex<String>>,
    refreshes: Arc<AtomicUsize>,
    sign_ins: Arc<AtomicUsize>,
}

fn guarded(metadata: impl Fn(&str) -> Value + Send + Sync + 'static) -> Guarded {
    let token = Arc::new(Mutex::new("first".to_owned()));
    let (refreshes, sign_ins) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let state = (Arc::clone(&token), Arc::clone(&refreshes), Arc::clone(&sign_ins));
    let server = WireServer::start(move |request| {
        let (token, refreshes, sign_ins) = &state;
        let origin = format!("http://{}", request.header("host").unwrap());
        let path = request.path().split('?').next().unwrap();
        match path {
            "/mcp" => {
                let sent = request.header("authorization").unwrap_or_default().to_owned();
                if sent != format!("Bearer {}", token.lock().unwrap()) {
                    let challenge = format!(
                        "Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
                    );
                    return Reply::new("401 Unauthorized", &[("www-authenticate", &challenge)], "");
                }
                answer(request, move |_| text(&sent))
            }
            "/.well-known/oauth-protected-resource/mcp" => {
                Reply::json(&json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}))
            }
            "/.well-known/oauth-authorization-server" => Reply::json(&metadata(&origin)),
            "/register" => Reply::json(
                &json!({"client_id": "c1", "client_secret": "s1", "redirect_uris": request.json()["redirect_uris"]}),
            ),
            "/authorize" => {
                sign_ins.fetch_add(1, Ordering::SeqCst);
                let query: url::Url = format!("{origin}{}", request.path()).parse().unwrap();
                let value =
                    |name: &str| query.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
                assert_eq!(value("code_challenge_method"), "S256");
                Reply::redirect(
                    "302 Found",
                    &format!("{}?code=abc&state={}", value("redirect_uri"), value("state")),
                )
            }
            "/token" => {
                let is_refresh = request.text().contains("grant_type=refresh_token");
                let mut token = token.lock().unwrap();
                if is_refresh {
                    let number = refreshes.fetch_add(1, Ordering::SeqCst) + 1;
                    *token = format!("refreshed-{number}");
                }
                Reply::json(
                    &json!({"access_token": *token, "token_type": "bearer", "refresh_token": "r", "expires_in": 3600}),
                )
            }
            _ => Reply::new("404 Not Found", &[], ""),
        }
    });
    Guarded { server, token, refreshes, sign_ins }
}

fn usual(origin: &str) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "registration_endpoint": format!("{origin}/register"),
        "code_challenge_methods_supported": ["S256"],
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    })
}

/// Goes to the page and back by itself.
struct Robot;

impl Browser for Robot {
    fn open<'a>(&'a self, _server: &'a str, url: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let client = HttpClient::new(HttpOptions::default()).unwrap();
            let page = client.send(HttpRequest::new("GET", url).unwrap(), &Everywhere).await;
            page.map(drop).map_err(|error| error.to_string())
        })
    }
}

/// These pages are on this machine.
struct Everywhere;

impl Permits for Everywhere {
    fn permit(&self, _permission: Permission) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn runtime(home: &std::path::Path, url: &str, browser: Option<Robot>) -> Pinza {
    let launch = Launch::Http { url: url.parse().unwrap(), headers: Vec::new(), sign_in: SignIn::default() };
    let settings = UpstreamSettings {
        specs: vec![Spec::new(UpstreamName::new("wire").unwrap(), launch)],
        directory: home.join("mcp"),
        variables: Arc::new(NoVariables),
        tokens: Some(Arc::new(VariableStore::tokens(home, KeySource::File).unwrap())),
    };
    let builder = Pinza::builder().upstreams(settings);
    match browser {
        Some(robot) => builder.browser(Arc::new(robot)),
        None => builder,
    }
    .build()
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_sign_in_and_one_refresh_serve_everybody() {
    let guarded = guarded(usual);
    let home = tempfile::tempdir().unwrap();
    let url = guarded.server.url("/mcp");
    let pinza = runtime(home.path(), &url, Some(Robot));
    pinza.upstreams().get("wire").unwrap().contact().await.unwrap();
    assert_eq!(guarded.sign_ins.load(Ordering::SeqCst), 1);

    // The next process knows the token, and needs nobody.
    let pinza = runtime(home.path(), &url, None);
    let say = || async { pinza.call("wire__say", json!({})).await.result.map(|output| output.as_text()) };
    assert_eq!(say().await.as_deref(), Ok("Bearer first"));
    // It is revoked while many call at once.
    *guarded.token.lock().unwrap() = "another".into();
    let (a, b, c, d, e) = tokio::join!(say(), say(), say(), say(), say());
    for answer in [a, b, c, d, e] {
        assert_eq!(answer.as_deref(), Ok("Bearer refreshed-1"));
    }
    assert_eq!((guarded.refreshes.load(Ordering::SeqCst), guarded.sign_ins.load(Ordering::SeqCst)), (1, 1));
    let token_request =
        guarded.server.requests().into_iter().rev().find(|request| request.path() == "/token").unwrap();
    assert_eq!(
        token_request.header("authorization"),
        Some("Basic YzE6czE="),
        "the secret of the registration was kept"
    );
    // What is kept is encrypted, and not among the variables that tools may name.
    let kept = std::fs::read(home.path().join("tokens.enc")).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("refreshed"));
    assert!(!home.path().join("env.enc").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_for_the_address_that_it_was_given_for() {
    let guarded = guarded(usual);
    let home = tempfile::tempdir().unwrap();
    runtime(home.path(), &guarded.server.url("/mcp"), Some(Robot))
        .upstreams()
        .get("wire")
        .unwrap()
        .contact()
        .await
        .unwrap();
    let thief = WireServer::start(|_| Reply::new("401 Unauthorized", &[], ""));
    let pinza = runtime(home.path(), &thief.url("/mcp"), None);
    let error = pinza.call("wire__say", json!({})).await.result.unwrap_err();
    assert_eq!(
        error.message,
        "The server wire cannot be used: wire wants you to sign in. Do it with: pinza mcp test wire"
    );
    assert!(thief.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_leads_to_web_pages_only() {
    let guarded = guarded(|origin| {
        let mut metadata = usual(origin);
        metadata["authorization_endpoint"] = json!("javascript:alert(1)//");
        metadata
    });
    let home = tempfile::tempdir().unwrap();
    let pinza = runtime(home.path(), &guarded.server.url("/mcp"), Some(Robot));
    let error = pinza.upstreams().get("wire").unwrap().contact().await.unwrap_err();
    assert!(error.message.contains("javascript"), "{}", error.message);
    assert_eq!(guarded.sign_ins.load(Ordering::SeqCst), 0);
}
