//! Tools that are about their schemas: one with every keyword, one whose argument is repeated in a header,
//! one that promises a structure; and one that takes its time.

use std::{sync::Arc, time::Duration};

use pinza_core::{Parameter, Parameters, Tool, ToolDefinition, ToolName, ToolOutput};
use serde_json::{Value, json};

use super::fixture::{defined, text};

pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![every_keyword(), repeated_in_a_header(), structured(), waiting()]
}

fn every_keyword() -> Arc<dyn Tool> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    defined(
        of_schema("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", schema),
        |_| async { text("The arguments fit the schema.") },
    )
}

fn repeated_in_a_header() -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let definition = of_schema("test_header_parameter", "Takes an argument that a header repeats", schema);
    defined(definition, |arguments| async move { text(format!("Region: {}", arguments["region"])) })
}

fn structured() -> Arc<dyn Tool> {
    let mut definition = ToolDefinition::new(ToolName::known("test_structured"), "Returns a structure")
        .title("Structured result")
        .read_only();
    definition.output_schema = Some(json!({
        "type": "object",
        "properties": { "temperature": { "type": "number" }, "conditions": { "type": "string" } },
        "required": ["temperature", "conditions"],
    }));
    defined(definition, |_| async {
        let details = json!({ "temperature": 22.5, "conditions": "cloudy" });
        Ok(ToolOutput::text(details.to_string()).details(details))
    })
}

fn waiting() -> Arc<dyn Tool> {
    let parameters = Parameters::build().required("seconds", Parameter::integer("How long")).done();
    let definition = ToolDefinition::new(ToolName::known("test_wait"), "Waits").parameters(parameters);
    defined(definition, |arguments| async move {
        let seconds = arguments.get("seconds").and_then(Value::as_u64).unwrap_or_default();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        text("Waited.")
    })
}

fn of_schema(name: &'static str, description: &str, schema: Value) -> ToolDefinition {
    let parameters = Parameters::from_schema(schema).unwrap_or_else(|_| Parameters::none());
    ToolDefinition::new(ToolName::known(name), description).parameters(parameters)
}
