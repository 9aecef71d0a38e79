//! `pinza schema`: exactly what each provider's API takes.

use pinza_testkit::Program;
use serde_json::{Value, json};

use crate::support::{check, fine, keys, pinza, refused};

fn schema(pinza: &Program, arguments: &[&str]) -> Value {
    fine(pinza, &[&["--json", "schema", "--provider"], arguments].concat()).json()
}

/// The names in an OpenAI array.
fn names(schemas: &Value) -> Vec<&str> {
    schemas.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

#[test]
fn the_three_forms() {
    let pinza = pinza();
    let parameters = |string: &str, object: &str| {
        json!({
            "type": object,
            "properties": {
                "path": {"type": string, "description": "The file path to read (confined to the workspace)"},
                "encoding": {"type": string, "description": "File encoding. Defaults to 'UTF-8'."},
            },
            "required": ["path"],
        })
    };
    let (name, description) = ("read_file", "Read the contents of a file from local storage");
    let plain = parameters("string", "object");
    let openai = json!([{
        "type": "function",
        "function": {"name": name, "description": description, "parameters": plain},
    }]);
    let anthropic = json!([{"name": name, "description": description, "input_schema": plain}]);
    let gemini = json!({"function_declarations": [
        {"name": name, "description": description, "parameters": parameters("STRING", "OBJECT")},
    ]});
    for (provider, expected) in [("openai", openai), ("anthropic", anthropic), ("gemini", gemini)] {
        let printed = schema(&pinza, &[provider, "--include", "read_file"]);
        // As text, because order is part of what is cached.
        assert_eq!(printed.to_string(), expected.to_string(), "{provider}");
        let for_people = fine(&pinza, &["schema", "--provider", provider, "--include", "read_file"]);
        assert_eq!(for_people.json(), expected, "JSON either way");
    }
}

#[test]
fn choosing() {
    let pinza = pinza();
    let about_tools = ["load_tool_group", "search_tools", "load_skill"];
    let kept = ["save_memory", "update_memory", "search_history", "create_agent"];
    let own = ["get_current_time", "read_file", "write_file", "http_request", "exec", "js_eval"];
    let own = [&own[..], &kept].concat();
    let core = [&about_tools[..], &own].concat();
    let beyond_fs = [&about_tools[..], &["call_tool"], &own].concat();
    let all = [&beyond_fs[..], &["read", "write", "edit"]].concat();
    let cases: [(&[&str], &[&str]); 11] = [
        (&[], &core),
        (&["--all"], &all),
        (&["--group", "fs"], &["read", "write", "edit"]),
        (&["--include", "edit,group:runtime"], &["exec", "edit"]),
        (&["--include", "group:fs", "--exclude", "write"], &["read", "edit"]),
        (
            &["--exclude", "exec,http_request,js_eval,load_tool_group,search_tools,load_skill"],
            &["get_current_time", "read_file", "write_file", kept[0], kept[1], kept[2], kept[3]],
        ),
        (&["--all", "--exclude", "group:fs"], &beyond_fs),
        (&["--profile", "coding"], &["exec", "read", "write", "edit"]),
        (
            &["--profile", "coding", "--include", "http_request"],
            &["http_request", "exec", "read", "write", "edit"],
        ),
        (&["--profile", "minimal"], &[]),
        (&["--profile", "full"], &all),
    ];
    for (arguments, expected) in cases {
        let printed = schema(&pinza, &[&["openai"], arguments].concat());
        assert_eq!(names(&printed), expected, "{arguments:?}");
    }
    fine(&pinza, &["tools", "disable", "edit"]);
    assert_eq!(names(&schema(&pinza, &["openai", "--group", "fs"])), ["read", "write"], "only what is on");
}

#[test]
fn wrong_choices() {
    let pinza = pinza();
    let hint = "hint: See what there is: pinza tools list\n";
    let missing = |name: &str| format!("error: tool_not_found: There is no tool or set '{name}'\n{hint}");
    let base = ["schema", "--provider", "openai"];
    let cases: [(&[&str], &str); 4] = [
        (&["--include", "read,frobnicate"], &missing("frobnicate")),
        (&["--include", "group:none"], &missing("group:none")),
        (&["--all", "--exclude", "frobnicate"], &missing("frobnicate")),
        (&["--group", "none"], "error: not_found: Tool group 'none' not found. Available groups: fs\n"),
    ];
    for (arguments, stderr) in cases {
        check(&pinza, &[&base[..], arguments].concat(), 1, "", stderr);
    }
    refused(&pinza, &["schema"], "...\n  --provider <PROVIDER>\n...");
    refused(&pinza, &["schema", "--provider", "skynet"], "error: [..]unknown provider 'skynet'[..]\n...");
    refused(
        &pinza,
        &[&base[..], &["--all", "--group", "fs"]].concat(),
        "error: [..]cannot be used with[..]\n...",
    );
    refused(
        &pinza,
        &[&base[..], &["--profile", "huge"]].concat(),
        "error: [..]unknown profile 'huge'[..]\n...",
    );
}

#[test]
fn strict_mode_and_its_losses() {
    let pinza = pinza();
    let strict = schema(&pinza, &["openai", "--strict", "--include", "read"]);
    let function = &strict[0]["function"];
    assert_eq!(function["strict"], true);
    let parameters = &function["parameters"];
    assert_eq!(parameters["additionalProperties"], false);
    assert_eq!(parameters["required"], json!(["path", "offset", "limit"]));
    assert_eq!(parameters["properties"]["offset"]["type"], json!(["integer", "null"]));

    let report = schema(&pinza, &["openai", "--strict", "--report", "--include", "exec"]);
    assert_eq!(keys(&report), ["losses"]);
    assert_eq!(keys(&report["losses"][0]), ["tool", "path", "keyword", "reason"]);
    assert_eq!(report["losses"][0]["tool"], "exec");
    check(&pinza, &["schema", "--provider", "gemini", "--all", "--report"], 0, "Nothing is lost.\n", "");
}
