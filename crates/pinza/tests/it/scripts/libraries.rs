//! `lib(name)`: scripts beside the tools, in either language and either style.

use serde_json::json;

use super::{at, custom, file, list, names, tool, tool_in};
use crate::support::{Expected, check_call, pinza};

#[test]
fn shared_scripts_of_every_kind() {
    let pinza = pinza();
    file(
        &pinza,
        "home/tools/common.js",
        "exports.twice = (n) => n * 2; exports.self = () => lib('common') === module.exports;",
    );
    file(&pinza, "home/tools/whole.js", "module.exports = function (n) { return n + 1 }");
    file(
        &pinza,
        "home/tools/modern.js",
        "export const name = 'modern'; export function up(n) { return n + 1 } export default 7;",
    );
    let typed = "export enum Color { Red = 'red' }\nexport interface Shape { sides: number }\nexport const sides = (shape: Shape): number => shape.sides;\n";
    file(&pinza, "home/tools/typed.ts", typed);
    let script = "function execute() {
        const { twice, self } = lib('common');
        const modern = lib('modern');
        const { Color, sides } = lib('typed');
        return [twice(4), self(), lib('whole')(4), modern.name, modern.up(1), modern.default, Color.Red, sides({ sides: 3 })];
    }";
    tool(&pinza, "uses", json!({}), script);
    check_call(&pinza, &["uses"], Ok(r#"[8,true,5,"modern",2,7,"red",3]"#));
    let list = list(&pinza, &[]);
    assert_eq!(
        (names(&custom(&list)), &list["problems"]),
        (vec!["uses"], &json!([])),
        "libraries are no tools"
    );
}

#[test]
fn a_library_that_is_not_there_or_broken() {
    let pinza = pinza();
    file(&pinza, "home/tools/common.js", "exports.x = 1");
    file(&pinza, "home/tools/broken.js", "exports.x = (;");
    file(&pinza, "home/tools/throws.js", "exports.x = 1;\nthrow new Error('boom')");
    file(&pinza, "elsewhere/far.js", "exports.x = 1");
    tool_in(&pinza, "elsewhere", "other", json!({}), "function execute() { return lib('far').x }");
    tool(&pinza, "uses", json!({}), "function execute({ name }) { return lib(name).x }");
    let broken =
        format!("The library 'broken' cannot be used: {}:1:14: Unexpected token", at(&pinza, "broken.js"));
    let cases: [(&str, Expected); 8] = [
        ("common", Ok("1")),
        ("commom", Err(("not_found", "There is no library 'commom'"))),
        ("broken", Err(("execution_error", &broken))),
        ("throws", Err(("execution_error", "Tool execution failed: boom"))),
        ("uses", Err(("not_found", "There is no library 'uses'"))),
        ("far", Err(("not_found", "There is no library 'far'"))),
        ("../elsewhere/far", Err(("not_found", "There is no library '../elsewhere/far'"))),
        ("common.js", Err(("not_found", "There is no library 'common.js'"))),
    ];
    for (name, expected) in cases {
        check_call(&pinza, &["uses", &format!("name={name}"), "--tools", "elsewhere"], expected);
    }
    check_call(&pinza, &["other", "--tools", "elsewhere"], Ok("1"));
    let hint = |arguments: &[&str]| {
        let answer = check_call(&pinza, arguments, Err(("not_found", "There is no library 'commom'")));
        answer["hint"].as_str().unwrap().to_owned()
    };
    let known = hint(&["uses", "name=commom"]);
    assert!(known.starts_with("There are: broken, common, throws. Thrown at "), "{known}");
    let none = hint(&["js_eval", "code=lib('commom')"]);
    assert!(none.contains("and there is none. Thrown at "), "{none}");
}
