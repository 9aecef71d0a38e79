//! Who may come in over HTTP.

use serde_json::{Value, json};

use super::{
    initialize, stateless,
    web::{Web, stateless_headers},
};
use crate::support::{check, pinza, refused};

fn list(web: &Web, headers: &str) -> u16 {
    let body = stateless(1, "tools/list", json!({}), json!({})).to_string();
    web.post(&format!("{}{headers}", stateless_headers("tools/list", &Value::Null)), &body).status
}

#[test]
fn a_page_from_elsewhere_is_kept_out() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let own = format!("http://{}", web.address);
    let port = web.address.rsplit(':').next().unwrap();
    let cases = [
        (String::new(), 200),
        (format!("Origin: {own}\r\n"), 200),
        (format!("Host: localhost:{port}\r\n"), 200),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"), 200),
        ("Origin: http://evil.example\r\n".into(), 403),
        ("Origin: null\r\n".into(), 403),
        (format!("Origin: {own}\r\nOrigin: http://evil.example\r\n"), 403),
        // A page of another program on this machine.
        ("Origin: http://127.0.0.1:1\r\n".into(), 403),
        // A name of the attacker's that was made to lead here.
        (format!("Host: evil.example:{port}\r\n"), 403),
        (format!("Host: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\n"), 403),
        (format!("Host: localhost:{port}\r\nHost: evil.example\r\n"), 403),
    ];
    for (headers, status) in cases {
        assert_eq!(list(&web, &headers), status, "{headers}");
    }
    // Everything is behind the same guard.
    for path in ["/", "/healthz", "/metrics", "/mcp", "/nothing"] {
        assert_eq!(web.get(path, "Origin: http://evil.example\r\n").status, 403, "{path}");
    }
}

#[test]
fn other_machines_need_a_token() {
    let pinza = pinza();
    refused(
        &pinza,
        &["serve", "--http", "0.0.0.0:0"],
        "error: other machines could reach 0.0.0.0:0, and there is no token\nhint: [..]--token-env NAME[..]\n",
    );
    refused(
        &pinza,
        &["serve", "--http", "0.0.0.0:0", "--token-env", "NOT_SET"],
        "error: --token-env NOT_SET: the environment has no such variable[..]\n",
    );
    let with_token = |value: &str| {
        let mut command = pinza.command(["serve", "--http", "0.0.0.0:0", "--token-env", "TOKEN"]);
        command.env("TOKEN", value);
        command
    };
    let only_visible = "its value cannot be a token, which has only visible ASCII characters";
    for (value, reason) in
        [("", "the variable is empty"), (" ", "the variable is empty"), ("s3cret t0ken", only_visible)]
    {
        let run = pinza_testkit::finish(&mut with_token(value), "");
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
        assert_eq!(run.stderr, format!("error: --token-env TOKEN: {reason}\n"));
    }

    let web = Web::start_with(with_token("s3cret-t0ken"));
    let host = format!("Host: {}\r\n", web.address.replace("0.0.0.0", "127.0.0.1"));
    assert_eq!(list(&web, &host), 401);
    assert_eq!(list(&web, &format!("{host}Authorization: Bearer wrong\r\n")), 401);
    assert_eq!(list(&web, &format!("{host}Authorization: Bearer s3cret-t0ken\r\n")), 200);
    // A name that nobody gave this server, token or not.
    assert_eq!(list(&web, "Host: evil.example\r\nAuthorization: Bearer s3cret-t0ken\r\n"), 403);
    assert_eq!(web.get("/metrics", "").status, 401);
    assert_eq!(web.get("/healthz", "").status, 200);
}

#[test]
fn an_address_that_cannot_be_had_says_so() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let taken =
        format!("error: cannot listen on {}\nhint: another program may be there already[..]\n", web.address);
    refused(&pinza, &["serve", "--http", &web.address], &taken);
    refused(
        &pinza,
        &["serve", "--http", "nowhere.invalid:80"],
        "error: --http nowhere.invalid:80: [..]\n...\n",
    );
    refused(&pinza, &["serve", "--http", "127.0.0.1"], "error: --http 127.0.0.1: [..]\n...\n");
    let idle = "error: there is no tool or set 'nope'\nhint: see what there is: pinza tools list\n";
    refused(&pinza, &["serve", "--http", "127.0.0.1:0", "--include", "nope"], idle);
    check(&pinza, &["serve", "--stdio", "--http", "127.0.0.1:0"], 2, "", "...");
}

#[test]
fn a_name_that_no_request_could_have_is_refused() {
    let pinza = pinza();
    for name in ["bad host", "", "pinza.example:7717", "http://pinza.example", "münchen.example", "*"] {
        let expected = format!("error: invalid value '{name}' for '--host <NAME>': [..]\n...");
        check(&pinza, &["serve", "--http", "127.0.0.1:0", "--host", name], 2, "", &expected);
    }
    let command = pinza.command(["serve", "--http", "127.0.0.1:0", "--host", "my_box-1.Example"]);
    let web = Web::start_with(command);
    assert_eq!(list(&web, "Host: my_box-1.example\r\n"), 200);
}

#[test]
fn sessions_cannot_be_guessed() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let headers = web.session(json!({}));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(web.post(&headers, &ping).status, 200);
    let id = headers.lines().next().unwrap().split(": ").nth(1).unwrap().to_owned();
    assert!(id.len() >= 32, "{id}");
    let other = web.session(json!({}));
    assert!(!other.contains(&id));
    let guesses =
        ["00000000-0000-0000-0000-000000000000", "1", "", &id[1..], &format!("{id}0"), &id.to_uppercase()];
    for guess in guesses {
        let status = web.post(&headers.replace(&id, guess), &ping).status;
        assert!([400, 404, 422].contains(&status) || guess == id, "{guess}: {status}");
    }
    assert!((400..500).contains(&web.post("MCP-Protocol-Version: 2025-11-25\r\n", &ping).status));
    // One that was ended is as good as guessed.
    let host = &web.address;
    let end = format!("DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    assert_eq!(web.raw(end.as_bytes()).status, 204);
    // Nobody can end what is not there.
    assert_eq!(web.raw(end.as_bytes()).status, 404);
    assert_eq!(web.raw(end.replace(&id, "made-up").as_bytes()).status, 404);
    assert_eq!(web.post(&headers, &ping).status, 404);
    assert_eq!(web.post(&other, &ping).status, 200);
}

#[test]
fn there_is_an_end_to_sessions() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let body = initialize(json!({})).to_string();
    let opened = (0..1010).map(|_| web.post("", &body).status).take_while(|status| *status == 200).count();
    assert_eq!(opened, 1000);
    assert_eq!(web.post("", &body).status, 503);
    // Whoever needs none is served.
    assert_eq!(list(&web, ""), 200);
}

#[test]
fn what_else_is_there() {
    let pinza = pinza();
    let web = Web::start(&pinza, &[]);
    let page = web.get("/", "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("/mcp") && page.body.contains("--expose groups"), "{page:?}");
    assert!(
        page.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    assert_eq!((web.get("/healthz", "").status, web.get("/healthz", "").body.as_str()), (200, "ok\n"));
    assert_eq!(web.get("/nothing", "").status, 404);
    let call = |name: &str| web.stateless("tools/call", json!({ "name": name, "arguments": {} }), json!({}));
    assert_eq!(call("get_current_time").status, 200);
    call("made_up\"} 1");
    let metrics = web.get("/metrics", "").body;
    assert!(
        metrics.contains("pinza_call_seconds_count{tool=\"get_current_time\",status=\"success\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("pinza_call_seconds_count{tool=\"\",status=\"tool_not_found\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("pinza_calls_running 0\n"), "{metrics}");
    // A session's handshake says which server this is.
    let reply = web.post("", &initialize(json!({})).to_string());
    assert_eq!(reply.json()["result"]["serverInfo"]["name"], "pinza");
}
