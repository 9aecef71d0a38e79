//! Laws that hold for every schema.

use std::collections::HashMap;

use pinza_agent::{Provider, SchemaOptions};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{inner, schemas};

const NAMES: [&str; 12] = [
    "a",
    "b",
    "format",
    "pattern",
    "default",
    "enum",
    "type",
    "items",
    "$ref",
    "required",
    "properties",
    "anyOf",
];

const GEMINI: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "minimum",
    "maximum",
];

/// Data that may look like anything.
fn data() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!("")),
        Just(json!("text")),
        Just(json!(7)),
        Just(json!(0.5)),
        Just(json!(true)),
        Just(json!(["x", 1])),
        Just(json!({ "type": "string", "$ref": "#/nowhere", "properties": { "lost": {} } })),
    ]
}

/// One keyword that says something small, right or wrong.
fn keyword() -> impl Strategy<Value = (String, Value)> {
    let word = prop_oneof![
        (Just("description"), Just(json!("words"))),
        (Just("title"), Just(json!(5))),
        (Just("default"), data()),
        (Just("const"), data()),
        (Just("example"), data()),
        (Just("enum"), prop::collection::vec(data(), 0..4).prop_map(Value::from)),
        (
            Just("type"),
            prop::sample::select(vec![
                json!("string"),
                json!("integer"),
                json!("null"),
                json!("any"),
                json!(["string", "null"]),
                json!(["object", "array", "integer"]),
                json!([]),
                json!("Odd"),
                json!({}),
            ])
        ),
        (Just("format"), prop::sample::select(vec![json!("uri"), json!("date-time"), json!(1)])),
        (Just("minimum"), data()),
        (Just("exclusiveMinimum"), data()),
        (Just("minLength"), data()),
        (Just("maxItems"), data()),
        (Just("required"), prop::sample::select(vec![json!(["a", "format"]), json!(true), json!(["zz", 1])])),
        (
            Just("$ref"),
            prop::sample::select(vec![
                json!("#"),
                json!("#/$defs/One"),
                json!("#/$defs/Two"),
                json!("#/$defs/None"),
                json!("https://e.com/x"),
                json!("#/properties/a"),
                json!(1),
            ])
        ),
        (Just("$id"), Just(json!("https://example.com/id"))),
        (Just("$schema"), Just(json!("http://json-schema.org/draft-04/schema#"))),
        (Just("x-vendor"), data()),
        (Just("uniqueItems"), data()),
        (Just("unheardOf"), data()),
    ];
    word.prop_map(|(keyword, value)| (keyword.to_owned(), value))
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::collection::vec(keyword(), 0..4).prop_map(|words| Value::Object(words.into_iter().collect())),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!("no schema")),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let one = inner.clone();
        let list = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::vec((prop::sample::select(&NAMES), inner.clone()), 0..4);
        let holder = prop_oneof![
            4 => named.prop_map(|named| {
                let named: Map<String, Value> = named.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
                json!({ "type": "object", "properties": named })
            }),
            2 => one.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            1 => (prop::sample::select(vec!["items", "prefixItems", "anyOf", "oneOf", "allOf"]), list)
                .prop_map(|(keyword, list)| json!({ keyword: list })),
            1 => (prop::sample::select(vec!["not", "if", "additionalProperties", "contains"]), one)
                .prop_map(|(keyword, one)| json!({ keyword: one })),
        ];
        let extra = prop::collection::vec(keyword(), 0..3);
        let beside =
            (prop::sample::select(vec!["anyOf", "oneOf", "allOf"]), prop::collection::vec(inner, 1..4));
        (holder, extra, prop::option::of(beside)).prop_map(|(holder, extra, beside)| {
            let Value::Object(mut schema) = holder else { return holder };
            for (keyword, value) in extra {
                schema.entry(keyword).or_insert(value);
            }
            if let Some((keyword, list)) = beside {
                schema.entry(keyword).or_insert(list.into());
            }
            schema.into()
        })
    })
}

fn parameters() -> impl Strategy<Value = Value> {
    let named = prop::collection::vec((prop::sample::select(&NAMES), schema()), 0..5);
    (named, schema(), schema(), schema()).prop_map(|(named, one, two, root)| {
        let mut parameters = root.as_object().cloned().unwrap_or_default();
        let named: Map<String, Value> = named.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        parameters.insert("type".into(), "object".into());
        parameters.insert("properties".into(), named.into());
        parameters.insert("$defs".into(), json!({ "One": one, "Two": two }));
        parameters.into()
    })
}

/// How often each property name is met through `properties` and `items` (and, in what a
/// dialect wrote, through its variants).
fn count_names(schema: &Value, variants: &[&str], counts: &mut HashMap<String, usize>) {
    let kind = schema["type"].as_str().unwrap_or_default().to_lowercase();
    let kinds = |wanted: &str| {
        kind == wanted || schema["type"].as_array().is_some_and(|k| k.contains(&json!(wanted)))
    };
    if kinds("object")
        && let Some(properties) = schema["properties"].as_object()
    {
        for (name, property) in properties {
            *counts.entry(name.clone()).or_default() += 1;
            count_names(property, variants, counts);
        }
    }
    if kinds("array") && schema["items"].is_object() {
        count_names(&schema["items"], variants, counts);
    }
    for keyword in variants {
        for variant in schema[*keyword].as_array().into_iter().flatten() {
            count_names(variant, variants, counts);
        }
    }
}

fn check_names_kept(original: &Value, converted: &Value) -> Result<(), TestCaseError> {
    let (mut before, mut after) = (HashMap::new(), HashMap::new());
    count_names(original, &[], &mut before);
    count_names(converted, &["anyOf", "allOf"], &mut after);
    for (name, count) in before {
        let kept = after.get(&name).copied().unwrap_or_default();
        prop_assert!(kept >= count, "{name}: {count} before, {kept} after\n{original}\n{converted}");
    }
    Ok(())
}

/// Walks by position, as Gemini does.
fn check_gemini(schema: &Value) -> Result<(), TestCaseError> {
    let schema = schema.as_object().unwrap();
    for keyword in schema.keys() {
        prop_assert!(GEMINI.contains(&keyword.as_str()), "{keyword}");
    }
    if let Some(variants) = schema.get("anyOf") {
        prop_assert_eq!(schema.len(), 1);
        prop_assert!(variants.as_array().unwrap().len() > 1);
        return variants.as_array().unwrap().iter().try_for_each(check_gemini);
    }
    let kind = schema["type"].as_str().unwrap();
    prop_assert!(["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"].contains(&kind));
    prop_assert_eq!(kind == "ARRAY", schema.contains_key("items"));
    if let Some(choices) = schema.get("enum") {
        prop_assert_eq!(kind, "STRING");
        let choices = choices.as_array().unwrap();
        prop_assert!(
            !choices.is_empty() && choices.iter().all(|v| v.as_str().is_some_and(|v| !v.is_empty()))
        );
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        prop_assert!(schema["properties"].get(name.as_str().unwrap()).is_some());
    }
    for property in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_gemini(property.1)?;
    }
    schema.get("items").map_or(Ok(()), check_gemini)
}

/// Every object closed, every property required, every schema typed.
fn check_strict(schema: &Value) -> Result<(), TestCaseError> {
    if let Some(variants) = schema.get("anyOf") {
        return variants.as_array().unwrap().iter().try_for_each(check_strict);
    }
    if schema.get("$ref").is_some() {
        return Ok(());
    }
    prop_assert!(schema.get("type").is_some(), "{schema}");
    if let Some(properties) = schema.get("properties") {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        prop_assert_eq!(&schema["required"], &json!(names));
        prop_assert_eq!(&schema["additionalProperties"], &json!(false));
        properties.as_object().unwrap().values().try_for_each(check_strict)?;
    }
    if let Some(definitions) = schema.get("$defs") {
        definitions.as_object().unwrap().values().try_for_each(check_strict)?;
    }
    schema.get("items").map_or(Ok(()), check_strict)
}

fn check_root(schema: &Value) -> Result<(), TestCaseError> {
    prop_assert_eq!(&schema["type"], "object");
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"] {
        prop_assert!(schema.get(keyword).is_none(), "{schema}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn json_schema_stays_valid_and_keeps_every_name(schema in parameters()) {
        for provider in [Provider::OpenAi, Provider::Anthropic] {
            let schemas = schemas(provider, SchemaOptions::default(), &schema);
            let converted = inner(provider, &schemas);
            check_root(converted)?;
            check_names_kept(&schema, converted)?;
            // Builds only if it is a valid schema and every reference leads somewhere.
            let built = jsonschema::draft202012::new(converted);
            prop_assert!(built.is_ok(), "{:?}\n{}\n{}", built.err(), schema, converted);
        }
    }

    #[test]
    fn gemini_gets_only_what_it_knows_and_every_name(schema in parameters()) {
        let schemas = schemas(Provider::Gemini, SchemaOptions::default(), &schema);
        let converted = inner(Provider::Gemini, &schemas);
        prop_assert_eq!(&converted["type"], "OBJECT");
        check_gemini(converted)?;
        check_names_kept(&schema, converted)?;
    }

    #[test]
    fn strict_is_strict_or_says_why_not(schema in parameters()) {
        let schemas = schemas(Provider::OpenAi, SchemaOptions { strict: true }, &schema);
        let function = &schemas.value[0]["function"];
        if function["strict"] == true {
            check_root(&function["parameters"])?;
            check_strict(&function["parameters"])?;
            check_names_kept(&schema, &function["parameters"])?;
            let built = jsonschema::draft202012::new(&function["parameters"]);
            prop_assert!(built.is_ok(), "{:?}\n{}\n{}", built.err(), schema, function);
        } else {
            prop_assert!(schemas.losses.iter().any(|loss| loss.reason.contains("sent without it")));
        }
    }
}
