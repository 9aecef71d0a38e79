//! Contents of every kind, errors, progress, log messages, changes of lists.

use std::{sync::Arc, time::Duration};

use pinza_core::{Content, Tool, ToolError, ToolOutput, ToolResult};
use serde_json::json;
use tokio::time::sleep;

use super::{
    PIXEL, SILENCE,
    fixture::{fixture, fixture_of_text, text, unanswered},
    resources::WATCHED,
};
use crate::server::{Changes, Client, LogLevel, Need, Question};

const STEP: Duration = Duration::from_millis(50);

pub(super) fn all(changes: &Changes) -> Vec<Arc<dyn Tool>> {
    let mut tools = contents();
    tools.extend(on_the_way());
    tools.extend(questions());
    tools.extend(list_changes(changes));
    tools
}

fn contents() -> Vec<Arc<dyn Tool>> {
    vec![
        fixture("test_simple_text", "Returns a text", |_| async {
            text("This is a simple text response for testing.")
        }),
        fixture("test_image_content", "Returns an image", |_| async { blocks([image()]) }),
        fixture("test_audio_content", "Returns audio", |_| async {
            blocks([Content::Audio { data: SILENCE.into(), mime_type: "audio/wav".into() }])
        }),
        fixture("test_embedded_resource", "Returns an embedded resource", |_| async {
            blocks([Content::Resource {
                uri: "test://embedded-resource".into(),
                mime_type: Some("text/plain".into()),
                text: "This is an embedded resource content.".into(),
            }])
        }),
        fixture("test_multiple_content_types", "Returns text, an image and a resource", |_| async {
            let resource = Content::Resource {
                uri: "test://mixed-content-resource".into(),
                mime_type: Some("application/json".into()),
                text: r#"{"test":"data","value":123}"#.into(),
            };
            blocks([Content::text("Multiple content types test:"), image(), resource])
        }),
        fixture("test_error_handling", "Always fails", |_| async {
            Err(ToolError::execution("This tool intentionally returns an error for testing"))
        }),
    ]
}

fn on_the_way() -> Vec<Arc<dyn Tool>> {
    vec![
        fixture("test_tool_with_logging", "Sends three log messages", log_three),
        fixture("test_logging_tool", "Sends three log messages", log_three),
        fixture("test_tool_with_progress", "Tells its progress", |client| async move {
            for percent in [0.0, 50.0, 100.0] {
                client.progress(percent, Some(100.0), None);
                sleep(STEP).await;
            }
            text("Done, step by step.")
        }),
    ]
}

async fn log_three(client: Client) -> ToolResult {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        client.log(LogLevel::Info, message);
        sleep(STEP).await;
    }
    text("Three messages were logged.")
}

fn questions() -> Vec<Arc<dyn Tool>> {
    vec![
        fixture_of_text("test_sampling", "Asks the client's model", "prompt", |prompt, client| async move {
            let answer = client.ask("message", sampling(&prompt, 100)).await.map_err(unanswered)?;
            text(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
        }),
        fixture_of_text("test_elicitation", "Asks the user", "message", |message, client| async move {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            });
            elicit(&client, message, schema, "User response:").await
        }),
        fixture("test_elicitation_sep1034_defaults", "Asks with defaults", |client| async move {
            elicit(&client, "Please review these values".into(), defaults(), "Elicitation completed:").await
        }),
        fixture("test_elicitation_sep1330_enums", "Asks with choices", |client| async move {
            elicit(&client, "Please choose".into(), choices(), "Elicitation completed:").await
        }),
        fixture("test_streaming_elicitation", "Asks on the way", |client| async move {
            client.log(LogLevel::Info, "about to ask");
            elicit(&client, "Please confirm".into(), super::inputs::confirm(), "Answered:").await
        }),
        fixture("test_missing_capability", "Needs the client's model", |client| async move {
            client.require(Need::Sampling).map_err(unanswered)?;
            text("The client can sample.")
        }),
    ]
}

async fn elicit(client: &Client, message: String, schema: serde_json::Value, label: &str) -> ToolResult {
    let answer = client.ask("form", Question::Form { message, schema }).await.map_err(unanswered)?;
    let action = answer["action"].as_str().unwrap_or_default();
    text(format!("{label} action={action}, content={}", answer["content"]))
}

fn list_changes(changes: &Changes) -> Vec<Arc<dyn Tool>> {
    let (of_tools, of_prompts, of_resource) = (changes.clone(), changes.clone(), changes.clone());
    vec![
        fixture("test_trigger_tool_change", "Tells that tools changed", move |_| {
            of_tools.tools();
            async { text("Told.") }
        }),
        fixture("test_trigger_prompt_change", "Tells that prompts changed", move |_| {
            of_prompts.prompts();
            async { text("Told.") }
        }),
        fixture("test_trigger_resource_update", "Tells that the watched resource changed", move |_| {
            of_resource.resource(WATCHED);
            async { text("Told.") }
        }),
    ]
}

pub(super) fn sampling(prompt: &str, max_tokens: u32) -> Question {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    Question::Sampling { params: json!({ "messages": [message], "maxTokens": max_tokens }) }
}

fn defaults() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User age", "default": 30 },
            "score": { "type": "number", "description": "User score", "default": 95.5 },
            "status": {
                "type": "string",
                "description": "User status",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "description": "Verification status", "default": true },
        },
        "required": [],
    })
}

fn choices() -> serde_json::Value {
    let titled = |name: &str| {
        json!([
            { "const": "value1", "title": format!("First {name}") },
            { "const": "value2", "title": format!("Second {name}") },
            { "const": "value3", "title": format!("Third {name}") },
        ])
    };
    let options = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    })
}

fn image() -> Content {
    Content::Image { data: PIXEL.into(), mime_type: "image/png".into() }
}

fn blocks(content: impl Into<Vec<Content>>) -> ToolResult {
    Ok(ToolOutput { content: content.into(), ..ToolOutput::default() })
}
