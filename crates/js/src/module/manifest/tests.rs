//! Manifests good and bad, as tables. The published schema must say what the parser says.

use std::{collections::BTreeSet, fs, path::Path, sync::LazyLock};

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::module::{SCHEMA, template::Template};

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap());

fn base() -> Value {
    json!({
        "name": "my-http",
        "version": "1.0.0",
        "description": "An HTTP client",
        "package": "axios",
        "type": "factory",
        "dependencies": { "apiKey": { "type": "string", "required": true } },
        "initialization": { "config": { "headers": { "Authorization": "Bearer ${apiKey}" } } },
        "tools": [
            {
                "name": "http_get",
                "description": "Get a URL",
                "function": "get",
                "parameters": { "properties": { "url": { "type": "string" }, "params": { "type": "object" } } },
                "args": ["${url}", { "params": "${params}" }]
            },
            { "name": "http_head", "description": "Ask for headers", "function": "head" }
        ]
    })
}

/// `base` with the value at `pointer` set, or taken away where it is null.
fn changed(pointer: &str, value: &Value) -> Value {
    let mut changed = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match changed.pointer_mut(parent).unwrap_or_else(|| panic!("{parent}")) {
        Value::Object(fields) if value.is_null() => drop(fields.shift_remove(key)),
        Value::Object(fields) => drop(fields.insert(key.to_owned(), value.clone())),
        Value::Array(values) => values[key.parse::<usize>().unwrap()] = value.clone(),
        _ => panic!("{pointer}"),
    }
    changed
}

fn parse(value: &Value, mode: Mode) -> Parsed {
    ModuleManifest::parse(&serde_json::to_string_pretty(value).unwrap(), mode)
}

fn strict(value: &Value) -> ModuleManifest {
    let parsed = parse(value, Mode::Strict);
    parsed.manifest.unwrap_or_else(|| panic!("{:?}", parsed.faults))
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value}") };
    map
}

fn fixture(name: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/modules").join(name).join("module.json");
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_seeds_examples_have_no_fault() {
    for name in ["axios", "lodash", "moment"] {
        let text = fixture(name);
        let parsed = ModuleManifest::parse(&text, Mode::Strict);
        assert_eq!(parsed.faults, [], "{name}");
        assert_eq!(parsed.manifest.unwrap().group.as_str(), name);
        let errors: Vec<String> = VALIDATOR
            .iter_errors(&serde_json::from_str(&text).unwrap())
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}");
    }
}

/// A way to break `base`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Broken {
    /// What is changed, and to what; null takes it away.
    at: String,
    value: Value,
    /// The one fault.
    path: String,
    message: String,
    /// Whether the published schema can know; some things take the rest of the file, or a grammar.
    schema_sees: bool,
}

fn broken() -> Vec<Broken> {
    serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/modules/broken.json"
    )))
    .unwrap()
}

#[test]
fn broken_manifests_are_refused_with_path_and_reason() {
    assert!(VALIDATOR.is_valid(&base()));
    assert_eq!(parse(&base(), Mode::Strict).faults, []);
    for Broken { at: pointer, value, path, message, schema_sees } in broken() {
        let module = changed(&pointer, &value);
        let parsed = parse(&module, Mode::Strict);
        assert!(parsed.manifest.is_none(), "{pointer} {value}");
        let errors: Vec<&Fault> = parsed.faults.iter().filter(|fault| !fault.warning).collect();
        let [fault] = errors.as_slice() else { panic!("{pointer} {value}: {:?}", parsed.faults) };
        assert_eq!(fault.path, path, "{pointer} {value}");
        assert_eq!(fault.message, message, "{pointer} {value}");
        assert_eq!(!VALIDATOR.is_valid(&module), schema_sees, "{pointer} {value}: the schema says otherwise");
    }
}

#[test]
fn lenient_loading_drops_bad_tools_only() {
    for Broken { at: pointer, value, path, .. } in broken() {
        let parsed = parse(&changed(&pointer, &value), Mode::Lenient);
        let forgiven =
            ["/version", "/description", "/type"].contains(&pointer.as_str()) && value != json!("statik");
        if path.starts_with("tools[") {
            let names: Vec<String> =
                parsed.manifest.unwrap().tools.iter().map(|tool| tool.definition.name.to_string()).collect();
            let left = if path.starts_with("tools[0]") { "http_head" } else { "http_get" };
            assert_eq!(names, [left], "{pointer} {value}");
            assert!(
                parsed.faults.iter().any(|fault| fault.path == path && !fault.warning),
                "{pointer} {value}"
            );
        } else {
            assert_eq!(parsed.manifest.is_some(), forgiven, "{pointer} {value}: {:?}", parsed.faults);
            assert!(parsed.faults.iter().any(|fault| fault.path == path && fault.warning == forgiven));
        }
    }
    let mut all_bad = base();
    for tool in all_bad["tools"].as_array_mut().unwrap() {
        tool["function"] = json!("");
    }
    assert!(parse(&all_bad, Mode::Lenient).manifest.is_none());
}

#[test]
fn a_type_that_is_missing_is_the_initializations() {
    let mut module = changed("/type", &json!(null));
    let kind = |module: &Value| parse(module, Mode::Lenient).manifest.unwrap().initialization.kind;
    assert_eq!(kind(&module), LibraryType::Static);
    module["initialization"]["type"] = json!("singleton");
    assert_eq!(kind(&module), LibraryType::Singleton);
    module["type"] = json!("constructor");
    assert_eq!(strict(&module).initialization.kind, LibraryType::Singleton);
}

#[test]
fn warnings_do_not_refuse() {
    let cases = [
        ("/descripton", json!("x"), "descripton", "Unknown field 'descripton'; did you mean description?"),
        (
            "/tools/1/functon",
            json!("x"),
            "tools[1].functon",
            "Unknown field 'functon'; did you mean function?",
        ),
        (
            "/tools/1/output",
            json!({"sucess": {}}),
            "tools[1].output.sucess",
            "Unknown field 'sucess'; did you mean success?",
        ),
        (
            "/dependencies/apiKey/requierd",
            json!(true),
            "dependencies.apiKey.requierd",
            "Unknown field 'requierd'; did you mean required?",
        ),
        ("/limits", json!({"heapMB": 5}), "limits.heapMB", "Unknown field 'heapMB'; did you mean heapMb?"),
        ("/initialization/x-y", json!(1), "initialization[\"x-y\"]", "Unknown field 'x-y'"),
        (
            "/initialization/type",
            json!("constructor"),
            "initialization.type",
            "'constructor' counts here, 'type' of the module says 'factory'",
        ),
        (
            "/type",
            json!("static"),
            "initialization.config",
            "'config' says nothing to a module of type 'static'",
        ),
        ("/description", json!(" "), "description", "The description is empty; models choose groups by it"),
        (
            "/tools/1/description",
            json!(""),
            "tools[1].description",
            "The description is empty; models choose tools by it",
        ),
        ("/tools/0/args", json!(["${url}"]), "tools[0].args", "The parameter 'params' is not used in 'args'"),
        (
            "/tools/0/passAsObject",
            json!(true),
            "tools[0].passAsObject",
            "'passAsObject' says nothing beside 'args'",
        ),
        (
            "/tools/1/parameters",
            json!({"a": {"type": "string"}}),
            "tools[1].parameters",
            "'parameters' has 'a' but no 'properties', where parameters stand",
        ),
        (
            "/tools/1/parameters",
            json!({"required": ["a"]}),
            "tools[1].parameters.required",
            "Required parameter 'a' is not among the properties",
        ),
        (
            "/tools/1/resultMapping",
            json!({"transform": "raw", "success": "$"}),
            "tools[1].resultMapping.success",
            "'success' says nothing beside \"transform\": \"raw\"",
        ),
    ];
    for (pointer, value, path, message) in cases {
        let module = changed(pointer, &value);
        let parsed = parse(&module, Mode::Strict);
        assert!(parsed.manifest.is_some(), "{pointer}: {:?}", parsed.faults);
        let [fault] = parsed.faults.as_slice() else { panic!("{pointer}: {:?}", parsed.faults) };
        assert_eq!((fault.path.as_str(), fault.message.as_str(), fault.warning), (path, message, true));
        // To an editor, a field that nothing reads is a mistake.
        assert_eq!(VALIDATOR.is_valid(&module), !message.starts_with("Unknown field"), "{pointer}");
    }
}

#[test]
fn faults_know_line_and_column() {
    let text = r#"{
  "name": "m", "version": "1.0.0",
  "description": "grün", "package": 5,
  "typ": "static",
  "type": "static",
  "keywords": [], "keywords": ["a"], "key": {"a": {"b": 1}, "a": {"b": 2}},
  "tools": [
    { "name": "a", "description": "\"}] ${", "function": "f" },
    { "name": "b" , "description" : "d", "function": "x[",
      "parameters": {
	"properties": { "größe\u0021": {"type": "strin"} } } }
  ]
}"#;
    let shown: Vec<String> =
        ModuleManifest::parse(text, Mode::Strict).faults.iter().map(ToString::to_string).collect();
    let expected = [
        "6:19: warning: keywords: This key is there twice; the last one counts",
        "6:61: warning: key.a: This key is there twice; the last one counts",
        "4:3: warning: typ: Unknown field 'typ'; did you mean type?",
        "6:38: warning: key: Unknown field 'key'; did you mean keywords?",
        "3:37: package: 'package' must be a string, not integer",
        "9:54: tools[1].function: 'function': the '[' at character 2 needs an index or a name in quotes, and a ']'",
        "11:42: tools[1].parameters.properties[\"größe!\"].type: Unknown type \"strin\"; did you mean string?",
    ];
    assert_eq!(shown, expected);
    let cases = [
        ("", "1:1: The file is empty"),
        ("[]", "1:1: A module must be an object, not array"),
        (
            "{\n  name: 1}",
            "2:3: Not valid JSON: a key must stand in double quotes, and there are no comments",
        ),
        ("{\"name\": \"é\" x}", "1:14: Not valid JSON: expected `,` or `}`"),
    ];
    for (text, expected) in cases {
        for text in [text.to_owned(), format!("\u{feff}{text}")] {
            let parsed = ModuleManifest::parse(&text, Mode::Lenient);
            assert_eq!(parsed.faults[0].to_string(), expected);
            assert!(parsed.manifest.is_none());
        }
    }
}

/// A file can be a megabyte; its faults are found all the same, and soon.
#[test]
fn long_keys_and_many_doubles_are_survived() {
    let members: String = (0..20_000).map(|number| format!("\"k{}\": 1,", number / 2)).collect();
    let key = "x".repeat(400_000);
    let text = format!(
        "{{\"{key}\": {{{members} \"z\": 1}}, \"dependencies\": {{\"{key}\": {{{members} \"z\": 1}}}}}}"
    );
    let parsed = ModuleManifest::parse(&text, Mode::Strict);
    assert!(parsed.faults.len() > 40 && parsed.faults.iter().all(|fault| fault.path.len() < 300));
}

#[test]
fn the_schema_knows_the_same_fields() {
    let published: Value = serde_json::from_str(SCHEMA).unwrap();
    let keywords: Vec<&str> = schema::KEYWORDS.iter().map(|(keyword, _)| *keyword).collect();
    let cases: [(&str, &[&str]); 5] = [
        ("/properties", &FIELDS),
        ("/$defs/tool/properties", &tool::FIELDS),
        ("/$defs/dependency/properties", &dependency::FIELDS),
        ("/properties/initialization/properties", &initialization::FIELDS),
        ("/$defs/schema/properties", &keywords),
    ];
    for (pointer, known) in cases {
        let published: BTreeSet<&str> =
            published.pointer(pointer).unwrap().as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(published, known.iter().copied().collect(), "{pointer}");
    }
}

#[test]
fn a_flood_of_faults_is_cut() {
    let tools: Vec<Value> = (0..500).map(|_| json!({})).collect();
    let parsed = parse(&changed("/tools", &json!(tools)), Mode::Strict);
    assert_eq!(parsed.faults.len(), 101);
    assert_eq!(parsed.faults[100].message, "1400 more faults are not shown");
}

#[test]
fn fields_reach_the_manifest() {
    let module = strict(&json!({
        "$schema": "x", "name": "my-lib", "version": "2.1.0-beta.1+7", "description": "d",
        "package": "@scope/lib/sub/_inner.js", "packageVersion": "^2", "type": "constructor",
        "dependencies": { "a": "number", "b": { "type": "any", "default": null, "description": "B" } },
        "initialization": { "className": "clients.Http", "config": ["${a}"] },
        "runtime": "node", "state": "session", "capabilities": ["net", "fs.read"],
        "limits": { "stackKb": 2048 }, "timeoutSeconds": 5, "readOnly": true, "keywords": ["k"],
        "tools": [
            { "name": "one", "description": "d", "function": "root", "async": false, "instanceMethod": false,
              "title": "One", "keywords": ["x"], "capabilities": ["net", "exec"], "requiredPermissions": ["exec"] },
            { "name": "two", "description": "d", "function": "f", "timeoutSeconds": 7, "readOnly": false,
              "parameters": { "properties": { "data": { "type": "any" } } }, "aliases": { "d": "data" } },
        ]
    }));
    assert_eq!((module.name.as_str(), module.group.as_str()), ("my-lib", "my_lib"));
    assert_eq!((module.runtime, module.state), (Some(Runtime::Node), State::Session));
    assert_eq!(module.limits, Limits { heap: HEAP, stack: 2 << 20 });
    assert_eq!(module.keywords, ["k"]);
    assert_eq!(module.package_version.as_deref(), Some("^2"));
    assert_eq!(module.initialization.class_name.as_ref().unwrap().to_string(), "clients.Http");
    assert_eq!(module.initialization.method, None);
    let [one, two] = module.tools.as_slice() else { panic!() };
    assert_eq!((one.is_async, one.instance_method, one.function.is_root()), (false, false, true));
    assert_eq!((two.is_async, two.instance_method, two.index), (true, true, 1));
    assert_eq!(one.definition.title.as_deref(), Some("One"));
    let names = |list: &[Capability]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(one.definition.ceiling.as_ref().unwrap()), ["net"], "what both say");
    assert_eq!(names(two.definition.ceiling.as_ref().unwrap()), ["net", "fs.read"]);
    assert_eq!(names(&one.definition.capabilities), ["exec"]);
    assert_eq!((one.definition.timeout.as_secs(), two.definition.timeout.as_secs()), (5, 7));
    assert_eq!((one.definition.read_only, two.definition.read_only), (true, false));
    assert_eq!(two.definition.parameters.property("data"), Some(&json!({})));
    assert_eq!(two.definition.aliases, [("d".to_owned(), "data".to_owned())]);
    for package in ["lodash", "JSONStream", "node:path", ".", "./lib", "../lib", "/opt/lib", "@a/b", "a/b"] {
        let module = changed("/package", &json!(package));
        assert_eq!(strict(&module).package, package);
        assert!(VALIDATOR.is_valid(&module), "{package}");
    }
}

#[test]
fn handles_are_offered_where_objects_are_kept() {
    let moment = ModuleManifest::parse(&fixture("moment"), Mode::Strict).manifest.unwrap();
    assert_eq!(moment.state, State::Session);
    let (parse_tool, format) = (moment.tool("date_parse").unwrap(), moment.tool("date_format").unwrap());
    assert!(parse_tool.keeps_instance() && !parse_tool.takes_handle);
    assert!(format.takes_handle && !format.keeps_instance());
    let names: Vec<&String> = format.definition.parameters.properties().map(|(name, _)| name).collect();
    assert_eq!(names, ["format", "handle"]);
    let plan =
        moment.plan(format, object(json!({"format": "YYYY", "handle": "moment-1"})), &Resolved::default());
    assert_eq!(
        plan,
        json!({
            "init": { "type": "factory", "treatAsConstructor": true },
            "function": "format", "instanceMethod": true, "async": true, "args": ["YYYY"], "handle": "moment-1"
        })
    );
    let plan = moment.plan(parse_tool, object(json!({"date": "2020-01-01"})), &Resolved::default());
    assert_eq!(
        (&plan["function"], &plan["args"], &plan["keep"], &plan["prefix"]),
        (&json!("root"), &json!(["2020-01-01"]), &json!(true), &json!("moment"))
    );
    let lodash = ModuleManifest::parse(&fixture("lodash"), Mode::Strict).manifest.unwrap();
    assert_eq!(lodash.state, State::Call);
    assert!(lodash.tools.iter().all(|tool| !tool.takes_handle));

    let mut kept: Value = serde_json::from_str(&fixture("moment")).unwrap();
    kept["state"] = json!("call");
    let faults = parse(&kept, Mode::Strict).faults;
    assert_eq!(faults[0].path, "state", "{faults:?}");
    let lenient = parse(&kept, Mode::Lenient);
    assert!(lenient.faults[0].warning && lenient.manifest.unwrap().state == State::Session);
    kept["state"] = json!("session");
    kept["tools"][1]["parameters"] = json!({"properties": {"handle": {}}});
    let parsed = parse(&kept, Mode::Strict);
    assert!(parsed.faults[0].warning && parsed.faults[0].path == "tools[1]", "{:?}", parsed.faults);
    assert!(!parsed.manifest.unwrap().tools[1].takes_handle);
}

#[test]
fn plans_of_the_seeds_axios() {
    let axios = ModuleManifest::parse(&fixture("axios"), Mode::Strict).manifest.unwrap();
    let get = axios.tool("http_get").unwrap();
    let unset = axios.resolve(|_| None).unwrap();
    assert_eq!(
        axios.plan(get, object(json!({"url": "/a", "headers": {"x": "y"}})), &unset),
        json!({
            "init": {
                "type": "factory", "treatAsConstructor": false, "method": "create", "config": { "timeout": 30000 }
            },
            "function": "get", "instanceMethod": true, "async": true, "args": ["/a", null, {"x": "y"}], "holes": [1]
        })
    );
    let set = axios.resolve(|name| (name == "baseURL").then(|| "http://x".into())).unwrap();
    let plan = axios.plan(get, object(json!({"url": "/a"})), &set);
    assert_eq!(plan["init"]["config"], json!({"baseURL": "http://x", "timeout": 30000}));
    assert_eq!((&plan["args"], plan.get("holes")), (&json!(["/a"]), None));
    let lodash = ModuleManifest::parse(&fixture("lodash"), Mode::Strict).manifest.unwrap();
    let plan = lodash.plan(&lodash.tools[0], object(json!({"size": 2, "array": [1, 2, 3]})), &unset);
    assert_eq!((&plan["init"], &plan["args"]), (&json!({"type": "static"}), &json!([[1, 2, 3], 2])));
}

#[test]
fn dependencies_are_found_and_read() {
    let module = |declared: Value| {
        let mut module = changed("/dependencies", &declared);
        module["initialization"]["config"] = json!({"v": "${v}", "region": "${env.REGION}"});
        strict(&module)
    };
    let cases = [
        (json!("string"), Some("5"), Ok(json!("5"))),
        (json!("string"), Some(""), Ok(json!(""))),
        (json!("number"), Some(" 2.5 "), Ok(json!(2.5))),
        (json!("integer"), Some("7"), Ok(json!(7))),
        (json!("integer"), Some("7.5"), Err("a whole number")),
        (json!("number"), Some("ten"), Err("a number")),
        (json!("number"), Some(""), Ok(json!(null))),
        (json!("boolean"), Some("true"), Ok(json!(true))),
        (json!("boolean"), Some("0"), Ok(json!(false))),
        (json!("boolean"), Some("maybe"), Err("true or false")),
        (json!("object"), Some("{\"a\": 1}"), Ok(json!({"a": 1}))),
        (json!("object"), Some("[1]"), Err("a JSON object")),
        (json!("array"), Some("[1]"), Ok(json!([1]))),
        (json!("array"), Some("1,2"), Err("a JSON array")),
        (json!("any"), Some("[1]"), Ok(json!("[1]"))),
        (json!({}), Some("x"), Ok(json!("x"))),
        (json!({"type": "number", "default": 3}), None, Ok(json!(3))),
        (json!({"type": "number", "default": 3}), Some("4"), Ok(json!(4))),
        (json!({"required": true, "default": {"a": []}}), None, Ok(json!({"a": []}))),
        (json!({"type": "string", "default": "r-${env.REGION}"}), None, Ok(json!("r-eu"))),
        (json!({"type": "number", "default": "${env.REGION}"}), None, Err("a number")),
        (json!({"type": "string", "default": "${env.NOT_SET}"}), None, Ok(json!(null))),
        (json!("string"), None, Ok(json!(null))),
    ];
    for (declared, text, expected) in cases {
        let module = module(json!({ "v": declared }));
        let resolved = module.resolve(|name| match name {
            "v" => text.map(str::to_owned),
            "REGION" => Some("eu".into()),
            _ => None,
        });
        match expected {
            Ok(value) => {
                let resolved = resolved.unwrap();
                assert_eq!(
                    resolved.dependencies.get("v").cloned().unwrap_or_default(),
                    value,
                    "{declared} {text:?}"
                );
                assert_eq!(module.initialization.plan(&resolved)["config"]["region"], "eu");
            }
            Err(kind) => {
                let message = resolved.unwrap_err().to_string();
                let start = format!("The dependency 'v' of the module 'my-http' must be {kind}, but ");
                assert!(message.starts_with(&start), "{message}");
                assert!(
                    text.is_none_or(|text| !message.contains(&format!(" {text}"))),
                    "{message} tells the value"
                );
            }
        }
    }
}

#[test]
fn a_missing_dependency_says_how_to_set_it() {
    let module = strict(&base());
    assert_eq!(
        module.resolve(|_| None).unwrap_err().to_string(),
        "The module 'my-http' needs the dependency 'apiKey', which is not set; use `pinza env set apiKey`, \
         `--env apiKey=…` or a .env file beside the module"
    );
    let mut two = base();
    two["dependencies"]["my-token"] = json!({"required": true, "description": "From the console"});
    let message = strict(&two).resolve(|_| None).unwrap_err().to_string();
    assert!(
        message.contains("needs the dependencies 'apiKey', 'my-token' (From the console), which are not set")
    );
    let two = strict(&two);
    assert_eq!(two.variables_for(&two.dependencies[1]), ["MY_HTTP_MY_TOKEN", "MY_TOKEN"]);
    let asked = module.variables_for(&module.dependencies[0]);
    assert_eq!(asked, ["MY_HTTP_API_KEY", "apiKey", "API_KEY"]);
    for name in asked {
        let resolved = module.resolve(|asked| (asked == name).then(|| "k".into())).unwrap();
        assert_eq!(resolved.dependencies["apiKey"], "k");
        assert!(!format!("{resolved:?}").contains("\"k\""), "secrets are not shown");
    }
}

#[test]
fn variables_are_collected_from_all_templates() {
    let mut module = base();
    module["initialization"]["config"] = json!({"a": "${env.A}", "b": ["x ${env.B} ${env.A}"]});
    module["dependencies"] = json!({"d": {"default": {"x": "${env.D}"}}});
    module["tools"][0]["args"] = json!(["${url}", "${params}", {"${env.K}": ["${env.B}"]}]);
    assert_eq!(strict(&module).variables(), ["A", "B", "D", "K"]);
}

#[test]
fn templates_without_references_are_literals() {
    let module = strict(&changed("/initialization/config", &json!({"a": [1, {"b": "c"}]})));
    assert!(matches!(module.initialization.config, Some(Template::Literal(_))));
}

#[test]
fn two_hundred_tools_are_read() {
    let mut module = base();
    let tool = module["tools"][0].clone();
    let tools = (0..200).map(|number| {
        let mut tool = tool.clone();
        tool["name"] = json!(format!("t{number}"));
        tool["output"] = json!({"success": {"type": "object", "properties": {"data": {"type": "any"}}}});
        tool["resultMapping"] = json!({"success": {"data": "$.data"}});
        tool
    });
    module["tools"] = tools.collect();
    let text = module.to_string();
    let parsed = ModuleManifest::parse(&text, Mode::Strict);
    assert_eq!(parsed.manifest.unwrap().tools.len(), 200);
}
