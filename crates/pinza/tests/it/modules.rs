//! `pinza module`: packages are installed by the real npm, from directories, so that nothing is
//! downloaded; but for one test, which needs the registry.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use pinza_testkit::{Program, program::finish};
use serde_json::{Value, json};

use crate::{
    approval::Terminal,
    support::{assert_matches, check, check_call, fine, pinza},
};

/// A package of these files, in the directory that the program starts in.
fn package(pinza: &Program, files: &[(&str, &str)]) -> PathBuf {
    let directory = pinza.directory().join("package");
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

/// A small honest package with a script that must never run.
fn greeter(pinza: &Program) -> PathBuf {
    let mark = pinza.directory().join("script-was-run");
    let script = format!("echo > '{}'", mark.display());
    let json = json!({
        "name": "Greeter.js", "version": "1.2.3", "description": "Greets.", "license": "MIT", "main": "lib/main.js",
        "scripts": { "postinstall": script, "prepare": script, "prepack": script },
    });
    package(
        pinza,
        &[
            ("package.json", &json.to_string()),
            (
                "lib/main.js",
                "exports.greet = (name) => `Hello, ${name}!`;\nexports.each = (list, fn) => list.map(fn);",
            ),
            (
                "lib/main.d.ts",
                "/** Greets somebody.\n * @param name Whom. */\nexport declare function greet(name: string): string;\n\
                 export declare function each(list: string[], fn: (one: string) => void): void;",
            ),
        ],
    )
}

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Nothing of a failed attempt is left.
#[track_caller]
fn nothing_left(pinza: &Program) {
    let left: Vec<_> = fs::read_dir(pinza.home().join("modules"))
        .into_iter()
        .flatten()
        .map(|one| one.unwrap().path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_module_from_its_package_to_its_end() {
    let pinza = pinza();
    greeter(&pinza);
    check(
        &pinza,
        &["module", "add", "./package"],
        0,
        "Greeter.js 1.2.3 (MIT)
  runs on        the embedded engine
  needs          no capabilities
  module system  CommonJS
  Node built-ins none
  native addons  none
  size           [..] in 4 files, 1 package
  note: the postinstall script of Greeter.js was not run

1 tool
  greeter_js_greet  greet(name)  Greets somebody.
Left out
  each  it takes a function ('fn')

Written: [..]/home/modules/greeter-js/module.json
Call it: pinza call greeter_js_greet name=…
",
        "installing ./package …\nreading it …\ndrafting tools …\n",
    );
    assert!(!pinza.directory().join("script-was-run").exists(), "a script of the package was run");

    let module = pinza.home().join("modules/greeter-js");
    let manifest = read(module.join("module.json"));
    let expected = json!({
        "name": "greeter-js",
        "version": "1.0.0",
        "description": "Greets.",
        "package": "Greeter.js",
        "packageVersion": "^1.2.3",
        "type": "static",
        "capabilities": [],
        "tools": [{
            "name": "greeter_js_greet",
            "description": "Greets somebody.",
            "function": "greet",
            "parameters": {
                "type": "object",
                "properties": { "name": { "type": "string", "description": "Whom." } },
                "required": ["name"],
            },
        }],
    });
    assert_eq!(manifest, expected);
    let lock = read(module.join("module.lock.json"));
    assert_eq!(lock["packages"]["Greeter.js"]["version"], "1.2.3");
    assert!(lock["packages"]["Greeter.js"]["digest"].as_str().unwrap().starts_with("sha256-"));

    let listed = fine(&pinza, &["module", "list"]).stdout;
    assert_eq!(listed, "  greeter-js  Greeter.js@1.2.3  1 tool  embedded  locked\n");
    assert_eq!(fine(&pinza, &["--json", "module", "check"]).json()["ok"], true);

    // What is on disk is not what was locked.
    fs::write(module.join("node_modules/Greeter.js/lib/main.js"), "require('child_process')").unwrap();
    let run = pinza.run(&["--json", "module", "check", "greeter-js"]);
    let problems = json!([
        "not as locked: the files of Greeter.js are not the locked ones",
        "the package needs Node, but module.json does not say \"runtime\": \"node\"",
    ]);
    assert_eq!((run.code, &run.json()["modules"][0]["problems"]), (Some(1), &problems), "{run:?}");
    let listed = fine(&pinza, &["--json", "module", "list"]).json();
    assert_eq!(listed["modules"][0]["state"], problems[0]);

    fine(&pinza, &["module", "remove", "greeter-js"]);
    nothing_left(&pinza);
    let gone = fine(&pinza, &["module", "list"]).stdout;
    assert_eq!(gone, "There are no modules. Add one with: pinza module add PACKAGE\n");
}

#[test]
fn a_name_is_taken_once() {
    let pinza = pinza();
    greeter(&pinza);
    let run = fine(&pinza, &["--json", "module", "add", "./package", "--name", "hello", "--pick", "greet"]);
    assert_eq!(run.json()["tools"][0]["name"], "hello_greet");
    let before = read(pinza.home().join("modules/hello/module.json"));
    let again = ["--json", "module", "add", "./package", "--name", "hello"];
    let run = pinza.run(&again);
    assert_matches(
        run.json()["message"].as_str().unwrap(),
        "There is a module 'hello' already: [..]/modules/hello",
    );
    assert_eq!(read(pinza.home().join("modules/hello/module.json")), before);
    for (name, reason) in [
        ("../hello", "Module name '../hello' must be lowercase letters, digits and hyphens"),
        ("Hello", "Module name 'Hello' must be lowercase letters, digits and hyphens"),
    ] {
        let run = pinza.run(&["--json", "module", "add", "./package", "--name", name]);
        assert_eq!((run.code, run.json()["message"].as_str()), (Some(1), Some(reason)));
        let run = pinza.run(&["--json", "module", "remove", name]);
        assert_eq!((run.code, run.json()["error_type"].as_str()), (Some(1), Some("not_found")));
    }
    let run = pinza.run(&["--json", "module", "remove", "helo"]);
    assert_eq!(run.json()["hint"], "Did you mean 'hello'?");
}

#[test]
fn what_cannot_be_added_leaves_nothing_behind() {
    for (files, arguments, message) in [
        (
            &[("package.json", r#"{"name": "evil", "version": "1.0.0", "main": "../../../../out.js"}"#)][..],
            &[][..],
            "'evil' was not added: its entry '../../../../out.js' leads out of the package",
        ),
        (
            &[
                ("package.json", r#"{"name": "evil", "version": "1.0.0"}"#),
                ("index.js", "exports.x = require('../../../../../secret')"),
            ],
            &[],
            "'evil' was not added: evil/index.js imports '../../../../../secret', outside of node_modules",
        ),
        (
            &[("package.json", r#"{"name": "evil", "version": "1.0.0"}"#), ("index.js", "exports.x = 1")],
            &[],
            "No tools could be drafted: no function of 'evil' can be seen in its declarations or its code",
        ),
        (
            &[
                ("package.json", r#"{"name": "evil", "version": "1.0.0"}"#),
                ("index.js", "exports.chunk = (list, size) => []"),
            ],
            &["--pick", "chnk"],
            "No tools could be drafted: 'evil' exports no 'chnk'; near: chunk",
        ),
        (
            &[(
                "package.json",
                r#"{"name": "evil", "version": "1.0.0", "dependencies": {"x": "file:./nowhere"}}"#,
            )],
            &[],
            "npm could not install [..]",
        ),
    ] {
        let pinza = pinza();
        package(&pinza, files);
        let run = pinza.run(&[&["--json", "module", "add", "./package"], arguments].concat());
        assert_eq!((run.code, &*run.stderr), (Some(1), ""), "{run:?}");
        assert_matches(run.json()["message"].as_str().unwrap_or(&run.stdout), message);
        nothing_left(&pinza);
    }
}

#[test]
fn fifty_megabytes_of_source_harm_nothing() {
    let pinza = pinza();
    let line = "exports.a = function (text) { return [1, 2, (3)] };\n";
    package(
        &pinza,
        &[("package.json", r#"{"name": "evil", "version": "1.0.0"}"#), ("index.js", &line.repeat(1_000_000))],
    );
    let run = pinza.run(&["module", "add", "./package"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_matches(&run.stdout, "...\n  note: evil/index.js is too large (52.0 MB) to be examined in full\n");
    assert_matches(
        &run.stderr,
        "...\nerror: validation_error: No tools could be drafted: no function of 'evil' [..]\n...\n",
    );
    nothing_left(&pinza);
}

#[test]
fn addresses_and_flags_are_no_packages() {
    let pinza = pinza();
    for package in ["git+https://example.com/x.git", "user/repo", "x@npm:y", "./missing"] {
        let run = pinza.run(&["--json", "module", "add", package]);
        assert_eq!(run.code, Some(1), "{package}: {run:?}");
        nothing_left(&pinza);
    }
    let run = pinza.run(&["--json", "module", "add", "--", "--global"]);
    assert_eq!(run.json()["message"], "'--global' is no package of the npm registry");
}

#[test]
fn without_npm_there_is_a_hint() {
    let pinza = pinza();
    greeter(&pinza);
    let empty = pinza.directory().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = finish(pinza.command(["module", "add", "./package"]).env("PATH", &empty), "");
    assert_eq!((run.code, &*run.stdout), (Some(1), ""));
    assert_matches(
        &run.stderr,
        "installing ./package …\nerror: not_found: npm is not installed\nhint: It comes with Node.js[..]\n",
    );
    nothing_left(&pinza);
}

#[test]
fn a_module_may_be_written_by_hand() {
    let pinza = pinza();
    let module = pinza.home().join("modules/mine");
    fs::create_dir_all(&module).unwrap();
    let tool = r#"{"name": "mine_add", "description": "Adds", "function": "add"}"#;
    let head = r#""name": "mine", "version": "1.0.0", "description": "Mine", "package": "./lib.js", "type": "static""#;
    fs::write(module.join("module.json"), format!("{{{head}, \"tools\": [{tool}]}}")).unwrap();
    fs::write(module.join("lib.js"), "exports.add = (a, b) => a + b").unwrap();
    assert_eq!(fine(&pinza, &["module", "list"]).stdout, "  mine  ./lib.js  1 tool  embedded  not locked\n");
    assert_eq!(fine(&pinza, &["--json", "module", "check", "mine"]).json()["ok"], true);
    let path = module.display().to_string();
    fs::write(module.join("module.json"), "{").unwrap();
    let run = pinza.run(&["module", "check", &path]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_matches(
        &run.stdout,
        "mine: [..]\n...\n    problem: module.json:1:1: Not valid JSON: [..]\n1 module, 1 problem\n",
    );
}

#[test]
fn what_is_not_as_it_was_locked_is_not_run() {
    let pinza = pinza();
    greeter(&pinza);
    let added = pinza.run(&["module", "add", "./package", "--yes"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    check_call(&pinza, &["greeter_js_greet", "name=Ada"], Ok("Hello, Ada!"));
    let file = pinza.home().join("modules/greeter-js/node_modules/Greeter.js/lib/main.js");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("Hello", "Bye")).unwrap();
    let refused = "The module 'greeter-js' is not run: it is not as it was when it was locked: [..]";
    check_call(&pinza, &["greeter_js_greet", "name=Ada"], Err(("execution_error", refused)));
    fs::remove_file(pinza.home().join("modules/greeter-js/module.lock.json")).unwrap();
    check_call(&pinza, &["greeter_js_greet", "name=Ada"], Ok("Bye, Ada!"));
}

/// A package whose files are found by several of Node's rules, and one that it can do without.
fn branching(pinza: &Program) -> PathBuf {
    package(
        pinza,
        &[
            ("package.json", r#"{ "name": "branching", "version": "1.0.0", "main": "lib/main" }"#),
            ("lib/main.js", "exports.say = () => [require('./part'), require('./spare')].join();"),
            ("lib/part/index.js", "module.exports = 'part';"),
            ("lib/part/index.json", "\"JSON\""),
            (
                "lib/spare.js",
                "try { module.exports = require('./luxury'); } catch { module.exports = 'none'; }",
            ),
            ("lib/luxury.js", "module.exports = 'luxury';"),
            ("lib/other.js", "exports.say = () => 'other';"),
        ],
    )
}

#[test]
fn no_change_of_a_locked_package_gets_past_its_lock() {
    let pinza = pinza();
    branching(&pinza);
    let added = pinza.run(&["module", "add", "./package", "--pick", "say", "--yes"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let module = pinza.home().join("modules/branching");
    let installed = module.join("node_modules/branching");
    let saved = pinza.directory().join("saved");
    copy(&installed, &saved);
    check_call(&pinza, &["branching_say"], Ok("part,luxury"));

    let refused = |expected: &str, change: &dyn Fn(&Path)| {
        change(&installed);
        let message =
            format!("The module 'branching' is not run: it is not as it was when it was locked: {expected}");
        check_call(&pinza, &["branching_say"], Err(("execution_error", &message)));
        let _ = fs::remove_dir_all(pinza.home().join("modules/node_modules"));
        let _ = fs::remove_dir_all(&installed).or_else(|_| fs::remove_file(&installed));
        copy(&saved, &installed);
        check_call(&pinza, &["branching_say"], Ok("part,luxury"));
    };
    let changed = "the files of branching are not the locked ones";
    let write = |path: PathBuf, text: &str| fs::write(path, text).unwrap();
    refused(changed, &|package| write(package.join("lib/part/index.js"), "module.exports = 'another';"));
    // All that it leads to is locked, but it led elsewhere.
    refused(changed, &|package| write(package.join("package.json"), r#"{ "main": "lib/other" }"#));
    refused(changed, &|package| fs::remove_file(package.join("lib/part/index.js")).unwrap());
    refused(changed, &|package| {
        write(package.join("lib/part.js"), "module.exports = 'before the directory';")
    });
    refused(changed, &|package| write(package.join("lib/part/package.json"), r#"{ "main": "index.json" }"#));
    // The library catches what it meets there.
    refused(changed, &|package| write(package.join("lib/luxury.js"), "module.exports = 'changed';"));
    refused(changed, &|package| fs::remove_file(package.join("lib/luxury.js")).unwrap());
    refused(changed, &|package| {
        let file = package.join("lib/luxury.js");
        fs::rename(&file, module.join("luxury.js")).unwrap();
        std::os::unix::fs::symlink(module.join("luxury.js"), file).unwrap();
    });
    refused("branching is locked, but not installed", &|package| {
        let above = pinza.home().join("modules/node_modules");
        fs::create_dir_all(&above).unwrap();
        fs::rename(package, above.join("branching")).unwrap();
    });
    refused("[..]", &|package| {
        fs::rename(package, module.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(module.join("elsewhere"), package).unwrap();
    });
}

#[test]
fn a_lock_that_names_no_files_is_obeyed_too() {
    let pinza = pinza();
    branching(&pinza);
    let added = pinza.run(&["module", "add", "./package", "--pick", "say", "--yes"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let module = pinza.home().join("modules/branching");
    let mut lock = read(module.join("module.lock.json"));
    lock["lockVersion"] = 1.into();
    lock["packages"]["branching"].as_object_mut().unwrap().remove("files").unwrap();
    fs::write(module.join("module.lock.json"), lock.to_string()).unwrap();
    check_call(&pinza, &["branching_say"], Ok("part,luxury"));
    // Such a lock knows the package as a whole.
    fs::write(module.join("node_modules/branching/lib/other.js"), "").unwrap();
    let refused = "The module 'branching' is not run: it is not as it was when it was locked: \
                   the files of branching are not the locked ones";
    check_call(&pinza, &["branching_say"], Err(("execution_error", refused)));
}

/// Every file of compiled code, with the number of its inode: a new file has a new one.
fn kept_code(pinza: &Program) -> Vec<(PathBuf, u64)> {
    let Ok(programs) = fs::read_dir(pinza.home().join("cache/code")) else { return Vec::new() };
    let programs: Vec<PathBuf> = programs.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(programs.len(), 1, "{programs:?}");
    let files = fs::read_dir(&programs[0]).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = files.map(|file| (file.path(), file.metadata().unwrap().ino())).collect();
    files.sort();
    files
}

#[test]
fn code_is_compiled_once_for_many_processes() {
    let pinza = pinza();
    let module = by_hand(&pinza, "mine", "exports.say = () => require('util').format('%s', 'one');");
    check_call(&pinza, &["mine_say"], Ok("one"));
    // The prelude, and the module's own.
    let first = kept_code(&pinza);
    assert_eq!(first.len(), 2, "{first:?}");
    for (file, _) in &first {
        let modes = [file, file.parent().unwrap()].map(|path| fs::metadata(path).unwrap().mode() & 0o777);
        assert_eq!(modes, [0o600, 0o700], "{}", file.display());
    }
    // A file is written when something had to be compiled.
    check_call(&pinza, &["mine_say"], Ok("one"));
    assert_eq!(kept_code(&pinza), first);

    // What changes is compiled anew, and nothing of the old is run.
    fs::write(module.join("lib.js"), "exports.say = () => 'two';").unwrap();
    check_call(&pinza, &["mine_say"], Ok("two"));
    let second = kept_code(&pinza);
    assert!(second.len() == 2 && second != first, "{second:?}");

    // Another module with the same files has its own.
    let twin = by_hand(&pinza, "twin", "exports.say = () => 'two';");
    check_call(&pinza, &["twin_say"], Ok("two"));
    assert_eq!(kept_code(&pinza).len(), 3);
    fs::remove_dir_all(twin).unwrap();

    // What a full disk leaves behind is no code.
    for (file, _) in kept_code(&pinza) {
        let half = fs::read(&file).unwrap();
        fs::write(&file, &half[..half.len() / 2]).unwrap();
    }
    check_call(&pinza, &["mine_say"], Ok("two"));
    fs::remove_dir_all(pinza.home().join("cache")).unwrap();
    fs::write(pinza.home().join("cache"), "no directory").unwrap();
    check_call(&pinza, &["mine_say"], Ok("two"));
}

/// A module of one file, with one tool: `NAME_say`.
fn by_hand(pinza: &Program, name: &str, text: &str) -> PathBuf {
    let module = pinza.home().join("modules").join(name);
    fs::create_dir_all(&module).unwrap();
    let tool =
        json!({ "name": format!("{name}_say"), "description": "Says.", "function": "say", "parameters": {} });
    let manifest = json!({
        "name": name, "version": "1.0.0", "description": "Says.", "package": "./lib.js", "type": "static",
        "tools": [tool],
    });
    fs::write(module.join("module.json"), manifest.to_string()).unwrap();
    fs::write(module.join("lib.js"), text).unwrap();
    module
}

#[test]
fn a_library_that_eats_memory_says_how_to_get_more() {
    let pinza = pinza();
    let module = pinza.home().join("modules/greedy");
    fs::create_dir_all(&module).unwrap();
    let manifest = json!({
        "name": "greedy", "version": "1.0.0", "description": "Eats.", "package": "./lib.js", "type": "static",
        "limits": { "heapMb": 8 },
        "tools": [{ "name": "greedy_eat", "description": "Eats.", "function": "eat", "parameters": {} }],
    });
    fs::write(module.join("module.json"), manifest.to_string()).unwrap();
    fs::write(
        module.join("lib.js"),
        "exports.eat = () => { const all = []; for (;;) all.push([all.length]); }",
    )
    .unwrap();
    let ended = pinza.run(&["--json", "--allow", "node", "call", "greedy_eat"]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    // Node is allowed, and not tried: memory is no reason to.
    assert_eq!(answer["error_type"], "memory_limit", "{answer}");
    assert_eq!(answer["message"], "The library of 'greedy' used more memory than it may: 8 MB");
    let hint = answer["hint"].as_str().unwrap();
    for part in ["\"limits\": { \"heapMb\": 16 }", "policy.limits.heap_mb", "\"runtime\": \"node\""] {
        assert!(hint.contains(part), "{hint}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn on_a_terminal_somebody_is_asked() {
    let pinza = pinza();
    greeter(&pinza);
    let question = "Add it? [y] yes";
    let add = ["module", "add", "./package"];
    let (code, screen, _) = Terminal::start(&pinza, &add).shows(question, 1).answer("n\n").end();
    assert_eq!(code, Some(1), "{screen}");
    nothing_left(&pinza);

    let terminal = Terminal::start(&pinza, &add).shows(question, 1).answer("greeet\n");
    let terminal = terminal.shows("exports no 'greeet'; near: greet", 1).shows(question, 2).answer("greet\n");
    let (code, screen, stdout) = terminal.shows(question, 3).answer("y\n").end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(stdout.contains("Written: "), "{stdout}");

    let remove = ["module", "remove", "greeter-js"];
    let (code, ..) = Terminal::start(&pinza, &remove).shows("[y/N] ", 1).answer("\n").end();
    assert_eq!(code, Some(1));
    assert!(pinza.home().join("modules/greeter-js/module.json").exists());
    let (code, ..) = Terminal::start(&pinza, &remove).shows("[y/N] ", 1).answer("y\n").end();
    assert_eq!(code, Some(0));
    nothing_left(&pinza);
}

/// Needs the npm registry; says so and ends where there is none.
#[test]
fn a_package_of_the_registry() {
    let pinza = pinza();
    let run = pinza.run(&["--json", "module", "add", "dayjs@1", "--pick", "dayjs,unix"]);
    if run.json()["error_type"] == "network_error" {
        eprintln!("skipped: {}", run.stdout);
        return;
    }
    let tools: Vec<Value> =
        run.json()["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(tools, ["dayjs", "dayjs_unix"], "{run:?}");
    let module = pinza.home().join("modules/dayjs");
    assert_eq!(read(module.join("module.json"))["packageVersion"], "1");
    let locked = &read(module.join("module.lock.json"))["packages"]["dayjs"];
    assert!(locked["integrity"].as_str().unwrap().starts_with("sha512-"), "{locked}");
}
