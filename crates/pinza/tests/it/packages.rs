//! Modules around packages of all kinds, in the embedded engine: how files are found, loaded and called.

use pinza_testkit::Program;
use serde_json::{Value, json};

use crate::support::{Expected, check_call, pinza};

/// A module `m` with one tool `m_call`, around a package `p` made of these files.
struct Case<'a> {
    files: &'a [(&'a str, &'a str)],
    manifest: Value,
    tool: Value,
}

impl Case<'_> {
    fn program(&self) -> Program {
        let pinza = pinza();
        for (name, text) in self.files {
            write(&pinza, &format!("modules/m/{name}"), text);
        }
        let mut manifest = json!({
            "name": "m", "version": "1.0.0", "description": "A module", "package": "p", "type": "static",
            "tools": [{
                "name": "m_call", "description": "Calls", "function": "call",
                "parameters": { "type": "object", "properties": { "x": {} } },
            }],
        });
        merge(&mut manifest, &self.manifest);
        merge(&mut manifest["tools"][0], &self.tool);
        write(&pinza, "modules/m/module.json", &manifest.to_string());
        pinza
    }
}

/// A file in the program's home.
fn write(pinza: &Program, name: &str, text: &str) {
    let file = pinza.home().join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn merge(target: &mut Value, with: &Value) {
    for (key, value) in with.as_object().into_iter().flatten() {
        target[key] = value.clone();
    }
}

const COMMON: (&str, &str) =
    ("node_modules/p/package.json", r#"{"name":"p","version":"1.2.3","main":"main.js"}"#);

#[track_caller]
fn check(files: &[(&str, &str)], expected: Expected) {
    let case = Case { files, manifest: json!({ "runtime": "embedded" }), tool: json!({}) };
    check_call(&case.program(), &["m_call", r#"{"x":3}"#], expected);
}

#[test]
fn common_js_and_es_modules_and_both() {
    let module = |text| ("node_modules/p/main.js", text);
    check(&[COMMON, module("exports.call = (x) => x + 1")], Ok("4"));
    check(
        &[COMMON, module("module.exports = { call(x) { return this === module.exports ? x : 'lost' } }")],
        Ok("3"),
    );
    check(&[COMMON, module("export function call(x) { return x * 2 }")], Ok("6"));
    check(&[COMMON, module("export default { call: (x) => x * 3 }")], Ok("9"));
    check(
        &[
            COMMON,
            module("const { part } = require('./lib/part'); exports.call = (x) => part(x)"),
            (
                "node_modules/p/lib/part.js",
                "const data = require('../data.json'); exports.part = (x) => data.n + x",
            ),
            ("node_modules/p/data.json", r#"{"n":40}"#),
        ],
        Ok("43"),
    );
    // An ES module that imports a CommonJS one, by default and by name.
    check(
        &[
            COMMON,
            module("import whole, { part } from './part.cjs'; import data from './data.json' with { type: 'json' };
                    export const call = (x) => [whole.part === part, part(x), data.n, import.meta.url.slice(0, 8)]"),
            ("node_modules/p/part.cjs", "exports.part = (x) => x + 1; exports.class = 1"),
            ("node_modules/p/data.json", r#"{"n":40}"#),
        ],
        Ok(r#"[true,4,40,"file:///"]"#),
    );
    // A CommonJS module that requires an ES one, and one that imports it later.
    check(
        &[
            COMMON,
            module("const { part } = require('./part.mjs');
                    exports.call = async (x) => [part(x), (await import('./part.mjs')).part === part, (await import('late')).default]"),
            ("node_modules/p/part.mjs", "export const part = (x) => x + 1"),
            ("node_modules/late/package.json", r#"{"name":"late","version":"1.0.0","exports":"./late.mjs"}"#),
            ("node_modules/late/late.mjs", "export default await Promise.resolve('late')"),
        ],
        Ok(r#"[4,true,"late"]"#),
    );
    // Cycles of both kinds.
    check(
        &[
            COMMON,
            module("exports.early = 1; const other = require('./other'); exports.call = () => other.saw"),
            ("node_modules/p/other.js", "exports.saw = Object.keys(require('./main.js')).join()"),
        ],
        Ok("early"),
    );
    check(
        &[
            COMMON,
            module("import { b } from './b.js'; export const a = 1; export const call = () => b()"),
            ("node_modules/p/b.js", "import { a } from './main.js'; export const b = () => a"),
        ],
        Ok("1"),
    );
}

#[test]
fn exports_conditions_and_subpaths() {
    let files = [
        (
            "node_modules/p/package.json",
            r##"{"name":"p","version":"1.0.0","type":"module","exports":{".":{"import":"./import.js","require":"./require.cjs"},
                "./sub":"./sub.js","./wild/*":"./wild/*.js"},"imports":{"#own":"./own.js"}}"##,
        ),
        ("node_modules/p/import.js", "export const call = () => 'import'"),
        ("node_modules/p/require.cjs", "exports.call = () => 'require'"),
        (
            "node_modules/p/sub.js",
            "import own from '#own'; import { a } from 'p/wild/a'; export const call = () => own + a",
        ),
        ("node_modules/p/own.js", "export default 'own'"),
        ("node_modules/p/wild/a.js", "export const a = '-a'"),
    ];
    check(&files, Ok("require"));
    let case = Case {
        files: &files,
        manifest: json!({ "package": "p/sub", "runtime": "embedded" }),
        tool: json!({}),
    };
    check_call(&case.program(), &["m_call"], Ok("own-a"));
    let case = Case {
        files: &files,
        manifest: json!({ "package": "p/secret", "runtime": "embedded" }),
        tool: json!({}),
    };
    check_call(&case.program(), &["m_call"], Err(("execution_error", "[..]secret[..]")));
}

#[test]
fn a_package_that_works_in_only_one_environment_is_loaded_for_that_one() {
    let files = [
        (
            "node_modules/p/package.json",
            r#"{"name":"p","version":"1.0.0","exports":{"browser":"./browser.js","node":"./node.js"}}"#,
        ),
        ("node_modules/p/browser.js", "document.title = 1; exports.call = () => 'browser'"),
        ("node_modules/p/node.js", "exports.call = () => 'node'"),
    ];
    check(&files, Ok("node"));
}

#[test]
fn a_local_file_is_a_package_too() {
    let files = [("lib/own.js", "exports.call = (x) => 'own ' + x")];
    for package in ["./lib/own.js", "./lib/own"] {
        let case = Case {
            files: &files,
            manifest: json!({ "package": package, "runtime": "embedded" }),
            tool: json!({}),
        };
        check_call(&case.program(), &["m_call", r#"{"x":3}"#], Ok("own 3"));
    }
}

#[test]
fn every_call_begins_anew_unless_it_is_a_sessions() {
    let files = [
        COMMON,
        (
            "node_modules/p/main.js",
            "let n = 0; Object.prototype.evil ??= 0; exports.call = () => [++n, ++Object.prototype.evil]",
        ),
    ];
    let twice = "const a = await tools.m_call({}); const b = await tools.m_call({}); [a, b]";
    for (state, expected) in [("call", r#"["[1,1]","[1,1]"]"#), ("session", r#"["[1,1]","[2,2]"]"#)] {
        let case = Case {
            files: &files,
            manifest: json!({ "state": state, "runtime": "embedded" }),
            tool: json!({}),
        };
        check_call(&case.program(), &["js_eval", &format!("code={twice}")], Ok(expected));
    }
}

#[test]
fn a_kept_object_is_called_by_its_handle() {
    let files = [
        COMMON,
        (
            "node_modules/p/main.js",
            "exports.Counter = class { n = 0; add(x) { this.n += x; return this.n } toJSON() { return `at ${this.n}` } }",
        ),
    ];
    let tools = json!([
        { "name": "make", "description": "Makes one", "function": "Counter", "instanceMethod": false,
          "resultMapping": { "transform": "instance" } },
        { "name": "add", "description": "Adds", "function": "add", "instanceMethod": true,
          "parameters": { "type": "object", "properties": { "x": { "type": "number" } } } },
    ]);
    let manifest = json!({ "runtime": "embedded", "tools": tools });
    let case = Case { files: &files, manifest, tool: json!({}) };
    let code = "const { handle, value } = JSON.parse(await tools.make({}));
        [handle, value, await tools.add({ handle, x: 2 }), await tools.add({ handle, x: 3 })]";
    check_call(&case.program(), &["js_eval", &format!("code={code}")], Ok(r#"["m-1","at 0","2","5"]"#));
    check_call(&case.program(), &["add", r#"{"x":1,"handle":"m-9"}"#], Err(("not_found", "[..]m-9[..]")));
}

#[test]
fn what_is_wrong_is_named() {
    let main = |text| ("node_modules/p/main.js", text);
    let failed = |message| Err(("execution_error", message));
    check(&[COMMON, main("exports.cal = 1")], failed("[..]'call'[..]cal[..]"));
    check(
        &[COMMON, main("exports.call = () => { throw new RangeError('too far') }")],
        failed("Tool execution failed: RangeError: too far"),
    );
    check(&[COMMON, main("throw new Error('not today')")], failed("Tool execution failed: not today"));
    check(&[COMMON, main("require('nowhere')")], Err(("execution_error", "[..]nowhere[..]")));
    check(&[COMMON, main("syntax error here")], failed("Tool execution failed: SyntaxError: [..]"));
    check(
        &[COMMON, main("require('./addon.node')"), ("node_modules/p/addon.node", "x")],
        failed("[..]native addon[..]"),
    );
    check(&[], Err(("not_found", "The package 'p' is not installed: [..]")));
    let case = Case {
        files: &[COMMON, main("exports.call = () => 1")],
        manifest: json!({ "packageVersion": "^2.0.0" }),
        tool: json!({}),
    };
    check_call(&case.program(), &["m_call"], failed("The module 'm' wants p ^2.0.0, but 1.2.3 is installed"));
    let dependencies = json!({ "apiKey": { "type": "string", "required": true, "description": "The key" } });
    let manifest = json!({ "dependencies": dependencies });
    let case = Case { files: &[COMMON, main("exports.call = () => 1")], manifest, tool: json!({}) };
    check_call(
        &case.program(),
        &["m_call"],
        failed("The module 'm' needs the dependency 'apiKey' (The key), which is not set; [..]"),
    );
}

#[test]
fn hostile_packages_harm_nothing_and_are_named() {
    let main = |text| ("node_modules/p/main.js", text);
    let outside =
        ("node_modules/p/package.json", r#"{"name":"p","version":"1.0.0","main":"../../../../config.toml"}"#);
    let secret =
        Case { files: &[outside], manifest: json!({ "runtime": "embedded" }), tool: json!({}) }.program();
    write(&secret, "config.toml", "# secret\n");
    check_call(&secret, &["m_call"], Err(("execution_error", "[..]outside the module's directory[..]")));
    check(
        &[COMMON, main("require('/etc/passwd')")],
        Err(("execution_error", "[..]outside the module's directory[..]")),
    );
    let looping = [COMMON, main("Object.defineProperty(exports, 'call', { get() { for (;;); } })")];
    let tool = json!({ "timeoutSeconds": 1 });
    let case = Case { files: &looping, manifest: json!({ "runtime": "embedded" }), tool };
    check_call(&case.program(), &["m_call"], Err(("timeout", "[..]")));
    let polluting = [
        COMMON,
        main(
            "Object.prototype.then = (done) => done('evil'); JSON.stringify = () => 'evil'; exports.call = () => 'own'",
        ),
    ];
    let case = Case { files: &polluting, manifest: json!({ "runtime": "embedded" }), tool: json!({}) };
    let code = "code=try { await tools.m_call({}) } catch {} [typeof ({}).then, JSON.stringify({ a: 1 })]";
    check_call(&case.program(), &["js_eval", code], Ok(r#"["undefined","{\"a\":1}"]"#));
    // Packages that need each other are loaded once each.
    let cycle = [
        COMMON,
        main("exports.name = 'p'; const q = require('q'); exports.call = () => [q.name, q.saw, q.again()]"),
        ("node_modules/q/package.json", r#"{"name":"q","version":"1.0.0","dependencies":{"p":"*"}}"#),
        (
            "node_modules/q/index.js",
            "const p = require('p'); exports.name = 'q'; exports.saw = Object.keys(p); exports.again = () => require('p') === p",
        ),
    ];
    check(&cycle, Ok(r#"["q",["name"],true]"#));
    let endless = [
        COMMON,
        main(
            "let n = 0; const next = () => { require.cache[__filename] = undefined; delete require.cache[__filename]; require(__filename) }; next()",
        ),
    ];
    check(&endless, Err(("execution_error", "Tool execution failed: [..]")));
    // Much in many files is too much as well.
    let many: Vec<(String, String)> = (0..5)
        .map(|at| {
            (format!("node_modules/p/part{at}.cjs"), format!("exports.a = 1;//{}", "x".repeat(9 << 20)))
        })
        .collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|(name, text)| (&**name, &**text)).collect();
    files.extend([
        COMMON,
        main("for (let at = 0; at < 5; at++) require(`./part${at}.cjs`); exports.call = () => 1"),
    ]);
    check(
        &files,
        Err(("execution_error", "[..]part4.cjs cannot be read: the package has more than 40 MB of source")),
    );
    let large = format!("exports.call = () => 1;//{}", "x".repeat(13 << 20));
    check(
        &[COMMON, main(&large)],
        Err(("execution_error", "[..]main.js cannot be read: it has more than 12 MB")),
    );
}

#[test]
fn libraries_use_files_of_the_workspace_as_policy_says() {
    let main = "const fs = require('fs'); const path = require('path');
        exports.call = async (x) => {
            fs.mkdirSync('made/deep', { recursive: true });
            fs.writeFileSync(path.resolve('made/deep/a.bin'), Buffer.from([0, 255, 10]));
            await fs.promises.copyFile('made/deep/a.bin', 'made/b.bin');
            fs.renameSync('made/b.bin', 'made/c.bin');
            const read = [...fs.readFileSync('made/c.bin')];
            const own = fs.readFileSync(path.join(__dirname, 'words.txt'), 'utf8');
            const listed = fs.readdirSync('made', { recursive: true });
            fs.rmSync('made', { recursive: true });
            return { read, own, listed, left: fs.existsSync('made'), names: fs.readdirSync(__dirname) };
        }";
    let files = [COMMON, ("node_modules/p/main.js", main), ("node_modules/p/words.txt", "own words")];
    let case = Case { files: &files, manifest: json!({ "runtime": "embedded" }), tool: json!({}) };
    let pinza = case.program();
    let told = r#"{"read":[0,255,10],"own":"own words","listed":["c.bin","deep","deep/a.bin"],"left":false,"names":["main.js","package.json","words.txt"]}"#;
    check_call(&pinza, &["m_call"], Ok(told));
    let denied = pinza.run(&["--deny", "fs.write", "--json", "call", "m_call"]);
    assert_eq!(denied.json()["error_type"], "permission_denied", "{denied:?}");
    assert!(!pinza.workspace().join("made").exists());
    // A ceiling in the manifest holds whatever policy says.
    let manifest = json!({ "runtime": "embedded", "capabilities": ["fs.read"] });
    let case = Case { files: &files, manifest, tool: json!({}) };
    let run = case.program().run(&["--allow", "fs.write", "--json", "call", "m_call"]);
    assert_eq!(run.json()["error_type"], "permission_denied", "{run:?}");
}

#[test]
fn files_that_are_not_a_librarys_stay_closed() {
    let reading = |path: &str| {
        let main = format!(
            "const fs = require('fs'); exports.call = () => {{ try {{ return fs.readFileSync({path:?}, 'utf8') }} catch (error) {{ return error.code }} }}"
        );
        let files = [COMMON, ("node_modules/p/main.js", &*main), (".env", "KEY=secret")];
        let case = Case { files: &files, manifest: json!({ "runtime": "embedded" }), tool: json!({}) };
        let pinza = case.program();
        write(&pinza, "config.toml", "# secret");
        let run = pinza.run(&["--json", "call", "m_call"]);
        run.json()["result"].as_str().unwrap_or(&run.stdout).to_owned()
    };
    assert_eq!(reading("../../../config.toml"), "EACCES");
    assert_eq!(reading("/etc/hostname"), "ENOENT", "an absolute path is one of the workspace");
    // The variables beside a module are for what its manifest names.
    for main in [
        "const path = require('path'); exports.call = () => require('fs').existsSync(path.join(__dirname, '../../.env'))",
        "exports.call = () => { try { require('../../.env'); return true } catch { return false } }",
    ] {
        check(&[COMMON, ("node_modules/p/main.js", main), (".env", "KEY=secret")], Ok("false"));
    }
}

#[test]
fn a_library_may_make_its_own_require() {
    let main = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);
        const { part } = require('./part.cjs'); export const call = (x) => [part, require.resolve('fs'), require('other').name]";
    let files = [
        COMMON,
        ("node_modules/p/main.js", main),
        ("node_modules/p/part.cjs", "exports.part = 'part'"),
        ("node_modules/other/package.json", r#"{"name":"other","version":"1.0.0"}"#),
        ("node_modules/other/index.js", "exports.name = 'other'"),
    ];
    check(&files, Ok(r#"["part","node:fs","other"]"#));
}

#[test]
fn what_works_in_neither_environment_says_what_was_missing() {
    // The browser's files fail for a reason of their own, which would only mislead.
    let files = [
        (
            "node_modules/p/package.json",
            r#"{"name":"p","version":"1.0.0","exports":{"browser":"./browser.js","node":"./node.js"}}"#,
        ),
        ("node_modules/p/browser.js", "exports.call = () => document.title"),
        ("node_modules/p/node.js", "exports.call = () => require('crypto').generateKeyPairSync('rsa')"),
    ];
    check(
        &files,
        Err(("execution_error", "[..]crypto.generateKeyPairSync is not available in the sandbox[..]")),
    );
    let files = [files[0], ("node_modules/p/browser.js", "exports.call = () => null.title"), files[2]];
    check(
        &files,
        Err(("execution_error", "[..]crypto.generateKeyPairSync is not available in the sandbox[..]")),
    );
}

#[test]
fn old_libraries_find_what_a_match_left_behind() {
    let main = "exports.call = () => /(\\d+)/.test('a 12 b') && RegExp.$1";
    check(&[COMMON, ("node_modules/p/main.js", main)], Ok("12"));
}
