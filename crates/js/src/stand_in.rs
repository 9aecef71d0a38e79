//! Answers that stand in for the network, so that a tool can be tested without it.

use pinza_core::ToolError;
use serde::Deserialize;
use serde_json::Value;

/// One scripted answer, as a test file writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    #[serde(default = "get")]
    pub method: String,
    pub url: String,
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body, as text or as JSON.
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub json: Option<Value>,
}

fn get() -> String {
    "GET".into()
}

fn ok() -> u16 {
    200
}

impl StandIn {
    /// The body and, where the headers say nothing, its type.
    pub(crate) fn body(&self) -> (Vec<u8>, &'static str) {
        match (&self.json, &self.text) {
            (Some(json), _) => (json.to_string().into_bytes(), "application/json"),
            (None, Some(text)) => (text.clone().into_bytes(), "text/plain"),
            (None, None) => (Vec::new(), "text/plain"),
        }
    }
}

/// The answer for a request; what is not scripted is an error that says what was asked for.
pub(crate) fn find<'a>(stand_ins: &'a [StandIn], method: &str, url: &str) -> Result<&'a StandIn, ToolError> {
    let fits = |stand_in: &&StandIn| stand_in.method.eq_ignore_ascii_case(method) && stand_in.url == url;
    stand_ins.iter().find(fits).ok_or_else(|| {
        ToolError::network(format!("No stand-in answers {method} {url}"))
            .hint("Add it to the case's \"http\" list, with exactly this method and url.")
    })
}
