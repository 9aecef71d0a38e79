//! A server that answers: started or reached, greeted, and its tools listed.

use std::{collections::HashMap, sync::Arc, time::Duration};

use pinza_core::visible;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient,
    model::{
        ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
        SubscriptionFilter, Tool,
    },
    service::{ClientInitializeError, Peer, RunningService, ServiceError},
    transport::{
        StreamableHttpClientTransport,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::Notify;
use url::Url;

use super::{
    MESSAGE_LIMIT,
    awake::Vigil,
    handler::{Calls, Handler},
    http::{Link, LinkError},
    oauth::{Authorizer, People},
    record::{Face, SeenTool},
    services::{Services, expand},
    spec::{Launch, Revision, SignIn, Spec},
    stdio::Process,
    wire::Wire,
};

/// More tools than any server has; a list without end would never be listed.
const MOST_TOOLS: usize = 2000;
const MOST_PAGES: usize = 200;

/// What a group's line may have.
const SUMMARY_LENGTH: usize = 200;

/// Requests to one server side by side.
const SIDE_BY_SIDE: usize = 256;

pub(crate) struct Connection {
    pub(crate) running: RunningService<RoleClient, Handler>,
    pub(crate) calls: Calls,
    pub(crate) vigil: Vigil,
    pub(crate) changed: Arc<Notify>,
    pub(crate) process: Option<Process>,
    pub(crate) wire: Option<Arc<Wire>>,
    pub(crate) facts: Facts,
    pub(crate) people: People,
}

/// What a server says about itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    pub instructions: Option<String>,
    /// The protocol that both speak.
    pub revision: String,
}

/// Why there is no connection, and what the server printed until then.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct StartError {
    pub(crate) message: String,
    pub(crate) log: String,
    /// Whether it may take another greeting.
    pub(crate) hopeful: bool,
}

impl StartError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), log: String::new(), hopeful: false }
    }
}

impl Connection {
    /// Within the spec's time to start. `last` is the protocol that the server spoke before.
    pub(crate) async fn open(
        spec: &Spec,
        services: &Services,
        last: Option<&str>,
    ) -> Result<Self, StartError> {
        let people = People::default();
        let first = lifecycle(spec.revision, last);
        let other = match first {
            // It may have become newer than it was.
            ClientLifecycleMode::Initialize => lifecycle(spec.revision, None),
            // A server that dies of a question it does not know is asked in the old way.
            _ => ClientLifecycleMode::Initialize,
        };
        match within(spec.start_timeout, &people, Self::greet(spec, services, first, &people)).await? {
            Err(error) if error.hopeful && spec.revision == Revision::Newest => {
                let again = Self::greet(spec, services, other, &people);
                within(spec.start_timeout, &people, again).await?
            }
            opened => opened,
        }
    }

    async fn greet(
        spec: &Spec,
        services: &Services,
        lifecycle: ClientLifecycleMode,
        people: &People,
    ) -> Result<Self, StartError> {
        match &spec.launch {
            Launch::Command { argv, env, directory } => {
                let supervisor = services.supervisor.as_ref().ok_or_else(|| {
                    StartError::new("processes need a helper program, and this runtime was built without one")
                })?;
                let env = looked_up(env, services).map_err(StartError::new)?;
                let (process, lines) = Process::start(supervisor, argv, env, directory)
                    .map_err(|error| StartError::new(error.to_string()))?;
                let wire = lines.wire();
                let (handler, calls, changed) = handler();
                match handler.serve_with_lifecycle(lines, lifecycle).await {
                    Ok(running) => Ok(Self::of(running, calls, changed, Some((process, wire)), people)),
                    Err(error) => Err(not_greeted(&error, &process).await),
                }
            }
            Launch::Http { url, headers, sign_in } => {
                let link =
                    link(spec, url, headers, sign_in, services, people).await.map_err(StartError::new)?;
                let headers = header_map(headers, services).map_err(StartError::new)?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers)
                    .max_sse_event_size(MESSAGE_LIMIT)
                    .max_concurrent_requests(SIDE_BY_SIDE);
                let transport = StreamableHttpClientTransport::with_client(link, config);
                let (handler, calls, changed) = handler();
                match handler.serve_with_lifecycle(transport, lifecycle).await {
                    Ok(running) => Ok(Self::of(running, calls, changed, None, people)),
                    Err(error) => Err(StartError {
                        hopeful: refuses(&error),
                        ..StartError::new(greeting_error(&error))
                    }),
                }
            }
        }
    }

    fn of(
        running: RunningService<RoleClient, Handler>,
        calls: Calls,
        changed: Arc<Notify>,
        process: Option<(Process, Arc<Wire>)>,
        people: &People,
    ) -> Self {
        let (facts, people) = (facts(running.peer()), people.clone());
        let (process, wire) = process.unzip();
        Self { running, calls, vigil: Vigil::new(), changed, process, wire, facts, people }
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    pub(crate) fn is_alive(&self) -> bool {
        let is_open = self.wire.as_ref().is_none_or(|wire| wire.is_open());
        is_open && !self.running.is_closed() && !self.peer().is_transport_closed()
    }

    pub(crate) fn log(&self) -> String {
        self.process.as_ref().map(|process| process.log.shown()).unwrap_or_default()
    }

    /// Listens for changes of its tools as long as it is there. Since 2026-07-28 a server tells only those who asked.
    pub(crate) fn listen(&self) -> impl Future<Output = ()> + Send + 'static {
        let info = self.peer().peer_info();
        let tells = |info: &rmcp::model::ServerPeerInfo| {
            info.protocol_version == ProtocolVersion::V_2026_07_28
                && info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true))
        };
        let tells = info.is_some_and(|info| tells(&info));
        let (peer, changed) = (self.peer().clone(), Arc::clone(&self.changed));
        async move {
            if !tells {
                return;
            }
            let wanted = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that does not take it is looked at when it is started next.
            let Ok(mut subscription) = peer.listen(wanted).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        }
    }

    /// All that the server shows, or why it cannot be had.
    pub(crate) async fn face(&self) -> Result<Face, String> {
        let tools = match self.tools().await {
            Ok(tools) => tools,
            Err(error) => {
                let info = self.peer().peer_info();
                let has_tools = info.is_none_or(|info| info.capabilities.tools.is_some());
                if has_tools {
                    return Err(error);
                }
                Vec::new()
            }
        };
        let title = self.facts.title.clone().or_else(|| self.facts.name.clone());
        Ok(Face { title: title.map(|title| one_line(&title)), summary: summary(&self.facts), tools })
    }

    async fn tools(&self) -> Result<Vec<SeenTool>, String> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let (page, next) = match self.peer().list_tools(Some(params.clone())).await {
                Ok(page) => (page.tools.into_iter().map(seen).collect(), page.next_cursor),
                // One tool that is none would take all others with it.
                Err(ServiceError::UnexpectedResponse) => self.odd_page(params).await?,
                Err(error) => return Err(request_error(&error)),
            };
            tools.extend(page);
            if tools.len() > MOST_TOOLS {
                return Err(format!("it has more than {MOST_TOOLS} tools"));
            }
            match next {
                None => return Ok(tools),
                next => cursor = next,
            }
        }
        Err(format!("its list of tools has more than {MOST_PAGES} pages"))
    }

    /// A page of tools, each read by itself.
    async fn odd_page(
        &self,
        params: PaginatedRequestParams,
    ) -> Result<(Vec<SeenTool>, Option<String>), String> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let answer = self.peer().send_request(request).await.map_err(|error| request_error(&error))?;
        let ServerResult::CustomResult(CustomResult(page)) = answer else {
            return Err("it answered with something that is no list of tools".into());
        };
        let Some(tools) = page["tools"].as_array() else { return Err("its list has no tools".into()) };
        Ok((tools.iter().map(odd).collect(), page["nextCursor"].as_str().map(str::to_owned)))
    }

    /// Why a connection that was alive is not.
    pub(crate) async fn obituary(&self) -> String {
        match &self.process {
            Some(process) if process.log.is_overlong() => {
                format!("it sent a message of more than {} MiB", MESSAGE_LIMIT >> 20)
            }
            Some(process) => process.end().await.unwrap_or_else(|| "it closed its standard output".into()),
            None => "the connection was closed".into(),
        }
    }
}

fn handler() -> (Handler, Calls, Arc<Notify>) {
    let (calls, changed) = (Calls::default(), Arc::new(Notify::new()));
    (Handler { calls: calls.clone(), changed: Arc::clone(&changed) }, calls, changed)
}

/// The time to start is the server's. A person who signs in takes the time that it takes.
pub(crate) async fn within<T>(
    limit: Duration,
    people: &People,
    opening: impl Future<Output = T>,
) -> Result<T, StartError> {
    tokio::pin!(opening);
    loop {
        match tokio::time::timeout(limit, &mut opening).await {
            Ok(opened) => return Ok(opened),
            Err(_) if people.are_busy() => {}
            Err(_) => {
                return Err(StartError::new(format!("it did not answer within {} s", limit.as_secs())));
            }
        }
    }
}

fn lifecycle(revision: Revision, last: Option<&str>) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match (revision, last) {
        (Revision::Stateless, _) => ClientLifecycleMode::Discover { preferred_versions },
        (Revision::Handshake, _) => ClientLifecycleMode::Initialize,
        // It did not know better; the question would cost it a moment, or ten seconds if it does not answer at all.
        (Revision::Newest, Some(last)) if last != ProtocolVersion::V_2026_07_28.as_str() => {
            ClientLifecycleMode::Initialize
        }
        (Revision::Newest, _) => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

async fn link(
    spec: &Spec,
    url: &Url,
    headers: &[(String, String)],
    sign_in: &SignIn,
    services: &Services,
    people: &People,
) -> Result<Link, String> {
    // Who configures how to be known has decided.
    let has_own = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()));
    let authorizer = match has_own {
        true => None,
        false => Some(Arc::new(Authorizer::new(&spec.name, url, sign_in, services, people.clone()).await?)),
    };
    Link::new(authorizer).map_err(|error| error.to_string())
}

fn looked_up(values: &[(String, String)], services: &Services) -> Result<Vec<(String, String)>, String> {
    let look_up = |(name, text): &(String, String)| {
        let value = expand(text, &*services.variables)?;
        Ok((name.clone(), value.expose().to_owned()))
    };
    values.iter().map(look_up).collect()
}

fn header_map(
    headers: &[(String, String)],
    services: &Services,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let parse = |(name, value): (String, String)| {
        let shown = visible(&name);
        let parsed =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("'{shown}' is no header's name"))?;
        let mut value =
            HeaderValue::from_str(&value).map_err(|_| format!("the header {shown} has no usable value"))?;
        value.set_sensitive(true);
        Ok((parsed, value))
    };
    looked_up(headers, services)?.into_iter().map(parse).collect()
}

fn facts(peer: &Peer<RoleClient>) -> Facts {
    let Some(info) = peer.peer_info() else { return Facts::default() };
    let who = info.server_info.as_ref();
    Facts {
        name: who.map(|who| who.name.clone()),
        title: who.and_then(|who| who.title.clone()),
        version: who.map(|who| who.version.clone()),
        instructions: info.instructions.clone(),
        revision: info.protocol_version.as_str().to_owned(),
    }
}

fn summary(facts: &Facts) -> Option<String> {
    let text = facts.instructions.as_deref()?.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(one_line(text))
}

fn one_line(text: &str) -> String {
    let line = visible(text.lines().next().unwrap_or_default());
    match line.char_indices().nth(SUMMARY_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn seen(tool: Tool) -> SeenTool {
    SeenTool {
        name: tool.name.into_owned(),
        title: tool.title,
        description: tool.description.map(std::borrow::Cow::into_owned),
        input_schema: Value::Object((*tool.input_schema).clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
        annotations: tool.annotations.and_then(|hints| serde_json::to_value(hints).ok()),
    }
}

/// A tool that may be none. What it lacks is seen where tools are made, and said there.
fn odd(tool: &Value) -> SeenTool {
    if let Ok(tool) = Tool::deserialize(tool) {
        return seen(tool);
    }
    let text = |name: &str| tool[name].as_str().map(str::to_owned);
    let schema = |name: &str| tool.get(name).filter(|schema| schema.is_object()).cloned();
    SeenTool {
        name: text("name").unwrap_or_default(),
        title: text("title"),
        description: text("description"),
        // As it stands: a schema that is none is the reason why the tool is left out.
        input_schema: tool["inputSchema"].clone(),
        output_schema: schema("outputSchema"),
        annotations: schema("annotations"),
    }
}

async fn not_greeted(error: &ClientInitializeError, process: &Process) -> StartError {
    let end = process.end().await;
    process.settle().await;
    let log = process.log.shown();
    match end {
        Some(end) => StartError { message: format!("{end} before it answered"), log, hopeful: true },
        None if process.log.is_overlong() => StartError {
            message: format!("it sent a message of more than {} MiB", MESSAGE_LIMIT >> 20),
            log,
            hopeful: false,
        },
        None => StartError { message: greeting_error(error), log, hopeful: refuses(error) },
    }
}

/// Whether the server answered one way of greeting, and said no. After both there is no third.
fn refuses(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::JsonRpcError(_) => true,
        ClientInitializeError::TransportError { error, .. } => {
            let links =
                std::iter::successors(Some(&*error.error as &(dyn std::error::Error + 'static)), |error| {
                    error.source()
                });
            links.filter_map(|error| error.downcast_ref::<StreamableHttpError<LinkError>>()).any(|error| {
                matches!(
                    error,
                    StreamableHttpError::HttpStatus(_) | StreamableHttpError::UnexpectedServerResponse(_)
                )
            })
        }
        _ => false,
    }
}

fn greeting_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => greeting_error(fallback),
        ClientInitializeError::TransportError { error, .. } => link_error(&*error.error),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it answered the greeting with an error: {}", visible(&error.message))
        }
        other => visible(&other.to_string()),
    }
}

pub(crate) fn request_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => visible(&error.message),
        ServiceError::TransportSend(error) => link_error(&*error.error),
        other => visible(&other.to_string()),
    }
}

/// The words of the link itself, if it is at the bottom of it.
fn link_error(error: &(dyn std::error::Error + 'static)) -> String {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(StreamableHttpError::Client(known)) =
            error.downcast_ref::<StreamableHttpError<LinkError>>()
        {
            return visible(&known.to_string());
        }
        current = error.source();
    }
    visible(&error.to_string())
}
