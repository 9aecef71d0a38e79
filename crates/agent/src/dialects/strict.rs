//! OpenAI's strict mode: arguments are sampled so that they fit the schema.
//!
//! For that, objects are closed and every property is required; what was optional may be
//! null, which the engine reads as absent. A free-form object or a value of any type has no
//! such form, and its tool is sent without strict mode.

use serde_json::{Map, Value, json};

use super::{
    flat::Flattener,
    keywords::{self, is_annotation, is_vendors},
    references,
};
use crate::loss::{Loss, Losses, Place};

/// Converts a tidy schema, or says what stands in the way.
pub(super) fn convert(tidy: &Value, losses: &mut Losses) -> Result<Value, Loss> {
    let mut strict = Strict { flattener: Flattener::new(tidy, losses) };
    let place = Place::root();
    let mut root = strict.schema(tidy, &place)?;
    // Only what is still referred to: a definition that was inlined need not be strict.
    let place = place.at("$defs");
    let mut definitions = Map::new();
    let mut pending = references_in(&root);
    while let Some(reference) = pending.pop() {
        let Some(name) = reference.strip_prefix("#/$defs/") else { continue };
        if let Some(target) = references::target(tidy, &reference)
            && !definitions.contains_key(name)
        {
            let definition = strict.schema(target, &place.at(name))?;
            pending.extend(references_in(&definition));
            definitions.insert(name.into(), definition);
        }
    }
    if !definitions.is_empty() {
        root["$defs"] = definitions.into();
    }
    Ok(root)
}

struct Strict<'a, 'l> {
    flattener: Flattener<'a, 'l>,
}

impl Strict<'_, '_> {
    fn schema(&mut self, schema: &Value, place: &Place<'_>) -> Result<Value, Loss> {
        if let Some(reference) = reference_only(schema) {
            return Ok(self.reference(reference, schema, place));
        }
        let mut flat = self.flattener.flatten(schema, place);
        let variants = self.flattener.settle(&mut flat, place);
        let place = place.through(&flat.entered);
        if variants.is_empty() {
            return self.plain(&flat.own, &place);
        }
        let mut strict = self.annotations(&flat.own, &place);
        let place = place.at("anyOf");
        let variants = variants.iter().enumerate();
        let variants: Result<Vec<Value>, Loss> =
            variants.map(|(index, variant)| self.schema(variant, &place.index(index))).collect();
        strict.insert("anyOf".into(), variants?.into());
        Ok(strict.into())
    }

    /// A reference takes no keyword beside it; a description needs a frame of its own.
    fn reference(&mut self, reference: &str, schema: &Value, place: &Place<'_>) -> Value {
        let own = schema.as_object().cloned().unwrap_or_default();
        let mut strict = self.annotations(&own, place);
        let target = json!({ "$ref": reference });
        if strict.is_empty() {
            return target;
        }
        strict.insert("anyOf".into(), vec![target].into());
        strict.into()
    }

    fn annotations(&mut self, own: &Map<String, Value>, place: &Place<'_>) -> Map<String, Value> {
        let mut kept = Map::new();
        for (keyword, value) in own.iter().filter(|(keyword, _)| is_annotation(keyword)) {
            self.keyword(keyword, value, &mut kept, place);
        }
        kept
    }

    fn plain(&mut self, own: &Map<String, Value>, place: &Place<'_>) -> Result<Value, Loss> {
        let Some(kind) = own.get("type").cloned().or_else(|| inferred(own)) else {
            return Err(self.obstacle(place, "a value of any type"));
        };
        let mut strict = Map::new();
        strict.insert("type".into(), kind);
        let types = keywords::types(&strict);
        let (is_object, is_array) = (types.contains(&"object"), types.contains(&"array"));
        for (keyword, value) in own {
            match keyword.as_str() {
                "type" | "required" | "additionalProperties" | "properties" | "items" => {}
                "patternProperties" if is_object => {
                    return Err(self.obstacle(&place.at("patternProperties"), "an object with free names"));
                }
                "prefixItems" if is_array => {
                    return Err(self.obstacle(&place.at("prefixItems"), "a tuple"));
                }
                "enum" if place.is_root() => {
                    let reason = "the parameters as a whole cannot be restricted so; dropped";
                    self.flattener.losses.add(&place.at("enum"), reason);
                }
                keyword => self.keyword(keyword, value, &mut strict, place),
            }
        }
        if is_array {
            let items = self.schema(own.get("items").unwrap_or(&Value::Bool(true)), &place.at("items"))?;
            strict.insert("items".into(), items);
        }
        if is_object {
            self.object(own, &mut strict, place)?;
        }
        Ok(strict.into())
    }

    fn object(
        &mut self,
        own: &Map<String, Value>,
        strict: &mut Map<String, Value>,
        place: &Place<'_>,
    ) -> Result<(), Loss> {
        if own.get("additionalProperties").is_some_and(|allowed| *allowed != json!(false)) {
            return Err(self.obstacle(&place.at("additionalProperties"), "an object with free names"));
        }
        // A tool without parameters is a closed object; any other empty one is a free form.
        if !keywords::has_properties(own) && !place.is_root() {
            return Err(self.obstacle(&place.at("properties"), "an object without named properties"));
        }
        let required = keywords::names(own, "required");
        let mut properties = Map::new();
        let inside = place.at("properties");
        for (name, schema) in own.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let schema = self.schema(schema, &inside.at(name.as_str()))?;
            let is_required = required.contains(&name.as_str());
            properties.insert(name.clone(), if is_required { schema } else { nullable(schema) });
        }
        if required.iter().any(|name| !properties.contains_key(*name)) {
            self.flattener
                .losses
                .add(&place.at("required"), "it names something that is no property; dropped");
        }
        let names: Vec<String> = properties.keys().cloned().collect();
        strict.insert("properties".into(), properties.into());
        strict.insert("required".into(), names.into());
        strict.insert("additionalProperties".into(), false.into());
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, value: &Value, strict: &mut Map<String, Value>, place: &Place<'_>) {
        match keyword {
            "title" | "description" | "enum" | "pattern" | "minimum" | "maximum" | "exclusiveMinimum"
            | "exclusiveMaximum" | "multipleOf" | "minItems" | "maxItems" => {
                strict.insert(keyword.into(), value.clone());
            }
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                strict.insert(keyword.into(), value.clone());
            }
            "format" => {
                let reason = format!("OpenAI's strict mode does not know the format {value}; dropped");
                self.flattener.losses.add(&place.at(keyword), reason);
            }
            _ if is_vendors(keyword) => {}
            _ => {
                let reason = "OpenAI's strict mode does not take this keyword; dropped";
                self.flattener.losses.add(&place.at(keyword), reason);
            }
        }
    }

    fn obstacle(&self, place: &Place<'_>, what: &str) -> Loss {
        let reason = format!("OpenAI's strict mode cannot express {what}; the tool is sent without it");
        self.flattener.losses.loss(place, reason)
    }
}

const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The reference of a schema that says nothing else but words, also in the frame of one
/// `allOf` that some generators give it.
fn reference_only(schema: &Value) -> Option<&str> {
    let schema = schema.as_object()?;
    let mut constraints = schema.iter().filter(|(keyword, _)| !is_annotation(keyword));
    let (only, None) = (constraints.next()?, constraints.next()) else { return None };
    match (only.0.as_str(), only.1) {
        ("$ref", Value::String(reference)) => Some(reference),
        ("allOf", Value::Array(parts)) => match parts.as_slice() {
            [Value::Object(part)] if part.len() == 1 => part.get("$ref")?.as_str(),
            _ => None,
        },
        _ => None,
    }
}

fn inferred(own: &Map<String, Value>) -> Option<Value> {
    if let Some(Value::Array(values)) = own.get("enum") {
        let mut kinds: Vec<Value> = values.iter().map(|value| pinza_core::json_type(value).into()).collect();
        let mut seen = std::collections::HashSet::new();
        kinds.retain(|kind| seen.insert(kind.clone()));
        return if kinds.len() == 1 { kinds.pop() } else { Some(kinds.into()) };
    }
    let kind = if own.contains_key("properties") {
        "object"
    } else if own.contains_key("items") {
        "array"
    } else {
        return None;
    };
    Some(kind.into())
}

fn nullable(mut schema: Value) -> Value {
    let no_value = json!({ "type": "null" });
    let Value::Object(strict) = &mut schema else { return schema };
    if strict.contains_key("$ref") {
        return json!({ "anyOf": [schema, no_value] });
    }
    if let Some(Value::Array(variants)) = strict.get_mut("anyOf") {
        if !variants.contains(&no_value) {
            variants.push(no_value);
        }
        return schema;
    }
    match strict.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push("null".into()),
        Some(kind) if kind.is_string() && kind != "null" => *kind = json!([kind, "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = strict.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema
}

fn references_in(schema: &Value) -> Vec<String> {
    references::references(schema).into_iter().map(String::from).collect()
}
