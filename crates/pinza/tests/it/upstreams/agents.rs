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
        assert_eq!(entry["args"], json!(["--workspace", workspace, "serve", "--stdio"]));
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
