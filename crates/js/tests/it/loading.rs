//! From directories to definitions: what is good loads, what is bad is listed, nothing else happens.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use pinza_core::Source;
use pinza_js::{
    Examiner, Loaded, LoadedTool, Manifest, OnClash, Place, Problem, SourceFault, SourceKind, examine, load,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/js/loading")
}

fn load_directories(directories: &[&Path]) -> Loaded {
    let places: Vec<Place> = directories.iter().map(|path| Place::Directory(path.to_path_buf())).collect();
    load(&places, OnClash::KeepFirst)
}

fn tool<'a>(loaded: &'a Loaded, name: &str) -> &'a LoadedTool {
    loaded.tools.iter().find(|tool| tool.definition.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn errors(loaded: &Loaded) -> Vec<&Problem> {
    loaded.problems.iter().filter(|problem| !problem.warning).collect()
}

/// All that loading found, one line each, with paths as in the fixtures.
fn render(loaded: &Loaded) -> String {
    let mut text = String::new();
    for tool in &loaded.tools {
        let group = tool.meta.group.as_ref().map_or("-", |group| group.as_str());
        let definition = &tool.definition;
        writeln!(text, "tool {} group={group} function={}", definition.name, tool.function).unwrap();
    }
    for group in &loaded.groups {
        writeln!(text, "group {}: {} | {}", group.name, group.display_name, group.description).unwrap();
    }
    for problem in &loaded.problems {
        writeln!(text, "problem {problem}").unwrap();
    }
    text.replace(&format!("{}/", fixtures().display()), "")
}

/// Every directory of the fixtures, against the `expected.txt` beside its tools. `PINZA_BLESS=1` writes them anew.
#[test]
fn directories_load_as_expected() {
    let mut checked = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let directory = entry.unwrap().path();
        let expected = directory.join("expected.txt");
        let found = render(&load_directories(&[&directory]));
        if std::env::var_os("PINZA_BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected).unwrap(), "{}", directory.display());
        checked += 1;
    }
    assert!(checked >= 6, "{checked}");
}

#[test]
fn a_definition_has_all_that_its_manifest_says() {
    let loaded = load_directories(&[&fixtures().join("singles")]);
    let weather = tool(&loaded, "weather_lookup");
    let definition = &weather.definition;
    assert_eq!(definition.title.as_deref(), Some("Weather"));
    assert_eq!(definition.description, "Current weather of a city");
    assert_eq!(definition.parameters.schema()["type"], "object");
    assert_eq!(definition.parameters.required().collect::<Vec<_>>(), ["city"]);
    assert_eq!(definition.timeout, Duration::from_millis(12_500));
    assert!(definition.read_only);
    assert_eq!(definition.capabilities, ["net"]);
    assert_eq!(definition.aliases, [("town".to_owned(), "city".to_owned())]);
    assert_eq!(definition.keywords, ["forecast"]);
    assert_eq!(definition.examples, [serde_json::json!({"city": "Tokyo"})]);
    assert_eq!(weather.capabilities.as_deref().unwrap(), ["net", "fs.read"]);
    assert_eq!(weather.env.as_deref().unwrap(), ["WEATHER_KEY"]);
    assert_eq!((weather.limits.heap, weather.limits.stack), (64 << 20, 512 << 10));
    assert_eq!(weather.meta.section, "custom");
    let file = fixtures().join("singles/weather_lookup.json").display().to_string();
    assert_eq!(weather.meta.source, Source::Js(file));

    let bare = tool(&loaded, "bare");
    assert_eq!(bare.definition.timeout, Duration::from_secs(30));
    assert_eq!((bare.env.as_ref(), bare.capabilities.as_ref()), (None, None));
    assert_eq!((bare.limits.heap, bare.limits.stack), (16 << 20, 1 << 20));
    assert!(bare.script.code.starts_with("var execute"), "{}", bare.script.code);
}

/// RFC-018: the source is in memory once for all tools of a group.
#[test]
fn tools_of_a_group_share_their_script() {
    let loaded = load_directories(&[&fixtures().join("groups")]);
    let (search, send) = (tool(&loaded, "gmail_search"), tool(&loaded, "gmail_send"));
    assert!(std::sync::Arc::ptr_eq(&search.script, &send.script));
    assert_eq!(send.definition.capabilities, ["message", "google"]);
    assert_eq!((search.entry, send.entry), (Some(1), Some(3)));
}

#[test]
fn fifty_tools_are_a_group_and_one_more_is_none() {
    let entry = |n: usize| format!(r#"{{"name": "t{n}", "description": "d", "function": "f"}}"#);
    let manifest = |count: usize, meta: &str| {
        let entries: Vec<_> = (0..count).map(entry).collect();
        Manifest::parse(&format!("[{meta}{}]", entries.join(",")), "many")
    };
    for meta in ["", r#"{"_meta": true},"#] {
        let full = manifest(50, meta);
        assert_eq!((full.entries.len(), full.faults.len()), (50, 0));
        let over = manifest(51, meta);
        assert!(over.entries.is_empty());
        assert_eq!(over.faults[0].message, "Tool group in 'many.json' has 51 entries (maximum: 50)");
    }
}

#[test]
fn the_first_of_two_tools_stays_unless_told_otherwise() {
    let (a, b) = (fixtures().join("clash_a"), fixtures().join("clash_b"));
    let places = [Place::Directory(a), Place::Directory(b.clone())];
    let loaded = load(&places, OnClash::KeepFirst);
    assert_eq!(tool(&loaded, "same").definition.description, "The first");
    assert_eq!(tool(&loaded, "b_one").meta.group.as_ref().unwrap(), &"shared");
    let found: Vec<_> =
        loaded.problems.iter().map(|p| (p.file.clone(), p.entry, &*p.message, p.warning)).collect();
    let file = |name: &str| b.join(name).display().to_string();
    assert!(found.contains(&(
        file("same.json"),
        None,
        "Name conflict with existing tool 'same' (skipped)",
        false
    )));
    let again = (file("shared.json"), Some(1), "Name conflict with existing tool 'a_one' (skipped)", false);
    assert!(found.contains(&again), "{found:?}");
    assert!(found.iter().any(|(_, _, message, warning)| *warning && message.contains("these tools join it")));
    let groups: Vec<_> = loaded.groups.iter().map(|group| &*group.display_name).collect();
    assert_eq!(groups, ["First words"]);

    let loaded = load(&places, OnClash::Replace);
    assert_eq!(tool(&loaded, "same").definition.description, "The second");
    assert_eq!(tool(&loaded, "a_one").definition.description, "Again");
    assert!(errors(&loaded).is_empty(), "{:?}", loaded.problems);
}

#[test]
fn builtin_files_need_no_directory() {
    const FILES: &[(&str, &str)] = &[
        ("greet.json", r#"{"name": "greet", "description": "Greets"}"#),
        ("greet.js", "function execute() { return lib('words').hello; }"),
        ("words.js", "exports.hello = 'Hello';"),
    ];
    let loaded = load(&[Place::Builtin(FILES)], OnClash::KeepFirst);
    let greet = tool(&loaded, "greet");
    assert_eq!(greet.meta.source, Source::Builtin);
    assert_eq!(greet.libraries["words"].read().unwrap().code, "exports.hello = 'Hello';");
}

#[test]
fn scripts_without_a_manifest_are_libraries() {
    let loaded = load_directories(&[&fixtures().join("singles")]);
    let libraries = &tool(&loaded, "bare").libraries;
    assert_eq!(libraries.keys().collect::<Vec<_>>(), ["math", "shapes"]);
    let shapes = libraries["shapes"].read().unwrap().code;
    assert!(shapes.contains(r#"module.exports["half"] = half;"#), "{shapes}");
    assert!(shapes.contains(r#"module.exports["default"] = Box;"#), "{shapes}");
    assert!(!shapes.contains("number") && !shapes.contains("export "), "{shapes}");
}

#[test]
fn a_library_is_read_late_and_as_carefully() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(directory.path().join(name), text).unwrap();
    write("x.json", br#"{"name": "x", "description": "d"}"#);
    write("x.js", b"function execute() {}");
    write("broken.js", b"let = ;");
    write("big.js", &vec![b' '; (1 << 20) + 1]);
    let loaded = load_directories(&[directory.path()]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let libraries = &tool(&loaded, "x").libraries;
    assert_eq!(libraries["broken"].read().unwrap_err()[0].line, Some(1));
    assert_eq!(libraries["big"].read().unwrap_err()[0].message, "Longer than 1024 KiB");
    write("broken.js", b"exports.a = 1;");
    assert!(libraries["broken"].read().is_ok());
}

#[test]
fn a_directory_that_is_not_there_is_a_problem() {
    let loaded = load_directories(&[Path::new("/nowhere/tools")]);
    assert_eq!(loaded.problems[0].message, "Cannot read the directory: No such file or directory");
}

/// What is no regular file, or too long, or no text, is refused and does not keep us waiting.
#[test]
fn odd_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let manifest = |name: &str| fs::write(path(&format!("{name}.json")), single(name)).unwrap();
    let script = |name: &str, text: &[u8]| fs::write(path(&format!("{name}.js")), text).unwrap();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(path(name)).status().unwrap();
        assert!(made.success());
    };
    const GOOD: &[u8] = b"function execute() {}";

    fs::create_dir(path("directory.json")).unwrap();
    script("directory", GOOD);
    pipe("pipe.json");
    script("pipe", GOOD);
    manifest("pipe_script");
    pipe("pipe_script.js");
    manifest("device");
    std::os::unix::fs::symlink("/dev/zero", path("device.js")).unwrap();
    manifest("dangling");
    std::os::unix::fs::symlink("/nowhere", path("dangling.js")).unwrap();
    manifest("loop");
    std::os::unix::fs::symlink("loop.js", path("loop.js")).unwrap();
    manifest("directory_script");
    fs::create_dir(path("directory_script.js")).unwrap();
    // A link leads where it leads, but its words are no JSON.
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "root:x:0:0\n").unwrap();
    std::os::unix::fs::symlink(secret.path(), path("elsewhere.json")).unwrap();
    script("elsewhere", GOOD);
    let unnameable =
        |extension: &[u8]| std::ffi::OsStr::from_bytes(&[b"caf\xe9.", extension].concat()).to_owned();
    fs::write(directory.path().join(unnameable(b"json")), single("cafe")).unwrap();
    fs::write(directory.path().join(unnameable(b"js")), GOOD).unwrap();
    manifest("linked");
    script("target", GOOD);
    std::os::unix::fs::symlink("target.js", path("linked.js")).unwrap();
    manifest("latin");
    script("latin", b"// caf\xe9\nfunction execute() {}");
    manifest("nul");
    script("nul", b"function execute() {\n\0}");
    manifest("long");
    script("long", &vec![b';'; (1 << 20) + 1]);
    fs::write(path("giant.json"), vec![b' '; (1 << 20) + 1]).unwrap();
    script("giant", GOOD);
    fs::write(path("deep.json"), vec![b'['; 1 << 20]).unwrap();
    script("deep", GOOD);
    fs::write(path("deep_object.json"), r#"{"a":"#.repeat(200_000)).unwrap();
    script("deep_object", GOOD);
    fs::write(path("wide.json"), format!("[{}1]", "1,".repeat(500_000))).unwrap();
    script("wide", GOOD);
    fs::write(path("latin_name.json"), b"{\"name\": \"caf\xe9\"}").unwrap();
    script("latin_name", GOOD);

    let loaded = load_directories(&[directory.path()]);
    assert_eq!(loaded.tools.iter().map(|tool| tool.definition.name.as_str()).collect::<Vec<_>>(), ["linked"]);
    let found: Vec<(&str, &str)> = loaded
        .problems
        .iter()
        .map(|problem| (problem.file.rsplit('/').next().unwrap(), &*problem.message))
        .collect();
    let expected = [
        ("directory.json", "Not a regular file"),
        ("pipe.json", "Not a regular file"),
        ("pipe_script.js", "Not a regular file"),
        ("device.js", "Not a regular file"),
        ("dangling.js", "Cannot be opened: No such file or directory"),
        ("loop.js", "Cannot be opened: Too many levels of symbolic links"),
        ("directory_script.js", "Not a regular file"),
        ("elsewhere.json", "Not valid JSON: expected value"),
        ("caf\u{fffd}.json", "The file's name is not valid UTF-8"),
        ("latin.js", "Not valid UTF-8 (line 1)"),
        ("nul.js", "the script contains a NUL character"),
        ("long.js", "Longer than 1024 KiB"),
        ("giant.json", "Longer than 1024 KiB"),
        ("deep.json", "Not valid JSON: recursion limit exceeded"),
        ("deep_object.json", "Not valid JSON: recursion limit exceeded"),
        ("wide.json", "Tool group in 'wide.json' has 500001 entries (maximum: 50)"),
        ("latin_name.json", "Not valid UTF-8 (line 1)"),
    ];
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected.iter().collect::<BTreeSet<_>>());
}

/// A hundred files, good and bad by turns.
#[test]
fn a_hundred_mixed_files_load_what_is_good() {
    const KINDS: usize = 10;
    let directory = tempfile::tempdir().unwrap();
    for number in 0..100 {
        let name = format!("f{number:02}");
        let write = |extension: &str, text: String| {
            fs::write(directory.path().join(format!("{name}.{extension}")), text).unwrap();
        };
        let group = |function: &str| {
            let entry = |tool: &str, function: &str| {
                format!(r#"{{"name": "{name}_{tool}", "description": "d", "function": "{function}"}}"#)
            };
            format!("[{}, {}]", entry("good", "run"), entry("other", function))
        };
        let (manifest, extension, script) = match number % KINDS {
            0 => (single(&name), "js", "function execute() {}".to_owned()),
            1 => (
                single(&name),
                "ts",
                "export const execute = (a: { b?: string }): string => a.b!;".to_owned(),
            ),
            2 => (group("walk"), "js", "function run() {}\nconst walk = run;".to_owned()),
            3 => (group("wolk"), "js", "export function run() {}\nexport function walk() {}".to_owned()),
            4 => (group("constructor"), "js", "function run() {}".to_owned()),
            5 => ("{".repeat(number * 1000), "js", String::new()),
            6 => (single("another"), "js", "function execute() {}".to_owned()),
            7 => (single(&name), "js", format!("function execute() {{}} {}", "(".repeat(1 << 19))),
            8 => (single(&name), "js", format!("function execute() {{}} {}", "(a=".repeat(1 << 17))),
            _ => (single(&name), "js", "})(); process.exit(); (function () {".to_owned()),
        };
        write("json", manifest);
        write(extension, script);
    }
    let loaded = load_directories(&[directory.path()]);
    // Two kinds with one tool, one with two, and two with one good entry of two.
    assert_eq!(loaded.tools.len(), 10 + 10 + 20 + 10 + 10);
    let names: BTreeSet<_> = loaded.tools.iter().map(|tool| tool.definition.name.as_str()).collect();
    assert_eq!(names.len(), loaded.tools.len());
    assert!(loaded.tools.is_sorted_by(|a, b| a.manifest <= b.manifest));
    assert_eq!(loaded.groups.len(), 30);
    let bad: BTreeSet<_> = errors(&loaded).iter().map(|problem| stem(&problem.file)).collect();
    let expected: BTreeSet<_> = (0..100).filter(|n| n % KINDS > 2).map(|n| format!("f{n:02}")).collect();
    assert_eq!(bad, expected);
    let entries = errors(&loaded).iter().filter(|problem| problem.entry == Some(1)).count();
    assert_eq!(entries, 20);
}

/// A megabyte of each kind of nesting: refused or parsed, but the process lives and does not hang.
#[test]
fn nesting_of_every_kind_is_survived() {
    const OPENERS: [&str; 50] = [
        "(",
        "[",
        "{",
        "!",
        "-",
        "+ ",
        "~",
        "a=>",
        "()=>",
        "async()=>",
        "new ",
        "`${",
        "if(a)",
        "x?",
        "x?(",
        "async ",
        "async(",
        "do ",
        "a=",
        "({a:",
        "({a(){",
        "a**",
        "void ",
        "typeof ",
        "a:",
        "else ",
        "if(a);else ",
        "function a(){",
        "(function(){",
        "class a{a=",
        "class a{static{",
        "class extends ",
        "x?.(",
        "(a,",
        "(a=",
        "({[",
        "[a=",
        "a<",
        "f<f<",
        "<a>(",
        "a.",
        "a+",
        "a()",
        "var {a:",
        "for(;;)",
        "{}/a/;",
        "}/[",
        "a\n/b[",
        "\\u{",
        "/*",
    ];
    let mut examiner = Examiner::default();
    for kind in [SourceKind::JavaScript, SourceKind::TypeScript] {
        for opener in OPENERS {
            // As much as fits, and as much as the scan lets through to the later stages.
            for (count, end) in [((1 << 20) / opener.len(), ""), (49_000, "a"), (9_000, "a")] {
                let count = count.min((1 << 20) / opener.len() - 1);
                let start = Instant::now();
                examiner.submit(kind, format!("{}{end}", opener.repeat(count)));
                let found = examiner.finding().unwrap();
                assert!(start.elapsed() < Duration::from_secs(8), "{opener}");
                let is_late = |fault: &SourceFault| fault.message.contains("takes too long");
                assert!(!found.is_err_and(|faults| faults.iter().any(is_late)), "{opener}");
            }
        }
    }
}

/// A slash hides brackets from one who takes a regular expression for a division or the other way round.
/// The parser would take minutes for each of these.
#[test]
fn brackets_cannot_hide_from_the_scan() {
    let deep = "(a=".repeat(20_000);
    let texts = [
        format!("if (a) /'/.test(b); {deep}"),
        format!("let a\n/'/; {deep}"),
        format!("for await (a of b) /`/.test(a); {deep} `"),
        format!("// \u{2028} {deep}"),
        format!("throw\u{a0}/'/; {deep}"),
        format!("a.return /2; {deep} /'"),
        format!("'\\\n' + {deep}"),
        format!("\"\n {deep}"),
        format!("/[/'\"`]/; {deep}"),
        format!("`${{`${{1}}`}}`; {deep}"),
        format!("a ?.5 : {deep}"),
        format!("<!-- `\n{deep} `"),
        format!("\n--> `\n{deep} `"),
        format!("\\u{{61}}; {deep}"),
        format!("#!/usr/bin/env `\n{deep}"),
        format!("{{}}/'/; {deep} '"),
        format!("x = {{}} /a`/; {deep} `"),
        format!("`${{ {{}} /}}/ 1 }}`; {deep} `"),
    ];
    for text in texts {
        for kind in [SourceKind::JavaScript, SourceKind::TypeScript] {
            let start = Instant::now();
            let faults = examine(kind, &text).map(|_| ()).unwrap_err();
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", &text[..30]);
            assert_eq!(faults.len(), 1, "{:?}: {faults:?}", &text[..30]);
        }
    }
}

/// What real scripts do with slashes, templates and brackets is none of the scan's business.
#[test]
fn ordinary_code_passes() {
    let texts = [
        "const a = b / c / d, e = (f + g) / h, i = j[0] / k;",
        "if (/^(?:[a-z]|\\/)+$/i.test(s)) /[/\"']/.exec(s);",
        "function f() { return /\\//.test(x) }\nvar re = /a/g;",
        "function f() {}\n/(a|b)/.test(x);",
        "const t = `a${b ? `c${d}` : '}'}e` / 2;",
        "while (n --> 0) { x = y\n  / z }",
        "label: for (const x of /a/g[Symbol.matchAll]('a')) break label;",
        "let a = b ? /c/ : d / e; a /= 2; a = a++ / 2;",
        "async function f() { for await (const x of y) { await /x/.test(x) } }",
        "var \u{fc}ml\u{e4}ut = 'a\\u{1F600}\\x41\\\n b'; var \\u0061b = 1;",
        "x = { if: 1, return: /a/, get in() { return 1 } }; x.if / x.in;",
        "// it's\n/* `'\" */ let y = 1 /* ( */ / 2;",
    ];
    for text in texts {
        examine(SourceKind::JavaScript, text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    }
    let nested = format!("const data = {}1{};", "[".repeat(400), "]".repeat(400));
    examine(SourceKind::JavaScript, &nested).unwrap();
    let long =
        "function f(a, b) { if (a < b && (a ? b : c)) { return [a, { b: `x${b}` }]; } }\n".repeat(12_000);
    examine(SourceKind::JavaScript, &long).unwrap();
    examine(SourceKind::TypeScript, &long).unwrap();
}

#[test]
fn exports_become_plain_code() {
    let check = |text: &str, code: &str| {
        let script = examine(SourceKind::JavaScript, text).unwrap();
        assert!(script.is_module);
        assert_eq!(script.code, format!("'use strict';/**/{code}"));
        script
    };
    check("export const a = 1;", ";      const a = 1;");
    check("export function f() {}\nf();", ";      function f() {}\nf();");
    let script = check("let x = y\nexport {\n  x as z }\n(1)", "let x = y\n;       \n          \n(1)");
    assert_eq!(script.entry("z"), Some("x"));
    let script = check("export default function () {}\n(1)", ";const __dft = function () {};\n(1)");
    assert_eq!(script.entry("default"), Some("__dft"));
    check("export /* a */ default\n\n  () => 1", ";const __dft =        \n\n  () => 1");
    check("export\r\ndefault function f() {}", ";     \r\n        function f() {}");
    let script = check("export default async function run() {}", ";              async function run() {}");
    assert_eq!(script.entry("default"), Some("run"));
    check("export default (a) => a", ";const __dft = (a) => a");
    let script = check(
        "#!/usr/bin/env node\nexport default class A {}",
        "///usr/bin/env node\n;              class A {}",
    );
    assert_eq!(script.entry("default"), None);
    assert_eq!(script.exported["default"], "A");
}

#[test]
fn plain_scripts_stay_as_they_are() {
    let text =
        "var { a, b: [c = 1] } = x, d; let e; const f = 2;\nfunction g() { var h }\nclass I {}\n// _env";
    let script = examine(SourceKind::JavaScript, text).unwrap();
    assert_eq!((script.code.as_str(), script.is_module, script.reads_env), (text, false, false));
    assert_eq!(script.functions.iter().collect::<Vec<_>>(), ["a", "c", "d", "e", "g"]);
    assert_eq!(script.others, [("f".to_owned(), "a number"), ("I".to_owned(), "a class")].into());
    for reads in ["p._env.A", "p['_env']", "({ _env }) => _env"] {
        assert!(examine(SourceKind::JavaScript, reads).unwrap().reads_env, "{reads}");
    }
    for not in ["p._envy", "'my _env'", "/* _env */ 1"] {
        assert!(!examine(SourceKind::JavaScript, not).unwrap().reads_env, "{not}");
    }
}

#[test]
fn stripped_lines_lead_back_to_the_source() {
    let text = "interface A {\n  a: number;\n}\n\nenum B { C = 'c' }\n\nfunction execute(a: A): string {\n  throw new Error(B.C);\n}\n";
    let script = examine(SourceKind::TypeScript, text).unwrap();
    let line = script.code.lines().position(|line| line.contains("throw")).unwrap() + 1;
    assert_eq!(script.source_line(line), 8, "{}", script.code);
    assert_eq!(script.source_line(10_000), 10_000);
}

/// Editors check manifests with the schema; it must say what the loader says.
#[test]
fn the_schema_agrees_with_the_loader() {
    let schema = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tool-manifest.schema.json"));
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let mut checked = (0, 0);
    for directory in ["singles", "groups", "partial", "broken", "clash_a", "clash_b", "functions", "mistakes"]
    {
        for entry in fs::read_dir(fixtures().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let Some(base) = name.strip_suffix(".json") else { continue };
            let foreign = ["package", "tsconfig", "module", ".hidden", "bare.test"];
            let text = fs::read_to_string(&path).unwrap_or_default();
            let Ok(value) = serde_json::from_str(text.trim_start_matches('\u{feff}')) else { continue };
            // A name that is not the file's is none of a schema's business, and to an editor null is a mistake.
            if foreign.contains(&base) || ["mismatch", "null_schema"].contains(&base) {
                continue;
            }
            let manifest = Manifest::parse(&text, base);
            // To an editor, a field that nothing reads is a mistake.
            let is_unread =
                |message: &str| message.contains("Unknown field") || message.contains("in groups only");
            let is_good = manifest.faults.iter().all(|fault| fault.warning && !is_unread(&fault.message));
            assert_eq!(validator.is_valid(&value), is_good, "{name}: {:?}", manifest.faults);
            if is_good { checked.0 += 1 } else { checked.1 += 1 }
        }
    }
    assert!(checked.0 > 15 && checked.1 >= 5, "{checked:?}");
}

/// Not a promise, but a reminder: a thousand small tools take milliseconds, not seconds.
#[test]
fn a_thousand_tools_load_fast() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..1000 {
        let name = format!("t{number}");
        let manifest = format!(
            r#"{{"name": "{name}", "description": "One of many", "parameters": {{"properties": {{"a": {{"type": "string", "description": "An a"}}}}}}}}"#
        );
        fs::write(directory.path().join(format!("{name}.json")), manifest).unwrap();
        let script =
            "async function execute(params) {\n  const { a } = params;\n  return { a, at: _time() };\n}\n";
        fs::write(directory.path().join(format!("{name}.js")), script).unwrap();
    }
    let start = Instant::now();
    let loaded = load_directories(&[directory.path()]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(loaded.tools.len(), 1000);
}

fn single(name: &str) -> String {
    format!(r#"{{"name": "{name}", "description": "d"}}"#)
}

fn stem(file: &str) -> String {
    Path::new(file).file_stem().unwrap().to_str().unwrap().to_owned()
}
