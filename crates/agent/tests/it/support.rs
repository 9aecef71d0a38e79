//! One tool, seen through one provider.

use pinza_agent::{Provider, SchemaOptions, ToolSchemas, tool_schemas};
use pinza_core::{Parameters, ToolDefinition, ToolName};
use serde_json::Value;

/// One tool with these parameters, as a provider gets it.
pub(crate) fn schemas(provider: Provider, options: SchemaOptions, schema: &Value) -> ToolSchemas {
    let parameters = Parameters::from_schema(schema.clone()).unwrap();
    let tool = ToolDefinition::new(ToolName::known("tool"), "A tool").parameters(parameters);
    tool_schemas(provider, [&tool], options)
}

/// The schema inside the provider's frame.
pub(crate) fn inner(provider: Provider, schemas: &ToolSchemas) -> &Value {
    match provider {
        Provider::OpenAi => &schemas.value[0]["function"]["parameters"],
        Provider::Anthropic => &schemas.value[0]["input_schema"],
        Provider::Gemini => &schemas.value["function_declarations"][0]["parameters"],
    }
}
