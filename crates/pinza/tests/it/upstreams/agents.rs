//! Agents' own configuration: Pinza added to it, and its servers taken over.

use std::fs;

use serde_json::{Value, json};

use crate::support::{check, fine, pinza};

#[test]
fn an_agent_comes_to_know_pinza() {
    for (agent, file) in [
        ("claude-code", ".claude.json"),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("cursor", ".cursor/mcp.json"),
    ] {
        let pinza = pinza();
        let path = pinza.directory().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = "{\n    \"token\":   \"s3cret\",\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" }\n    }\n}\n";
        fs::write(&path, before).unwrap();
        // Nobody there to see it: nothing happens.
        let run = pinza.run(&["mcp", "install", agent]);
        assert_eq!((run.code, fs::read_to_string(&path).unwrap().as_str()), (Some(1), before), "{run:?}");
        assert!(run.stdout.contains("+         \"pinza\": {") && !run.stdout.contains("s3cret"), "{run:?}");
        fine(&pinza, &["--yes", "--workspace", "here", "mcp", "install", agent]);
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.starts_with("{\n    \"token\":   \"s3cret\",\n"), "{after}");
        let read: Value = serde_json::from_str(&after).unwrap();
        let entry = &read["mcpServers"]["pinza"];
        assert!(entry["command"].as_str().unwrap().ends_with("/pinza"), "{entry}");
        let workspace = pinza.directory().join("here").display().to_string();
        assert_eq!(
            entry["args"],
            json!(["--home", pinza.home(), "--workspace", workspace, "serve", "--stdio"])
        );
        assert_eq!(read["mcpServers"]["other"], json!({"command": "x"}));
        check(
            &pinza,
            &["--yes", "--workspace", "here", "mcp", "install", agent],
            0,
            "[..] knows Pinza already: [..]\n",
            "",
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_made_and_a_broken_one_is_left() {
    let pinza = pinza();
    fine(&pinza, &["--yes", "mcp", "install", "cursor"]);
    let path = pinza.directory().join(".cursor/mcp.json");
    assert!(fs::read_to_string(&path).unwrap().contains("\"pinza\""));
    fs::write(&path, "{ // mine\n}").unwrap();
    let stderr = "error: [..] was not changed; add this yourself, below mcpServers: \"pinza\": {[..]}: the file is not JSON (comments are not understood)[..]\n";
    check(&pinza, &["--yes", "mcp", "install", "cursor"], 2, "", stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ // mine\n}");
}

#[test]
fn servers_are_taken_over_with_their_secrets_encrypted() {
    let pinza = pinza();
    let theirs = json!({
        "numStartups": 3,
        "mcpServers": {
            "GitHub Tools": {"command": "npx", "args": ["-y", "gh"], "env": {"GITHUB_TOKEN": "ghp_secret", "HOST": "${GH_HOST}"}},
            "wiki": {"type": "http", "url": "https://wiki.example.com/mcp", "headers": {"Authorization": "Bearer w1ki"}},
            "old": {"type": "sse", "url": "https://old.example.com/sse"},
            "pinza": {"command": "/usr/bin/pinza", "args": ["serve", "--stdio"]},
            "broken": {},
        }
    });
    fs::write(pinza.directory().join(".claude.json"), theirs.to_string()).unwrap();
    fs::write(pinza.config_file(), "# mine\n[env]\nA = \"b\"\n").unwrap();
    let run = pinza.run(&["mcp", "import", "claude-code"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(fs::read_to_string(pinza.config_file()).unwrap(), "# mine\n[env]\nA = \"b\"\n");
    assert!(!run.stdout.contains("ghp_secret") && !run.stdout.contains("w1ki"), "{run:?}");

    let run = fine(&pinza, &["--yes", "--json", "mcp", "import", "claude-code"]).json();
    assert_eq!(run["added"], json!(["github-tools", "wiki"]));
    assert_eq!(run["kept"], json!(["GITHUB_TOOLS_GITHUB_TOKEN", "WIKI_AUTHORIZATION"]));
    assert_eq!(run["wanted"], json!(["GH_HOST"]));
    assert_eq!(run["leftOut"].as_array().unwrap().len(), 3, "{run}");
    let config = fs::read_to_string(pinza.config_file()).unwrap();
    assert!(config.starts_with("# mine\n[env]\nA = \"b\"\n") && !config.contains("secret"), "{config}");
    let expected = "[mcp.servers.github-tools]
command = [\"npx\", \"-y\", \"gh\"]
env = { GITHUB_TOKEN = \"${env.GITHUB_TOOLS_GITHUB_TOKEN}\", HOST = \"${env.GH_HOST}\" }
";
    assert!(config.contains(expected), "{config}");
    let again = fine(&pinza, &["--yes", "--json", "mcp", "import", "claude-code"]).json();
    assert_eq!(again["added"], json!([]));
    check(
        &pinza,
        &["mcp", "import", "cursor"],
        1,
        "",
        "error: not_found: Cursor has no configuration here\nhint: Name the file with --file.\n",
    );
}

#[test]
fn an_entry_has_what_was_said_and_keeps_what_it_had() {
    let pinza = pinza();
    let path = pinza.directory().join(".cursor/mcp.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let before = json!({"mcpServers": {
        "pinza": {"command": "old", "args": [], "env": {"MINE": "k3pt"}},
        "other": {"command": "x", "env": {"TOKEN": "s3cret"}},
    }});
    fs::write(&path, before.to_string()).unwrap();
    let flags =
        ["--yes", "--json", "--tools", "t", "--allow", "net,exec", "--deny", "browser", "--allow-override"];
    let run = fine(&pinza, &[&flags[..], &["mcp", "install", "cursor"]].concat());
    assert!(!run.stdout.contains("s3cret") && !run.stdout.contains("k3pt"), "{run:?}");
    assert!(run.json()["change"].to_string().contains("--allow-override"), "{run:?}");
    let after: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let tools = pinza.directory().join("t");
    let arguments = json!([
        "--home",
        pinza.home(),
        "--tools",
        tools,
        "--allow",
        "net,exec",
        "--deny",
        "browser",
        "--allow-override",
        "serve",
        "--stdio"
    ]);
    let entry = &after["mcpServers"]["pinza"];
    assert_eq!((&entry["args"], &entry["env"]), (&arguments, &json!({"MINE": "k3pt"})));
    assert_eq!(after["mcpServers"]["other"], before["mcpServers"]["other"]);
    let stderr = "error: validation_error: --env A would stand in the agent's file in plain text; nothing was changed\nhint: Keep it encrypted with: pinza env set A\n";
    check(&pinza, &["--yes", "--env", "A=b", "mcp", "install", "cursor"], 1, "", stderr);
}

#[test]
fn a_neighbours_line_is_not_shown() {
    let pinza = pinza();
    let path = pinza
        .put("theirs.json", "{\n  \"mcpServers\": {\n    \"x\": {\"env\": {\"T\": \"s3cret\"}}\n  }\n}\n");
    let run = fine(&pinza, &["--yes", "mcp", "install", "cursor", "--file", path.to_str().unwrap()]);
    assert!(run.stdout.contains("+     \"pinza\": {") && !run.stdout.contains("s3cret"), "{run:?}");
}

#[test]
fn a_servers_secret_stays_its_own() {
    let pinza = pinza();
    pinza.run_with_input(&["env", "set", "WIKI_TOKEN"], "mine");
    let token = |name: &str, value: &str| json!({"command": "x", "env": {name: value}});
    let theirs = json!({"mcpServers": {
        "git": token("GITHUB_TOKEN", "secret-of-git"),
        "github": token("GITHUB_TOKEN", "secret-of-github"),
        "wiki": token("WIKI_TOKEN", "secret-of-wiki"),
        "db": token("DB_URL", "secret-of-db"),
        // Asks for a variable by a name that another server's secret would get.
        "nosy": token("A", "${DB_URL}"),
    }});
    let path = pinza.put("theirs.json", theirs.to_string());
    let run = fine(&pinza, &["--yes", "--json", "mcp", "import", "cursor", "--file", path.to_str().unwrap()])
        .json();
    let kept = json!(["GIT_GITHUB_TOKEN", "GITHUB_TOKEN", "WIKI_WIKI_TOKEN", "DB_DB_URL"]);
    assert_eq!((&run["kept"], &run["wanted"]), (&kept, &json!(["DB_URL"])), "{run}");
    let config = fs::read_to_string(pinza.config_file()).unwrap();
    for entry in
        ["${env.GIT_GITHUB_TOKEN}", "${env.GITHUB_TOKEN}", "${env.WIKI_WIKI_TOKEN}", "${env.DB_DB_URL}"]
    {
        assert!(config.contains(entry), "{entry}: {config}");
    }
}

#[test]
fn what_cannot_be_taken_over_is_said() {
    let pinza = pinza();
    let theirs = json!({
        "mcpServers": {
            "ports": {"command": "x", "args": ["--port", 8080, true], "cwd": "/data", "env": {"MODE": "${MODE:-prod}"}},
            "off": {"command": "x", "disabled": true},
            "odd": {"command": "x", "args": [{"a": 1}]},
            "refers": {"command": "x", "args": ["${DIR}"]},
            "asks": {"command": "x", "env": {"K": "${input:key}"}},
            "fs": {"command": "x"},
            "open": {"command": "x", "args": ["--api-key", "s3cret"], "timeout": 5},
        },
        "projects": {"/p": {"mcpServers": {"one": {"command": "x"}, "two": {"command": "x"}}}, "/q": {}},
    });
    fs::write(pinza.directory().join(".claude.json"), theirs.to_string()).unwrap();
    let text = fine(&pinza, &["--yes", "mcp", "import", "claude-code"]).stdout;
    for part in [
        "command = [\"x\", \"--port\", \"8080\", \"true\"]",
        "directory = \"/data\"",
        "env = { MODE = \"${env.PORTS_MODE}\" }",
        "Left out: off: it is switched off there",
        "Left out: odd: args[0] is neither text nor a number",
        "Left out: refers: its args[0] refers to ${DIR}; ",
        "Left out: asks: its env.K refers to ${input:key}, ",
        "Left out: fs: there is a group 'fs' already",
        "Note: ports: MODE has its default now",
        "Note: open: not taken over, as Pinza has no such setting: timeout",
        "Note: open: its command or address seems to hold a secret",
        "/.claude.json has them for /p only: one, two",
        "Added: ports, open.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("s3cret"), "{text}");
    assert!(fs::read_to_string(pinza.config_file()).unwrap().contains("s3cret"));
}
