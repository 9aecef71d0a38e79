//! Calls that would not end or take everything, and what is left behind: nothing.

use std::{
    os::unix::process::CommandExt as _,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use pinza_testkit::Program;
use serde_json::json;

use super::tool;
use crate::support::{Expected, check_call, pinza};

/// Far above what anything here takes; reaching it means that it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_late_script_is_ended_wherever_it_is() {
    let pinza = pinza();
    let scripts = [
        ("loops", "function execute() { while (true); }"),
        ("native", "function execute() { return new Array(2 ** 32 - 1).join('') }"),
        ("swallows", "function execute() { while (true) try { while (true); } catch {} }"),
        ("flood", "async function execute() { while (true) await null }"),
        ("top_level", "while (true);\nfunction execute() {}"),
        ("sleeps", "function execute() { return new Promise((resolve) => setTimeout(resolve, 600000)) }"),
    ];
    for (name, script) in scripts {
        tool(&pinza, name, json!({"timeoutSeconds": 1}), script);
    }
    let started = Instant::now();
    std::thread::scope(|threads| {
        for (name, _) in scripts {
            let pinza = &pinza;
            threads.spawn(move || {
                check_call(pinza, &[name], Err(("timeout", "Tool execution timed out after 1s")));
            });
        }
    });
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn what_nothing_can_settle_does_not_wait_for_the_timeout() {
    let pinza = pinza();
    tool(
        &pinza,
        "never",
        json!({"timeoutSeconds": 600}),
        "function execute() { return new Promise(() => {}) }",
    );
    let started = Instant::now();
    check_call(
        &pinza,
        &["never"],
        Err(("execution_error", "[..]a promise that nothing can settle any more")),
    );
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn memory_and_stack() {
    let pinza = pinza();
    let grows = "function execute() { const all = []; while (true) all.push('x'.repeat(1000) + all.length) }";
    tool(&pinza, "grows", json!({}), grows);
    let expected: Expected = Err(("memory_limit", "The script used more memory than it may"));
    check_call(&pinza, &["grows"], expected);
    let holds = "function execute() { const all = []; for (let i = 0; i < 24 << 10; i++) all.push(new Uint8Array(1024)); return all.length }";
    tool(&pinza, "small", json!({}), holds);
    check_call(&pinza, &["small"], expected);
    tool(&pinza, "large", json!({"limits": {"heapMb": 64}}), holds);
    check_call(&pinza, &["large"], Ok("24576"));
    tool(&pinza, "deep", json!({}), "function execute() { return execute() }");
    check_call(&pinza, &["deep"], Err(("execution_error", "[..]stack[..]")));
}

/// What manifests ask for, against what `tools check` says of them.
#[test]
fn policy_caps_what_a_manifest_asks_for() {
    let pinza = pinza();
    let asks = json!({"timeoutSeconds": 3600, "limits": {"heapMb": 512, "stackKb": 6144}});
    tool(&pinza, "greedy", asks, "function execute() { return 1 }");
    tool(&pinza, "modest", json!({}), "function execute() { return 1 }");
    let check = |warnings: &[&str]| {
        let lines = warnings.iter().map(|warning| format!("[..]/greedy.json: warning: {warning}\n"));
        let count =
            if warnings.len() == 1 { "1 warning".into() } else { format!("{} warnings", warnings.len()) };
        let stdout = format!("{}2 tools, 0 problems, {count}\n", lines.collect::<String>());
        crate::support::check(&pinza, &["tools", "check"], 0, &stdout, "");
    };
    check(&["Asks for 512 MB heap; the policy allows 256", "Asks for 6144 KB stack; the policy allows 4096"]);
    let set = |key: &str, value: &str| {
        crate::support::fine(&pinza, &["config", "set", &format!("policy.limits.{key}"), value]);
    };
    set("heap_mb", "512");
    check(&["Asks for 6144 KB stack; the policy allows 4096"]);
    set("stack_kb", "6144");
    check(&[]);
    set("timeout_seconds", "10");
    check(&["Asks for a timeout of 3600 s; the policy allows 10"]);
    let timeout = |name: &str| {
        crate::support::fine(&pinza, &["--json", "tools", "show", name]).json()["timeoutSeconds"].clone()
    };
    // Also what nobody asked for: 30 seconds are the default.
    assert_eq!((timeout("greedy"), timeout("modest")), (json!(10.0), json!(10.0)));

    // A project may take more away, and give nothing back.
    let config = "[policy.limits]\nheap_mb = 32\ntimeout_seconds = 60\n";
    super::file(&pinza, ".pinza/config.toml", config);
    check(&["Asks for a timeout of 3600 s; the policy allows 10"]);
    crate::support::fine(&pinza, &["trust"]);
    check(&[
        "Asks for 512 MB heap; the policy allows 32",
        "Asks for a timeout of 3600 s; the policy allows 10",
    ]);
    let problems = super::list(&pinza, &[])["problems"].clone();
    let message = "a project cannot raise policy.limits.timeout_seconds; it does not count";
    assert_eq!((&problems[0]["message"], problems.as_array().unwrap().len()), (&json!(message), 1));
}

#[test]
fn the_cap_holds_when_the_script_runs() {
    let pinza = pinza();
    let holds = "function execute() { const all = []; for (let i = 0; i < 24 << 10; i++) all.push(new Uint8Array(1024)); return all.length }";
    tool(&pinza, "large", json!({"limits": {"heapMb": 64}}), holds);
    tool(&pinza, "late", json!({"timeoutSeconds": 600}), "function execute() { while (true); }");
    check_call(&pinza, &["large"], Ok("24576"));
    std::fs::write(pinza.config_file(), "[policy.limits]\nheap_mb = 20\ntimeout_seconds = 1\n").unwrap();
    check_call(&pinza, &["large"], Err(("memory_limit", "The script used more memory than it may")));
    check_call(&pinza, &["late"], Err(("timeout", "[..]")));
}

/// It has no manifest, but it is a script too.
#[test]
fn the_cap_holds_for_the_code_of_a_model() {
    let pinza = pinza();
    let holds =
        "code=const all = []; for (let i = 0; i < 8 << 10; i++) all.push(new Uint8Array(1024)); all.length";
    let deep = "code=function depth(n) { return n === 0 ? 'deep' : depth(n - 1) } depth(400)";
    check_call(&pinza, &["js_eval", holds], Ok("8192"));
    check_call(&pinza, &["js_eval", deep], Ok("deep"));
    let config = "[policy.limits]\nheap_mb = 4\nstack_kb = 64\ntimeout_seconds = 2\n";
    std::fs::write(pinza.config_file(), config).unwrap();
    check_call(&pinza, &["js_eval", holds], Err(("memory_limit", "The script used more memory than it may")));
    check_call(&pinza, &["js_eval", deep], Err(("execution_error", "[..]stack[..]")));
    check_call(
        &pinza,
        &["js_eval", "code=while (true);"],
        Err(("timeout", "Tool execution timed out after 2s")),
    );
}

#[test]
fn results_are_bounded() {
    let pinza = pinza();
    tool(
        &pinza,
        "huge",
        json!({"limits": {"heapMb": 256}}),
        "function execute() { return 'x'.repeat(17 << 20) }",
    );
    check_call(&pinza, &["huge"], Err(("output_limit", "The result has 17825792 bytes, more than 16 MiB")));
}

#[test]
fn no_worker_outlives_the_program() {
    let pinza = pinza();
    tool(&pinza, "quick", json!({}), "function execute() { return 1 }");
    tool(&pinza, "late", json!({"timeoutSeconds": 1}), "function execute() { while (true); }");
    tool(&pinza, "long", json!({"timeoutSeconds": 600}), "function execute() { while (true); }");
    for name in ["quick", "late"] {
        let mut program = start(&pinza, name);
        program.wait().unwrap();
        assert_nobody_left(program.id());
    }
    // Killed in the middle, with no chance to clean up.
    let mut program = start(&pinza, "long");
    let has_worker = || members(program.id()).len() > 1;
    assert!(comes_true(has_worker), "the worker does not start");
    program.kill().unwrap();
    program.wait().unwrap();
    assert_nobody_left(program.id());
}

/// A call in a process group of its own, by which its children are found.
fn start(pinza: &Program, name: &str) -> Child {
    let mut command = pinza.command(["call", name]);
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[track_caller]
fn assert_nobody_left(group: u32) {
    assert!(comes_true(|| members(group).is_empty()), "left behind: {:?}", members(group));
}

fn comes_true(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// The living processes of a group, from /proc/ID/stat: `id (name) state parent group …`.
fn members(group: u32) -> Vec<String> {
    let of_group = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        !matches!(fields.first(), Some(&("Z" | "X"))) && fields.get(2) == Some(&group.to_string().as_str())
    };
    let entries = std::fs::read_dir("/proc").unwrap().map(Result::unwrap);
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(of_group)
        .collect()
}
