//! The tests that RFC-018 (`JsToolGroupTest`, `JsToolGroupIntegrationTest`) and RFC-040
//! (`JsToolLoaderMetaTest`) name for tools in JavaScript, in their order, through the program and its real workers.
//! Where a name clashes or words differ, DESIGN.md chapters 4 and 9 decide.

use pinza_testkit::Program;
use serde_json::{Value, json};

use super::{at, custom, entry, file, group, list, names, tool, tool_in};
use crate::support::{check_call, fine, pinza};

/// A script in which every function says its own name and its parameters.
const DRIVE: &str = "
function describe(name, { _env, ...params }) { return { name, params } }
function execute(params) { return describe('execute', params) }
function listFiles(params) { return describe('listFiles', params) }
async function readFile(params) { return await describe('readFile', params) }
const uploadFile = (params) => describe('uploadFile', params);
function search(params) { return describe('search', params) }
";

fn drive() -> Value {
    let file_id = json!({
        "type": "object",
        "properties": {"file_id": {"type": "string", "description": "Which file"}},
        "required": ["file_id"],
    });
    json!([
        {"name": "google_drive_list_files", "description": "List files", "function": "listFiles"},
        {"name": "google_drive_read_file", "description": "Read a file", "function": "readFile", "parameters": file_id},
        {"name": "google_drive_upload_file", "description": "Upload a file", "function": "uploadFile",
         "timeoutSeconds": 60, "requiredPermissions": ["message"]},
    ])
}

#[track_caller]
fn dispatches(pinza: &Program, call: &[&str], function: &str, params: &Value) {
    let expected = json!({"name": function, "params": params}).to_string();
    check_call(pinza, call, Ok(&expected));
}

fn problems(list: &Value) -> Vec<(Value, String)> {
    let problem = |one: &Value| (one["entry"].clone(), one["message"].as_str().unwrap().to_owned());
    list["problems"].as_array().unwrap().iter().map(problem).collect()
}

/// RFC-018, format detection.
#[test]
fn an_object_is_a_tool_and_an_array_is_a_group() {
    let pinza = pinza();
    tool(&pinza, "weather_lookup", json!({}), DRIVE);
    group(&pinza, "google_drive", &drive(), DRIVE);
    let list = list(&pinza, &[]);
    let tools = custom(&list);
    let groups: Vec<&Value> = tools.iter().map(|tool| &tool["group"]).collect();
    let drive = json!("google_drive");
    assert_eq!(groups, [&drive, &drive, &drive, &Value::Null], "{tools:?}");
    assert_eq!(list["problems"], json!([]));
    // One calls `execute`, the others their function, though the script has both.
    dispatches(&pinza, &["weather_lookup", "city=Tokyo"], "execute", &json!({"city": "Tokyo"}));
    dispatches(&pinza, &["google_drive_list_files"], "listFiles", &json!({}));
}

/// RFC-018, group parsing: name, description, parameters and function of each entry.
#[test]
fn each_entry_is_a_tool_of_its_own() {
    let pinza = pinza();
    group(&pinza, "google_drive", &drive(), DRIVE);
    let list = list(&pinza, &[]);
    for (listed, wanted) in custom(&list).into_iter().zip(drive().as_array().unwrap()) {
        assert_eq!((&listed["name"], &listed["description"]), (&wanted["name"], &wanted["description"]));
        let shown = fine(&pinza, &["--json", "tools", "show", wanted["name"].as_str().unwrap()]).json();
        let parameters = wanted.get("parameters").cloned();
        let none = json!({"type": "object", "properties": {}});
        assert_eq!(shown["parameters"]["properties"], parameters.unwrap_or(none)["properties"], "{shown}");
        let timeout = wanted.get("timeoutSeconds").and_then(Value::as_f64).unwrap_or(30.0);
        assert_eq!(shown["timeoutSeconds"], timeout, "{shown}");
        let needs = wanted.get("requiredPermissions").cloned().unwrap_or(json!([]));
        assert_eq!(shown["capabilities"], needs, "{shown}");
    }
    let call = ["google_drive_read_file", r#"{"file_id": "abc123"}"#];
    dispatches(&pinza, &call, "readFile", &json!({"file_id": "abc123"}));
    let missing = Err(("validation_error", "Missing required parameter: 'file_id'"));
    check_call(&pinza, &["google_drive_read_file"], missing);
    let denied = Err(("permission_denied", "Required permissions were denied: message"));
    check_call(&pinza, &["google_drive_upload_file"], denied);
    dispatches(&pinza, &["google_drive_upload_file", "--allow=message"], "uploadFile", &json!({}));
}

/// RFC-018, group parsing: what is skipped, and that the others load.
#[test]
fn bad_entries_are_skipped_and_the_first_of_two_names_wins() {
    let pinza = pinza();
    let manifest = json!([
        {"name": "no_function", "description": "x"},
        {"description": "x", "function": "search"},
        {"name": "twice", "description": "The first", "function": "listFiles"},
        {"name": "twice", "description": "The second", "function": "readFile"},
        {"name": "good", "description": "x", "function": "search"},
    ]);
    group(&pinza, "mixed", &manifest, DRIVE);
    let list = list(&pinza, &[]);
    assert_eq!(names(&custom(&list)), ["twice", "good"]);
    let expected = [
        (json!(0), "Tool 'no_function' in group 'mixed.json' missing required 'function' field"),
        (json!(1), "Missing 'name'"),
        (json!(3), "Duplicate tool name 'twice' in group 'mixed.json' (entry 3 skipped)"),
    ]
    .map(|(entry, message)| (entry, message.to_owned()));
    assert_eq!(problems(&list), expected);
    dispatches(&pinza, &["twice"], "listFiles", &json!({}));
    dispatches(&pinza, &["good"], "search", &json!({}));
}

/// A bad entry does not take a name away from a good one.
#[test]
fn a_name_is_taken_by_a_tool_that_loads() {
    let pinza = pinza();
    let manifest = json!([
        {"name": "wanted", "description": "x"},
        {"name": "wanted", "description": "x", "function": "search"},
    ]);
    group(&pinza, "mixed", &manifest, DRIVE);
    assert_eq!(names(&custom(&list(&pinza, &[]))), ["wanted"]);
    dispatches(&pinza, &["wanted"], "search", &json!({}));
}

/// RFC-018, group parsing: an empty array, and one too many.
#[test]
fn a_group_has_one_to_fifty_tools() {
    let pinza = pinza();
    let many = |count: usize| {
        let one = |number| json!({"name": format!("t{number}"), "description": "x", "function": "search"});
        json!((0..count).map(one).collect::<Vec<_>>())
    };
    group(&pinza, "empty", &json!([]), DRIVE);
    group(&pinza, "many", &many(51), DRIVE);
    let shown = list(&pinza, &[]);
    assert_eq!(custom(&shown), Vec::<&Value>::new());
    assert!(!shown["groups"].as_array().unwrap().iter().any(|group| group["toolCount"] == 0), "{shown}");
    let expected =
        ["Empty tool group in 'empty.json'", "Tool group in 'many.json' has 51 entries (maximum: 50)"]
            .map(|message| (Value::Null, message.to_owned()));
    assert_eq!(problems(&shown), expected);
    group(&pinza, "many", &many(50), DRIVE);
    assert_eq!(custom(&list(&pinza, &[])).len(), 50);
}

/// RFC-018, function name validation; DESIGN.md chapter 9, 9: the script's own functions only.
#[test]
fn names_of_functions() {
    let pinza = pinza();
    let accepted = ["listFiles", "search", "$_1"];
    let script = format!("{DRIVE}\nfunction $_1(params) {{ return describe('$_1', params) }}");
    let refused = [
        "../inject",
        "",
        "1st",
        "list-files",
        "list files",
        "listFiles()",
        "a.b",
        "größe",
        "void",
        "eval",
        "constructor",
        "toString",
        "__proto__",
        "describe2",
    ];
    let one = |(index, function): (usize, &&str)| json!({"name": format!("t{index}"), "description": "x", "function": function});
    let manifest: Vec<Value> = accepted.iter().chain(&refused).enumerate().map(one).collect();
    group(&pinza, "functions", &json!(manifest), &script);
    let list = list(&pinza, &[]);
    assert_eq!(names(&custom(&list)), ["t0", "t1", "t2"]);
    for (index, function) in accepted.iter().enumerate() {
        dispatches(&pinza, &[&format!("t{index}"), "a=1"], function, &json!({"a": 1}));
    }
    let invalid = |(index, function): (usize, &&str)| {
        let (entry, tool) = (json!(index + 3), format!("t{}", index + 3));
        let message = format!("Invalid function name '{function}' for tool '{tool}'");
        let absent = format!(
            "{} has no function '{function}' for tool '{tool}'; did you mean describe?",
            at(&pinza, "functions.js")
        );
        (entry, if *function == "describe2" { absent } else { message })
    };
    assert_eq!(problems(&list), refused.iter().enumerate().map(invalid).collect::<Vec<_>>());
}

/// RFC-018, execution: every kind of result, in a single tool and in a group.
#[test]
fn results_are_text_in_both_forms() {
    let pinza = pinza();
    for (index, (value, text)) in [
        ("null", ""),
        ("undefined", ""),
        ("'text'", "text"),
        ("({ a: [1, 'x', null] })", r#"{"a":[1,"x",null]}"#),
        ("true", "true"),
        ("0", "0"),
    ]
    .into_iter()
    .enumerate()
    {
        let (single, grouped) = (format!("single{index}"), format!("grouped{index}"));
        tool(&pinza, &single, json!({}), &format!("function execute() {{ return {value} }}"));
        group(
            &pinza,
            &format!("group{index}"),
            &json!([entry(&grouped)]),
            &format!("async function {grouped}() {{ return {value} }}"),
        );
        check_call(&pinza, &[&single], Ok(text));
        check_call(&pinza, &[&grouped], Ok(text));
    }
}

/// RFC-018, integration: helpers are shared by the tools of a group, state is not.
#[test]
fn a_group_shares_its_helpers_and_no_state() {
    let pinza = pinza();
    let script = "let calls = 0;\nconst count = () => ++calls;\nfunction first() { return count() }\nfunction second() { return count() }";
    group(&pinza, "counters", &json!([entry("first"), entry("second")]), script);
    for name in ["first", "second", "first"] {
        check_call(&pinza, &[name], Ok("1"));
    }
    check_call(
        &pinza,
        &["js_eval", "code=await Promise.all([tools.first(), tools.second(), tools.first()])"],
        Ok(r#"["1","1","1"]"#),
    );
}

/// RFC-018, integration: groups and single tools, JavaScript and TypeScript, in one directory.
#[test]
fn a_mixed_directory() {
    let pinza = pinza();
    group(&pinza, "google_drive", &drive(), DRIVE);
    tool(&pinza, "weather_lookup", json!({}), DRIVE);
    file(&pinza, "home/tools/typed.json", r#"{"name": "typed", "description": "x"}"#);
    file(
        &pinza,
        "home/tools/typed.ts",
        "export function execute({ a }: { a: number }): number { return a + 1 }",
    );
    file(&pinza, "home/tools/sums.json", json!([entry("add"), entry("twice")]).to_string());
    file(
        &pinza,
        "home/tools/sums.ts",
        "type Two = { a: number; b: number };\nexport const add = ({ a, b }: Two) => a + b;\nexport const twice = ({ a }: Two) => add({ a, b: a });",
    );
    let list = list(&pinza, &[]);
    assert_eq!(list["problems"], json!([]));
    let drive = ["google_drive_list_files", "google_drive_read_file", "google_drive_upload_file"];
    assert_eq!(names(&custom(&list)), [&drive[..], &["add", "twice", "typed", "weather_lookup"]].concat());
    dispatches(&pinza, &["google_drive_list_files"], "listFiles", &json!({}));
    dispatches(&pinza, &["weather_lookup", "city=Tokyo"], "execute", &json!({"city": "Tokyo"}));
    check_call(&pinza, &["typed", "a=4"], Ok("5"));
    check_call(&pinza, &["add", "a=2", "b=3"], Ok("5"));
    check_call(&pinza, &["twice", "a=2"], Ok("4"));
}

/// RFC-018, integration; DESIGN.md chapter 9, 13: a group's tool in the place of a built-in one keeps that one's group.
#[test]
fn a_groups_tool_overrides_a_builtin_when_it_may() {
    let pinza = pinza();
    let manifest = json!([entry("get_current_time"), entry("edit"), entry("mine")]);
    let script =
        "const get_current_time = () => 'late'; const edit = () => 'edited'; const mine = () => 'mine';";
    group(&pinza, "clocks", &manifest, script);
    let conflict = |entry: usize, name: &str| {
        (json!(entry), format!("Name conflict with existing tool '{name}' (skipped)"))
    };
    let shown = list(&pinza, &[]);
    assert_eq!(problems(&shown), [conflict(0, "get_current_time"), conflict(1, "edit")]);
    assert_eq!(names(&custom(&shown)), ["mine"]);
    check_call(&pinza, &["get_current_time"], Ok("20[..]"));

    let shown = list(&pinza, &["--allow-override"]);
    assert_eq!(problems(&shown), []);
    let mut groups: Vec<(&str, &Value)> =
        custom(&shown).iter().map(|tool| (tool["name"].as_str().unwrap(), &tool["group"])).collect();
    groups.sort_by_key(|(name, _)| *name);
    assert_eq!(
        groups,
        [("edit", &json!("fs")), ("get_current_time", &Value::Null), ("mine", &json!("clocks"))]
    );
    for (name, text) in [("get_current_time", "late"), ("edit", "edited"), ("mine", "mine")] {
        check_call(&pinza, &[name, "--allow-override"], Ok(text));
    }
    let clocks = shown["groups"].as_array().unwrap().iter().find(|group| group["name"] == "clocks").unwrap();
    assert_eq!(clocks["toolCount"], 1, "{clocks}");
}

/// RFC-040 step 6 and its `JsToolLoaderMetaTest`; DESIGN.md chapter 9, 3: also in a user's directories.
#[test]
fn groups_are_described_by_meta_or_by_their_name() {
    let pinza = pinza();
    let meta = json!({"_meta": true, "display_name": "Google Gmail", "description": "Email tools"});
    let script = "const gmail_search = () => 'found'; const tool1 = () => 1; const tool2 = () => 2; const test_tool = () => 3;";
    group(&pinza, "google_gmail", &json!([meta, entry("gmail_search")]), script);
    group(&pinza, "my_tools", &json!([entry("tool1"), entry("tool2")]), script);
    tool_in(&pinza, "more", "test_single", json!({}), "function execute() {}");
    file(&pinza, "more/test.json", json!([{"_meta": true}, entry("test_tool")]).to_string());
    file(&pinza, "more/test.js", script);
    let list = list(&pinza, &["--tools", "more"]);
    assert_eq!(list["problems"], json!([]));
    assert_eq!(names(&custom(&list)), ["gmail_search", "tool1", "tool2", "test_tool", "test_single"]);
    let described = |name: &str, display: &str, description: &str, count: usize| {
        let expected =
            json!({"name": name, "displayName": display, "description": description, "toolCount": count});
        let groups = list["groups"].as_array().unwrap();
        let found = groups.iter().find(|group| group["name"] == name).unwrap();
        assert_eq!(found.to_string(), expected.to_string());
    };
    described("google_gmail", "Google Gmail", "Email tools", 1);
    described("my_tools", "My Tools", "Tools from my_tools group", 2);
    described("test", "Test", "Tools from test group", 1);
    check_call(&pinza, &["gmail_search"], Ok("found"));
}
