//! The protocol's requests, each in a few lines: what is listed comes from the listing, what is
//! called goes to the engine, what takes several rounds goes through an exchange.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use pinza_core::{BoxFuture, CancellationToken, ToolCall};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation,
        InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptsCapability, ReadResourceRequestParams, ReadResourceResponse, Reference,
        ResourceUpdatedNotificationParam, ResourcesCapability, ServerCapabilities, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, ToolsCapability,
        UnsubscribeRequestParams,
    },
    service::{
        NotificationContext, Peer, RequestContext, ServiceError, SubscriptionContext, SubscriptionSendError,
    },
};
use serde_json::{Value, json};

use super::{
    Exposure, Shared, answer,
    approver::Holds,
    call::Call,
    changes::Change,
    client::Client,
    connection::{Connection, Known, Transport},
    exchange::{Answer, Exchange, Repeated, Reply, Running, Way, Who, is_stateless},
    front::Late,
    http_session,
    listing::Listing,
    params,
    source::SourceError,
};

type Context = RequestContext<RoleServer>;

/// A call that a client asks for, however its request was read.
pub(super) struct Asked<'a> {
    pub(super) name: String,
    pub(super) arguments: JsonObject,
    pub(super) repeated: Repeated,
    pub(super) who: Who,
    /// `None` where the client wants to hear nothing before the answer.
    pub(super) way: Option<Way<'a>>,
    /// Whether the request follows the revision without sessions.
    pub(super) is_stateless: bool,
}

/// Serves one client.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    late: Arc<Late>,
    connection: Arc<Connection>,
}

impl Handler {
    pub(super) fn new(late: Arc<Late>, connection: Arc<Connection>) -> Self {
        Self { late, connection }
    }

    /// Whose session this is, if it is one on stdio that has called something.
    pub(super) fn known(&self) -> Option<Arc<Known>> {
        self.connection.known.get().cloned()
    }

    /// Makes a call, and stays with it until it is done or needs something.
    pub(super) async fn call(&self, asked: Asked<'_>) -> Answer {
        let Asked { name, arguments, repeated, who, way, is_stateless } = asked;
        let shared = self.late.shared().await;
        let arguments = Value::Object(arguments);
        // Kept only where the request could come to be repeated.
        let wanted = match is_stateless {
            true => json!({ "tool": name, "arguments": arguments }),
            false => Value::Null,
        };
        let tells_progress = way.as_ref().is_some_and(|way| way.progress.is_some());
        let call = Call { tells_progress, ..self.prepare(shared, name, arguments, is_stateless) };
        let told = way.as_ref().map(|way| (way.peer, way.cancellation));
        let (connection, parked) = (&*self.connection, &shared.parked);
        let exchange = Exchange { who, way, is_stateless, connection, parked, wanted };
        let reply = exchange.run(repeated, call.begin()).await?;
        if self.connection.take_grown() {
            self.connection.tell_growth();
            // Without a session only those are told who asked for it.
            if let Some((peer, cancellation)) = told.filter(|_| !is_stateless) {
                // If the client is gone, so is the reason to tell it.
                let telling = Box::pin(peer.notify_tool_list_changed());
                let _ = cancellation.run_until_cancelled(telling).await;
            }
        }
        Ok(reply)
    }

    /// Begins a call of a session that nobody tends to yet.
    pub(super) fn begin(
        &self,
        shared: &Arc<Shared>,
        who: Who,
        name: String,
        arguments: JsonObject,
    ) -> Running {
        let call = self.prepare(shared, name, Value::Object(arguments), false);
        Running::begin(who, BTreeMap::new(), call.begin())
    }

    /// Goes on with a call that was begun outside of the SDK.
    async fn tend(&self, running: Running, context: &Context) -> Answer {
        let exchange = Exchange {
            who: Who::default(),
            way: Some(Way::of(context)),
            is_stateless: false,
            connection: &self.connection,
            parked: &self.late.shared().await.parked,
            wanted: Value::Null,
        };
        exchange.tend(running).await
    }

    fn prepare(&self, shared: &Arc<Shared>, name: String, arguments: Value, is_stateless: bool) -> Call {
        Call {
            shared: Arc::clone(shared),
            connection: Arc::clone(&self.connection),
            listing: self.listing(shared, is_stateless),
            call: ToolCall { id: shared.next_call(), name, arguments },
            tells_progress: false,
            holds: if is_stateless { Holds::Call } else { Holds::Session },
            session: if self.is_alone(is_stateless) { None } else { self.connection.session() },
        }
    }

    /// Whether nothing connects a request with others: it has neither a session nor a pipe of its client's.
    fn is_alone(&self, is_stateless: bool) -> bool {
        self.connection.transport == Transport::Http && is_stateless
    }

    /// What is shown for a request.
    fn listing(&self, shared: &Shared, is_stateless: bool) -> Arc<Listing> {
        match shared.served.exposure {
            Exposure::Dynamic if !self.is_alone(is_stateless) => {
                shared.listing(Exposure::Dynamic, &self.connection.loaded())
            }
            _ => shared.listing_alone(),
        }
    }

    /// Reads from the first source that has it.
    async fn read(&self, uri: &str) -> Result<super::ResourceBody, ErrorData> {
        for source in &self.late.shared().await.served.resources {
            match source.read(uri).await {
                Err(SourceError::NotFound) => {}
                Ok(body) => return Ok(body),
                Err(error) => return Err(answer::source_error(&error)),
            }
        }
        Err(answer::no_such_resource(uri))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.late.info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        if self.connection.known.get().is_some() {
            self.connection.begun_anew.store(true, Ordering::Relaxed);
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        let listing = self.listing(self.late.shared().await, is_stateless(&context));
        Ok(ListToolsResult::with_all_items(listing.tools.clone()))
    }

    /// For the check of headers that repeat arguments.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let shared = self.late.loaded()?;
        shared.listing(shared.served.exposure, &[]).get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(running) = http_session::handed_over(&context) {
            return self.tend(running, &context).await.and_then(response);
        }
        let who = Who::of(&context);
        let is_stateless = is_stateless(&context);
        if !is_stateless && !says_who_it_is(&context) {
            let known = || Arc::new(Known { peer: context.peer.clone(), who: who.clone() });
            self.connection.known.get_or_init(known);
            http_session::introduce(&context, &self.connection);
        }
        let repeated =
            Repeated { inputs: request.input_responses.unwrap_or_default(), state: request.request_state };
        let asked = Asked {
            name: request.name.into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            repeated,
            who,
            way: Some(Way::of(&context)),
            is_stateless,
        };
        self.call(asked).await.and_then(response)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request)?;
        let prompts = self.late.shared().await.served.prompts.iter().flat_map(|source| source.list());
        Ok(ListPromptsResult::with_all_items(prompts.map(answer::prompt).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let GetPromptRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let arguments = arguments.unwrap_or_default();
        let repeated = Repeated { inputs: input_responses.unwrap_or_default(), state: request_state };
        let wanted = json!({ "prompt": name, "arguments": arguments });
        let shared = self.late.shared().await;
        let of = Arc::clone(shared);
        let begin = |client: Client, cancellation: CancellationToken| -> BoxFuture<'static, Answer> {
            Box::pin(async move {
                for source in &of.served.prompts {
                    let got = tokio::select! {
                        () = cancellation.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                        got = source.get(&name, &arguments, &client) => got,
                    };
                    match got {
                        Err(SourceError::NotFound) => {}
                        Ok(text) => return Ok(Reply::Prompt(answer::prompt_text(text))),
                        Err(error) => return Err(answer::source_error(&error)),
                    }
                }
                let message = format!("Unknown prompt: {}", pinza_core::visible(&name));
                Err(ErrorData::invalid_params(message, None))
            })
        };
        let exchange = Exchange {
            who: Who::of(&context),
            way: Some(Way::of(&context)),
            is_stateless: is_stateless(&context),
            connection: &self.connection,
            parked: &shared.parked,
            wanted,
        };
        match exchange.run(repeated, begin).await? {
            Reply::Prompt(result) => Ok(result.into()),
            Reply::Inputs(inputs) => Ok(inputs.into()),
            other => Err(answer::unexpected(&other)),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let values = match &request.r#ref {
            Reference::Prompt(prompt) => {
                let complete = |source: &Arc<dyn super::PromptSource>| {
                    source.complete(&prompt.name, &request.argument.name, &request.argument.value)
                };
                self.late.shared().await.served.prompts.iter().find_map(complete)
            }
            _ => None,
        };
        let completion = CompletionInfo::new(values.unwrap_or_default());
        Ok(CompleteResult::new(completion.map_err(|reason| ErrorData::internal_error(reason, None))?))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        one_page(request)?;
        let mut resources = Vec::new();
        for source in &self.late.shared().await.served.resources {
            resources.extend(source.list().await.into_iter().map(answer::resource));
        }
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request)?;
        let templates =
            self.late.shared().await.served.resources.iter().flat_map(|source| source.templates());
        Ok(ListResourceTemplatesResult::with_all_items(templates.map(answer::template).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let body = self.read(&request.uri).await?;
        Ok(answer::contents(request.uri, body).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _context: Context) -> Result<(), ErrorData> {
        self.read(&request.uri).await?;
        self.connection.subscribe(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.connection.unsubscribe(&request.uri);
        Ok(())
    }

    async fn set_level(&self, request: SetLevelRequestParams, context: Context) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            // There the level goes with each request.
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        self.connection.set_log_level(answer::from_log_level(request.level));
        Ok(())
    }

    /// All that the SDK knows no other place for: also requests of its own whose params are wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        Err(params::refusal(request, is_stateless(&context)))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut heard = self.late.changes.listen();
        let mut growth = self.connection.listen_to_growth();
        if self.late.takes_stale() && tell_subscriber(&subscription, &TOOLS).await.is_err() {
            return Ok(());
        }
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = heard.next() => change,
                grown = growth.changed() => grown.ok().map(|()| TOOLS),
            };
            let Some(change) = change else { return Ok(()) };
            if tell_subscriber(&subscription, &change).await.is_err() {
                return Ok(());
            }
        }
    }

    /// A client with a session hears of changes of lists without having asked.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut heard = self.late.changes.listen();
        // Not the connection itself: it would never end if what it keeps kept it.
        let (late, connection) = (Arc::clone(&self.late), Arc::downgrade(&self.connection));
        self.connection.keep_listening(tokio::spawn(async move {
            if late.takes_stale() && context.peer.notify_tool_list_changed().await.is_err() {
                return;
            }
            while let (Some(change), Some(connection)) = (heard.next().await, connection.upgrade()) {
                if tell_session(&context.peer, late.shared().await, &connection, &change).await.is_err() {
                    return;
                }
            }
        }));
    }
}

/// Who serves, and what it can do.
pub(super) fn info(shared: &Shared) -> ServerConfig {
    let served = &shared.served;
    let mut can = ServerCapabilities::default();
    let mut tools = ToolsCapability::default();
    tools.list_changed = Some(true);
    can.tools = Some(tools);
    can.logging = Some(serde_json::Map::new());
    if !served.prompts.is_empty() {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        can.prompts = Some(prompts);
        can.completions = Some(serde_json::Map::new());
    }
    if !served.resources.is_empty() {
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = served.resources.iter().any(|source| source.changes()).then_some(true);
        can.resources = Some(resources);
    }
    let mut config = ServerConfig::new(can)
        .with_server_info(Implementation::new("pinza", served.version.clone()).with_title("Pinza"));
    let exposure = served.exposure;
    let instructions = shared.listing(exposure, &[]).instructions.clone();
    config.instructions = (!instructions.is_empty()).then_some(instructions);
    config
}

const TOOLS: Change = Change::Lists { tools: true, prompts: false, resources: false };

async fn tell_subscriber(
    subscription: &SubscriptionContext,
    change: &Change,
) -> Result<(), SubscriptionSendError> {
    let (sink, wanted) = (subscription.sink(), subscription.accepted());
    match change {
        Change::Resource(uri) => {
            let uris = wanted.resource_subscriptions.as_deref().unwrap_or_default();
            if uris.iter().any(|wanted| **wanted == **uri) {
                sink.notify_resource_updated(uri.to_string()).await?;
            }
        }
        Change::Lists { tools, prompts, resources } => {
            if *tools && wanted.tools_list_changed == Some(true) {
                sink.notify_tool_list_changed().await?;
            }
            if *prompts && wanted.prompts_list_changed == Some(true) {
                sink.notify_prompt_list_changed().await?;
            }
            if *resources && wanted.resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await?;
            }
        }
    }
    Ok(())
}

async fn tell_session(
    peer: &Peer<RoleServer>,
    shared: &Shared,
    connection: &Connection,
    change: &Change,
) -> Result<(), ServiceError> {
    match change {
        Change::Resource(uri) => {
            if connection.is_subscribed(uri) {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri.to_string())).await?;
            }
        }
        Change::Lists { tools, prompts, resources } => {
            if *tools {
                peer.notify_tool_list_changed().await?;
            }
            if *prompts && !shared.served.prompts.is_empty() {
                peer.notify_prompt_list_changed().await?;
            }
            if *resources && !shared.served.resources.is_empty() {
                peer.notify_resource_list_changed().await?;
            }
        }
    }
    Ok(())
}

fn response(reply: Reply) -> Result<CallToolResponse, ErrorData> {
    match reply {
        Reply::Tool(result) => Ok(result.into()),
        Reply::Inputs(inputs) => Ok(inputs.into()),
        other => Err(answer::unexpected(&other)),
    }
}

/// Whether a request speaks for itself, and not for its session.
fn says_who_it_is(context: &Context) -> bool {
    let meta = &context.meta;
    meta.protocol_version().is_some() || meta.client_info().is_some() || meta.client_capabilities().is_some()
}

/// Lists are whole: there is no page but the first.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("Unknown cursor: lists are not paged here", None)),
    }
}
