//! The protocol's requests, each in a few lines: what is listed comes from the listing, what is
//! called goes to the engine, what takes several rounds goes through an exchange.

use std::sync::Arc;

use pinza_core::{
    BoxFuture, CallScope, Caller, CancellationToken, Content, ErrorKind, PromptDesk, TextLimit, ToolCall,
    ToolOutput, ToolResult,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptsCapability, ReadResourceRequestParams, ReadResourceResponse, Reference, ResourcesCapability,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        Tool, ToolsCapability, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};

use super::{
    Exposure, Shared,
    answer::{self, Promised},
    client::{Client, Need},
    connection::{Connection, Transport},
    exchange::{Answer, Exchange, Repeated, Reply, is_stateless},
    listing::{Listing, promises_object},
    source::{ResourceSource, SourceError},
};

type Context = RequestContext<RoleServer>;

/// Serves one client.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
}

impl Handler {
    pub(super) fn new(shared: Arc<Shared>, connection: Arc<Connection>) -> Self {
        Self { shared, connection }
    }

    /// What is shown for this request. Without a session nothing can be loaded for later.
    fn listing(&self, context: &Context) -> Arc<Listing> {
        let stateless = self.connection.transport == Transport::Http && is_stateless(context);
        match self.shared.served.exposure {
            Exposure::Dynamic if stateless => self.shared.listing(Exposure::Groups, &[]),
            Exposure::Dynamic => self.shared.listing(Exposure::Dynamic, &self.connection.loaded()),
            exposure => self.shared.listing(exposure, &[]),
        }
    }

    fn exchange<'a>(&'a self, context: &'a Context, wanted: Value) -> Exchange<'a> {
        Exchange { context, connection: &self.connection, parked: &self.shared.parked, wanted }
    }

    /// Reads from the first source that has it.
    async fn read(&self, uri: &str) -> Result<super::ResourceBody, ErrorData> {
        for source in &self.shared.served.resources {
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
        let served = &self.shared.served;
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
        let instructions = self.shared.listing(exposure, &[]).instructions.clone();
        config.instructions = (!instructions.is_empty()).then_some(instructions);
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        Ok(ListToolsResult::with_all_items(self.listing(&context).tools.clone()))
    }

    /// For the check of headers that repeat arguments.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.listing(self.shared.served.exposure, &[]).get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let repeated =
            Repeated { inputs: request.input_responses.unwrap_or_default(), state: request.request_state };
        // Kept only where the request could come to be repeated.
        let wanted = if is_stateless(&context) {
            json!({ "tool": request.name, "arguments": arguments })
        } else {
            Value::Null
        };
        let call = Call {
            shared: Arc::clone(&self.shared),
            connection: Arc::clone(&self.connection),
            listing: self.listing(&context),
            call: ToolCall { id: self.shared.next_call(), name: request.name.into_owned(), arguments },
            tells_progress: context.meta.get_progress_token().is_some(),
        };
        let begin = |client: Client, cancellation: CancellationToken| -> BoxFuture<'static, Answer> {
            Box::pin(client.clone().serve(call.run(client, cancellation)))
        };
        let reply = self.exchange(&context, wanted).run(repeated, begin).await?;
        if self.connection.take_grown() {
            // If the client is gone, so is the reason to tell it.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        match reply {
            Reply::Tool(result) => Ok(result.into()),
            Reply::Inputs(inputs) => Ok(inputs.into()),
            other => Err(unexpected(&other)),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request)?;
        let prompts = self.shared.served.prompts.iter().flat_map(|source| source.list());
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
        let shared = Arc::clone(&self.shared);
        let begin = |client: Client, cancellation: CancellationToken| -> BoxFuture<'static, Answer> {
            Box::pin(async move {
                for source in &shared.served.prompts {
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
        match self.exchange(&context, wanted).run(repeated, begin).await? {
            Reply::Prompt(result) => Ok(result.into()),
            Reply::Inputs(inputs) => Ok(inputs.into()),
            other => Err(unexpected(&other)),
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
                self.shared.served.prompts.iter().find_map(complete)
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
        for source in &self.shared.served.resources {
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
        let templates = self.shared.served.resources.iter().flat_map(|source| source.templates());
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

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // What is served as a resource is not watched.
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut heard = self.shared.served.changes.listen();
        loop {
            let changed = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                changed = heard.next() => changed,
            };
            let Some(changed) = changed else { return Ok(()) };
            let (sink, wanted) = (subscription.sink(), subscription.accepted());
            let mut sent = Ok(());
            if changed.tools && wanted.tools_list_changed == Some(true) {
                sent = sent.and(sink.notify_tool_list_changed().await);
            }
            if changed.prompts && wanted.prompts_list_changed == Some(true) {
                sent = sent.and(sink.notify_prompt_list_changed().await);
            }
            if changed.resources && wanted.resources_list_changed == Some(true) {
                sent = sent.and(sink.notify_resource_list_changed().await);
            }
            if sent.is_err() {
                return Ok(());
            }
        }
    }

    /// A client with a session hears of changes without having asked.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut heard = self.shared.served.changes.listen();
        let has_prompts = !self.shared.served.prompts.is_empty();
        let has_resources = !self.shared.served.resources.is_empty();
        let peer = context.peer;
        self.connection.keep_listening(tokio::spawn(async move {
            while let Some(changed) = heard.next().await {
                let mut sent = Ok(());
                if changed.tools {
                    sent = sent.and(peer.notify_tool_list_changed().await);
                }
                if changed.prompts && has_prompts {
                    sent = sent.and(peer.notify_prompt_list_changed().await);
                }
                if changed.resources && has_resources {
                    sent = sent.and(peer.notify_resource_list_changed().await);
                }
                if sent.is_err() {
                    return;
                }
            }
        }));
    }
}

/// One call of a tool, with all it needs to run on its own.
struct Call {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    listing: Arc<Listing>,
    call: ToolCall,
    tells_progress: bool,
}

impl Call {
    async fn run(self, client: Client, cancellation: CancellationToken) -> Answer {
        let Self { shared, connection, listing, call, tells_progress } = self;
        let served = &shared.served;
        let view = &listing.view;
        let has_approver = served.desk.is_some() || client.can(Need::Form);
        let desk = if has_approver { Arc::clone(&connection.desk) } else { Arc::new(PromptDesk::closed()) };
        let scope = CallScope {
            caller: Caller::Mcp { client: client.name().to_owned() },
            snapshot: Arc::clone(&view.snapshot),
            visibility: listing.visibility.clone(),
            toolset: Arc::clone(&served.toolset),
            loading: view.loading,
            desk,
            ceiling: None,
            cancellation,
            progress: tells_progress.then(|| Arc::new(client.clone()) as _),
            text_limit: TextLimit::MODEL,
            session: None,
        };
        let (id, name) = (call.id.clone(), call.name.clone());
        let promised = promised(&listing, &call);
        let _calling = connection.callers.enter(id.clone(), client);
        let outcome = served.engine.call(call, &scope).await;
        if let Ok(output) = &outcome.result
            && served.exposure == Exposure::Dynamic
        {
            connection.apply(&output.effects, view);
        }
        if is_unknown(&outcome.result) && view.snapshot.get(&name).is_none() {
            let message = outcome.result.err().map(|error| match error.hint {
                Some(hint) => format!("{}. {hint}", error.message),
                None => error.message,
            });
            return Err(ErrorData::invalid_params(message.unwrap_or_default(), None));
        }
        Ok(Reply::Tool(match outcome.result {
            Err(error) => answer::failure(&error),
            Ok(output) => {
                let kept = kept(served, id.as_str(), &output).await;
                let mut result = answer::success(output, promised);
                result.content.extend(kept.map(answer::link));
                result
            }
        }))
    }
}

fn is_unknown(result: &ToolResult) -> bool {
    matches!(result, Err(error) if error.kind == ErrorKind::ToolNotFound)
}

/// Whether the tool that will run promises details: the inner one of a call that forwards.
fn promised(listing: &Listing, call: &ToolCall) -> Promised {
    let snapshot = &listing.view.snapshot;
    let outer = snapshot.get(&call.name);
    let is_forwarded =
        outer.is_some_and(|entry| entry.meta().meta_tool == Some(pinza_core::meta::MetaTool::CallTool));
    let entry = match call.arguments["name"].as_str().filter(|_| is_forwarded) {
        Some(inner) => snapshot.get(inner),
        None => outer,
    };
    let schema = entry.and_then(|entry| entry.definition().output_schema.as_ref());
    if schema.is_some_and(promises_object) { Promised::Details } else { Promised::Nothing }
}

/// Where the whole text is, if it was too long to be sent.
async fn kept(served: &super::Served, call: &str, output: &ToolOutput) -> Option<super::ResourceInfo> {
    // A text that was cut is still most of what a model takes.
    let text = output.content.iter().filter(|block| matches!(block, Content::Text { .. })).map(Content::size);
    if text.sum::<usize>() < TextLimit::MODEL.0 / 4 * 3 {
        return None;
    }
    for source in &served.resources {
        if let Some(info) = ResourceSource::kept_by(source.as_ref(), call).await {
            served.changes.resources();
            return Some(info);
        }
    }
    None
}

/// Lists are whole: there is no page but the first.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("Unknown cursor: lists are not paged here", None)),
    }
}

fn unexpected(reply: &Reply) -> ErrorData {
    ErrorData::internal_error(format!("an answer of another kind: {reply:?}"), None)
}
