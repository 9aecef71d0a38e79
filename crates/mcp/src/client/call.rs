//! One call on a connection: sent, its progress and questions passed on, and the server told when nobody waits any more.

use std::time::Duration;

use pinza_core::{
    Arguments, BoxFuture, CallContext, Capability, ErrorKind, Permission, Permits as _, ToolError, ToolResult,
};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ErrorCode,
        InputRequest, InputRequiredResult, InputResponses, ProgressToken, RequestId, ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use tokio::sync::mpsc;

use super::{
    connection::{Connection, request_error},
    content,
    handler::{EVENTS, Event},
    question::{Question, declined},
    spec::UpstreamName,
};

/// What a person is asked on a server's behalf. By default asked, so that rules can say otherwise.
const ELICITATION: &str = "elicitation";

const NO_RESULT: &str = "answered with something that is no result of a call";

/// How often a server may ask for more before it answers.
const MOST_ROUNDS: usize = 10;

/// Between rounds in which the server only wants to be asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// One tool of one server, called once.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a UpstreamName,
    pub(crate) tool: &'a str,
    pub(crate) connection: &'a Connection,
    pub(crate) context: &'a CallContext<'a>,
}

impl Call<'_> {
    pub(crate) async fn run(&self, arguments: &Arguments) -> ToolResult {
        let mut params = CallToolRequestParams::new(self.tool.to_owned()).with_arguments(arguments.clone());
        for _ in 0..MOST_ROUNDS {
            match self.send(&params).await? {
                ServerResult::CallToolResult(result) => return content::outcome(result),
                ServerResult::CustomResult(result) => {
                    let mended = content::mended(result.0).map(content::outcome);
                    return mended.unwrap_or_else(|| Err(self.failed(NO_RESULT)));
                }
                ServerResult::InputRequiredResult(wanted) => {
                    (params.input_responses, params.request_state) = Box::pin(self.inputs(wanted)).await?;
                }
                ServerResult::CreateTaskResult(_) => {
                    return Err(self.failed("answered with a task, which Pinza did not ask for"));
                }
                _ => return Err(self.failed(NO_RESULT)),
            }
        }
        Err(self.failed(&format!("wanted more input after {MOST_ROUNDS} rounds")))
    }

    /// The rarer ways through a call are boxed: its future is as large as the largest of them.
    async fn send(&self, params: &CallToolRequestParams) -> Result<ServerResult, ToolError> {
        let watch = self.connection.vigil.begin();
        let (id, token, answer) = match self.connection.wire.as_ref().and_then(|wire| wire.call(params)) {
            Some(Ok(mut sent)) => {
                let id = sent.id();
                let answer: BoxFuture<'_, _> = Box::pin(async move { sent.answer().await });
                (id.clone(), ProgressToken(id), answer)
            }
            Some(Err(error)) => return Err(self.lost(error).await),
            None => match Box::pin(self.send_by_peer(params.clone())).await {
                Ok(handle) => {
                    let (id, token) = (handle.id.clone(), handle.progress_token.clone());
                    let answer: BoxFuture<'_, _> = Box::pin(handle.await_response());
                    (id, token, answer)
                }
                Err(error) => return Err(self.lost(error).await),
            },
        };
        let (events, mut inbox) = mpsc::channel(EVENTS);
        let _seat = self.connection.calls.enter(token, id.clone(), events);
        let mut abandoned = Abandoned { peer: self.connection.peer().clone(), id: Some(id) };
        tokio::pin!(answer);
        loop {
            tokio::select! {
                biased;
                Some(event) = inbox.recv() => Box::pin(self.attend(event)).await,
                answered = &mut answer => {
                    abandoned.id = None;
                    return match answered {
                        Ok(result) => Ok(result),
                        Err(error) => Err(self.lost(error).await),
                    };
                }
                () = watch.pass(), if watch.is_kept() => {}
            }
        }
    }

    async fn send_by_peer(
        &self,
        params: CallToolRequestParams,
    ) -> Result<RequestHandle<RoleClient>, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.connection.peer().send_request_with_option(request, PeerRequestOptions::no_options()).await
    }

    async fn attend(&self, event: Event) {
        match event {
            Event::Progress(step) => self.context.step(&step),
            Event::Ask(question, reply) => {
                let _ = reply.send(self.ask(&question).await);
            }
        }
    }

    /// Puts a question to whoever approves for this call. Nobody there is a no.
    async fn ask(&self, question: &Question) -> bool {
        let permission = Permission::new(Capability::known(ELICITATION))
            .about("message", &question.message)
            .detail(question.shown(self.server.as_str()));
        self.context.permit(permission).await.is_ok()
    }

    /// Answers to what a server wants to know before it goes on (2026-07-28).
    async fn inputs(
        &self,
        wanted: InputRequiredResult,
    ) -> Result<(Option<InputResponses>, Option<String>), ToolError> {
        let requests = wanted.input_requests.unwrap_or_default();
        if requests.is_empty() && wanted.request_state.is_none() {
            return Err(self.failed("wants input without saying which"));
        }
        if requests.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let answer = match request {
                InputRequest::Elicitation(request) => match Question::of(&request.params) {
                    Some(question) => {
                        let is_yes = self.ask(&question).await;
                        question.answer(is_yes)
                    }
                    None => declined(),
                },
                InputRequest::CreateMessage(_) => {
                    return Err(self.failed("wants to use a model (sampling), which Pinza does not lend"));
                }
                _ => return Err(self.failed("wants input of a kind that Pinza does not give")),
            };
            let answer =
                serde_json::to_value(answer).map_err(|error| ToolError::execution(error.to_string()))?;
            responses.insert(key, answer);
        }
        Ok(((!responses.is_empty()).then_some(responses), wanted.request_state))
    }

    fn failed(&self, what: &str) -> ToolError {
        ToolError::execution(format!("The server {} {what}", self.server))
    }

    /// An answer that is an error, or none at all.
    async fn lost(&self, error: ServiceError) -> ToolError {
        let server = self.server;
        match &error {
            ServiceError::McpError(refusal) => {
                let kind = match refusal.code {
                    ErrorCode::INVALID_PARAMS => ErrorKind::ValidationError,
                    _ => ErrorKind::ExecutionError,
                };
                ToolError::new(kind, format!("{server}: {}", request_error(&error)))
            }
            ServiceError::TransportSend(_) => {
                ToolError::network(format!("{server}: {}", request_error(&error)))
            }
            ServiceError::TransportClosed => {
                let end = self.connection.obituary().await;
                let kind = match end.contains("MiB") {
                    true => ErrorKind::OutputLimit,
                    false => ErrorKind::ExecutionError,
                };
                ToolError::new(kind, format!("The server {server} was lost during the call: {end}")).hint(
                    "Whether the call was carried out is not known. The server is started again with the next call.",
                )
            }
            ServiceError::Cancelled { .. } => self.failed("cancelled the call"),
            _ => ToolError::execution(format!("{server}: {}", request_error(&error))),
        }
    }
}

/// A request whose caller may go away.
struct Abandoned {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        // Whoever drops a call does not wait; the server learns of it as soon as it can.
        runtime.spawn(async move {
            let reason = Some("nobody waits for the answer any more".to_owned());
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}
