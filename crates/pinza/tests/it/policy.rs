//! `pinza policy`: rules are written, shown, tried and obeyed.

use pinza_testkit::Program;
use serde_json::json;

use crate::support::{assert_matches, check, check_call, fine, keys, pinza, refused};

/// `policy test` and the call itself agree.
#[track_caller]
fn decides(pinza: &Program, flags: &[&str], call: &[&str], effect: &str, because: &str) {
    let test = fine(pinza, &[&["--json"], flags, &["policy", "test"], call].concat()).json();
    assert_eq!(keys(&test), ["tool", "effect", "decisions"]);
    assert_eq!(
        (test["tool"].as_str(), test["effect"].as_str()),
        (Some(call[0]), Some(effect)),
        "{call:?}: {test}"
    );
    let decisions = test["decisions"].as_array().unwrap();
    assert!(decisions.iter().all(|decision| keys(decision) == ["capability", "effect", "because"]), "{test}");
    assert!(decisions.iter().any(|decision| decision["because"] == because), "{because}: {test}");
    let answer = pinza.run(&[&["--json"], flags, &["call"], call].concat()).json();
    let denied = answer["error_type"] == "permission_denied";
    assert_eq!(denied, effect != "allow", "{call:?}: {answer}");
}

#[test]
fn deny_beats_ask_beats_allow_beats_the_defaults() {
    let pinza = pinza();
    let call = ["exec", "command=true"];
    decides(&pinza, &[], &call, "ask", "the default");
    decides(&pinza, &["--allow", "exec"], &call, "allow", "a flag");
    check(&pinza, &["policy", "allow", "exec"], 0, "Rule 1: allow capability exec\n", "");
    decides(&pinza, &[], &call, "allow", "rule 1");
    decides(&pinza, &["--deny", "exec"], &call, "deny", "a flag");
    check(&pinza, &["policy", "ask", "--tool", "ex*"], 0, "Rule 2: ask tool ex*\n", "");
    decides(&pinza, &[], &call, "ask", "rule 2");
    check(
        &pinza,
        &["policy", "deny", "--arg", "command=t*"],
        0,
        "Rule 3: deny where command is \"t*\"\n",
        "",
    );
    decides(&pinza, &[], &call, "deny", "rule 3");
    decides(&pinza, &["--allow", "exec"], &call, "deny", "rule 3");
    check_call(&pinza, &["exec", "command=true", "--yes"], Err(("permission_denied", "[..]exec")));
    check_call(&pinza, &["exec", "command=:", "--yes"], Ok("(no output)"));
}

#[test]
fn a_tool_without_needs_obeys_rules_that_name_it() {
    let pinza = pinza();
    decides(&pinza, &[], &["get_current_time"], "allow", "the default");
    fine(&pinza, &["policy", "deny", "--tool", "get_*"]);
    decides(&pinza, &[], &["get_current_time"], "deny", "rule 1");
    let denied = Err(("permission_denied", "Required permissions were denied: get_current_time"));
    check_call(&pinza, &["get_current_time"], denied);
}

#[test]
fn patterns_on_arguments() {
    let pinza = pinza();
    pinza.put("notes/a.txt", "x");
    pinza.put("a.txt", "x");
    fine(&pinza, &["policy", "allow", "exec", "--arg", "command=echo *"]);
    fine(&pinza, &["policy", "deny", "fs.read", "--arg", "path=notes/*"]);
    for (call, effect, because) in [
        (["exec", "command=echo a"], "allow", "rule 1"),
        (["exec", "command=echoes"], "ask", "the default"),
        (["exec", "command=echo a; id"], "ask", "the default"),
        (["exec", "command=echo a && id"], "ask", "the default"),
        (["exec", "command=echo a | sh"], "ask", "the default"),
        (["exec", "command=echo `id`"], "ask", "the default"),
        (["exec", "command=echo $(id)"], "ask", "the default"),
        (["exec", "command=echo a\nid"], "ask", "the default"),
        (["read_file", "path=notes/a.txt"], "deny", "rule 2"),
        (["read_file", "path=a.txt"], "allow", "the default"),
        (["read_file", "file_path=notes/a.txt"], "deny", "rule 2"),
    ] {
        decides(&pinza, &[], &call, effect, because);
    }
}

#[test]
fn the_list() {
    let pinza = pinza();
    let stdout = "Rules (deny beats ask beats allow)\n  none\n\nWhere no rule matches\n  allow  fs.read\n...\n  ask    exec\n...";
    check(&pinza, &["policy", "list"], 0, stdout, "");
    fine(&pinza, &["policy", "allow", "exec", "--tool", "exec", "--arg", "command=git *"]);
    let list = fine(&pinza, &["--json", "--deny", "net", "policy", "list"]).json();
    assert_eq!(keys(&list), ["rules", "defaults", "problems"]);
    let rules = json!([
        {"effect": "allow", "tool": "exec", "capability": "exec", "args": {"command": "git *"}, "number": 1, "source": "config"},
        {"effect": "deny", "capability": "net", "number": 2, "source": "flag"},
    ]);
    assert_eq!(list["rules"].to_string(), rules.to_string());
    assert_eq!(list["defaults"][4], json!({"capability": "exec", "effect": "ask"}));
    let run = fine(&pinza, &["--deny", "net", "policy", "list"]);
    assert_matches(
        &run.stdout,
        "...\n  1  allow tool exec capability exec where command is \"git *\"\n  2  deny capability net[..](flag)\n...",
    );
}

#[test]
fn a_rule_is_added_and_revoked_without_touching_the_rest() {
    let pinza = pinza();
    let before = "# my policy\n[policy]\n# careful\n\n[[policy.rule]] # first\neffect = \"deny\" # no\ncapability = \"message\"\n\n[env]\nREGION = \"eu\"\n";
    std::fs::write(pinza.config_file(), before).unwrap();
    let added = fine(&pinza, &["--json", "policy", "allow", "exec", "--arg", "command=git *"]);
    let stdout = r#"{"status":"success","number":2,"rule":{"effect":"allow","capability":"exec","args":{"command":"git *"}}}"#;
    assert_eq!(added.stdout, format!("{stdout}\n"));
    let text = std::fs::read_to_string(pinza.config_file()).unwrap();
    for kept in
        ["# my policy", "# careful", "# first", "# no", "REGION = \"eu\"", "args = { command = \"git *\" }"]
    {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    check(
        &pinza,
        &["policy", "revoke", "2"],
        0,
        "Revoked: allow capability exec where command is \"git *\"\n",
        "",
    );
    let text = std::fs::read_to_string(pinza.config_file()).unwrap();
    assert!(text.contains("# first") && !text.contains("git"), "{text}");
    for number in ["0", "2"] {
        let stderr = format!(
            "error: not_found: There is no rule {number} in the configuration\nhint: See their numbers: pinza policy list\n"
        );
        check(&pinza, &["policy", "revoke", number], 1, "", &stderr);
    }
    refused(&pinza, &["policy", "revoke", "one"], "error: invalid value 'one'[..]\n...");
}

#[test]
fn a_rule_that_can_match_nothing_is_reported() {
    let pinza = pinza();
    let cases: [(&[&str], &str); 4] = [
        (&["--tool", "frobnicate"], "no tool matches 'frobnicate'"),
        (&["frobnication"], "no such tool needs the capability 'frobnication'"),
        (&["exec", "--tool", "read"], "no such tool needs the capability 'exec'"),
        (&["exec", "--arg", "colour=green"], "no such tool has a parameter 'colour'"),
    ];
    for (number, (rule, reason)) in cases.into_iter().enumerate() {
        let stderr = format!("warning: this rule can match nothing: {reason}\n");
        check(&pinza, &[&["policy", "allow"], rule].concat(), 0, "Rule [..]\n", &stderr);
        let list = fine(&pinza, &["--json", "policy", "list"]).json();
        let message = format!("policy rule {} can match nothing: {reason}", number + 1);
        let problem = json!({"file": pinza.config_file(), "entry": number, "message": message});
        assert_eq!(list["problems"][number].to_string(), problem.to_string());
    }
    let run = pinza.run(&["--allow", "exex", "call", "get_current_time"]);
    let mistyped = "warning: policy rule 5 can match nothing: no such tool needs the capability 'exex'\n";
    assert!(run.stderr.ends_with(mistyped), "a flag too: {}", run.stderr);
}

#[test]
fn wrong_words() {
    let pinza = pinza();
    refused(&pinza, &["policy", "allow"], "error: the following required arguments were not provided:\n...");
    refused(&pinza, &["policy", "allow", "exec", "--arg", "command"], "error: [..]expected NAME=VALUE\n...");
    refused(
        &pinza,
        &["policy", "allow", "exec", "--arg", "=x"],
        "error: [..]the name before '=' is empty\n...",
    );
    let stderr = "error: tool_not_found: Tool 'frobnicate' not found\n";
    check(&pinza, &["policy", "test", "frobnicate"], 1, "", stderr);
    std::fs::write(pinza.config_file(), "policy = { rule = [{ effect = \"deny\", tool = \"exec\" }] }\n")
        .unwrap();
    let reason = "error: 'policy' is written inline; write it as a [policy] table\n";
    refused(&pinza, &["policy", "deny", "net"], reason);
    refused(&pinza, &["policy", "revoke", "1"], reason);
}
