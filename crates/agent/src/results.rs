//! Results on their way back to a model: RFC-004's envelope in each provider's frame.

use pinza_core::{Content, ToolResult};
use serde_json::{Value, json};

use crate::{image::Image, provider::Provider};

/// The images that Anthropic and OpenAI take.
pub(crate) const COMMON_IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What a model reads, whatever the provider: `{"status":"success","result":…}` or
/// `{"status":"error","error_type":…,"message":…}`, and the hint where there is one.
pub fn envelope(result: &ToolResult) -> Value {
    match result {
        Ok(output) => json!({ "status": "success", "result": output.as_text() }),
        Err(error) => {
            let mut envelope = json!({
                "status": "error",
                "error_type": error.kind.code(),
                "message": error.message,
            });
            if let Some(hint) = &error.hint {
                envelope["hint"] = hint.as_str().into();
            }
            envelope
        }
    }
}

/// The answer to one call: for OpenAI a message, for Anthropic a content block, for Gemini
/// a part. `call_id` is the provider's own id of the call, `wire_name` the name it called.
pub fn tool_result(provider: Provider, call_id: &str, wire_name: &str, result: &ToolResult) -> Value {
    let envelope = envelope(result);
    match provider {
        Provider::OpenAi => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": envelope.to_string() })
        }
        Provider::Anthropic => anthropic_block(call_id, &envelope, result),
        Provider::Gemini => json!({ "functionResponse": { "name": wire_name, "response": envelope } }),
    }
}

/// The message or messages that carry the answers of one round.
pub fn tool_results_message(provider: Provider, results: Vec<Value>) -> Vec<Value> {
    // An empty message is refused; no answers need none.
    if results.is_empty() {
        return Vec::new();
    }
    match provider {
        Provider::OpenAi => results,
        Provider::Anthropic => vec![json!({ "role": "user", "content": results })],
        Provider::Gemini => vec![json!({ "role": "user", "parts": results })],
    }
}

fn anthropic_block(call_id: &str, envelope: &Value, result: &ToolResult) -> Value {
    let text = envelope.to_string();
    let images: Vec<Value> = match result {
        Ok(output) => output.content.iter().filter_map(image_block).collect(),
        Err(_) => Vec::new(),
    };
    let content: Value = if images.is_empty() {
        text.into()
    } else {
        let text = json!({ "type": "text", "text": text });
        std::iter::once(text).chain(images).collect()
    };
    let mut block = json!({ "type": "tool_result", "tool_use_id": call_id, "content": content });
    if result.is_err() {
        block["is_error"] = true.into();
    }
    block
}

pub(crate) fn image_block(content: &Content) -> Option<Value> {
    let image = Image::of(content, &COMMON_IMAGES)?;
    let source = json!({ "type": "base64", "media_type": image.mime_type, "data": image.data });
    Some(json!({ "type": "image", "source": source }))
}

#[cfg(test)]
mod tests {
    use pinza_core::{ErrorKind, ToolError, ToolOutput};

    use super::*;

    fn failed() -> ToolResult {
        Err(ToolError::new(ErrorKind::FileNotFound, "File not found: a.txt"))
    }

    fn image(mime_type: &str, data: &str) -> Content {
        Content::Image { data: data.into(), mime_type: mime_type.into() }
    }

    fn check(provider: Provider, result: &ToolResult, expected: &str) {
        assert_eq!(tool_result(provider, "c1", "read_file", result).to_string(), expected);
    }

    #[test]
    fn the_envelope_keeps_its_order() {
        assert_eq!(envelope(&Ok("hi".into())).to_string(), r#"{"status":"success","result":"hi"}"#);
        assert_eq!(
            envelope(&failed()).to_string(),
            r#"{"status":"error","error_type":"file_not_found","message":"File not found: a.txt"}"#
        );
        let hinted = failed().map_err(|error| error.hint("list the directory"));
        assert!(envelope(&hinted).to_string().ends_with(r#"a.txt","hint":"list the directory"}"#));
    }

    #[test]
    fn each_provider_has_its_frame() {
        let fine = Ok("hi".into());
        check(
            Provider::OpenAi,
            &fine,
            r#"{"role":"tool","tool_call_id":"c1","content":"{\"status\":\"success\",\"result\":\"hi\"}"}"#,
        );
        check(
            Provider::Anthropic,
            &fine,
            r#"{"type":"tool_result","tool_use_id":"c1","content":"{\"status\":\"success\",\"result\":\"hi\"}"}"#,
        );
        check(
            Provider::Gemini,
            &fine,
            r#"{"functionResponse":{"name":"read_file","response":{"status":"success","result":"hi"}}}"#,
        );
        let block = tool_result(Provider::Anthropic, "c1", "read_file", &failed());
        assert_eq!(block["is_error"], true);
    }

    #[test]
    fn anthropic_sees_images_that_it_can_take() {
        let output = ToolOutput {
            content: vec![
                Content::text("two"),
                image("image/png", "aGk="),
                image("image/jpg", "aGk="),
                image("image/svg+xml", "aGk="),
                image("image/png", "not base64"),
                image("image/png", ""),
            ],
            ..ToolOutput::default()
        };
        let block = tool_result(Provider::Anthropic, "c1", "draw", &Ok(output));
        let kinds: Vec<&Value> = block["content"].as_array().unwrap().iter().collect();
        assert_eq!(kinds.len(), 3, "{block}");
        assert_eq!(kinds[0]["type"], "text");
        assert_eq!(
            kinds[1].to_string(),
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#
        );
        assert_eq!(kinds[2]["source"]["media_type"], "image/jpeg");
    }

    #[test]
    fn one_round_is_answered_in_as_few_messages_as_the_provider_allows() {
        let results = || vec![json!({ "n": 1 }), json!({ "n": 2 })];
        assert_eq!(tool_results_message(Provider::OpenAi, results()), results());
        assert_eq!(
            tool_results_message(Provider::Anthropic, results()),
            [json!({ "role": "user", "content": results() })]
        );
        assert_eq!(
            tool_results_message(Provider::Gemini, results()),
            [json!({ "role": "user", "parts": results() })]
        );
        for provider in Provider::ALL {
            assert!(tool_results_message(provider, Vec::new()).is_empty());
        }
    }
}
