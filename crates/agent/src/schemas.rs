//! Tool definitions in each provider's frame.

use pinza_core::ToolDefinition;
use serde_json::{Value, json};

use crate::{
    dialects,
    loss::{Loss, Losses},
    names::NameMap,
    provider::Provider,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaOptions {
    /// OpenAI's structured outputs: arguments are guaranteed to fit the schema, which may
    /// then use less of JSON Schema. The other providers have no such switch.
    pub strict: bool,
}

/// Tools as a provider takes them.
#[derive(Clone, Debug)]
pub struct ToolSchemas {
    /// Exactly the provider's array; for Gemini `{"function_declarations":[…]}`.
    pub value: Value,
    pub names: NameMap,
    /// What the provider's dialect could not express.
    pub losses: Vec<Loss>,
}

/// Writes the definitions for one provider, in their order.
pub fn tool_schemas<'a>(
    provider: Provider,
    definitions: impl IntoIterator<Item = &'a ToolDefinition>,
    options: SchemaOptions,
) -> ToolSchemas {
    let definitions: Vec<&ToolDefinition> = definitions.into_iter().collect();
    let names = NameMap::new(definitions.iter().map(|definition| definition.name.as_str()));
    let mut losses = Vec::new();
    let tools: Vec<Value> = definitions
        .into_iter()
        .map(|definition| {
            let mut lost = Losses::of(definition.name.as_str());
            let tool = tool_schema(provider, &names, definition, options, &mut lost);
            losses.extend(lost.into_iter());
            tool
        })
        .collect();
    let value = match provider {
        Provider::OpenAi | Provider::Anthropic => tools.into(),
        Provider::Gemini => json!({ "function_declarations": tools }),
    };
    ToolSchemas { value, names, losses }
}

/// One tool in a provider's frame, under its wire name.
pub(crate) fn tool_schema(
    provider: Provider,
    names: &NameMap,
    definition: &ToolDefinition,
    options: SchemaOptions,
    losses: &mut Losses,
) -> Value {
    let name = names.to_wire(definition.name.as_str());
    match provider {
        Provider::OpenAi => openai(name, definition, options, losses),
        Provider::Anthropic => anthropic(name, definition, losses),
        Provider::Gemini => gemini(name, definition, losses),
    }
}

fn openai(name: &str, definition: &ToolDefinition, options: SchemaOptions, losses: &mut Losses) -> Value {
    let schema = definition.parameters.schema();
    let strict = if options.strict { dialects::strict(schema, losses) } else { None };
    let is_strict = strict.is_some();
    let parameters = strict.unwrap_or_else(|| dialects::json_schema(schema, losses));
    let mut function = json!({
        "name": name,
        "description": definition.description,
        "parameters": parameters,
    });
    if is_strict {
        function["strict"] = true.into();
    }
    json!({ "type": "function", "function": function })
}

fn anthropic(name: &str, definition: &ToolDefinition, losses: &mut Losses) -> Value {
    json!({
        "name": name,
        "description": definition.description,
        "input_schema": dialects::json_schema(definition.parameters.schema(), losses),
    })
}

fn gemini(name: &str, definition: &ToolDefinition, losses: &mut Losses) -> Value {
    json!({
        "name": name,
        "description": definition.description,
        "parameters": dialects::gemini(definition.parameters.schema(), losses),
    })
}

#[cfg(test)]
mod tests {
    use pinza_core::{Parameter, ParameterType, Parameters, ToolName};

    use super::*;

    fn read_file() -> ToolDefinition {
        ToolDefinition::new(ToolName::known("read_file"), "Read a file").parameters(
            Parameters::build()
                .required("path", Parameter::string("The path"))
                .optional("tags", Parameter::array(ParameterType::String, "Tags"))
                .done(),
        )
    }

    fn check(provider: Provider, options: SchemaOptions, expected: &str) {
        let schemas = tool_schemas(provider, [&read_file()], options);
        // As text, because the order of keys is part of what is promised.
        assert_eq!(schemas.value.to_string(), expected);
        assert_eq!(schemas.losses, []);
    }

    #[test]
    fn each_provider_has_its_frame() {
        check(
            Provider::OpenAi,
            SchemaOptions::default(),
            r#"[{"type":"function","function":{"name":"read_file","description":"Read a file","parameters":{"type":"object","properties":{"path":{"type":"string","description":"The path"},"tags":{"type":"array","description":"Tags","items":{"type":"string"}}},"required":["path"]}}}]"#,
        );
        check(
            Provider::Anthropic,
            SchemaOptions { strict: true },
            r#"[{"name":"read_file","description":"Read a file","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"The path"},"tags":{"type":"array","description":"Tags","items":{"type":"string"}}},"required":["path"]}}]"#,
        );
        check(
            Provider::Gemini,
            SchemaOptions::default(),
            r#"{"function_declarations":[{"name":"read_file","description":"Read a file","parameters":{"type":"OBJECT","properties":{"path":{"type":"STRING","description":"The path"},"tags":{"type":"ARRAY","description":"Tags","items":{"type":"STRING"}}},"required":["path"]}}]}"#,
        );
        check(
            Provider::OpenAi,
            SchemaOptions { strict: true },
            r#"[{"type":"function","function":{"name":"read_file","description":"Read a file","parameters":{"type":"object","properties":{"path":{"type":"string","description":"The path"},"tags":{"type":["array","null"],"description":"Tags","items":{"type":"string"}}},"required":["path","tags"],"additionalProperties":false},"strict":true}}]"#,
        );
    }

    #[test]
    fn odd_names_travel_under_their_wire_name() {
        let mut tool = read_file();
        tool.name = ToolName::known("files__read.file");
        let schemas = tool_schemas(Provider::Anthropic, [&tool], SchemaOptions::default());
        let wire = schemas.value[0]["name"].as_str().unwrap();
        assert_eq!(schemas.names.from_wire(wire), Some("files__read.file"));
    }
}
