//! Schemas made to hurt: small files that would grow without bound.

use std::time::{Duration, Instant};

use pinza_agent::{Provider, SchemaOptions};
use serde_json::{Map, Value, json};

use crate::support::{inner, schemas};

/// Converts for every dialect; proves that it ends, stays small and says what is missing.
fn check(schema: &Value, expected_loss: &str) {
    let started = Instant::now();
    for provider in Provider::ALL {
        for strict in [false, true] {
            let schemas = schemas(provider, SchemaOptions { strict }, schema);
            let size = inner(provider, &schemas).to_string().len();
            assert!(size < 4 << 20, "{provider}: {size} bytes");
            if provider == Provider::Gemini {
                let reasons: Vec<String> = schemas.losses.iter().map(ToString::to_string).collect();
                assert!(reasons.iter().any(|reason| reason.contains(expected_loss)), "{:?}", &reasons[..1]);
            }
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// `$defs` where each level is made from the next one.
fn levels(count: usize, level: impl Fn(Value) -> Value) -> Value {
    let name = |index: usize| format!("L{index}");
    let mut definitions = Map::new();
    for index in 0..count {
        let next = json!({ "$ref": format!("#/$defs/{}", name(index + 1)) });
        definitions.insert(name(index), level(next));
    }
    definitions.insert(name(count), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "bomb": { "$ref": "#/$defs/L0" } }, "$defs": definitions })
}

#[test]
fn a_reference_bomb_does_not_explode() {
    let bomb =
        levels(40, |next| json!({ "type": "object", "properties": { "a": next, "b": next, "c": next } }));
    check(&bomb, "grow too large");
}

#[test]
fn a_bomb_of_conjunctions_does_not_explode() {
    let bomb = levels(40, |next| {
        json!({ "type": "object", "allOf": [
            { "properties": { "a": next } }, { "properties": { "a": { "not": true }, "b": next } }
        ] })
    });
    check(&bomb, "grow too large");
}

#[test]
fn a_bomb_of_variants_does_not_explode() {
    // No references: what stands beside the variants would be copied into each, level by level.
    let mut schema = json!({ "type": "string" });
    for _ in 0..25 {
        schema = json!({ "type": "array", "items": schema, "anyOf": [{ "minItems": 1 }, { "maxItems": 9 }] });
    }
    check(&json!({ "type": "object", "properties": { "bomb": schema } }), "grow too large");
}

#[test]
fn variants_of_the_root_that_multiply_do_not_explode() {
    let mut bomb = levels(40, |next| json!({ "anyOf": [next, { "allOf": [next, { "minProperties": 1 }] }] }));
    bomb["anyOf"] = json!([{ "$ref": "#/$defs/L0" }]);
    check(&bomb, "grow too large");
}

#[test]
fn a_long_chain_of_references_ends() {
    check(&levels(5_000, |next| next), "too deep");
    check(&levels(5_000, |next| json!({ "type": "array", "items": next })), "too deep");
}

#[test]
fn references_in_a_circle_end() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/A" }, "s": { "$ref": "#/$defs/S" } },
        "anyOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#" }],
        "$defs": {
            "A": { "properties": { "q": {} }, "anyOf": [{ "$ref": "#/$defs/B" }] },
            "B": { "properties": { "q": { "properties": { "r": {} }, "anyOf": [{ "$ref": "#/$defs/B" }] } },
                   "allOf": [{ "$ref": "#/$defs/A" }] },
            "S": { "$ref": "#/$defs/S" }
        }
    });
    check(&schema, "leads back into itself");
}

#[test]
fn a_deep_schema_is_cut() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..400 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    check(&schema, "too deep");
}
