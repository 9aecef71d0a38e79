//! For those who write tools: `tools new`, `tools check`, `tools test`.

use serde_json::{Value, json};

use super::{file, tool};
use crate::support::{assert_matches, check, check_call, fine, keys, pinza};

#[test]
fn every_template_works_as_it_is() {
    let pinza = pinza();
    for (name, flags, first) in [
        ("plain", &[][..], "plain"),
        ("typed", &["--ts"], "typed"),
        ("many", &["--group"], "many_greet"),
        ("many_typed", &["--group", "--ts"], "many_typed_greet"),
    ] {
        let run = fine(&pinza, &[&["tools", "new", name], flags].concat());
        let ending = if flags.contains(&"--ts") { "ts" } else { "js" };
        let stdout = format!(
            "[..]/tools/{name}.json\n[..]/tools/{name}.{ending}\n[..]/tools/{name}.test.json\n\n\
             Call it: pinza call {first} name=Ada\nTest it: pinza tools test {name}\n"
        );
        assert_matches(&run.stdout, &stdout);
        check_call(&pinza, &[first, "name=Ada"], Ok("Hello, Ada!"));
        check(
            &pinza,
            &["tools", "test", name],
            0,
            &format!("ok      {name}: [..]\n...\n[..] passed, 0 failed\n"),
            "",
        );
    }
    check(&pinza, &["tools", "check"], 0, "6 tools, 0 problems, 0 warnings\n", "");
    let types = std::fs::read_to_string(pinza.home().join("tools/pinza.d.ts")).unwrap();
    assert!(types.contains("declare function fetch("));
    let made: Value =
        serde_json::from_str(&std::fs::read_to_string(pinza.home().join("tools/plain.json")).unwrap())
            .unwrap();
    let schema = pinza.home().join("tools").join(made["$schema"].as_str().unwrap());
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    assert_eq!(schema["title"], "Manifest of JavaScript tools");
    check(&pinza, &["tools", "test"], 0, "...\n10 passed, 0 failed\n", "");
}

#[test]
fn a_new_tool_in_a_directory_of_ones_own() {
    let pinza = pinza();
    let stdout = "mine/hi.json\nmine/hi.js\nmine/hi.test.json\n\n\
                  Call it: pinza --tools mine call hi name=Ada\nTest it: pinza --tools mine tools test hi\n";
    check(&pinza, &["--tools", "mine", "tools", "new", "hi"], 0, stdout, "");
    check_call(&pinza, &["hi", "name=Ada", "--tools", "mine"], Ok("Hello, Ada!"));
    let made = fine(&pinza, &["--json", "--tools", "mine", "tools", "new", "ho", "--ts"]).json();
    let files = ["mine/ho.json", "mine/ho.ts", "mine/ho.test.json"];
    assert_eq!(made, json!({"status": "success", "files": files}));
}

#[test]
fn nothing_is_overwritten_and_no_name_is_taken_twice() {
    let pinza = pinza();
    fine(&pinza, &["tools", "new", "mine"]);
    file(&pinza, "home/tools/mine.js", "// my work");
    file(&pinza, "home/tools/half.js", "// my library");
    for arguments in [&["mine"][..], &["mine", "--ts"], &["mine", "--group"], &["half"], &["half", "--ts"]] {
        let stderr = "error: validation_error: [..]/tools/[..] exists already; nothing was written\nhint: Choose another name.\n";
        check(&pinza, &[&["tools", "new"], arguments].concat(), 1, "", stderr);
    }
    assert_eq!(std::fs::read_to_string(pinza.home().join("tools/mine.js")).unwrap(), "// my work");
    assert!(!pinza.home().join("tools/half.json").exists());
    for name in ["Mine", "9lives", "a-b", "a b", "", "../up", "ünder"] {
        let stderr = "error: validation_error: Tool name '[..]' must be snake_case (lowercase letters, digits, underscores)\n";
        check(&pinza, &["tools", "new", "--", name], 1, "", stderr);
    }
    let stderr = "error: validation_error: There is a tool 'exec' already; nothing was written\nhint: Choose another name.\n";
    check(&pinza, &["tools", "new", "exec"], 1, "", stderr);
    fine(&pinza, &["tools", "new", "exec", "--allow-override"]);
    check_call(&pinza, &["exec", "name=Ada", "--allow-override"], Ok("Hello, Ada!"));
}

#[test]
fn a_check_names_line_and_column() {
    let pinza = pinza();
    tool(&pinza, "broken", json!({}), "function execute() {\n  return (;\n}\n");
    file(&pinza, "home/tools/comma.json", "{\n  \"name\": \"comma\"\n  \"description\": \"x\"\n}");
    file(&pinza, "home/tools/comma.js", "");
    file(&pinza, "home/tools/typed.json", r#"{"name": "typed", "description": "x"}"#);
    file(&pinza, "home/tools/typed.ts", "enum A { B = }\nfunction execute() {}");
    let stdout = "[..]/tools/broken.js:2:11: Unexpected token\n[..]/tools/comma.json:3:3: Not valid JSON: [..]\n\
                  [..]/tools/typed.ts:1:14: [..]\n0 tools, 3 problems, 0 warnings\n";
    check(&pinza, &["tools", "check"], 1, stdout, "");
    let run = pinza.run(&["--json", "tools", "check"]);
    let told = run.json();
    assert_eq!((run.code, keys(&told)), (Some(1), vec!["ok", "tools", "problems"]));
    assert_eq!((&told["ok"], &told["tools"]), (&json!(false), &json!(0)));
    let first = &told["problems"][0];
    assert_eq!(keys(first), ["file", "entry", "message", "line", "column", "warning"]);
    assert_eq!((&first["line"], &first["column"], &first["warning"]), (&json!(2), &json!(11), &json!(false)));
}

#[test]
fn warnings_are_for_authors_and_fail_nothing() {
    let pinza = pinza();
    let more = json!({
        "description": "",
        "timeoutSecs": 5,
        "parameters": {"properties": {
            "bare": {"type": "string"},
            "map": {"type": "object", "description": "x", "patternProperties": {"^x": {"type": "string"}}},
        }},
    });
    tool(&pinza, "vague", more, "function execute({ _env }) { return _env.TOKEN }");
    tool(&pinza, "declares", json!({"env": ["TOKEN"]}), "function execute({ _env }) { return _env.TOKEN }");
    let run = fine(&pinza, &["tools", "check"]);
    for warning in [
        "Unknown field 'timeoutSecs'; did you mean timeoutSeconds?",
        "Tool 'vague' has an empty description",
        "Parameter 'bare' has no description",
        "Reads _env without declaring 'env': it sees --env and [env] only",
        "gemini loses something of vague: parameters.properties.map.patternProperties: Gemini does not know this keyword; dropped",
    ] {
        let line = format!("/tools/vague.json: warning: {warning}\n");
        assert_eq!(run.stdout.matches(&line).count(), 1, "{warning}: {}", run.stdout);
    }
    assert_matches(&run.stdout, "...\n2 tools, 0 problems, 5 warnings\n");
    assert_eq!(super::list(&pinza, &[])["problems"], json!([]), "the list is about what does not load");
}

#[test]
fn what_can_be_checked() {
    let pinza = pinza();
    let stderr =
        "error: not_found: There are no tools to check\nhint: Name a directory: pinza tools check DIR\n";
    check(&pinza, &["tools", "check"], 1, "", stderr);
    let stdout =
        "nowhere: Cannot read the directory: No such file or directory\n0 tools, 1 problem, 0 warnings\n";
    check(&pinza, &["tools", "check", "nowhere"], 1, stdout, "");
    super::tool_in(&pinza, "one", "same", json!({}), "function execute() {}");
    super::tool_in(&pinza, "two", "same", json!({}), "function execute() {}");
    check(&pinza, &["tools", "check", "one"], 0, "1 tool, 0 problems, 0 warnings\n", "");
    let stdout =
        "two/same.json: Name conflict with existing tool 'same' (skipped)\n1 tool, 1 problem, 0 warnings\n";
    check(&pinza, &["tools", "check", "one", "two"], 1, stdout, "");
}

#[test]
fn a_check_finds_what_a_call_would_stumble_over() {
    let pinza = pinza();
    tool(&pinza, "exec", json!({}), "function execute() {}");
    let property = |schema: Value| json!({"parameters": {"properties": {"a": schema}}});
    let good = "function execute() { return lib('shared').x }";
    tool(&pinza, "a_word", property(json!({"description": "x", "enum": "red"})), good);
    tool(&pinza, "a_regex", property(json!({"description": "x", "type": "string", "pattern": "("})), good);
    tool(&pinza, "a_link", property(json!({"description": "x", "$ref": "file:///etc/passwd"})), good);
    tool(&pinza, "b_fine", property(json!({"description": "x", "type": "string"})), good);
    file(&pinza, "home/tools/shared.js", "exports.x = 1;\nexports.y = (;\n");
    let tools = pinza.home().join("tools").display().to_string();
    let schema = "The tool's parameter schema cannot be used";
    let found = format!(
        "{tools}/a_link.json: {schema}: Resource 'file:///etc/passwd' [..]\n\
         {tools}/a_regex.json: {schema}: \"(\" is not a \"regex\"\n\
         {tools}/a_word.json: {schema}: \"red\" is not of type \"array\"\n\
         {tools}/shared.js:2:14: warning: lib('shared') cannot be used: Unexpected token\n"
    );
    let clash = format!("{tools}/exec.json: Name conflict with existing tool 'exec' (skipped)\n");
    let stdout = format!("{clash}{found}4 tools, 4 problems, 1 warning\n");
    check(&pinza, &["tools", "check"], 1, &stdout, "");
    let stdout = format!("{found}5 tools, 3 problems, 1 warning\n");
    check(&pinza, &["tools", "check", "--allow-override"], 1, &stdout, "");
}

const WEATHER: &str = "async function execute({ city, _env }) {
    const answer = await fetch(`https://api.example.com/weather?city=${city}`, { method: 'POST' });
    if (!answer.ok) throw new Error(`The service answered ${answer.status}`);
    const { degrees } = await answer.json();
    return { city, degrees, from: answer.headers.get('x-from') };
}";

fn test_file(pinza: &pinza_testkit::Program, cases: &Value) {
    tool(pinza, "weather", json!({}), WEATHER);
    file(pinza, "home/tools/weather.test.json", cases.to_string());
}

#[test]
fn tests_with_stand_ins_for_the_network() {
    let pinza = pinza();
    let url = "https://api.example.com/weather?city=Rome";
    let answer =
        json!({"method": "post", "url": url, "json": {"degrees": 20}, "headers": [["x-from", "stand-in"]]});
    test_file(
        &pinza,
        &json!([
            {"name": "answers", "arguments": {"city": "Rome"}, "result": {"degrees": 20, "city": "Rome", "from": "stand-in"}, "http": [answer]},
            {"arguments": {"city": "Rome"}, "contains": "\"degrees\":20", "http": [answer]},
            {"name": "fails well", "arguments": {"city": "Rome"}, "error": "execution_error",
             "http": [{"method": "POST", "url": url, "status": 503, "text": "busy"}]},
            {"name": "another tool", "tool": "get_current_time", "contains": "T"},
        ]),
    );
    let stdout = "ok      weather: answers\nok      weather: case 1\nok      weather: fails well\nok      weather: another tool\n4 passed, 0 failed\n";
    check(&pinza, &["tools", "test", "weather"], 0, stdout, "");
}

#[test]
fn failing_tests_say_what_was_different() {
    let pinza = pinza();
    let url = "https://api.example.com/weather?city=Rome";
    let http = json!([{"method": "POST", "url": url, "json": {"degrees": 20}}]);
    test_file(
        &pinza,
        &json!([
            {"name": "fine", "arguments": {"city": "Rome"}, "contains": "20", "http": http},
            {"name": "other result", "arguments": {"city": "Rome"}, "result": {"degrees": 21}, "http": http},
            {"name": "other part", "arguments": {"city": "Rome"}, "contains": "sun", "http": http},
            {"name": "unscripted", "arguments": {"city": "Oslo"}, "contains": "20", "http": http},
            {"name": "no error", "arguments": {"city": "Rome"}, "error": "timeout", "http": http},
            {"name": "other error", "arguments": {"city": "Oslo"}, "error": "timeout"},
        ]),
    );
    let got = r#"{"city":"Rome","degrees":20,"from":null}"#;
    let unscripted =
        "answered network_error: No stand-in answers POST https://api.example.com/weather?city=Oslo";
    let stdout = format!(
        "ok      weather: fine
FAILED  weather: other result
        expected {{\"degrees\":21}}, got: {got}
FAILED  weather: other part
        expected it to contain \"sun\", got: {got}
FAILED  weather: unscripted
        {unscripted}
FAILED  weather: no error
        expected the error timeout, got: {got}
FAILED  weather: other error
        {unscripted}
1 passed, 5 failed\n"
    );
    check(&pinza, &["tools", "test"], 1, &stdout, "");
    let run = pinza.run(&["--json", "tools", "test"]);
    let told = run.json();
    assert_eq!((run.code, &told["ok"], told["cases"].as_array().unwrap().len()), (Some(1), &json!(false), 6));
    assert_eq!(
        told["cases"][0].to_string(),
        json!({"name": "weather: fine", "ok": true, "message": null}).to_string()
    );
    assert_eq!(told["cases"][3]["message"], unscripted);
}

#[test]
fn test_files_that_are_none() {
    let pinza = pinza();
    let stderr = "error: not_found: There are no tests to run\nhint: [..]\n";
    check(&pinza, &["tools", "test"], 1, "", stderr);
    let stderr = "error: not_found: There is no test file 'weather.test.json'\nhint: [..]\n";
    check(&pinza, &["tools", "test", "weather"], 1, "", stderr);
    test_file(&pinza, &json!([{"contains": ""}]));
    let stderr = "error: not_found: There is no test file 'wether.test.json'\nhint: Did you mean weather?\n";
    check(&pinza, &["tools", "test", "wether"], 1, "", stderr);
    for (cases, reason) in [
        (json!([{"arguments": {}}]), "error: a case of weather expects nothing: [..]\n"),
        (json!({}), "error: [..]weather.test.json is not a list of cases: [..]\n"),
        (
            json!([{"expect": 5}]),
            "error: [..]weather.test.json is not a list of cases: unknown field `expect`[..]\n",
        ),
    ] {
        test_file(&pinza, &cases);
        check(&pinza, &["tools", "test"], 2, "", reason);
    }
}

#[test]
fn a_tool_that_does_not_load_says_why_wherever_it_is_asked_for() {
    let pinza = pinza();
    tool(&pinza, "broken", json!({}), "function execute() {\n  return (;\n}\n");
    file(&pinza, "home/tools/broken.test.json", "\u{feff}[{\"result\": \"x\"}]");
    let reason = "[..]/tools/broken.js: line 2, column 11: Unexpected token";
    let missing = "tool_not_found: Tool 'broken' not found";
    let stdout =
        format!("FAILED  broken: case 0\n        answered {missing}: {reason}\n0 passed, 1 failed\n");
    check(&pinza, &["tools", "test"], 1, &stdout, "");
    let hint = format!("It could not be loaded: {reason}");
    let stderr = format!("warning: {reason}\nerror: {missing}\nhint: {hint}\n");
    check(&pinza, &["tools", "show", "broken"], 1, "", &stderr);
    check(&pinza, &["call", "broken"], 1, "", &stderr);
    // A program reads no warnings, only the hint.
    let answer = check_call(&pinza, &["broken"], Err(("tool_not_found", "Tool 'broken' not found")));
    assert!(
        answer["hint"].as_str().unwrap().ends_with("broken.js: line 2, column 11: Unexpected token"),
        "{answer}"
    );
}

#[test]
fn tests_run_under_the_same_policy() {
    let pinza = pinza();
    tool(&pinza, "runs", json!({}), "async function execute() { return tools.exec({ command: 'echo hi' }) }");
    file(&pinza, "home/tools/runs.test.json", json!([{"result": "hi\n"}]).to_string());
    check(
        &pinza,
        &["tools", "test"],
        1,
        "FAILED  runs: case 0\n        answered permission_denied: [..]exec\n0 passed, 1 failed\n",
        "",
    );
    check(&pinza, &["tools", "test", "--allow", "exec"], 0, "ok      runs: case 0\n1 passed, 0 failed\n", "");
}
