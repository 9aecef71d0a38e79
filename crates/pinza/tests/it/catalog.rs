//! `pinza tools` and `pinza groups`.

use serde_json::{Value, json};

use crate::support::{check, fine, keys, pinza};

/// Name, group, section, profile, read-only: the built-in tools in their order.
const TOOLS: [(&str, Option<&str>, &str, &str, bool); 8] = [
    ("get_current_time", None, "runtime", "full", true),
    ("read_file", None, "fs", "full", true),
    ("write_file", None, "fs", "full", false),
    ("http_request", None, "web", "full", false),
    ("exec", None, "runtime", "coding", false),
    ("read", Some("fs"), "fs", "coding", true),
    ("write", Some("fs"), "fs", "coding", false),
    ("edit", Some("fs"), "fs", "coding", false),
];

const FIELDS: [&str; 8] =
    ["name", "description", "group", "section", "profiles", "source", "readOnly", "enabled"];

#[test]
fn the_list_in_json() {
    let pinza = pinza();
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    assert_eq!(keys(&list), ["tools", "groups", "problems"]);
    let tools = list["tools"].as_array().unwrap();
    for (name, group, section, profile, read_only) in TOOLS {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(keys(tool), FIELDS);
        assert!(!tool["description"].as_str().unwrap().is_empty());
        let expected = json!([group, section, [profile], "builtin", read_only, true]);
        let shown: Value = FIELDS[2..].iter().map(|field| tool[field].clone()).collect();
        assert_eq!(shown, expected, "{name}");
    }
    let group = json!({
        "name": "fs",
        "displayName": "Files",
        "description": "Read files by line, write and edit files in the workspace",
        "toolCount": 3,
    });
    assert_eq!(list["groups"][0].to_string(), group.to_string());
    assert_eq!(list["problems"], json!([]));
}

#[test]
fn the_list_for_people() {
    let stdout = "Files
  read_file         Read the contents of a file from local storage
...
  edit        [fs]  Replace one piece of a text file. [..]

Runtime
  load_tool_group   Load all tools in a tool group [..]
...
  get_current_time  Get the current date and time
...

Web
  http_request  Make an HTTP request to a URL
...";
    check(&pinza(), &["tools", "list"], 0, stdout, "");
}

#[test]
fn one_tool() {
    let pinza = pinza();
    let shown = fine(&pinza, &["--json", "tools", "show", "exec"]).json();
    let more = ["title", "capabilities", "timeoutSeconds", "parameters", "keywords", "examples"];
    assert_eq!(keys(&shown), [&FIELDS[..], &more].concat());
    assert_eq!(shown["capabilities"], json!(["exec"]));
    assert_eq!(keys(&shown["parameters"]["properties"]), ["command", "workdir", "timeout", "env"]);
    let stdout = "exec\nRun a shell command[..]\n\n  group[..]none, a core tool\n  source[..]builtin
  needs[..]exec\n  timeout[..]\n\nParameters\n  command[..]string[..]\n  workdir[..]string (optional)[..]\n...";
    check(&pinza, &["tools", "show", "exec"], 0, stdout, "");
    let stderr = "error: tool_not_found: Tool 'exex' not found\nhint: Did you mean exec?\n";
    check(&pinza, &["tools", "show", "exex"], 1, "", stderr);
    let stdout = r#"{"status":"error","error_type":"tool_not_found","message":"Tool 'exex' not found","hint":"Did you mean exec?"}"#;
    check(&pinza, &["--json", "tools", "show", "exex"], 1, &format!("{stdout}\n"), "");
}

#[test]
fn switching_off_and_on_keeps_the_file_as_it_was() {
    let pinza = pinza();
    let written = "# my tools\n\n[env] # variables\nREGION = \"eu\" # near\n\n[tools]\n# not these\ndisabled = [\n  \"edit\", # too sharp\n]\n";
    std::fs::write(pinza.config_file(), written).unwrap();
    check(&pinza, &["tools", "disable", "exec", "edit"], 0, "Switched off: edit, exec\n", "");
    let text = std::fs::read_to_string(pinza.config_file()).unwrap();
    for comment in ["# my tools", "# variables", "# near", "# not these", "# too sharp"] {
        assert!(text.contains(comment), "{comment} is not in {text}");
    }
    let enabled = |name: &str| {
        let list = fine(&pinza, &["--json", "tools", "list"]).json();
        list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()["enabled"] == true
    };
    assert!(!enabled("exec") && !enabled("edit") && enabled("read"));
    let stdout = "...\n  exec[..](disabled) Run a shell command[..]\n...";
    check(&pinza, &["tools", "list"], 0, stdout, "");
    check(
        &pinza,
        &["--json", "tools", "enable", "exec"],
        0,
        "{\"status\":\"success\",\"disabled\":[\"edit\"]}\n",
        "",
    );
    check(&pinza, &["tools", "enable", "edit"], 0, "All tools are on.\n", "");
    assert!(enabled("exec") && enabled("edit"));
    let text = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(text.contains("# my tools") && text.contains("# near"), "{text}");
}

#[test]
fn sets_are_switched_as_a_whole() {
    let pinza = pinza();
    check(&pinza, &["tools", "disable", "group:fs"], 0, "Switched off: group:fs\n", "");
    let stderr = "error: validation_error: 'read' is switched off by 'group:fs'
hint: Enable the whole set: pinza tools enable group:fs\n";
    check(&pinza, &["tools", "enable", "read"], 1, "", stderr);
    check(&pinza, &["tools", "enable", "group:fs"], 0, "All tools are on.\n", "");
    for command in ["enable", "disable"] {
        let stderr =
            "error: tool_not_found: Tool 'group:none' not found\nhint: See what there is: pinza tools list\n";
        check(&pinza, &["tools", command, "read", "group:none"], 1, "", stderr);
    }
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    assert!(
        list["tools"].as_array().unwrap().iter().all(|tool| tool["enabled"] == true),
        "nothing half done"
    );
}

#[test]
fn problems_are_reported_and_stop_nothing() {
    let pinza = pinza();
    std::fs::write(pinza.config_file(), "[tools]\ndisabled = [\"exec\", \"frobnicate\"]\n").unwrap();
    let file = pinza.config_file().display().to_string();
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    let message = "tools.disabled names 'frobnicate', but there is no such tool or set";
    let problem = json!([{"file": file, "entry": 1, "message": message}]);
    assert_eq!(list["problems"].to_string(), problem.to_string());
    let stderr = format!("warning: {file}, entry 1: {message}\n");
    check(&pinza, &["tools", "list"], 0, "...", &stderr);
    check(&pinza, &["-q", "tools", "list"], 0, "...", "");
    check(&pinza, &["tools", "enable", "frobnicate"], 0, "Switched off: exec\n", "");
}

#[test]
fn groups() {
    let pinza = pinza();
    let list = fine(&pinza, &["--json", "groups", "list"]).json();
    assert_eq!(keys(&list), ["groups"]);
    assert_eq!(keys(&list["groups"][0]), ["name", "displayName", "description", "toolCount"]);
    check(&pinza, &["groups", "list"], 0, "  fs  3 tools  Read files by line, [..]\n", "");
    let shown = fine(&pinza, &["--json", "groups", "show", "fs"]).json();
    assert_eq!(keys(&shown), ["name", "displayName", "description", "toolCount", "tools"]);
    let names: Vec<&Value> = shown["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read", "write", "edit"]);
    assert_eq!(keys(&shown["tools"][0]), ["name", "description"]);
    check(&pinza, &["groups", "show", "fs"], 0, "Files\nRead files by line, [..]\n\n  read   [..]\n...", "");
    let stderr = "error: not_found: Tool group 'none' not found. Available groups: fs\n";
    check(&pinza, &["groups", "show", "none"], 1, "", stderr);
}
