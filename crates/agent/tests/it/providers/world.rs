//! A conversation with a scripted model: a small loop over the real client, engine and
//! conversation.

use std::sync::Arc;

use futures_util::StreamExt as _;
use pinza_agent::{
    CallResult, Message, Offer, ProviderClient, ProviderConfig, ProviderError, ProviderKind, Request,
    Retries, Reveal, StopReason, StreamEvent, ToolGroup, Usage,
};
use pinza_core::{
    Arguments, BoxFuture, CallContext, CallScope, Caller, Content, Conversation, Engine, Group, GroupName,
    Loading, Parameter, Parameters, Policy, Registry, Snapshot, Tool, ToolContext, ToolDefinition, ToolMeta,
    ToolName, ToolOutput, ToolResult, meta,
};
use pinza_host::secrets::Secret;
use pinza_testkit::{ModelServer, model};

pub(super) const LOADER: &str = "load_tool_group";
pub(super) const GROUPS: [&str; 5] = ["web", "mail", "git.hub", "calendar", "draw"];
pub(super) const KEY: &str = "sk-test-0123456789";

/// One pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

struct Echo {
    definition: ToolDefinition,
}

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a CallContext<'a>) -> BoxFuture<'a, ToolResult> {
        let mut output = ToolOutput::text(serde_json::to_string(arguments).unwrap());
        if self.definition.name.as_str().ends_with("paint") {
            output.content.push(Content::Image { data: PNG.into(), mime_type: "image/png".into() });
        }
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// Core tools, one of them with a name that no provider takes, and five groups.
pub(super) fn snapshot() -> Arc<Snapshot> {
    let mut registry = Registry::new();
    let mut add = |name: &str, group: Option<&str>| {
        let parameters = Parameters::build()
            .required("value", Parameter::string("What to say"))
            .optional("times", Parameter::integer("How often"))
            .done();
        let name = ToolName::new(name).unwrap();
        let definition =
            ToolDefinition::new(name.clone(), format!("Says it ({name})")).parameters(parameters);
        let meta = ToolMeta::new(name, definition.description.clone());
        let meta = ToolMeta { group: group.map(|group| GroupName::new(group).unwrap()), ..meta };
        registry.register(Arc::new(Echo { definition }), Some(meta)).unwrap();
    };
    for name in ["say", "files__do.it"] {
        add(name, None);
    }
    for group in GROUPS {
        for tool in ["find", "send", "paint"] {
            add(&format!("{group}_{tool}"), Some(group));
        }
    }
    for group in GROUPS {
        let name = GroupName::new(group).unwrap();
        registry.register_group(Group::new(name, group, format!("All about {group}")));
    }
    meta::register(&mut registry).unwrap();
    Arc::new(registry.resolve_all(&ToolContext::default()).into_snapshot(&registry, |_| true))
}

pub(super) fn client(server: &ModelServer, kind: ProviderKind) -> ProviderClient {
    ProviderClient::new(config(server, kind)).unwrap()
}

pub(super) fn config(server: &ModelServer, kind: ProviderKind) -> ProviderConfig {
    let mut config = ProviderConfig::new(kind);
    config.base_url = Some(server.base_url(spoken(kind)));
    config.key = Some(Secret::new(KEY));
    // Fast, so that nobody waits for a test; times are not what is tested.
    let fast = std::time::Duration::from_millis(1);
    config.retries = Retries { times: 3, first: fast, longest: std::time::Duration::from_secs(1) };
    config
}

/// The same provider, in testkit's words.
pub(super) fn spoken(kind: ProviderKind) -> model::Provider {
    match kind {
        ProviderKind::OpenAi => model::Provider::OpenAi,
        ProviderKind::OpenAiResponses => model::Provider::OpenAiResponses,
        ProviderKind::Anthropic => model::Provider::Anthropic,
        ProviderKind::Gemini => model::Provider::Gemini,
    }
}

/// A plain request: one question, no tools.
pub(super) fn question(messages: &[Message]) -> Request<'_> {
    Request {
        model: "model-1",
        system: "Be brief.",
        messages,
        tools: Offer::default(),
        reveal: Reveal::Append,
        max_tokens: None,
        effort: None,
        cache_key: None,
    }
}

/// All events of an answer, or the error that it ended with.
pub(super) async fn listen(
    client: &ProviderClient,
    request: &Request<'_>,
) -> Result<Vec<StreamEvent>, ProviderError> {
    let mut stream = client.stream(request)?;
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        events.push(item?);
    }
    Ok(events)
}

pub(super) struct Session {
    client: ProviderClient,
    reveal: Reveal,
    engine: Arc<Engine>,
    scope: CallScope,
    conversation: Conversation,
    core: usize,
    groups: Vec<ToolGroup>,
    pub(super) messages: Vec<Message>,
    pub(super) usage: Usage,
}

impl Session {
    pub(super) fn new(client: ProviderClient, reveal: Reveal) -> Self {
        let engine = Arc::new(Engine::new(Policy::default()));
        let mut scope = CallScope::new(Caller::Cli, snapshot());
        scope.loading = if reveal == Reveal::Stable { Loading::Describes } else { Loading::Grows };
        let view = scope.view(engine.policy());
        let conversation = Conversation::start(&view);
        let groups = ToolGroup::all(&view);
        let core = conversation.tools().len();
        let (messages, usage) = (Vec::new(), Usage::default());
        Self { client, reveal, engine, scope, conversation, core, groups, messages, usage }
    }

    /// Another model, or another provider, from here on.
    pub(super) fn go_on_with(&mut self, client: ProviderClient) {
        self.client = client;
    }

    /// Says something and lets the model work until it has nothing more to do.
    pub(super) async fn say(&mut self, message: Message) -> Result<StopReason, ProviderError> {
        self.messages.push(message);
        loop {
            let (stop, answer) = self.ask().await?;
            let calls: Vec<_> = answer.calls().map(|call| call.to_tool_call().unwrap()).collect();
            self.messages.push(answer);
            if calls.is_empty() {
                return Ok(stop);
            }
            let names: Vec<String> = calls.iter().map(|call| call.name.clone()).collect();
            let round = self.conversation.round(&self.engine, calls, &self.scope, |_| ()).await;
            // The name of the call: an outcome may be of the tool that it stood for.
            let results = round.outcomes.into_iter().zip(names);
            let results =
                results.map(|(outcome, name)| CallResult { id: outcome.id, name, result: outcome.result });
            self.messages.push(Message::Results { results: results.collect() });
        }
    }

    async fn ask(&mut self) -> Result<(StopReason, Message), ProviderError> {
        let (core, loaded) = self.conversation.tools().split_at(self.core);
        let request = Request {
            model: "model-1",
            system: &format!("Be brief.\n\n{}", self.conversation.listing()),
            messages: &self.messages,
            tools: Offer { core, groups: &self.groups, loaded, loader: Some(LOADER) },
            reveal: self.reveal,
            max_tokens: Some(2048),
            effort: None,
            cache_key: Some("session-1"),
        };
        let events = listen(&self.client, &request).await?;
        let mut answer = None;
        for event in events {
            match event {
                StreamEvent::Usage { usage } => self.usage += usage,
                StreamEvent::Done { stop, message, .. } => answer = Some((stop, message)),
                _ => {}
            }
        }
        Ok(answer.unwrap())
    }
}
