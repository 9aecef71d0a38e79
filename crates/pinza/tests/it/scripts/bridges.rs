//! Files, time and other tools from a script; errors keep their codes on the way.

use crate::support::{Expected, check_call, pinza};

#[test]
fn files_are_those_of_the_workspace() {
    let pinza = pinza();
    pinza.put("in.txt", "\u{feff}grün\n");
    pinza.put("binary", b"\xff\xfe\x00");
    let outside = "Access denied: path is outside the workspace";
    let home = format!("fs.readFile({:?})", pinza.home().join("key").display().to_string());
    let cases: [(&str, Expected); 14] = [
        ("fs.readFile('in.txt')", Ok("grün\n")),
        ("await fs.readFile('in.txt')", Ok("grün\n")),
        ("[fs.exists('in.txt'), fs.exists('none')]", Ok("[true,false]")),
        ("[fs.writeFile('new/deep/a.txt', 'äb'), fs.appendFile('new/deep/a.txt', 5)]", Ok("[3,1]")),
        ("fs.readFile('./new/deep/../deep/a.txt')", Ok("äb5")),
        ("fs.readFile('none')", Err(("file_not_found", "File not found: none"))),
        ("fs.readFile('new')", Err(("validation_error", "Path is a directory, not a file: new"))),
        ("fs.readFile('binary')", Err(("validation_error", "File is not UTF-8 text: binary"))),
        ("fs.readFile('../config.toml')", Err(("path_not_allowed", outside))),
        ("fs.readFile('/etc/passwd')", Err(("path_not_allowed", outside))),
        (&home, Err(("path_not_allowed", "Access denied: [..]"))),
        (
            "fs.writeFile('.pinza/tools/x.js', '')",
            Err(("path_not_allowed", "Access denied: .pinza belongs to Pinza")),
        ),
        (
            "fs.writeFile('x', {})",
            Err(("execution_error", "[..]TypeError: The content must be a string; [..]")),
        ),
        ("fs.readFile(5)", Err(("execution_error", "[..]TypeError: The path must be a string"))),
    ];
    for (code, expected) in cases {
        check_call(&pinza, &["js_eval", &format!("code={code}")], expected);
    }
    assert_eq!(pinza.text("new/deep/a.txt"), "äb5");
}

#[test]
fn links_lead_scripts_nowhere() {
    let pinza = pinza();
    std::os::unix::fs::symlink("/etc", pinza.workspace().join("link")).unwrap();
    let outside: Expected = Err(("path_not_allowed", "Access denied: path is outside the workspace"));
    check_call(&pinza, &["js_eval", "code=fs.readFile('link/passwd')"], outside);
    check_call(&pinza, &["js_eval", "code=fs.writeFile('link/new', 'x')"], outside);
}

#[test]
fn the_clock_of_a_zone() {
    let pinza = pinza();
    check_call(&pinza, &["js_eval", "code=_time('Asia/Tokyo')"], Ok("20[..]+09:00"));
    check_call(
        &pinza,
        &["js_eval", "code=_time('Mars/Olympus')"],
        Err(("validation_error", "[..]Mars/Olympus[..]")),
    );
}

#[test]
fn other_tools_with_their_validation_and_their_codes() {
    let pinza = pinza();
    pinza.put("a.txt", "text");
    let cases: [(&str, Expected); 8] = [
        ("await tools.call('read_file', { path: 'a.txt' })", Ok("text")),
        ("await tools.read_file({ path: 'a.txt' })", Ok("text")),
        (
            "await Promise.all(['a.txt', 'a.txt'].map((path) => tools.read_file({ path })))",
            Ok(r#"["text","text"]"#),
        ),
        ("await tools.read_file({})", Err(("validation_error", "Missing required parameter: 'path'"))),
        ("await tools.read_file({ path: 'none' })", Err(("file_not_found", "File not found: none"))),
        ("await tools.nothing_like_it()", Err(("tool_not_found", "Tool 'nothing_like_it' not found"))),
        ("await tools.read_file({ path: 'none' }).catch((error) => error.code)", Ok("file_not_found")),
        ("await tools.call('js_eval', { code: '6 * 7' })", Ok("42")),
    ];
    for (code, expected) in cases {
        check_call(&pinza, &["js_eval", &format!("code={code}")], expected);
    }
}

#[test]
fn tools_that_call_themselves_come_to_an_end() {
    let pinza = pinza();
    let script = "async function execute() { return await tools.endless() }";
    super::tool(&pinza, "endless", serde_json::json!({"timeoutSeconds": 20}), script);
    check_call(&pinza, &["endless"], Err(("execution_error", "[..]")));
}

#[test]
fn no_account_is_connected() {
    let expected: Expected = Err(("not_found", "No Google account is connected"));
    check_call(&pinza(), &["js_eval", "code=await google.getAccessToken()"], expected);
}
