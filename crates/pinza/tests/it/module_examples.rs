//! The modules under `examples/modules`, on the packages of `./test modules`.

use std::{fs, path::PathBuf};

use pinza_testkit::{Program, WireServer};
use serde_json::{Value, json};

use crate::{
    compatibility::{echo, installed},
    support::{check_call, pinza},
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn they_are_read_without_a_fault() {
    for directory in ["examples/modules", "fixtures/modules"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let Ok(text) = fs::read_to_string(entry.unwrap().path().join("module.json")) else { continue };
            let parsed = pinza_js::module::ModuleManifest::parse(&text, pinza_js::module::Mode::Strict);
            assert!(parsed.manifest.is_some() && parsed.faults.is_empty(), "{:?}", parsed.faults);
        }
    }
}

/// Puts modules of a directory of the repository into a home, beside the packages of `./test modules`.
fn install(pinza: &Program, directory: &str, names: &[&str]) {
    for name in names {
        let module = pinza.home().join("modules").join(name);
        fs::create_dir_all(&module).unwrap();
        fs::copy(root().join(directory).join(name).join("module.json"), module.join("module.json")).unwrap();
        std::os::unix::fs::symlink(installed().join("node_modules"), module.join("node_modules")).unwrap();
    }
}

/// What a tool answers, which is JSON. It runs on the embedded engine: the capability `node` is not given.
#[track_caller]
fn told(pinza: &Program, flags: &[&str], tool: &str, arguments: &Value) -> Value {
    let flags = [&["--allow", "net.private", "--deny", "node"], flags].concat();
    let run = pinza.run(&[&flags, &["--json", "call", tool, &arguments.to_string()][..]].concat());
    assert_eq!(run.code, Some(0), "{tool} {arguments}: {run:?}");
    let answer = run.json();
    assert_eq!(answer["details"]["warnings"], Value::Null, "{tool}: {answer}");
    serde_json::from_str(answer["result"].as_str().unwrap()).unwrap_or_else(|_| answer["result"].clone())
}

/// A session of calls as a script makes them: objects live as long as it does.
#[track_caller]
fn session(pinza: &Program, code: &str, expected: &str) {
    check_call(pinza, &["js_eval", &format!("code={code}")], Ok(expected));
}

// The tests below are run by `./test modules` and `./test`, which install the packages.

#[test]
#[ignore = "needs packages from npm"]
fn compatibility_of_the_seeds_axios() {
    let pinza = pinza();
    install(&pinza, "fixtures/modules", &["axios"]);
    let server = WireServer::start(echo);
    let base = format!("baseURL={}", server.url(""));
    let with_base = ["--env", &*base];
    // The answer is axios' whole response, request and all.
    let answer = told(&pinza, &[], "http_get", &json!({ "url": server.url("/echo?a=1") }));
    assert_eq!((&answer["status"], &answer["data"]["method"]), (&json!(200), &json!("GET")), "{answer}");
    assert_eq!(answer["data"]["path"], "/echo?a=1");
    assert_eq!(answer["headers"]["content-type"], "application/json");
    assert_eq!(answer["config"]["timeout"], 30000, "{answer}");
    assert_eq!(answer["config"]["method"], "get");
    // A dependency that is set is the client's base; one that is not is left out.
    assert_eq!(answer["config"]["baseURL"], Value::Null);
    let answer = told(&pinza, &with_base, "http_get", &json!({ "url": "/echo" }));
    assert_eq!((&answer["data"]["path"], &answer["status"]), (&json!("/echo"), &json!(200)), "{answer}");
    // Without `args`, places are in the schema's order: the second is axios' config.
    let config =
        json!({ "url": "/echo", "params": { "params": { "q": "a b" }, "headers": { "x-test": "yes" } } });
    let answer = told(&pinza, &with_base, "http_get", &config);
    assert_eq!(answer["data"]["path"], "/echo?q=a+b", "{answer}");
    assert_eq!(answer["data"]["headers"]["x-test"], "yes", "{answer}");
    let posted =
        json!({ "url": "/echo", "data": { "n": [1, null] }, "headers": { "headers": { "x-test": "z" } } });
    let answer = told(&pinza, &with_base, "http_post", &posted);
    assert_eq!(
        (&answer["data"]["method"], &answer["data"]["body"]),
        (&json!("POST"), &json!(r#"{"n":[1,null]}"#))
    );
    assert_eq!(answer["data"]["headers"]["content-type"], "application/json", "{answer}");
    assert_eq!(answer["data"]["headers"]["x-test"], "z", "{answer}");
    let failed =
        ["--allow", "net.private", "--json", "call", "http_get", &format!("url={}", server.url("/missing"))];
    let run = pinza.run(&failed);
    let message = "Tool execution failed: AxiosError: Request failed with status code 404";
    assert_eq!((run.code, run.json()["message"].as_str()), (Some(1), Some(message)), "{run:?}");
    // And nothing goes to a private address that nobody has allowed.
    let run = pinza.run(&["--json", "call", "http_get", &format!("url={}", server.url("/echo"))]);
    assert_eq!(run.json()["error_type"], "permission_denied", "{run:?}");
}

#[test]
#[ignore = "needs packages from npm"]
fn compatibility_of_axios_with_args() {
    let pinza = pinza();
    install(&pinza, "examples/modules", &["axios"]);
    let server = WireServer::start(echo);
    let asked = json!({ "url": server.url("/echo"), "params": { "q": "ä" }, "headers": { "X-Test": "yes" } });
    let answer = told(&pinza, &[], "http_get", &asked);
    assert_eq!(
        (&answer["status"], &answer["data"]["path"]),
        (&json!(200), &json!("/echo?q=%C3%A4")),
        "{answer}"
    );
    assert_eq!(answer["data"]["headers"]["x-test"], "yes");
    assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
    let sent = json!({ "url": server.url("/echo"), "data": { "a": 1 }, "headers": { "X-Test": "yes" } });
    let answer = told(&pinza, &[], "http_post", &sent);
    assert_eq!(
        (&answer["data"]["body"], &answer["data"]["headers"]["x-test"]),
        (&json!(r#"{"a":1}"#), &json!("yes"))
    );
}

#[test]
#[ignore = "needs packages from npm"]
fn compatibility_of_the_seeds_lodash_and_moment() {
    let pinza = pinza();
    install(&pinza, "fixtures/modules", &["lodash", "moment"]);
    let chunks = told(&pinza, &[], "array_chunk", &json!({ "array": [1, 2, 3], "size": 2 }));
    assert_eq!(chunks, json!([[1, 2], [3]]));
    assert_eq!(told(&pinza, &[], "array_chunk", &json!({ "array": [1, 2] })), json!([[1], [2]]));
    // In places: merge(target, sources) merges the list itself.
    let merged = told(&pinza, &[], "object_merge", &json!({ "target": { "a": 1 }, "sources": [{ "b": 2 }] }));
    assert_eq!(merged, json!({ "0": { "b": 2 }, "a": 1 }));

    let parsed = told(&pinza, &[], "date_parse", &json!({ "date": "2020-02-29T12:00:00Z" }));
    assert_eq!(parsed, json!({ "handle": "moment-1", "value": "2020-02-29T12:00:00.000Z" }));
    let today = told(&pinza, &[], "date_format", &json!({}));
    assert_eq!(today.as_str().map(str::len), Some(10), "{today}");
    session(
        &pinza,
        "const first = JSON.parse(await tools.date_parse({ date: '29/02/2020', format: 'DD/MM/YYYY' }));
         const second = JSON.parse(await tools.date_parse({ date: '2021-03-04' }));
         [second.handle, await tools.date_format({ handle: first.handle }),
          await tools.date_format({ handle: first.handle, format: 'D MMMM YYYY' }), await tools.date_format({ handle: second.handle })]",
        r#"["moment-2","2020-02-29","29 February 2020","2021-03-04"]"#,
    );
}

#[test]
#[ignore = "needs packages from npm"]
fn compatibility_of_the_examples() {
    let pinza = pinza();
    install(&pinza, "examples/modules", &["lodash", "moment", "dayjs", "zod", "cheerio"]);
    check_call(&pinza, &["array_chunk", r#"{"array":[1,2,3],"size":2}"#], Ok("[[1,2],[3]]"));
    let merge = r#"{"target":{"a":{"b":1}},"sources":[{"a":{"c":2}},{"d":3}]}"#;
    check_call(&pinza, &["object_merge", merge], Ok(r#"{"a":{"b":1,"c":2},"d":3}"#));
    check_call(
        &pinza,
        &["date_parse", "date=2020-02-29"],
        Ok(r#"{"handle":"moment-1","value":"2020-02-29[..]"}"#),
    );
    session(
        &pinza,
        "const { handle } = JSON.parse(await tools.day_parse({ date: '2024-01-31' }));
         const next = JSON.parse(await tools.day_add({ handle, value: 1, unit: 'month' }));
         await tools.day_format({ handle: next.handle, format: 'YYYY-MM-DD' })",
        "2024-02-29",
    );
    session(
        &pinza,
        "const { handle } = JSON.parse(await tools.check_email({}));
         [await tools.check_value({ handle, value: 'a@b.example' }), await tools.check_value({ handle, value: 'nobody' })]",
        r#"["{\"ok\":true}","{\"ok\":false}"]"#,
    );
    session(
        &pinza,
        "const { handle } = JSON.parse(await tools.html_load({ html: '<p>Hello <b>you</b></p>' })); await tools.html_text({ handle })",
        "Hello you",
    );
}
