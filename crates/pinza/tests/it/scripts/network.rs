//! `fetch` through the guarded client, against a scripted server on this machine.

use pinza_testkit::{RecordedRequest, Reply, WireServer};
use serde_json::json;

use super::tool;
use crate::support::{Expected, check_call, fine, pinza};

const ALLOW: &str = "--allow=net.private";

fn server() -> WireServer {
    WireServer::start(|request| match request.path() {
        "/json" => Reply::json(&json!({"a": [1, 2]})),
        "/missing" => Reply::new("404 Not Found", &[("x-one", "1"), ("x-one", "2")], "no such thing"),
        "/moved" => Reply::redirect("302 Found", "/json"),
        "/bytes" => Reply::new("200 OK", &[], [0, 255, 128]),
        _ => Reply::ok("ok"),
    })
}

#[test]
fn answers_are_responses() {
    let server = server();
    let pinza = pinza();
    let cases: [(&str, Expected); 9] = [
        ("(await fetch('/json')).json()", Ok(r#"{"a":[1,2]}"#)),
        (
            "fetch('/json').then((r) => [r.status, r.ok, r.redirected, r.headers.get('Content-Type')])",
            Ok(r#"[200,true,false,"application/json"]"#),
        ),
        (
            "fetch('/missing').then(async (r) => [r.status, r.ok, r.statusText, r.headers.get('x-one'), await r.text()])",
            Ok(r#"[404,false,"Not Found","1, 2","no such thing"]"#),
        ),
        (
            "fetch('/moved').then(async (r) => [r.redirected, new URL(r.url).pathname, (await r.json()).a])",
            Ok(r#"[true,"/json",[1,2]]"#),
        ),
        (
            "fetch('/moved', { redirect: 'manual' }).then((r) => r.status === 302 || r.type === 'opaqueredirect')",
            Ok("true"),
        ),
        ("fetch('/moved', { redirect: 'error' })", Err(("network_error", "[..]"))),
        ("fetch('/bytes').then(async (r) => [...new Uint8Array(await r.arrayBuffer())])", Ok("[0,255,128]")),
        ("fetch('/text').then((r) => r.json())", Err(("execution_error", "[..]SyntaxError[..]"))),
        (
            "Promise.all(['/json', '/bytes', '/x'].map((path) => fetch(path))).then((all) => all.length)",
            Ok("3"),
        ),
    ];
    for (code, expected) in cases {
        let code = format!(
            "code=const f = fetch; (async (fetch) => {code})((path, init) => f('{}' + path, init))",
            server.url("")
        );
        check_call(&pinza, &["js_eval", &code, ALLOW], expected);
    }
}

#[test]
fn requests_carry_method_headers_and_body() {
    let server = server();
    let pinza = pinza();
    let send = |init: &str| -> RecordedRequest {
        let code = format!("code=(await fetch('{}', {init})).status", server.url("/x?q=a%20b"));
        check_call(&pinza, &["js_eval", &code, ALLOW], Ok("200"));
        server.requests().pop().unwrap()
    };
    let request = send("{}");
    assert_eq!((request.method(), request.path(), &*request.text()), ("GET", "/x?q=a%20b", ""));
    assert_eq!(request.header("accept"), Some("*/*"));
    let request = send(
        "{ method: 'post', headers: { 'Content-Type': 'application/json', 'X-Key': 'k' }, body: JSON.stringify({ a: 'ü' }) }",
    );
    assert_eq!((request.method(), request.json()), ("POST", json!({"a": "ü"})));
    assert_eq!(
        (request.header("content-type"), request.header("x-key")),
        (Some("application/json"), Some("k"))
    );
    let request = send("{ method: 'PUT', body: new URLSearchParams({ a: '1 2' }) }");
    assert_eq!((request.method(), &*request.text()), ("PUT", "a=1+2"));
    assert_eq!(request.header("content-type"), Some("application/x-www-form-urlencoded;charset=UTF-8"));
    let request = send("{ method: 'PATCH', body: new Uint8Array([0, 255]) }");
    assert_eq!((request.method(), &*request.body), ("PATCH", &[0, 255][..]));
    let request = send(
        "{ method: 'POST', body: (() => { const f = new FormData(); f.append('name', 'value'); return f })() }",
    );
    assert!(
        request.header("content-type").unwrap().starts_with("multipart/form-data; boundary="),
        "{request:?}"
    );
    assert!(request.text().contains("name=\"name\"\r\n\r\nvalue\r\n"), "{request:?}");
    for method in ["DELETE", "OPTIONS", "HEAD"] {
        assert_eq!(send(&format!("{{ method: '{method}' }}")).method(), method);
    }
}

#[test]
fn a_refused_or_failed_request_is_a_type_error_with_a_code() {
    let server = server();
    let pinza = pinza();
    let closed = WireServer::start(|_| Reply::ok(""));
    let (url, gone) = (server.url("/"), closed.url("/"));
    drop(closed);
    let code = format!("code=fetch('{url}').catch((error) => [error instanceof TypeError, error.code])");
    check_call(&pinza, &["js_eval", &code], Ok(r#"[true,"permission_denied"]"#));
    let denied: Expected = Err(("permission_denied", "Required permissions were denied: net.private"));
    check_call(&pinza, &["js_eval", &format!("code=fetch('{url}')")], denied);
    assert_eq!(server.connections(), 0, "nobody is connected to before the answer");
    let refused = format!("Connection refused: {gone}");
    check_call(
        &pinza,
        &["js_eval", &format!("code=fetch('{gone}')"), ALLOW],
        Err(("network_error", &refused)),
    );
    let always: Expected = Err(("permission_denied", "Access denied: [..]always refused"));
    check_call(&pinza, &["js_eval", "code=fetch('http://169.254.169.254/')", ALLOW, "--yes"], always);
    let no_net: Expected = Err(("permission_denied", "Required permissions were denied: net"));
    check_call(&pinza, &["js_eval", &format!("code=fetch('{url}')"), ALLOW, "--deny=net"], no_net);
    for url in ["file:///etc/passwd", "nonsense"] {
        let run = pinza.run(&["call", "js_eval", &format!("code=fetch('{url}')"), ALLOW]);
        assert_eq!((run.code, &*run.stdout), (Some(1), ""), "{run:?}");
    }
}

#[test]
fn an_origin_is_rewritten_as_the_user_says() {
    let server = WireServer::start(|request| Reply::ok(format!("{} {}", request.method(), request.path())));
    let pinza = pinza();
    fine(&pinza, &["config", "set", r#"net.rewrite."https://api.example.com""#, &server.url("")]);
    let script = "async function execute({ city }) {
        const answer = await fetch(`https://api.example.com/v1/weather?city=${encodeURIComponent(city)}`);
        return answer.text();
    }";
    tool(&pinza, "weather", json!({"capabilities": ["net"]}), script);
    check_call(&pinza, &["weather", "city=São Paulo"], Ok("GET /v1/weather?city=S%C3%A3o%20Paulo"));
}

#[test]
fn downloads_go_to_the_workspace_and_nowhere_else() {
    let server = server();
    let pinza = pinza();
    let download = |path: &str, expected: Expected| {
        let code = format!("code=await downloadToFile('{}', '{path}')", server.url("/bytes"));
        check_call(&pinza, &["js_eval", &code, ALLOW], expected);
    };
    download("got/it.bin", Ok(r#"{"bytes":3,"status":200}"#));
    assert_eq!(std::fs::read(pinza.workspace().join("got/it.bin")).unwrap(), [0, 255, 128]);
    download("../it.bin", Err(("path_not_allowed", "Access denied: path is outside the workspace")));
    download(".pinza/tools/x.js", Err(("path_not_allowed", "Access denied: .pinza belongs to Pinza")));
}

#[test]
fn uploads_come_from_the_workspace_and_nowhere_else() {
    let server = server();
    let pinza = pinza();
    pinza.put("a.bin", [0, 255, 128]);
    let upload = |path: &str, flags: &[&str], expected: Expected| {
        let parts =
            format!("[{{ name: 'title', value: 'ü' }}, {{ name: 'file', path: '{path}', type: 'image/x' }}]");
        let code = format!("code=(await uploadMultipart('{}', {parts})).status", server.url("/up"));
        check_call(&pinza, &[&["js_eval", &code, ALLOW], flags].concat(), expected);
    };
    upload("a.bin", &[], Ok("200"));
    let request = server.requests().pop().unwrap();
    let boundary = request.header("content-type").unwrap().split_once("boundary=").unwrap().1.to_owned();
    let text = [
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nü\r\n"),
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: image/x\r\n\r\n"
        ),
    ];
    let end = format!("\r\n--{boundary}--\r\n");
    let body = [text.concat().as_bytes(), &[0, 255, 128], end.as_bytes()].concat();
    assert_eq!((request.method(), request.body == body), ("POST", true), "{request:?}");
    upload("../config.toml", &[], Err(("path_not_allowed", "Access denied: path is outside the workspace")));
    upload(
        "a.bin",
        &["--deny=fs.read"],
        Err(("permission_denied", "Required permissions were denied: fs.read")),
    );
    assert_eq!(server.requests().len(), 1, "what may not be read is not sent");
}

#[test]
fn a_fetch_that_never_answers_ends_with_its_signal_or_the_call() {
    let server = WireServer::start(|_| Reply::Hang);
    let pinza = pinza();
    let url = server.url("/");
    let code =
        format!("code=fetch('{url}', {{ signal: AbortSignal.timeout(50) }}).catch((error) => error.name)");
    check_call(&pinza, &["js_eval", &code, ALLOW], Ok("TimeoutError"));
    tool(
        &pinza,
        "waits",
        json!({"timeoutSeconds": 1}),
        &format!("function execute() {{ return fetch('{url}') }}"),
    );
    check_call(&pinza, &["waits", ALLOW], Err(("timeout", "Tool execution timed out after 1s")));
}
