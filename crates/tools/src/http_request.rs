//! `http_request`: one request, as RFC-004 has it.

use std::time::Duration;

use pinza_core::{
    Arguments, CallContext, Capability, NativeTool, Permission, ToolDefinition, ToolError, ToolName,
    ToolOutput, ToolResult, capability,
};
use pinza_host::http::{HttpClient, HttpRequest, HttpResponse};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const DESCRIPTION: &str = "Make an HTTP request to a URL";

const MAX_RESPONSE_SIZE: usize = 100 * 1024;

#[derive(Debug)]
pub(crate) struct HttpRequestTool {
    pub(crate) http: HttpClient,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// The URL to request
    url: String,
    /// HTTP method: GET, POST, PUT, DELETE. Defaults to GET.
    method: Option<Method>,
    /// Key-value pairs of HTTP headers (optional)
    headers: Option<Map<String, Value>>,
    /// Request body for POST/PUT requests (optional)
    body: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
enum Method {
    #[default]
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl NativeTool for HttpRequestTool {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("http_request"), DESCRIPTION)
            .title("HTTP request")
            .needs(Capability::known(capability::NET))
            .subject("url")
            .timeout(Duration::from_secs(30))
    }

    /// Rules see the URL as the client will understand it: `http://good.example@evil.example/`
    /// must not pass for good.
    fn permissions(&self, _definition: &ToolDefinition, arguments: &Arguments) -> Vec<Permission> {
        let net = Permission::new(Capability::known(capability::NET));
        let written = arguments.get("url").and_then(Value::as_str).unwrap_or_default();
        let url =
            HttpRequest::new("GET", written).map_or_else(|_| written.to_owned(), |request| request.url());
        vec![net.about("url", url)]
    }

    async fn call(&self, parameters: Parameters, context: &CallContext<'_>) -> ToolResult {
        let request = request(parameters)?;
        let response = self.http.send(request, context).await.map_err(|error| error.answer())?;
        let details = json!({
            "status": response.status,
            "url": response.url.as_str(),
            "truncated": response.truncated,
        });
        Ok(ToolOutput::text(show(&response)).details(details))
    }
}

fn request(parameters: Parameters) -> Result<HttpRequest, ToolError> {
    let Parameters { url, method, headers, body } = parameters;
    let method = method.unwrap_or_default();
    let mut request = HttpRequest::new(method.name(), &url).map_err(|error| error.answer())?;
    for (name, value) in headers.into_iter().flatten() {
        let value = match value {
            Value::String(text) => text,
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => {
                let name = pinza_core::visible(&name);
                return Err(ToolError::validation(format!("Header '{name}' must be text")));
            }
        };
        request = request.header(&name, &value).map_err(|error| error.answer())?;
    }
    // A GET has no body; POST and PUT always have one, if only an empty one.
    let body = match method {
        Method::Get => None,
        Method::Post | Method::Put => Some(body.unwrap_or_default()),
        Method::Delete => body,
    };
    if let Some(body) = body {
        if !body.is_empty() && !request.has_header("content-type") {
            request = request.header("Content-Type", "application/json").map_err(|error| error.answer())?;
        }
        request = request.body(body);
    }
    Ok(request.max_body(MAX_RESPONSE_SIZE))
}

/// Status line, the two headers that matter, a blank line, the body.
fn show(response: &HttpResponse) -> String {
    let mut text = format!("HTTP {} {}", response.status, response.reason).trim_end().to_owned();
    text.push('\n');
    for name in ["Content-Type", "Content-Length"] {
        if let Some(value) = response.header(name) {
            text.push_str(&format!("{name}: {value}\n"));
        }
    }
    text.push('\n');
    text.push_str(&body(response));
    text
}

fn body(response: &HttpResponse) -> String {
    if response.body.is_empty() {
        return "(empty response body)".into();
    }
    let charset = response.header("Content-Type").and_then(charset);
    let encoding = charset.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    // Cut in the middle of a character, the last one would decode to a replacement mark.
    let (text, ..) = encoding.unwrap_or(encoding_rs::UTF_8).decode(&response.body);
    if !response.truncated {
        return text.into_owned();
    }
    let text = text.trim_end_matches('\u{fffd}');
    let shown = MAX_RESPONSE_SIZE / 1024;
    match response.total {
        Some(total) => {
            format!("{text}\n\n(Response truncated. Showing first {shown}KB of {}KB total.)", total / 1024)
        }
        None => format!("{text}\n\n(Response truncated. Showing first {shown}KB.)"),
    }
}

fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}
