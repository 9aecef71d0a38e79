//! Verdicts on packages and drafts of their modules, from small packages in `fixtures/modules`, and
//! packages that mean harm.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pinza_js::package::{DraftWish, Installed, PackageFault, PackageVerdict, RunsOn};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Every case holds a `case.json` (what is asked), a `node_modules`, and an `expected.json` (what comes
/// out). `UPDATE_FIXTURES=1` writes the latter anew.
#[test]
fn drafts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/modules/packages-draft");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    for directory in cases {
        let read = |name: &str| -> Value {
            serde_json::from_str(&fs::read_to_string(directory.join(name)).unwrap_or_default())
                .unwrap_or_default()
        };
        let case = read("case.json");
        let found = run(&directory, &case);
        let file = directory.join("expected.json");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&file, format!("{found:#}\n")).unwrap();
        }
        let expected = read("expected.json");
        assert!(found == expected, "{}: {found:#}", directory.display());
    }
}

fn run(directory: &Path, case: &Value) -> Value {
    let package = case["package"].as_str().unwrap();
    let installed = Installed::open(directory, package).unwrap();
    let verdict = installed.verdict().unwrap();
    let shown = verdict.to_string();
    let lines: Vec<&str> = shown.lines().collect();
    let pick = case["pick"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned());
    let module = case["module"].as_str().unwrap_or("lib").to_owned();
    let wish = DraftWish { module, pick: pick.collect(), range: None };
    match installed.draft(&wish, &verdict) {
        Ok(draft) => json!({
            "verdict": lines,
            "manifest": draft.manifest,
            "leftOut": draft.left_out.iter().map(|one| format!("{}: {}", one.function, one.reason)).collect::<Vec<_>>(),
            "more": draft.more,
            "classes": draft.classes,
            "typed": draft.typed,
        }),
        Err(fault) => json!({ "verdict": lines, "fault": fault.to_string() }),
    }
}

/// A module with one package, made of these files.
fn module(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (path, text) in files {
        let path = directory.path().join("node_modules").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn verdict(module: &TempDir) -> PackageVerdict {
    Installed::open(module.path(), "evil").unwrap().verdict().unwrap()
}

#[track_caller]
fn refused(module: &TempDir, expected: &str) {
    let verdict = verdict(module);
    let messages: Vec<&str> =
        verdict.concerns.iter().filter(|one| one.refused).map(|one| one.message.as_str()).collect();
    assert_eq!(messages, [expected]);
}

#[test]
fn entries_that_lead_outside_are_refused() {
    for main in ["../../../etc/passwd", "/etc/passwd", "../other/index.js", "./a/../../../x.js"] {
        let module = module(&[
            ("evil/package.json", &json!({ "name": "evil", "main": main }).to_string()),
            ("evil/index.js", ""),
            ("other/index.js", ""),
        ]);
        refused(&module, &format!("its entry '{main}' leads out of the package"));
    }
    let exports = json!({ "name": "evil", "exports": { ".": { "import": "./../../out.js" } } });
    let module = module(&[("evil/package.json", &exports.to_string())]);
    refused(&module, "its entry './../../out.js' leads out of the package");
}

#[test]
fn imports_that_lead_outside_are_refused() {
    let code = "require('../../../outside'); import('/etc/passwd'); import('https://evil.example/x.js')";
    let module = module(&[("evil/package.json", "{}"), ("evil/index.js", code)]);
    let verdict = verdict(&module);
    let named = |part: &str| verdict.concerns.iter().any(|one| one.refused && one.message.contains(part));
    assert!(
        named("'../../../outside'") && named("'/etc/passwd'") && named("'https://evil.example/x.js'"),
        "{verdict}"
    );
}

#[test]
fn links_are_not_followed_and_those_outside_are_refused() {
    let module =
        module(&[("evil/package.json", "{}"), ("evil/index.js", "require('./secret.js'); require('./in')")]);
    let secret = module.path().join("secret.js");
    fs::write(&secret, "require('net')").unwrap();
    let modules = module.path().join("node_modules");
    std::os::unix::fs::symlink("../../secret.js", modules.join("evil/secret.js")).unwrap();
    std::os::unix::fs::symlink("index.js", modules.join("evil/in.js")).unwrap();
    refused(&module, "the link evil/secret.js leads out of node_modules, to ../../secret.js");
    assert_eq!(verdict(&module).builtins, [], "what a link leads to is not read");
}

#[test]
fn large_trees_are_named_and_not_read() {
    let module = module(&[("evil/package.json", "{}"), ("dep/package.json", "{}")]);
    let big = fs::File::create(module.path().join("node_modules/dep/data.bin")).unwrap();
    big.set_len(65 << 20).unwrap();
    let fault = Installed::open(module.path(), "evil").unwrap_err();
    assert!(matches!(fault, PackageFault::Tree { .. }));
    assert_eq!(fault.to_string(), "'evil' is not read: it takes more than 64 MB; dep alone takes 65 MB");
}

#[test]
fn fifty_megabytes_of_source_are_looked_over() {
    let line = "exports.a = function () { return [1, 2, (3)] };\n";
    let text = format!("{}require('net');\n{}", line.repeat(500_000), line.repeat(500_000));
    let module = module(&[("evil/package.json", "{}"), ("evil/index.js", &text)]);
    let verdict = verdict(&module);
    assert_eq!(verdict.runs_on, RunsOn::Node, "{verdict}");
    let named = "evil/index.js is too large (48.0 MB) to be examined in full";
    assert!(verdict.concerns.iter().any(|one| one.message == named), "{verdict}");
}

#[test]
fn sources_that_break_parsers_are_looked_over() {
    for (text, ending) in [
        ("[".repeat(900_000), "js"),
        ("(a = ".repeat(150_000), "js"),
        ("!".repeat(900_000), "js"),
        ("a<".repeat(400_000), "d.ts"),
        (format!("type A = {}", "[".repeat(900_000)), "d.ts"),
        ("namespace a { ".repeat(60_000), "d.ts"),
    ] {
        let path = format!("evil/index.{ending}");
        let module =
            module(&[("evil/package.json", "{}"), ("evil/index.js", "exports.a = 1"), (&path, &text)]);
        let installed = Installed::open(module.path(), "evil").unwrap();
        let verdict = installed.verdict().unwrap();
        assert!(!verdict.is_refused(), "{verdict}");
        let wish = DraftWish { module: "evil".into(), ..DraftWish::default() };
        assert!(installed.draft(&wish, &verdict).is_err());
    }
}

/// Declarations that lead in circles end.
#[test]
fn circles_end() {
    let types = "
        export * from './other';
        export type A<T> = B<A<T>>; type B<T> = A<B<T>>;
        import X = Y.Z; import Y = X.Z; export { X };
        interface I extends I { next: I; f(i: I): I }
        export declare const value: I;
        export declare function f(a: A<string>, i?: I): I;
        export = value;
    ";
    let module = module(&[
        ("evil/package.json", r#"{ "types": "index.d.ts" }"#),
        ("evil/index.d.ts", types),
        (
            "evil/other.d.ts",
            "export * from './index'; export { q as r } from './index'; export { r as q } from './index';",
        ),
        ("evil/index.js", "module.exports = require('./a')"),
        (
            "evil/a.js",
            "module.exports = require('./index'); exports.b = exports.c; const c = c; exports.c = c;",
        ),
    ]);
    let installed = Installed::open(module.path(), "evil").unwrap();
    let verdict = installed.verdict().unwrap();
    let wish = DraftWish { module: "evil".into(), ..DraftWish::default() };
    let draft = installed.draft(&wish, &verdict).unwrap();
    assert!(draft.tools.iter().any(|tool| tool.function == "f"), "{draft:?}");
}

#[test]
fn native_addons_need_node() {
    for (path, text, sign) in [
        ("evil/build/Release/a.node", "", "evil/build/Release/a.node"),
        ("evil/binding.gyp", "", "evil/binding.gyp"),
        ("bindings/package.json", "{}", "bindings, which loads native addons"),
        ("dep/package.json", r#"{"gypfile": true}"#, "dep has a gypfile"),
        ("dep/package.json", r#"{"scripts": {"install": "x"}}"#, "the install script of dep"),
        (
            "dep/package.json",
            r#"{"scripts": {"postinstall": "node-gyp rebuild"}}"#,
            "the postinstall script of dep",
        ),
    ] {
        let module = module(&[("evil/package.json", "{}"), ("evil/index.js", ""), (path, text)]);
        let verdict = verdict(&module);
        assert_eq!((verdict.runs_on, verdict.native.as_slice()), (RunsOn::Node, &[sign.to_owned()][..]));
        assert_eq!(verdict.capabilities, ["node"]);
    }
}
