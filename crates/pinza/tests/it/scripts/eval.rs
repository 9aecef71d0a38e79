//! `js_eval`: the model's own code.

use crate::support::{Expected, check_call, pinza};

#[test]
fn the_last_value_or_what_main_returns() {
    let pinza = pinza();
    pinza.put("a.txt", "12");
    let cases: [(&str, Expected); 17] = [
        ("1 + 1", Ok("2")),
        ("const a = [1, 2, 3]; a.map((n) => n * n)", Ok("[1,4,9]")),
        ("function main() { return 'main' }", Ok("main")),
        ("async function main() { return await Promise.resolve({ a: 1 }) } 'not this'", Ok(r#"{"a":1}"#)),
        ("const main = () => 'arrow'", Ok("arrow")),
        ("const text = await tools.read_file({ path: 'a.txt' }); Number(text) * 2", Ok("24")),
        ("await Promise.resolve('awaited')", Ok("awaited")),
        (
            "let total = 0; for (let i = 0; i < 3; i++) total += Number(await tools.read_file({ path: 'a.txt' })); total",
            Ok("36"),
        ),
        ("Promise.resolve('not awaited')", Ok("not awaited")),
        ("", Ok("")),
        // A function's body is as good as a program.
        ("return 5", Ok("5")),
        (
            "const text = await tools.read_file({ path: 'a.txt' });\nreturn { n: Number(text) };",
            Ok(r#"{"n":12}"#),
        ),
        ("if (1 > 0) return 'early'; throw new Error('late')", Ok("early")),
        ("}); return 5; (() => {", Err(("execution_error", "Tool execution failed: SyntaxError: [..]"))),
        ("const main = 5; main", Ok("5")),
        ("throw new Error('boom')", Err(("execution_error", "Tool execution failed: boom"))),
        ("return (", Err(("execution_error", "Tool execution failed: SyntaxError: [..]"))),
    ];
    for (code, expected) in cases {
        check_call(&pinza, &["js_eval", &format!("code={code}")], expected);
    }
    check_call(&pinza, &["js_eval"], Err(("validation_error", "Missing required parameter: 'code'")));
}

#[test]
fn it_has_no_more_rights_than_its_caller() {
    let pinza = pinza();
    let code = "code=await tools.exec({ command: 'echo hi' })";
    check_call(
        &pinza,
        &["js_eval", code],
        Err(("permission_denied", "Required permissions were denied: exec")),
    );
    check_call(&pinza, &["js_eval", code, "--allow=exec"], Ok("hi\n"));
}

#[test]
fn an_error_names_its_line() {
    let pinza = pinza();
    let answer = check_call(
        &pinza,
        &["js_eval", "code=const a = 1;\nnowhere"],
        Err(("execution_error", "Tool execution failed: ReferenceError: nowhere is not defined")),
    );
    assert!(answer["hint"].as_str().unwrap().starts_with("Thrown at eval.js:2:"), "{answer}");
}
