//! The guide for modules: every piece of JSON in it is something that a `module.json` may say, and what it shows happens.

use std::{fs, path::Path};

use pinza_js::module::{Mode, ModuleManifest};
use pinza_testkit::WireServer;
use serde_json::{Map, Value, json};

use crate::{
    compatibility::{echo, installed},
    scripts::live,
    support::{check_call, pinza},
};

/// Fields of a tool, as against those of the module.
const OF_TOOLS: [&str; 3] = ["args", "resultMapping", "output"];

fn guide() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/wrap-a-library.md");
    fs::read_to_string(guide).unwrap()
}

/// The blocks of a text, with what stands behind their fences.
fn blocks(text: &str) -> Vec<(String, String)> {
    // Between two fences lies, in turns, a block and the words around it.
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks
        .map(|block| {
            let (info, body) = block.split_once('\n').unwrap_or((block, ""));
            (info.to_owned(), body.to_owned())
        })
        .collect()
}

/// The pieces of JSON, each as an object: some are fields without the braces around them.
fn pieces(text: &str) -> Vec<Map<String, Value>> {
    let json = blocks(text).into_iter().filter(|(info, _)| info.starts_with("json"));
    json.map(|(_, body)| {
        let body = if body.starts_with('"') { format!("{{{body}}}") } else { body };
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    })
    .collect()
}

/// A whole module around a piece of one.
fn around(name: &str, piece: &Map<String, Value>) -> Value {
    let property = || json!({});
    let properties: Map<String, Value> = ["url", "params", "headers", "data", "target", "sources"]
        .map(|name| (name.to_owned(), property()))
        .into_iter()
        .collect();
    let mut tool = json!({ "name": "a_tool", "description": "x", "function": "f", "parameters": { "properties": properties } });
    let mut module =
        json!({ "name": name, "version": "1.0.0", "description": "x", "package": name, "type": "static" });
    if piece.contains_key("function") {
        tool = piece.clone().into();
    } else {
        for (key, value) in piece {
            let place = if OF_TOOLS.contains(&key.as_str()) { &mut tool } else { &mut module };
            place[key] = value.clone();
        }
    }
    if module["tools"].is_null() {
        module["tools"] = json!([tool]);
    }
    module
}

#[test]
fn every_piece_is_part_of_a_module() {
    let pieces = pieces(&guide());
    // What a kept object looks like is an answer, not a piece.
    let pieces: Vec<_> = pieces.iter().filter(|piece| !piece.contains_key("handle")).collect();
    assert!(pieces.len() >= 9, "is this still the guide?");
    for piece in pieces {
        let module = around("a-module", piece).to_string();
        let parsed = ModuleManifest::parse(&module, Mode::Strict);
        let is_fine = parsed.faults.iter().all(|fault| fault.warning);
        assert!(parsed.manifest.is_some() && is_fine, "{:?}: {module}", parsed.faults);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Run by `./test modules`, which installs the packages.
#[test]
#[ignore = "needs packages from npm"]
fn compatibility_with_the_guide() {
    let pinza = pinza();
    let text = guide();
    let place = |name: &str, manifest: &str| {
        let module = pinza.home().join("modules").join(name);
        fs::create_dir_all(&module).unwrap();
        fs::write(module.join("module.json"), manifest).unwrap();
        let _ = std::os::unix::fs::symlink(installed().join("node_modules"), module.join("node_modules"));
    };
    let mut commands = 0;
    for (info, body) in blocks(&text) {
        match info.as_str() {
            // A directory of its own, as its reader has it.
            "json module.json" => {
                let module = pinza.home().join("modules/lodash");
                copy(&installed().join("node_modules/lodash"), &module.join("node_modules/lodash"));
                place("lodash", &body);
            }
            "shell-session" => commands += live(&pinza, &body),
            _ => {}
        }
    }
    assert!(commands >= 2, "is this still the guide?");

    // The last section puts three libraries together from pieces.
    let (_, libraries) = text.split_once("\n## Three libraries").unwrap();
    let pieces = pieces(libraries);
    let [short, long, client, spread, dates] = pieces.as_slice() else { panic!("{} pieces", pieces.len()) };
    let server = WireServer::start(echo);
    let call = |tool: &str, arguments: Value| {
        let run = pinza.run(&["--allow", "net.private", "--json", "call", tool, &arguments.to_string()]);
        let result = run.json()["result"].as_str().map(str::to_owned);
        let text = result.unwrap_or_else(|| panic!("{tool}: {run:?}"));
        serde_json::from_str::<Value>(&text).unwrap_or(Value::String(text))
    };
    for (tool, path) in [(short, "/echo"), (long, "/echo?a=1")] {
        let mut module = around("axios", client);
        module["tools"] = json!([tool]);
        place("axios", &module.to_string());
        let answer = call("http_get", json!({ "url": server.url("/echo"), "params": { "a": 1 } }));
        assert_eq!((&answer["status"], &answer["data"]["path"]), (&json!(200), &json!(path)), "{answer}");
    }

    let mut module = around("lodash", spread);
    module["tools"][0]["function"] = "merge".into();
    let merging = json!({ "target": { "a": 1 }, "sources": [{ "b": 2 }] });
    place("lodash", &module.to_string());
    assert_eq!(call("a_tool", merging.clone()), json!({ "a": 1, "b": 2 }));
    let places = json!({ "properties": { "target": {}, "sources": {} } });
    let tool = &mut module["tools"][0];
    tool["parameters"] = places;
    tool.as_object_mut().unwrap().remove("args");
    place("lodash", &module.to_string());
    assert_eq!(call("a_tool", merging), json!({ "0": { "b": 2 }, "a": 1 }));

    place("moment", &around("moment", dates).to_string());
    let parsed = call("date_parse", json!({ "date": "2024-02-03T00:00:00Z" }));
    assert_eq!(parsed, json!({ "handle": "moment-1", "value": "2024-02-03T00:00:00.000Z" }));
    let code = "const { handle } = JSON.parse(await tools.date_parse({ date: '2024-02-03' })); await tools.date_format({ handle })";
    check_call(&pinza, &["js_eval", &format!("code={code}")], Ok("2024-02-03"));
}
