//! `pinza conformance-client URL`: what the official conformance suite runs to test the client.
//!
//! It is the upstream's own way and nothing else: the suite's server is an upstream of a runtime, its tools become
//! Pinza's, and each is called through the engine. Only the browser is another: it follows the sign-in page by itself, and
//! every question is answered with yes.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, anyhow};
use pinza::{
    Pinza, UpstreamSettings,
    core::{
        BoxFuture, Caller, Capability, ErrorKind, Permission, Permits, ToolCall, ToolError, YesApprover,
        capability,
    },
    host::http::{HttpClient, HttpOptions, HttpRequest},
    mcp::client::{Browser, Launch, NoVariables, Revision, SignIn, Spec, UpstreamName},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Done, Result};

/// The client metadata document that the suite knows.
const METADATA_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// What the suite gives along in its environment.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(rename = "toolCalls")]
    tool_calls: Vec<PlannedCall>,
}

#[derive(Deserialize)]
struct PlannedCall {
    name: String,
    arguments: Map<String, Value>,
}

pub(crate) fn run(url: &str) -> Result {
    let context: Given = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => {
            serde_json::from_str(&text).context("MCP_CONFORMANCE_CONTEXT is not what was expected")?
        }
        Err(_) => Given::default(),
    };
    let revision = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        Ok(version) if version.as_str() < "2026" => Revision::Handshake,
        _ => Revision::Stateless,
    };
    let directory = std::env::temp_dir().join(format!("pinza-conformance-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(converse(url, &context, revision, &directory));
    runtime.shutdown_timeout(Duration::from_millis(200));
    let _ = std::fs::remove_dir_all(&directory);
    done
}

async fn converse(url: &str, context: &Given, revision: Revision, directory: &std::path::Path) -> Result {
    let name = UpstreamName::new("suite").map_err(|error| anyhow!(error))?;
    let sign_in = SignIn {
        client_id: context.client_id.clone(),
        client_secret: context.client_secret.clone(),
        client_metadata_url: Some(METADATA_DOCUMENT.into()),
        scopes: Vec::new(),
    };
    let launch = Launch::Http { url: url.parse()?, headers: Vec::new(), sign_in };
    let spec = Spec { revision, start_timeout: Duration::from_secs(20), ..Spec::new(name, launch) };
    let pinza = Pinza::builder()
        .approver(Arc::new(YesApprover))
        .upstreams(UpstreamSettings {
            specs: vec![spec],
            directory: directory.to_owned(),
            variables: Arc::new(NoVariables),
            tokens: None,
        })
        .browser(Arc::new(Robot::new()?))
        .build()?;
    let upstream = pinza.upstreams().get("suite").context("there is no upstream")?;
    let contact = upstream.contact().await.map_err(|error| anyhow!("{error}"))?;
    pinza.reload();
    let mut failed = None;
    for tool in contact.record.accepted.map(|face| face.tools).unwrap_or_default() {
        let planned = context.tool_calls.iter().find(|call| call.name == tool.name);
        let arguments = match planned {
            Some(call) => Value::Object(call.arguments.clone()),
            None => sample(&pinza, &tool.input_schema),
        };
        let call = ToolCall::new(&tool.name, format!("suite__{}", tool.name), arguments);
        let outcome = pinza.engine().call(call, &pinza.scope(Caller::Cli)).await;
        // Arguments that our own check refuses were badly made up here, and say nothing about the client.
        if let Err(error) = outcome.result.or_else(|error| match error.kind {
            ErrorKind::ValidationError => Ok(Default::default()),
            _ => Err(error),
        }) {
            failed = Some(anyhow!("{}: {error}", tool.name));
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(Done::Well),
    }
}

/// Arguments that a schema's required parameters take. The suite has one that wants a tool's schema back as the client
/// holds it.
fn sample(pinza: &Pinza, schema: &Value) -> Value {
    let held = || {
        let snapshot = pinza.snapshot();
        let entry = snapshot.get("suite__json_schema_2020_12_tool")?;
        Some(entry.definition().parameters.schema().clone())
    };
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") if name == "schema" => held().unwrap_or_default(),
        Some("object") => json!({}),
        _ => json!("test"),
    };
    Value::Object(
        required.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), value(name))).collect(),
    )
}

/// Takes the browser's place: opens the page and follows it back.
struct Robot(HttpClient);

impl Robot {
    fn new() -> Result<Self> {
        Ok(Self(HttpClient::new(HttpOptions::default())?))
    }
}

impl Browser for Robot {
    fn open<'a>(&'a self, _server: &'a str, url: &'a str) -> BoxFuture<'a, std::result::Result<(), String>> {
        Box::pin(async move {
            let request = HttpRequest::new("GET", url).map_err(|error| error.to_string())?;
            self.0.send(request, &Everywhere).await.map(drop).map_err(|error| error.to_string())
        })
    }
}

/// The suite is on this machine.
struct Everywhere;

impl Permits for Everywhere {
    fn permit(&self, permission: Permission) -> BoxFuture<'_, std::result::Result<(), ToolError>> {
        let known = [capability::NET, capability::NET_PRIVATE].map(Capability::known);
        let answer = match known.contains(&permission.capability) {
            true => Ok(()),
            false => Err(ToolError::denied(&permission.capability, "The suite needs nothing else.")),
        };
        Box::pin(std::future::ready(answer))
    }
}
