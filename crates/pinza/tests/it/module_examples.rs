//! The modules under `examples/modules`, on the packages of `./test modules`.

use std::{fs, path::PathBuf};

use crate::support::{check_call, pinza};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn they_are_read_without_a_fault() {
    for directory in ["examples/modules", "fixtures/modules"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let Ok(text) = fs::read_to_string(entry.unwrap().path().join("module.json")) else { continue };
            let parsed = pinza_js::module::ModuleManifest::parse(&text, pinza_js::module::Mode::Strict);
            assert!(parsed.manifest.is_some() && parsed.faults.is_empty(), "{:?}", parsed.faults);
        }
    }
}

/// Run by `./test modules`, which installs the packages.
#[test]
#[ignore = "needs packages from npm"]
fn compatibility_packages_of_the_examples() {
    let pinza = pinza();
    for name in ["lodash", "moment", "dayjs", "zod", "cheerio"] {
        let module = pinza.home().join("modules").join(name);
        fs::create_dir_all(&module).unwrap();
        fs::copy(root().join(format!("examples/modules/{name}/module.json")), module.join("module.json"))
            .unwrap();
        let packages = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compat/node_modules");
        std::os::unix::fs::symlink(packages, module.join("node_modules")).unwrap();
    }
    check_call(&pinza, &["array_chunk", r#"{"array":[1,2,3],"size":2}"#], Ok("[[1,2],[3]]"));
    let merge = r#"{"target":{"a":{"b":1}},"sources":[{"a":{"c":2}},{"d":3}]}"#;
    check_call(&pinza, &["object_merge", merge], Ok(r#"{"a":{"b":1,"c":2},"d":3}"#));
    check_call(
        &pinza,
        &["date_parse", "date=2020-02-29"],
        Ok(r#"{"handle":"moment-1","value":"2020-02-29[..]"}"#),
    );
    let run =
        |code: &str, expected: &str| check_call(&pinza, &["js_eval", &format!("code={code}")], Ok(expected));
    run(
        "const { handle } = JSON.parse(await tools.day_parse({ date: '2024-01-31' }));
         const next = JSON.parse(await tools.day_add({ handle, value: 1, unit: 'month' }));
         await tools.day_format({ handle: next.handle, format: 'YYYY-MM-DD' })",
        "2024-02-29",
    );
    run(
        "const { handle } = JSON.parse(await tools.check_email({}));
         [await tools.check_value({ handle, value: 'a@b.example' }), await tools.check_value({ handle, value: 'nobody' })]",
        r#"["{\"ok\":true}","{\"ok\":false}"]"#,
    );
    run(
        "const { handle } = JSON.parse(await tools.html_load({ html: '<p>Hello <b>you</b></p>' })); await tools.html_text({ handle })",
        "Hello you",
    );
}
