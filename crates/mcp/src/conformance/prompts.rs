//! Prompts with and without arguments, with contents of every kind, and one that asks.

use pinza_core::{BoxFuture, Content};
use serde_json::{Map, Value};

use super::{PIXEL, inputs::one};
use crate::server::{Client, PromptArgument, PromptInfo, PromptSource, PromptText, Question, SourceError};

pub(super) struct Prompts;

/// What arguments complete to.
const PLACES: [&str; 3] = ["paris", "park", "party"];

impl PromptSource for Prompts {
    fn list(&self) -> Vec<PromptInfo> {
        let prompt = |name: &str, description: &str, arguments: &[&str]| PromptInfo {
            name: name.into(),
            title: None,
            description: description.into(),
            arguments: arguments.iter().map(|name| argument(name)).collect(),
        };
        vec![
            prompt("test_simple_prompt", "A prompt without arguments", &[]),
            prompt("test_prompt_with_arguments", "A prompt with two arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", "A prompt with a resource", &["resourceUri"]),
            prompt("test_prompt_with_image", "A prompt with an image", &[]),
            prompt("test_input_required_result_prompt", "A prompt that asks for its context", &[]),
        ]
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        client: &'a Client,
    ) -> BoxFuture<'a, Result<PromptText, SourceError>> {
        Box::pin(async move {
            let given =
                |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let messages = match name {
                "test_simple_prompt" => vec![Content::text("This is a simple prompt for testing.")],
                "test_prompt_with_arguments" => {
                    let (first, second) = (given("arg1"), given("arg2"));
                    vec![Content::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
                }
                "test_prompt_with_embedded_resource" => vec![
                    Content::Resource {
                        uri: given("resourceUri"),
                        mime_type: Some("text/plain".into()),
                        text: "Embedded resource content for testing.".into(),
                    },
                    Content::text("Please process the embedded resource above."),
                ],
                "test_prompt_with_image" => vec![
                    Content::Image { data: PIXEL.into(), mime_type: "image/png".into() },
                    Content::text("Please analyze the image above."),
                ],
                "test_input_required_result_prompt" => vec![asked(client).await?],
                _ => return Err(SourceError::NotFound),
            };
            Ok(PromptText { description: None, messages })
        })
    }

    fn complete(&self, prompt: &str, _argument: &str, typed: &str) -> Option<Vec<String>> {
        let known = prompt == "test_prompt_with_arguments";
        known.then(|| {
            PLACES.iter().filter(|place| place.starts_with(typed)).map(ToString::to_string).collect()
        })
    }
}

async fn asked(client: &Client) -> Result<Content, SourceError> {
    let message = "What context should the prompt use?".into();
    let question = Question::Form { message, schema: one("context", "string") };
    let answer = client.ask("user_context", question).await;
    let answer = answer.map_err(|error| SourceError::Failed(error.to_string()))?;
    Ok(Content::text(format!("Use this context: {}", answer["content"]["context"])))
}

fn argument(name: &str) -> PromptArgument {
    PromptArgument { name: name.into(), description: format!("The argument {name}"), required: true }
}
