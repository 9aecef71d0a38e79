//! A hundred manifests of every kind in one directory.

use serde_json::json;

use super::{custom, file, list, tool_in};
use crate::support::{check_call, pinza};

#[test]
fn a_hundred_mixed_manifests() {
    let pinza = pinza();
    for number in 0..10 {
        let put = |name: &str, ending: &str, text: &str| {
            file(&pinza, &format!("crowd/{name}{number}.{ending}"), text);
        };
        let single = |name: &str, script: &str| {
            tool_in(&pinza, "crowd", &format!("{name}{number}"), json!({}), script)
        };
        let entries = |count: usize| {
            let one = |index: usize| json!({"name": format!("g{number}_{index}_{count}"), "description": "x", "function": "run"});
            json!((0..count).map(one).collect::<Vec<_>>()).to_string()
        };
        // Good: a tool in each language, a group of three, and a script that would do harm if it were run.
        single("plain", "function execute() { return 'plain' }");
        put("typed", "json", &json!({"name": format!("typed{number}"), "description": "x"}).to_string());
        put("typed", "ts", "enum A { B }\nexport const execute = (): number => A.B;");
        put("group", "json", &entries(3));
        put("group", "js", "function run() { return 'ran' }");
        single("harm", "fs.writeFile('harm', 'done');\nwhile (true);\nfunction execute() {}");
        // Bad, each with one problem.
        single("syntax", "function execute() { return ( }");
        put("json", "json", "{\"name\": ");
        put("json", "js", "function execute() {}");
        put("alone", "json", "{}");
        put("too_many", "json", &entries(51));
        put("too_many", "js", "function run() {}");
        single("nul", "function execute() { return '\0' }");
        let function = "run(){}})();evil";
        let pasted = json!([{"name": format!("closes{number}"), "description": "x", "function": function}]);
        put("closes", "json", &pasted.to_string());
        put("closes", "js", "function run() {}");
    }
    let list = list(&pinza, &["--tools", "crowd"]);
    assert_eq!(custom(&list).len(), 10 * (1 + 1 + 3 + 1), "{list}");
    assert_eq!(list["problems"].as_array().unwrap().len(), 10 * 6, "{}", list["problems"]);
    assert_eq!(list["groups"].as_array().unwrap().len(), 1 + 10);
    let calls = [("plain7", "plain"), ("typed3", "0"), ("g9_2_3", "ran"), ("get_current_time", "20[..]")];
    for (name, result) in calls {
        check_call(&pinza, &[name, "--tools", "crowd"], Ok(result));
    }
    assert_eq!(std::fs::read_dir(pinza.workspace()).unwrap().count(), 0, "nothing has run");
}
