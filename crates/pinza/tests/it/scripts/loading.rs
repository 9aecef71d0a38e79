//! From files to a list of tools, and a list of what did not load.

use serde_json::{Value, json};

use super::{at, custom, entry, file, group, list, names, tool, tool_in};
use crate::support::{check, check_call, fine, keys, pinza};

#[test]
fn a_single_tool_in_javascript_and_in_typescript() {
    let pinza = pinza();
    let word = json!({"parameters": {"properties": {"word": {"type": "string"}}, "required": ["word"]}});
    tool(&pinza, "shout", word, "function execute({ word }) { return word.toUpperCase() }");
    file(
        &pinza,
        "home/tools/paint.json",
        r#"{"name": "paint", "description": "Paints", "readOnly": true, "title": "Paint a word"}"#,
    );
    let typescript = "enum Color { Red = 'red', Blue = 'blue' }
        interface Parameters { color?: Color; coats: number }
        export default async function ({ color = Color.Blue, coats }: Parameters): Promise<string> {
          return `${color as string} ${Color[Color.Red as keyof typeof Color]} ${coats!}`;
        }";
    file(&pinza, "home/tools/paint.ts", typescript);
    check_call(&pinza, &["shout", "word=pinza"], Ok("PINZA"));
    check_call(&pinza, &["paint", "coats=2"], Ok("blue undefined 2"));
    let list = list(&pinza, &[]);
    let row = |name: &str, description: &str, read_only: bool| {
        json!({
            "name": name, "description": description, "group": null, "section": "custom", "profiles": ["full"],
            "source": format!("js:{}", at(&pinza, &format!("{name}.json"))), "readOnly": read_only, "enabled": true,
        })
    };
    let expected = json!([row("paint", "Paints", true), row("shout", "The tool shout", false)]);
    assert_eq!(json!(custom(&list)).to_string(), expected.to_string());
    assert_eq!(list["problems"], json!([]));
    let shown = fine(&pinza, &["--json", "tools", "show", "paint"]).json();
    assert_eq!(
        (&shown["title"], &shown["timeoutSeconds"]),
        (&json!("Paint a word"), &json!(30.0)),
        "{shown}"
    );
}

#[test]
fn a_group_with_words_and_one_without() {
    let pinza = pinza();
    let meta = json!({"_meta": true, "display_name": "Sums & more", "description": "Small sums"});
    let script = "const add = ({ a, b }) => a + b; function twice({ a }) { return add({ a, b: a }) }";
    group(&pinza, "sums", &json!([meta, entry("add"), entry("twice")]), script);
    group(&pinza, "odd_jobs", &json!([entry("job")]), "function job() { return 'done' }");
    check_call(&pinza, &["add", "a=2", "b=3"], Ok("5"));
    check_call(&pinza, &["twice", "a=4"], Ok("8"));
    check_call(&pinza, &["job"], Ok("done"));
    let list = list(&pinza, &[]);
    let groups: Vec<&Value> =
        list["groups"].as_array().unwrap().iter().filter(|group| group["name"] != "fs").collect();
    assert_eq!(groups.len(), 2, "{groups:?}");
    let sums =
        json!({"name": "sums", "displayName": "Sums & more", "description": "Small sums", "toolCount": 2});
    let found = groups.iter().find(|group| group["name"] == "sums").unwrap();
    assert_eq!(found.to_string(), sums.to_string());
    let found = groups.iter().find(|group| group["name"] == "odd_jobs").unwrap();
    assert_eq!((&found["displayName"], &found["toolCount"]), (&json!("Odd Jobs"), &json!(1)), "{found}");
    for tool in custom(&list) {
        let group = if tool["name"] == "job" { "odd_jobs" } else { "sums" };
        assert_eq!((&tool["group"], &tool["section"]), (&json!(group), &json!("custom")), "{tool}");
    }
    check(
        &pinza,
        &["groups", "show", "sums"],
        0,
        "Sums & more\nSmall sums\n\n  add    [..]\n  twice  [..]\n",
        "",
    );
}

#[test]
fn what_is_good_loads_and_the_rest_is_named() {
    let pinza = pinza();
    let manifest = json!([
        {"_meta": true},
        entry("good"),
        {"name": "Bad", "description": "", "function": "good"},
        entry("good"),
        {"name": "void_one", "description": "x", "function": "void"},
        {"name": "eval_one", "description": "x", "function": "eval"},
        {"name": "inherited", "description": "x", "function": "constructor"},
        {"name": "missing", "description": "x", "function": "goood"},
        {"name": "none", "description": "x"},
        5,
        {"_meta": true},
        {"description": "x", "function": "good"},
        {"name": "silent", "function": "good"},
        {"name": "klass", "description": "x", "function": "Klass"},
        {"name": "paste", "description": "x", "function": "good(); evil"},
        entry("also_good"),
    ]);
    group(
        &pinza,
        "mixed",
        &manifest,
        "function good() { return 1 }\nclass Klass {}\nexport const also_good = () => 2;\n",
    );
    let list = list(&pinza, &[]);
    assert_eq!(names(&custom(&list)), ["good", "also_good"]);
    let (json, js) = (at(&pinza, "mixed.json"), at(&pinza, "mixed.js"));
    let expected: Vec<(usize, String)> = [
        (2, "Tool name 'Bad' must be snake_case (lowercase letters, digits, underscores)"),
        (3, "Duplicate tool name 'good' in group 'mixed.json' (entry 3 skipped)"),
        (4, "Invalid function name 'void' for tool 'void_one'"),
        (5, "Invalid function name 'eval' for tool 'eval_one'"),
        (6, "Invalid function name 'constructor' for tool 'inherited'"),
        (7, "JS has no function 'goood' for tool 'missing'; did you mean good?"),
        (8, "Tool 'none' in group 'mixed.json' missing required 'function' field"),
        (9, "An entry must be an object, not integer"),
        (10, "'_meta' must be the first entry"),
        (11, "Missing 'name'"),
        (12, "Missing required field: 'description'"),
        (13, "JS has no function 'Klass' for tool 'klass'; 'Klass' is a class"),
        (14, "Invalid function name 'good(); evil' for tool 'paste'"),
    ]
    .map(|(index, message)| (index, message.replace("JS", &js)))
    .to_vec();
    let problems = list["problems"].as_array().unwrap();
    for (problem, (index, message)) in problems.iter().zip(&expected) {
        assert_eq!(keys(problem), ["file", "entry", "message"]);
        assert_eq!(problem, &json!({"file": json, "entry": index, "message": message}));
    }
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    check_call(&pinza, &["also_good"], Ok("2"));
}

#[test]
fn a_whole_file_that_does_not_load() {
    let pinza = pinza();
    tool(&pinza, "fine", json!({}), "function execute() { return 'fine' }");
    tool(&pinza, "broken", json!({}), "function execute() {\n  return (;\n}\n");
    tool(&pinza, "empty", json!({}), "");
    tool(&pinza, "imports", json!({}), "import fs from 'fs';\nfunction execute() {}\n");
    tool(&pinza, "other", json!({"name": "another"}), "function execute() {}");
    file(&pinza, "home/tools/json.json", "{\n  \"name\": \"json\",\n}");
    file(&pinza, "home/tools/json.js", "function execute() {}");
    file(&pinza, "home/tools/alone.json", r#"{"name": "alone", "description": ""}"#);
    tool(&pinza, "both", json!({}), "function execute() {}");
    file(&pinza, "home/tools/both.ts", "function execute() {}");
    file(&pinza, "home/tools/text.json", "\"text\"");
    file(&pinza, "home/tools/text.js", "");
    let crowd: Vec<Value> = (0..51).map(|number| entry(&format!("t{number}"))).collect();
    group(&pinza, "crowd", &json!(crowd), "");
    let list = list(&pinza, &[]);
    assert_eq!(names(&custom(&list)), ["fine"]);
    let problem =
        |file: &str, message: String| json!({"file": at(&pinza, file), "entry": null, "message": message});
    let expected = json!([
        problem("alone.json", "Missing corresponding .js file: alone.js".into()),
        problem("both.json", "Both both.js and both.ts are there; keep one of them".into()),
        problem("broken.js", "line 2, column 11: Unexpected token".into()),
        problem("crowd.json", "Tool group in 'crowd.json' has 51 entries (maximum: 50)".into()),
        problem(
            "empty.json",
            format!("{} has no function 'execute' for tool 'empty'", at(&pinza, "empty.js"))
        ),
        problem("imports.js", "line 1, column 1: imports are not available to tools; use lib(name)".into()),
        problem("json.json", "line 3, column 1: Not valid JSON: trailing comma".into()),
        problem("other.json", "Tool name 'another' does not match filename 'other'".into()),
        problem("text.json", "JSON must be an object or array, not string".into()),
    ]);
    assert_eq!(list["problems"].to_string(), expected.to_string());
    check_call(&pinza, &["fine"], Ok("fine"));
    // Whoever calls what is missing is told why; whoever calls something else is not bothered.
    check(&pinza, &["call", "fine"], 0, "fine\n", "");
    let stderr = "...\nwarning: [..]broken.js: line 2, column 11: Unexpected token\n...\nerror: tool_not_found: Tool 'broken' not found\n...";
    check(&pinza, &["call", "broken"], 1, "", stderr);
}

#[test]
fn fifty_tools_and_their_words_fit() {
    let pinza = pinza();
    let entries =
        (0..50).map(|number| json!({"name": format!("t{number}"), "description": "x", "function": "run"}));
    let manifest: Vec<Value> = std::iter::once(json!({"_meta": true})).chain(entries).collect();
    group(&pinza, "full", &json!(manifest), "function run() { return 'ran' }");
    let list = list(&pinza, &[]);
    assert_eq!((custom(&list).len(), &list["problems"]), (50, &json!([])));
    check_call(&pinza, &["t49"], Ok("ran"));
}

#[test]
fn the_first_of_two_wins_and_the_other_is_a_problem() {
    let pinza = pinza();
    let says = |word: &str| format!("function execute() {{ return '{word}' }}");
    tool(&pinza, "same", json!({}), &says("home"));
    tool_in(&pinza, "one", "same", json!({}), &says("one"));
    tool_in(&pinza, "two", "same", json!({}), &says("two"));
    tool_in(&pinza, "two", "edit", json!({}), &says("mine"));
    tool_in(&pinza, "two", "only", json!({}), &says("only"));
    let flags = ["--tools", "one", "--tools", "two"];
    check_call(&pinza, &[&["same"], &flags[..]].concat(), Ok("home"));
    check_call(&pinza, &[&["only"], &flags[..]].concat(), Ok("only"));
    let shown = list(&pinza, &flags);
    assert_eq!(names(&custom(&shown)), ["same", "only"]);
    let conflict = |file: &str, name: &str| json!({"file": file, "entry": null, "message": format!("Name conflict with existing tool '{name}' (skipped)")});
    let mut problems = shown["problems"].as_array().unwrap().clone();
    problems.sort_by_key(Value::to_string);
    let expected = [
        conflict("one/same.json", "same"),
        conflict("two/edit.json", "edit"),
        conflict("two/same.json", "same"),
    ];
    assert_eq!(problems, expected);

    let flags = [&flags[..], &["--allow-override"]].concat();
    check_call(&pinza, &[&["same"], &flags[..]].concat(), Ok("two"));
    check_call(&pinza, &[&["edit"], &flags[..]].concat(), Ok("mine"));
    let shown = list(&pinza, &flags);
    assert_eq!(shown["problems"], json!([]));
    let edit = *custom(&shown).iter().find(|tool| tool["name"] == "edit").unwrap();
    assert_eq!((&edit["group"], &edit["source"]), (&json!("fs"), &json!("js:two/edit.json")), "{edit}");
    assert_eq!(shown["tools"].as_array().unwrap().iter().filter(|tool| tool["name"] == "edit").count(), 1);
}

/// The loader's own fixtures: what it takes for a function can be called, in every form.
#[test]
fn every_form_of_function_that_loads_can_be_called() {
    let pinza = pinza();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/js/loading/functions");
    let list = list(&pinza, &["--tools", directory]);
    let tools = names(&custom(&list));
    assert!(tools.len() >= 19, "{tools:?}");
    for name in tools {
        check_call(&pinza, &[name, "--tools", directory], Ok("[..]"));
    }
}

#[test]
fn a_group_whose_tools_all_gave_way_is_none() {
    let pinza = pinza();
    group(&pinza, "editors", &json!([entry("edit")]), "const edit = () => 'mine';");
    for flags in [&[][..], &["--allow-override"]] {
        let groups = list(&pinza, flags)["groups"].clone();
        assert_eq!(groups.as_array().unwrap().iter().map(|group| &group["name"]).collect::<Vec<_>>(), ["fs"]);
    }
}

#[test]
fn words_of_a_manifest_cannot_paint_on_the_terminal() {
    let pinza = pinza();
    let red = "\u{1b}[31mred\u{1b}[0m";
    let meta = json!({"_meta": true, "display_name": red, "description": red});
    group(
        &pinza,
        "painted",
        &json!([meta, {"name": "paints", "description": red, "function": "f"}]),
        "const f = () => 1;",
    );
    let inherited =
        json!({"description": red, "function": red, "parameters": {"properties": {red: {"type": red}}}});
    tool(&pinza, "painting", inherited, "function execute() {}");
    let commands: [&[&str]; 7] = [
        &["tools", "list"],
        &["tools", "show", "paints"],
        &["tools", "check"],
        &["groups", "list"],
        &["groups", "show", "painted"],
        &["call", "painting"],
        &["call", red],
    ];
    for command in commands {
        let run = pinza.run(command);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains('\u{1b}'), "{command:?}: {run:?}");
    }
}

#[test]
fn what_other_programs_keep_there_is_none_of_ours() {
    let pinza = pinza();
    for name in
        ["package.json", "tsconfig.json", ".hidden.json", "x.test.json", "types.d.ts", "notes.md", "README"]
    {
        file(&pinza, &format!("home/tools/{name}"), "not { a tool");
    }
    file(&pinza, "home/tools/deeper/x.json", "[]");
    let list = list(&pinza, &[]);
    assert_eq!((custom(&list), &list["problems"]), (vec![], &json!([])));
}

#[test]
fn a_directory_that_is_typed_must_be_there() {
    let stderr = "error: --tools nowhere: there is no such directory\n";
    check(&pinza(), &["--tools", "nowhere", "tools", "list"], 2, "", stderr);
}

#[test]
fn what_a_tool_is_found_by_is_shown() {
    let pinza = pinza();
    let more =
        json!({"keywords": ["forecast", "rain\u{1b}"], "examples": [{"city": "Tokyo"}, "will it rain?"]});
    tool(&pinza, "sky", more.clone(), "function execute() {}");
    let shown = fine(&pinza, &["--json", "tools", "show", "sky"]).json();
    assert_eq!((&shown["keywords"], &shown["examples"]), (&more["keywords"], &more["examples"]));
    let stdout = "sky\n...\n  keywords[..]forecast, rain\\u{1b}
  example[..]{\"city\":\"Tokyo\"}\n  example[..]will it rain?\n\nIt takes no parameters.\n";
    check(&pinza, &["tools", "show", "sky"], 0, stdout, "");
    let bare = fine(&pinza, &["--json", "tools", "show", "js_eval"]).json();
    assert_eq!((&bare["keywords"], &bare["examples"]), (&json!([]), &json!([])));
    assert!(!fine(&pinza, &["tools", "show", "js_eval"]).stdout.contains("example"));
}
