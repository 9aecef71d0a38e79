//! Through the program: adding, calling, removing, and what a bad server comes to.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{PATIENCE, add, command, configured, with_fixture};
use crate::{
    approval::Terminal,
    support::{check, check_call, fine, pinza, refused},
};

#[test]
fn a_server_is_a_group() {
    let pinza = with_fixture(&[]);
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    let tool = |name: &str| {
        list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).cloned().unwrap()
    };
    let echo = tool("fix__echo");
    assert_eq!(
        (&echo["group"], &echo["source"], &echo["readOnly"], &echo["section"], &echo["profiles"]),
        (&json!("fix"), &json!("mcp:fix"), &json!(true), &json!("custom"), &json!(["full"]))
    );
    assert_eq!(tool("fix__sum")["readOnly"], false);
    let group =
        list["groups"].as_array().unwrap().iter().find(|group| group["name"] == "fix").cloned().unwrap();
    let expected = json!({"name": "fix", "displayName": "The fixture", "description": "Does what tests need.", "toolCount": 15});
    assert_eq!(group, expected);
    assert_eq!(list["problems"], json!([]));
    check(&pinza, &["mcp", "list"], 0, "  fix  15 tools  node [..]server.mjs\n", "");
}

#[test]
fn results_keep_their_shape() {
    let pinza = with_fixture(&[]);
    check_call(&pinza, &["fix__echo", "text=hello"], Ok("hello"));
    let sum = check_call(&pinza, &["fix__sum", "numbers=[1, 2.5]"], Ok("3.5"));
    assert_eq!(sum["details"], json!({"sum": 3.5}));
    let picture = check_call(&pinza, &["fix__picture"], Ok("see\n..."));
    let kinds: Vec<_> =
        picture["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "blob", "text"]);
    let blob = json!({"type": "blob", "uri": "file:///c", "mimeType": "application/zip", "data": "AAAA"});
    assert_eq!(picture["content"][5], blob);
    let told = picture["result"].as_str().unwrap();
    assert!(
        told.ends_with(
            "[file:///c: 3 bytes of application/zip]\n[a kind of content that Pinza does not know]"
        ),
        "{told}"
    );
    check_call(
        &pinza,
        &["fix__fail"],
        Err(("execution_error", "it did not work\n[image image/png, 3 bytes]")),
    );
    check_call(&pinza, &["fix__refuse"], Err(("validation_error", "fix: not with these arguments")));
    // Arguments are checked before anything is started.
    check_call(&pinza, &["fix__echo"], Err(("validation_error", "Missing required parameter: 'text'")));
    check_call(&pinza, &["fix__nothing"], Err(("tool_not_found", "[..]")));
    let schema = fine(&pinza, &["--json", "tools", "show", "fix__sum"]).json();
    assert_eq!(schema["parameters"]["required"], json!(["numbers"]));
}

#[test]
fn what_a_server_says_does_not_steer_a_terminal() {
    let pinza = with_fixture(&[]);
    let text = "text=a\u{1b}[2J\u{1b}]0;b\u{7}\nc";
    for tool in ["fix__echo", "fix__fail"] {
        let (_, screen, _) = Terminal::start_whole(&pinza, &["call", tool, text]).end();
        assert!(screen.contains("a\\u{1b}[2J\\u{1b}]0;b\\u{7}\r\nc"), "{screen:?}");
        assert!(!screen.contains('\u{1b}'), "{screen:?}");
    }
    // A program gets it as it is.
    assert_eq!(fine(&pinza, &["call", "fix__echo", text]).stdout, format!("{}\n", &text[5..]));
}

#[test]
fn progress_is_told() {
    let pinza = with_fixture(&[]);
    check(
        &pinza,
        &["-v", "call", "fix__progress"],
        0,
        "done\n",
        "0.5/1.5: step 1\n1/1.5: step 2\n1.5/1.5: step 3\n",
    );
}

#[test]
fn a_server_knows_what_it_is_told_and_nothing_else() {
    let pinza = pinza();
    pinza.run_with_input(&["env", "set", "TOKEN"], "t0p-secret");
    let words = command(&[]);
    let mut arguments = vec!["mcp", "add", "fix", "--variable", "TOKEN", "--variable", "MODE=loud", "--"];
    arguments.extend(words.iter().map(String::as_str));
    fine(&pinza, &arguments);
    let config = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(config.contains(r#"env = { TOKEN = "${env.TOKEN}", MODE = "loud" }"#), "{config}");
    let run = pinza_testkit::program::finish(
        pinza.command(["--json", "call", "fix__env"]).env("AWS_SECRET", "x").env("PINZA_KEY", ""),
        "",
    );
    let known: serde_json::Value = serde_json::from_str(run.json()["result"].as_str().unwrap()).unwrap();
    assert_eq!((&known["TOKEN"], &known["MODE"]), (&json!("t0p-secret"), &json!("loud")));
    let foreign: Vec<_> = known
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| !["TOKEN", "MODE", "PATH", "HOME"].contains(&name.as_str()))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    // A variable that is not there is said by its name.
    fine(&pinza, &["env", "rm", "TOKEN"]);
    let message =
        "The server fix cannot be used: the variable TOKEN is not set; keep it with: pinza env set TOKEN";
    check_call(&pinza, &["fix__env"], Err(("execution_error", message)));
}

#[test]
fn comments_stay_where_they_were() {
    let pinza = pinza();
    let before = "# mine\n[env]\nA = \"b\" # why\n\n[mcp.servers.old] # keep\ncommand = [\"x\"]\n";
    std::fs::write(pinza.config_file(), before).unwrap();
    let words = command(&[]);
    let mut arguments = vec!["mcp", "add", "fix", "--no-start", "--summary", "What it does", "--"];
    arguments.extend(words.iter().map(String::as_str));
    fine(&pinza, &arguments);
    let after = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(after.starts_with(before) && after.contains("[mcp.servers.fix]"), "{after}");
    fine(&pinza, &["mcp", "remove", "fix"]);
    assert_eq!(std::fs::read_to_string(pinza.config_file()).unwrap().trim_end(), before.trim_end());
    check(
        &pinza,
        &["mcp", "remove", "fix"],
        1,
        "",
        "error: not_found: There is no server 'fix'\nhint: There are: old\n",
    );
}

#[test]
fn what_is_no_server_is_refused() {
    let pinza = pinza();
    for (arguments, reason) in [
        (vec!["mcp", "add", "A B", "--", "x"], "error: 'A B' cannot name a server: [..]\n"),
        (vec!["mcp", "add", "a__b", "--", "x"], "error: 'a__b' cannot name a server: [..]\n"),
        (
            vec!["mcp", "add", "a", "ftp://x/"],
            "error: mcp.servers.a: 'ftp://x/' is no http or https address\n",
        ),
        (vec!["mcp", "add", "a"], "error: the following required arguments[..]\n..."),
        (vec!["mcp", "add", "a", "--header", "A=b", "--", "x"], "error: --header is for a URL; [..]\n"),
    ] {
        refused(&pinza, &arguments, reason);
    }
    for (text, reason) in [
        ("command = []", "[..]says neither[..]\n"),
        ("command = [\"a\"]\nurl = \"http://x\"", "[..]says both[..]\n"),
        (
            "command = [\"a\"]\ntimeout_seconds = 0",
            "[..]timeout_seconds = 0 is not a whole number from 1 to 3600\n",
        ),
        ("command = [\"a\"]\ncolour = 1", "...\n[..]unknown field `colour`[..]\n"),
    ] {
        std::fs::write(pinza.config_file(), format!("[mcp.servers.a]\n{text}\n")).unwrap();
        refused(
            &pinza,
            &["tools", "list"],
            &format!("error: [..] is not a valid configuration: {reason}").replace(": ...", ": [..]\n..."),
        );
    }
}

#[test]
fn a_dead_server_says_why() {
    let pinza = pinza();
    configured(&pinza, "dead", &["--die", "7"], "");
    configured(&pinza, "none", &[], "");
    let stderr = "error: The server dead cannot be used: it exited with code 7 before it answered\nIt printed:\n  the database is not there\n";
    check(&pinza, &["mcp", "test", "dead"], 1, "", stderr);
    let missing = pinza.run(&["mcp", "add", "lost", "--", "no-such-program-here"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("'no-such-program-here' was not found"), "{missing:?}");
    assert!(!std::fs::read_to_string(pinza.config_file()).unwrap().contains("lost"));
    // What is known of the others is not touched by it.
    check(
        &pinza,
        &["mcp", "list"],
        0,
        "  dead  not looked at yet  [..]\n  none  not looked at yet  [..]\n",
        "",
    );
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let pinza = pinza();
    configured(&pinza, "slow", &["--hang"], "start_timeout_seconds = 1");
    let stderr = "error: The server slow cannot be used: it did not answer within 1 s\n";
    check(&pinza, &["mcp", "test", "slow"], 1, "", stderr);
}

#[test]
fn a_server_that_dies_of_the_new_greeting_gets_the_old_one() {
    let pinza = with_fixture(&["--discover-dies"]);
    check_call(&pinza, &["fix__echo", "text=hello"], Ok("hello"));
}

#[test]
fn a_flood_of_errors_is_kept_by_its_end() {
    let pinza = pinza();
    configured(&pinza, "loud", &["--flood", "20000000"], "");
    let run = fine(&pinza, &["--json", "mcp", "test", "loud"]);
    let log = run.json()["stderr"].as_str().unwrap().to_owned();
    assert!(log.ends_with("the last line\n") && log.starts_with('['), "{}", log.len());
    assert!(log.len() < 70_000, "{}", log.len());
}

#[test]
fn a_line_without_an_end_is_not_waited_for() {
    let pinza = with_fixture(&[]);
    let message = "The server fix was lost during the call: it sent a message of more than 32 MiB";
    check_call(&pinza, &["fix__giant"], Err(("output_limit", message)));
    check_call(&pinza, &["fix__big", "bytes=17000000"], Err(("output_limit", "[..]")));
    check_call(&pinza, &["fix__big", "bytes=100"], Ok(&"x".repeat(100)));
}

#[test]
fn a_crash_is_an_answer() {
    let pinza = with_fixture(&[]);
    let lost = "The server fix was lost during the call: it exited with code 3";
    check_call(&pinza, &["fix__crash"], Err(("execution_error", lost)));
}

#[test]
fn questions_are_for_people() {
    let pinza = with_fixture(&[]);
    let answer = |flags: &[&str], arguments: &[&str]| {
        let run = pinza.run(&[flags, &["--json", "call", "fix__ask"], arguments].concat());
        run.json()["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(answer(&[], &[]), r#"{"action":"decline"}"#);
    assert_eq!(answer(&["--yes"], &[]), r#"{"action":"accept","content":{"sure":true}}"#);
    assert_eq!(answer(&["--yes", "--deny", "elicitation"], &[]), r#"{"action":"decline"}"#);
    let open = r#"schema={"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
    assert_eq!(answer(&["--yes"], &[open]), r#"{"action":"decline"}"#);
    check_call(&pinza, &["fix__think"], Ok("[..]Pinza does not lend its model to servers[..]"));
}

#[test]
fn rules_are_about_servers_too() {
    let pinza = with_fixture(&[]);
    fine(&pinza, &["policy", "deny", "--tool", "fix__e*"]);
    check_call(
        &pinza,
        &["fix__echo", "text=x"],
        Err(("permission_denied", "Required permissions were denied: fix__echo")),
    );
    check_call(&pinza, &["fix__sum", "numbers=[]"], Ok("0"));
    fine(&pinza, &["tools", "disable", "group:fix"]);
    check_call(&pinza, &["fix__sum", "numbers=[]"], Err(("tool_disabled", "[..]")));
}

#[test]
fn names_are_taken_as_they_are_or_not_at_all() {
    let pinza = pinza();
    let tools = json!([
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "two words", "inputSchema": {"type": "object"}},
        {"name": "x".repeat(130), "inputSchema": {"type": "object"}},
        {"name": "odd", "inputSchema": {"type": "array"}},
        {"name": "good", "description": "again", "inputSchema": {"type": "object"}},
    ]);
    let file = pinza.put("tools.json", tools.to_string());
    add(&pinza, "fix", &["--tools", file.to_str().unwrap()]);
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    let names: Vec<_> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["source"] == "mcp:fix")
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["fix__good"]);
    let problems: Vec<_> = list["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["message"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(problems[0].starts_with("the tool 'two words' of fix is left out: "), "{problems:?}");
    assert_eq!(problems[3], "Tool 'fix__good' is already registered");
    // A group that is there stays what it is.
    let words = command(&[]);
    let mut arguments = vec!["mcp", "add", "fs", "--"];
    arguments.extend(words.iter().map(String::as_str));
    check(
        &pinza,
        &arguments,
        1,
        "",
        "error: validation_error: There is a group 'fs' already\nhint: Give the server another name.\n",
    );
}

#[test]
fn thirteen_servers_cost_nothing_until_used() {
    let pinza = pinza();
    let count = pinza.directory().join("count");
    let options = ["--count", count.to_str().unwrap()];
    add(&pinza, "s0", &options);
    for index in 1..13 {
        configured(&pinza, &format!("s{index}"), &options, "");
        std::fs::copy(pinza.home().join("mcp/s0.json"), pinza.home().join(format!("mcp/s{index}.json")))
            .unwrap();
    }
    let starts = || std::fs::read_to_string(&count).unwrap().lines().count();
    assert_eq!(starts(), 1);
    let list = fine(&pinza, &["--json", "tools", "list"]).json();
    assert_eq!(
        list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| tool["source"].as_str().unwrap().starts_with("mcp:"))
            .count(),
        13 * 15
    );
    check_call(&pinza, &["get_current_time"], Ok("[..]"));
    assert_eq!(starts(), 1);
    check_call(&pinza, &["s7__echo", "text=x"], Ok("x"));
    assert_eq!(starts(), 2);
}

#[test]
fn nothing_of_a_server_survives_pinza() {
    for signal in ["-9", "-15"] {
        let pinza = with_fixture(&[]);
        let mark = pinza.workspace().join("family");
        // A call that never ends, beside one that has left a family behind.
        let script = "tools.call('fix__family', {}).then(r => { fs.writeFile('family', JSON.stringify(r)); return tools.call('fix__wait', {}) })";
        let tools = pinza.directory().join("tools");
        std::fs::create_dir_all(&tools).unwrap();
        std::fs::write(tools.join("both.json"), r#"{"name": "both", "description": "x", "timeout": 60}"#)
            .unwrap();
        std::fs::write(tools.join("both.js"), format!("function execute() {{ return {script} }}")).unwrap();
        let mut child = pinza
            .command(["--tools", tools.to_str().unwrap(), "call", "both"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let pids = loop {
            let text = std::fs::read_to_string(&mark).unwrap_or_default();
            let pids: Vec<u32> =
                text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
            if pids.len() == 2 {
                break pids;
            }
            assert!(start.elapsed() < PATIENCE, "{text:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let is_alive = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}")).exists();
        assert!(pids.iter().all(is_alive), "{pids:?}");
        std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        let end = Instant::now();
        while pids.iter().any(is_alive) {
            assert!(end.elapsed() < PATIENCE, "after {signal}: {pids:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
