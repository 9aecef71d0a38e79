//! Which models a provider has, for whoever has to name one.

use std::time::Duration;

use serde_json::Value;

use super::{ProviderClient, attempt, context::Context};
use crate::{
    providers::{ProviderError, ProviderErrorKind, Request, answered},
    reveal::{Offer, Reveal},
};

/// All of a list, which may be a thousand models long.
const LIST: usize = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

impl ProviderClient {
    /// The names of its models, as a request takes them. Asked once: not every server has a list.
    pub async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let server = &self.server;
        let encoded = server.adapter.models();
        let request = Request {
            model: "",
            system: "",
            messages: &[],
            tools: Offer::default(),
            reveal: Reveal::Append,
            max_tokens: None,
            effort: None,
            cache_key: None,
        };
        let context = Context::new(&server.config, &server.base, &encoded, &request)?;
        let asking = async {
            let sent = server.http.get(context.url.clone()).headers(context.headers.clone()).send().await;
            let response = sent.map_err(attempt::unsent)?;
            if response.status().is_redirection() {
                return Err(attempt::redirected(&response));
            }
            let status = response.status();
            let (_, body) = attempt::read_body(response, LIST).await;
            if !status.is_success() {
                return Err(answered(status.as_u16(), &body));
            }
            Ok(names(&body))
        };
        let late = || ProviderError::new(ProviderErrorKind::TimedOut, "it did not answer in time");
        let listed = tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| Err(late()));
        listed.map_err(|error| context.dress(error))
    }
}

/// OpenAI and Anthropic have `data` with ids, Gemini `models` with names and what each can do.
fn names(body: &Value) -> Vec<String> {
    let list = body["data"].as_array().or_else(|| body["models"].as_array());
    let speaks = |model: &&Value| match model["supportedGenerationMethods"].as_array() {
        Some(methods) => methods.iter().any(|method| method == "generateContent"),
        None => true,
    };
    let name = |model: &Value| {
        let name = model["id"].as_str().or_else(|| model["name"].as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    // A name with odd characters in it is nothing to show or to type.
    let is_plain = |name: &String| !name.is_empty() && pinza_core::visible(name) == *name;
    let mut names: Vec<String> =
        list.into_iter().flatten().filter(speaks).filter_map(name).filter(is_plain).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_models_as_each_provider_lists_them() {
        for (body, expected) in [
            (json!({"object": "list", "data": [{"id": "gpt-5"}, {"id": "gpt-4"}]}), vec!["gpt-4", "gpt-5"]),
            (json!({"data": [{"type": "model", "id": "claude-x", "display_name": "X"}]}), vec!["claude-x"]),
            (
                json!({"models": [
                    {"name": "models/gemini-3", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
                ]}),
                vec!["gemini-3"],
            ),
            (json!({"data": [{"id": "a\u{1b}[2J"}, {"no": 1}, {"id": ""}]}), vec![]),
            (json!("<html>"), vec![]),
        ] {
            assert_eq!(names(&body), expected, "{body}");
        }
    }
}
