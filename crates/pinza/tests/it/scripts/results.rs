//! What a script returns, throws and is given.

use serde_json::json;

use super::{file, tool};
use crate::support::{Expected, check, check_call, pinza};

const NOTHING_LEFT: &str =
    "Tool execution failed: the script waits for a promise that nothing can settle any more";

#[test]
fn results_and_errors() {
    let pinza = pinza();
    let cases: [(&str, Expected); 16] = [
        ("undefined", Ok("")),
        ("null", Ok("")),
        ("'text'", Ok("text")),
        ("''", Ok("")),
        ("5", Ok("5")),
        ("false", Ok("false")),
        ("({a: [1, null], b: 'x'})", Ok(r#"{"a":[1,null],"b":"x"}"#)),
        ("Promise.resolve([1])", Ok("[1]")),
        ("new Date(0)", Ok("\"1970-01-01T00:00:00.000Z\"")),
        ("(() => 1)", Err(("execution_error", "[..]TypeError: The tool returned a function, [..]"))),
        (
            "(() => { const a = {}; a.a = a; return a })()",
            Err(("execution_error", "[..]TypeError: circular[..]")),
        ),
        (
            "(() => { throw new RangeError('far') })()",
            Err(("execution_error", "Tool execution failed: RangeError: far")),
        ),
        ("(() => { throw new Error('boom') })()", Err(("execution_error", "Tool execution failed: boom"))),
        ("(() => { throw 'text' })()", Err(("execution_error", "Tool execution failed: text"))),
        ("Promise.reject(new Error('late'))", Err(("execution_error", "Tool execution failed: late"))),
        ("new Promise(() => {})", Err(("execution_error", NOTHING_LEFT))),
    ];
    for (index, (value, expected)) in cases.into_iter().enumerate() {
        let name = format!("case{index}");
        tool(&pinza, &name, json!({}), &format!("function execute() {{ return {value} }}"));
        check_call(&pinza, &[&name], expected);
    }
}

#[test]
fn an_error_names_its_place() {
    let pinza = pinza();
    tool(
        &pinza,
        "deep",
        json!({}),
        "function execute() {\n  return helper();\n}\n\nfunction helper() {\n  nowhere.x;\n}\n",
    );
    let answer = check_call(
        &pinza,
        &["deep"],
        Err(("execution_error", "Tool execution failed: ReferenceError: nowhere is not defined")),
    );
    let place = format!("Thrown at {}:6:", pinza.home().join("tools/deep.js").display());
    assert!(answer["hint"].as_str().unwrap().starts_with(&place), "{answer}");
    let stderr = "error: execution_error: [..]nowhere is not defined\nhint: Thrown at [..]deep.js:6:[..]\n";
    check(&pinza, &["call", "deep"], 1, "", stderr);
}

#[test]
fn exports_move_nothing() {
    let pinza = pinza();
    let undefined = Err(("execution_error", "Tool execution failed: ReferenceError: nowhere is not defined"));
    for (index, (script, place)) in [
        ("\nexport default () => nowhere;", "2:22"),
        ("\nexport default\n  function () {\n    nowhere.x;\n}", "4:5"),
        ("\nexport default async function execute() { nowhere }", "2:43"),
        ("\nexport const execute = () => nowhere;", "2:30"),
        ("\nexport {\n  execute\n}; function execute() { nowhere }", "4:25"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("case{index}");
        tool(&pinza, &name, json!({}), script);
        let answer = check_call(&pinza, &[&name], undefined);
        assert_eq!(answer["hint"], format!("Thrown at {}:{place}", super::at(&pinza, &format!("{name}.js"))));
    }
}

#[test]
fn an_error_in_typescript_names_the_line_that_its_author_wrote() {
    let pinza = pinza();
    file(&pinza, "home/tools/typed.json", r#"{"name": "typed", "description": "x"}"#);
    let script = "interface A {\n  a: string;\n}\n\ntype B = {\n  b: number;\n};\n\nfunction execute(): B {\n  throw new Error('boom');\n}\n";
    file(&pinza, "home/tools/typed.ts", script);
    let answer = check_call(&pinza, &["typed"], Err(("execution_error", "Tool execution failed: boom")));
    let hint = answer["hint"].as_str().unwrap();
    let place = format!("Thrown at {}:10", pinza.home().join("tools/typed.ts").display());
    assert!(hint == place || hint.starts_with(&format!("{place}:")), "{hint}");
}

#[test]
fn arguments_are_repaired_and_validated_before_the_script_runs() {
    let pinza = pinza();
    let parameters = json!({"parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 3},
            "unit": {"enum": ["c", "f"], "default": "c"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    }});
    let script = "fs.appendFile('ran', 'x');\nfunction execute({ _env, ...params }) { return params }";
    tool(&pinza, "forecast", parameters, script);
    for (arguments, message) in [
        ("{}", "Missing required parameter: 'city'"),
        (r#"{"city": 5}"#, "Parameter 'city' expected type 'string' but got integer"),
        (r#"{"city": "x", "unit": "k"}"#, "Parameter 'unit' must be one of: c, f"),
        (r#"{"city": "x", "days": "many"}"#, "Parameter 'days' expected type 'integer' but got string"),
    ] {
        check_call(&pinza, &["forecast", arguments], Err(("validation_error", message)));
    }
    let missing = Err(("validation_error", "Missing required parameter: 'city'"));
    let answer = check_call(&pinza, &["forecast", "town=Rome"], missing);
    assert_eq!(answer["hint"], "There is no parameter 'town'; there are: city, days, unit, tags");
    assert_eq!(check_call(&pinza, &["forecast", "days=2"], missing)["hint"], json!(null));
    assert!(!pinza.workspace().join("ran").exists(), "not one line of the script");
    let defaults = r#"{"city":"Rome","days":3,"unit":"c"}"#;
    check_call(&pinza, &["forecast", "city=Rome"], Ok(defaults));
    check_call(&pinza, &["forecast", r#"{"city": "Rome", "days": null, "unit": null}"#], Ok(defaults));
    let repaired = r#"{"city": "Rome", "days": "5", "unit": "f", "tags": "[\"a\"]"}"#;
    check_call(&pinza, &["forecast", repaired], Ok(r#"{"city":"Rome","days":5,"unit":"f","tags":["a"]}"#));
    assert_eq!(pinza.text("ran"), "xxx");
}

#[test]
fn aliases_of_parameters() {
    let pinza = pinza();
    let more =
        json!({"parameters": {"properties": {"path": {"type": "string"}}}, "aliases": {"file": "path"}});
    tool(&pinza, "named", more, "function execute({ path, file }) { return [path, file ?? null] }");
    check_call(&pinza, &["named", "file=a"], Ok(r#"["a",null]"#));
}

#[test]
fn the_console_is_shown_with_v_and_kept_in_the_details() {
    let pinza = pinza();
    let script = "console.log('one', { two: [3] });\nfunction execute() { console.warn('%d%%', 5); console.error('last'); return 'done' }";
    tool(&pinza, "talks", json!({}), script);
    check(&pinza, &["call", "talks"], 0, "done\n", "");
    check(&pinza, &["-v", "call", "talks"], 0, "done\n", "one { two: [[..]3[..]] }\n5%\nlast\n");
    let answer = check_call(&pinza, &["talks"], Ok("done"));
    let levels: Vec<_> =
        answer["details"]["log"].as_array().unwrap().iter().map(|line| &line["level"]).collect();
    assert_eq!(levels, ["log", "warn", "error"]);
    assert_eq!(answer["details"]["log"][1], json!({"level": "warn", "text": "5%"}));
    assert!(answer["details"]["sandbox"].is_array(), "{answer}");
}

#[test]
fn a_script_of_two_tools_starts_anew_for_each_call() {
    let pinza = pinza();
    let script = "let count = 0;\nfunction execute({ again }) { count++; return again ? tools.call('counts', {}).then((inner) => [count, inner]) : count }";
    tool(&pinza, "counts", json!({"parameters": {"properties": {"again": {"type": "boolean"}}}}), script);
    check_call(&pinza, &["counts", "again=true"], Ok(r#"[1,"1"]"#));
}

#[test]
fn typescript_errors_are_told_before_any_call() {
    let pinza = pinza();
    file(&pinza, "home/tools/odd.json", r#"{"name": "odd", "description": "x"}"#);
    file(&pinza, "home/tools/odd.ts", "interface A { a: string }\nfunction execute(a: A {\n}\n");
    let list = super::list(&pinza, &[]);
    let message = list["problems"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("line 2, column "), "{list}");
}
