//! One call of a tool, on its way through the engine.

use std::sync::Arc;

use pinza_core::{
    BoxFuture, CallScope, Caller, CancellationToken, Content, ErrorKind, TextLimit, ToolCall, ToolOutput,
    ToolResult, meta::MetaTool,
};
use rmcp::ErrorData;

use super::{
    Exposure, ResourceInfo, Served, Shared,
    answer::{self, Promised},
    approver::Holds,
    client::Client,
    connection::Connection,
    exchange::{Answer, Reply},
    listing::{Listing, promises_object},
};

/// One call of a tool, with all it needs to run on its own.
pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    pub(super) connection: Arc<Connection>,
    pub(super) listing: Arc<Listing>,
    pub(super) call: ToolCall,
    pub(super) tells_progress: bool,
    pub(super) holds: Holds,
    pub(super) session: Option<Arc<str>>,
}

impl Call {
    /// The call as work for an exchange.
    pub(super) fn begin(self) -> impl FnOnce(Client, CancellationToken) -> BoxFuture<'static, Answer> {
        |client, cancellation| Box::pin(client.clone().serve(self.run(client, cancellation)))
    }

    async fn run(self, client: Client, cancellation: CancellationToken) -> Answer {
        let Self { shared, connection, listing, call, tells_progress, holds, session } = self;
        let served = &shared.served;
        let view = &listing.view;
        let scope = CallScope {
            caller: Caller::Mcp { client: client.name().to_owned() },
            snapshot: Arc::clone(&view.snapshot),
            visibility: listing.visibility.clone(),
            toolset: Arc::clone(&served.toolset),
            loading: view.loading,
            desk: connection.desk(served, &client, holds),
            ceiling: None,
            cancellation,
            progress: tells_progress.then(|| Arc::new(client.clone()) as _),
            text_limit: TextLimit::MODEL,
            session,
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
    let is_forwarded = outer.is_some_and(|entry| entry.meta().meta_tool == Some(MetaTool::CallTool));
    let entry = match call.arguments["name"].as_str().filter(|_| is_forwarded) {
        Some(inner) => snapshot.get(inner),
        None => outer,
    };
    let schema = entry.and_then(|entry| entry.definition().output_schema.as_ref());
    if schema.is_some_and(promises_object) { Promised::Details } else { Promised::Nothing }
}

/// Where the whole text is, if it was too long to be sent.
async fn kept(served: &Served, call: &str, output: &ToolOutput) -> Option<ResourceInfo> {
    // A text that was cut is still most of what a model takes.
    let text = output.content.iter().filter(|block| matches!(block, Content::Text { .. })).map(Content::size);
    if text.sum::<usize>() < TextLimit::MODEL.0 / 4 * 3 {
        return None;
    }
    for source in &served.resources {
        if let Some(info) = source.kept_by(call).await {
            served.changes.resources();
            return Some(info);
        }
    }
    None
}
