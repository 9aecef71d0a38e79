//! What is wrong with the params of a request.
//!
//! The SDK reads a request whose params do not fit as one of a method that nobody knows, and a client that is told
//! so concludes that the method is not there. Here such a request is told what does not fit.

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CompleteRequestParams, CustomRequest,
        ErrorCode, GetMeta as _, GetPromptRequestParams, InitializeRequestParams, ReadResourceRequestParams,
        RequestId, SetLevelRequestParams, SubscribeRequestParams, SubscriptionsListenRequestParams,
        UnsubscribeRequestParams,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::lines::invalid_params;

const INITIALIZE: &str = "initialize";

/// The answer to a request that the SDK could not place.
pub(super) fn refusal(request: CustomRequest, is_stateless: bool) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let reason = match (method.as_str(), is_stateless) {
        ("tools/call", _) => reason::<CallToolRequestParams>,
        ("prompts/get", _) => reason::<GetPromptRequestParams>,
        ("resources/read", _) => reason::<ReadResourceRequestParams>,
        ("completion/complete", _) => reason::<CompleteRequestParams>,
        // What only one of the revisions has is not there in the other, whatever its params are.
        (INITIALIZE, false) => reason::<InitializeRequestParams>,
        ("logging/setLevel", false) => reason::<SetLevelRequestParams>,
        ("resources/subscribe", false) => reason::<SubscribeRequestParams>,
        ("resources/unsubscribe", false) => reason::<UnsubscribeRequestParams>,
        ("subscriptions/listen", true) => reason::<SubscriptionsListenRequestParams>,
        _ => return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
    };
    invalid_params(&reason(params.unwrap_or_else(|| Value::Object(Map::new()))))
}

/// The answer to a handshake with wrong params. Before there is a session, the SDK takes it for a request of the
/// other revision.
pub(super) fn broken_greeting(message: &ClientJsonRpcMessage) -> Option<(ErrorData, RequestId)> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    // One that says which revision it follows is not mistaken.
    let is_greeting = custom.method == INITIALIZE && custom.get_meta().protocol_version().is_none();
    is_greeting.then(|| (refusal(custom.clone(), false), request.id.clone()))
}

fn reason<P: DeserializeOwned>(params: Value) -> String {
    match serde_path_to_error::deserialize::<_, P>(params) {
        // A value has every field once, so what was wrong is not in it.
        Ok(_) => "a field is there twice".into(),
        Err(error) if error.path().iter().len() == 0 => error.into_inner().to_string(),
        Err(error) => format!("{}: {}", error.path(), error.inner()),
    }
}
