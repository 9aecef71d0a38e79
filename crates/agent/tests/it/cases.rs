//! Every case of `fixtures/dialects`: a schema, what the dialects make of it, and the paths
//! of what they lose (none where a case names none).

use pinza_agent::{Provider, SchemaOptions};
use serde_json::Value;

use crate::support::{inner, schemas};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/dialects");

fn check(case: &Value, dialect: &str, provider: Provider, options: SchemaOptions) {
    let expectation = if dialect == "anthropic" && case.get(dialect).is_none() { "openai" } else { dialect };
    let Some(expected) = case.get(expectation) else { return };
    let schemas = schemas(provider, options, &case["schema"]);
    let is_strict = schemas.value[0]["function"]["strict"] == true;
    assert_eq!(is_strict, options.strict && !expected.is_null(), "{}: {dialect}", case["name"]);
    if is_strict || !options.strict {
        // As text: the order of properties is part of the promise.
        let converted = inner(provider, &schemas);
        assert_eq!(converted.to_string(), expected.to_string(), "{}: {dialect}", case["name"]);
    }
    let lost: Vec<&str> = schemas.losses.iter().map(|loss| loss.path.as_str()).collect();
    let told: Vec<&str> =
        case["losses"][expectation].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(lost, told, "{}: {dialect}: {:#?}", case["name"], schemas.losses);
}

#[test]
fn fixtures() {
    let mut files: Vec<_> = std::fs::read_dir(FIXTURES).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let cases: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for case in &cases {
            let keys = ["name", "schema", "openai", "anthropic", "gemini", "strict", "losses"];
            assert!(
                case.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())),
                "{}",
                case["name"]
            );
            check(case, "openai", Provider::OpenAi, SchemaOptions::default());
            check(case, "anthropic", Provider::Anthropic, SchemaOptions::default());
            check(case, "gemini", Provider::Gemini, SchemaOptions::default());
            check(case, "strict", Provider::OpenAi, SchemaOptions { strict: true });
            count += 1;
        }
    }
    assert!(count >= 25, "only {count} cases were found");
}
