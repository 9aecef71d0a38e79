//! A plain call over HTTP, without a session: one request, one answer, nothing in between.
//!
//! That is what most calls are, and the SDK starts a service with its tasks and channels for each of them. Here only
//! the call itself is made. Whatever is odd about a request, or wants more than an answer, is left to the SDK, so the
//! protocol's rules are written down once; and what is answered here is answered in the SDK's own words.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request};
use rmcp::model::{ClientCapabilities, ErrorCode, Implementation, JsonObject, RequestId};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Server, answer,
    connection::Transport,
    exchange::{Answer, Repeated, Who},
    handler::Asked,
};
use crate::object::Object;

const REVISION: &str = "2026-07-28";
const METHOD: &str = "tools/call";
pub(super) const JSON: &str = "application/json";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<M: Default> {
    jsonrpc: String,
    id: RequestId,
    method: String,
    params: Object<Params<M>>,
}

/// What a call has to say, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params<M: Default> {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: JsonObject,
    #[serde(rename = "_meta", default)]
    pub(super) meta: M,
}

/// Progress and log messages are for those who listen: whoever wants them has another field here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    revision: String,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    client: Implementation,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    can: ClientCapabilities,
}

impl Server {
    /// The answer to a plain call; `None` if the request is not one. Dropped, the call is cancelled.
    pub(super) async fn call_plainly(&self, head: &request::Parts, body: &[u8]) -> Option<Response<Bytes>> {
        let (id, asked) = plain(head, body)?;
        let shared = self.late.loaded()?;
        if !shared.listing_alone().is_whole_without_headers(&asked.name) {
            return None;
        }
        Some(response(self.handler(Transport::Http).call(asked).await, id, true))
    }
}

/// The call that a message asks for; `None` for all that is anything else or more.
pub(super) fn read<M: Default + DeserializeOwned>(text: &[u8]) -> Option<(RequestId, Params<M>)> {
    let Object(message): Object<Message<M>> = serde_json::from_slice(text).ok()?;
    let is_call = message.jsonrpc == "2.0" && message.method == METHOD;
    is_call.then_some((message.id, message.params.0))
}

fn plain(head: &request::Parts, body: &[u8]) -> Option<(RequestId, Asked<'static>)> {
    let headers = &head.headers;
    let accepts = only(headers, header::ACCEPT.as_str())?;
    let is_plain = head.method == Method::POST
        && accepts.contains(JSON)
        && accepts.contains("text/event-stream")
        && only(headers, header::CONTENT_TYPE.as_str())? == JSON
        && only(headers, "mcp-protocol-version")? == REVISION
        && only(headers, "mcp-method")? == METHOD
        && !headers.contains_key("mcp-session-id");
    if !is_plain {
        return None;
    }
    let (id, Params { name, arguments, meta }) = read::<Option<Object<Meta>>>(body)?;
    let Object(meta) = meta?;
    let agrees = meta.revision == REVISION && only(headers, "mcp-name")? == name;
    agrees.then(|| {
        let who = Who::new(Some(&meta.client), Some(&meta.can));
        (id, Asked { name, arguments, repeated: Repeated::default(), who, way: None, is_stateless: true })
    })
}

/// The value of a header that is there once.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

pub(super) fn response(answered: Answer, id: RequestId, is_stateless: bool) -> Response<Bytes> {
    let status = match &answered {
        Err(error) if is_stateless && error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    };
    let (status, body) = match answer::line(answered, id, is_stateless) {
        Some(line) => (status, line),
        // The call was made, so nobody else may make it again.
        None => (StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde_json::{Value, json};

    use super::*;

    fn message() -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "method": METHOD, "params": {
            "name": "echo",
            "arguments": { "text": "hello" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": REVISION,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1", "title": "Test" },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {}, "roots": {} },
            },
        } })
    }

    fn head(change: (&'static str, &'static str)) -> request::Parts {
        let mut request = Request::post("/mcp").body(()).unwrap();
        for (name, value) in [
            ("accept", "application/json, text/event-stream"),
            ("content-type", JSON),
            ("mcp-protocol-version", REVISION),
            ("mcp-method", METHOD),
            ("mcp-name", "echo"),
            change,
        ] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        request.into_parts().0
    }

    #[test]
    fn a_plain_call_is_known_as_one() {
        let unchanged = ("accept", "application/json, text/event-stream");
        let (_, asked) = plain(&head(unchanged), message().to_string().as_bytes()).unwrap();
        assert_eq!(asked.name, "echo");
        let mut bare = message();
        bare["params"].as_object_mut().unwrap().remove("arguments");
        bare["id"] = json!("text");
        assert!(plain(&head(unchanged), bare.to_string().as_bytes()).is_some());
    }

    #[test]
    fn whatever_is_odd_is_left_to_others() {
        for change in [
            ("accept", "application/json"),
            ("content-type", "text/plain"),
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-method", "tools/list"),
            ("mcp-name", "other"),
            ("mcp-session-id", "any"),
        ] {
            assert!(plain(&head(change), message().to_string().as_bytes()).is_none(), "{change:?}");
        }
        let odd = |pointer: &str, value: Value| {
            let mut odd = message();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            odd.pointer_mut(parent).unwrap()[key] = value;
            odd.to_string()
        };
        for body in [
            odd("/jsonrpc", json!("1.0")),
            odd("/id", json!(null)),
            odd("/method", json!("tools/list")),
            odd("/extra", json!(1)),
            odd("/params/arguments", json!(null)),
            odd("/params/requestState", json!("any")),
            odd("/params/inputResponses", json!({})),
            odd("/params/_meta/progressToken", json!(1)),
            odd("/params/_meta/io.modelcontextprotocol~1logLevel", json!("debug")).replace("~1", "/"),
            message().to_string().replace("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"echo\""),
            format!("[{}]", message()),
            odd("/params", json!(["echo", {}, message()["params"]["_meta"]])),
            json!(["2.0", 1, METHOD, message()["params"]]).to_string(),
        ] {
            assert!(plain(&head(("mcp-name", "echo")), body.as_bytes()).is_none(), "{body}");
        }
    }
}
