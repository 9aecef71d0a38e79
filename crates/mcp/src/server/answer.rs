//! Outcomes, prompts and resources in the protocol's words.

use pinza_core::{Content, ToolError, ToolOutput};
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, GetPromptResult, LoggingLevel, Prompt, PromptArgument, PromptMessage,
        ReadResourceResult, RequestId, Resource, ResourceContents, ResourceTemplate, Role,
        ServerJsonRpcMessage, ServerResult,
    },
};
use serde_json::{Value, json};

use super::{
    client::LogLevel,
    exchange::{Answer, Reply},
    source::{PromptInfo, PromptText, ResourceBody, ResourceInfo, SourceError, TemplateInfo},
};

/// An answer to a call as a message, without its end; `None` for what cannot be written. Sessions know nothing of kinds of
/// results.
pub(super) fn line(answered: Answer, id: RequestId, is_stateless: bool) -> Option<Vec<u8>> {
    let message = match answered {
        Ok(Reply::Tool(result)) => {
            let mut result = ServerResult::CallToolResult(result);
            if !is_stateless {
                result.strip_result_type_for_legacy_peer();
            }
            ServerJsonRpcMessage::response(result, id)
        }
        Ok(Reply::Inputs(inputs)) if is_stateless => {
            ServerJsonRpcMessage::response(ServerResult::InputRequiredResult(inputs), id)
        }
        Ok(other) => ServerJsonRpcMessage::error(unexpected(&other), Some(id)),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    };
    serde_json::to_vec(&message).ok()
}

pub(super) fn unexpected(reply: &Reply) -> ErrorData {
    ErrorData::internal_error(format!("an answer of another kind: {reply:?}"), None)
}

/// A success; the details go along where the tool promises them.
pub(super) fn success(output: ToolOutput, promised: Promised) -> CallToolResult {
    let mut result = CallToolResult::success(output.content.into_iter().map(block).collect());
    if promised == Promised::Details {
        result.structured_content = output.details.filter(Value::is_object);
    }
    result
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promised {
    Details,
    Nothing,
}

/// An answer that is an error: for the model to read and to do better.
pub(super) fn failure(error: &ToolError) -> CallToolResult {
    let text = match &error.hint {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    if let Some(output) = &error.output {
        // Its texts are the error's words already.
        let others = output.content.iter().filter(|block| !matches!(block, Content::Text { .. }));
        result.content.extend(others.cloned().map(block));
        result.structured_content = output.details.clone().filter(Value::is_object);
    }
    result
}

pub(super) fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime_type } => ContentBlock::image(data, mime_type),
        Content::Audio { data, mime_type } => ContentBlock::audio(data, mime_type),
        Content::ResourceLink { uri, name, mime_type } => {
            let mut link = Resource::new(uri, name);
            link.mime_type = mime_type;
            ContentBlock::resource_link(link)
        }
        Content::Resource { uri, mime_type, text } => {
            ContentBlock::resource(ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                meta: None,
            })
        }
        Content::Blob { uri, mime_type, data } => {
            ContentBlock::resource(ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob: data,
                meta: None,
            })
        }
    }
}

pub(super) fn link(info: ResourceInfo) -> ContentBlock {
    ContentBlock::resource_link(resource(info))
}

pub(super) fn prompt(info: PromptInfo) -> Prompt {
    let argument = |argument: super::source::PromptArgument| {
        PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    };
    let arguments: Vec<_> = info.arguments.into_iter().map(argument).collect();
    let mut prompt =
        Prompt::new(info.name, Some(info.description), (!arguments.is_empty()).then_some(arguments));
    prompt.title = info.title;
    prompt
}

pub(super) fn prompt_text(text: PromptText) -> GetPromptResult {
    let messages = text.messages.into_iter().map(|content| PromptMessage::new(Role::User, block(content)));
    let mut result = GetPromptResult::new(messages.collect());
    result.description = text.description;
    result
}

pub(super) fn resource(info: ResourceInfo) -> Resource {
    let mut resource = Resource::new(info.uri, info.name).with_description(info.description);
    resource.mime_type = info.mime_type;
    resource.size = info.size;
    resource
}

pub(super) fn template(info: TemplateInfo) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(info.uri_template, info.name).with_description(info.description);
    template.mime_type = info.mime_type;
    template
}

pub(super) fn contents(uri: String, body: ResourceBody) -> ReadResourceResult {
    let contents = match body {
        ResourceBody::Text { mime_type, text } => {
            ResourceContents::TextResourceContents { uri, mime_type: Some(mime_type), text, meta: None }
        }
        ResourceBody::Blob { mime_type, data } => {
            ResourceContents::BlobResourceContents { uri, mime_type: Some(mime_type), blob: data, meta: None }
        }
    };
    ReadResourceResult::new(vec![contents])
}

pub(super) fn no_such_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("There is no such resource", Some(json!({ "uri": uri })))
}

pub(super) fn source_error(error: &SourceError) -> ErrorData {
    match error {
        SourceError::NotFound | SourceError::Invalid(_) => ErrorData::invalid_params(error.to_string(), None),
        SourceError::Failed(_) => ErrorData::internal_error(error.to_string(), None),
    }
}

pub(super) fn log_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}

pub(super) fn from_log_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
