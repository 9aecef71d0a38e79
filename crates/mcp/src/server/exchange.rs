//! One request from its beginning to its answer, with all that happens between: progress, log
//! messages, questions to the client, cancellation.
//!
//! In revision 2026-07-28 a server asks by ending the request with its questions, and the client
//! sends the request again with the answers. The work is not done again then: it is parked, runs
//! on where it asked, and the repeated request takes over its end. So nothing happens twice,
//! whatever the work did before it asked.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use pinza_core::{BoxFuture, CancellationToken, visible};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResult, ClientCapabilities, GetPromptResult, Implementation, InputRequest, InputRequests,
        InputRequiredResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
        ProtocolVersion,
    },
    service::{Peer, RequestContext},
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    answer,
    client::{Abilities, Acceptance, Ask, AskError, Client, LogLevel, Need, Question, Signal},
    connection::Connection,
    parked::{Parked, Work},
};

/// How long a question waits for its answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// How long the name of a client may be.
const NAME_LIMIT: usize = 100;

/// The answer to a request that may ask for input.
#[derive(Debug)]
pub(super) enum Reply {
    Tool(CallToolResult),
    Prompt(GetPromptResult),
    Inputs(InputRequiredResult),
}

pub(super) type Answer = Result<Reply, ErrorData>;

/// What a client sends along when it repeats a request.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    pub(super) inputs: BTreeMap<String, Value>,
    pub(super) state: Option<String>,
}

/// Work for a request, under way.
pub(super) struct Running {
    pub(super) work: BoxFuture<'static, Answer>,
    pub(super) client: Client,
    signals: mpsc::Receiver<Signal>,
    /// One that was taken, and not tended to.
    untended: Option<Signal>,
    pub(super) cancellation: CancellationToken,
    /// Questions that the client has been sent and has not answered.
    pub(super) asked: Vec<Ask>,
    /// Answers that came before anybody asked.
    pub(super) inputs: BTreeMap<String, Value>,
}

impl Running {
    pub(super) fn begin(
        who: Who,
        inputs: BTreeMap<String, Value>,
        begin: impl FnOnce(Client, CancellationToken) -> BoxFuture<'static, Answer>,
    ) -> Self {
        let (client, signals) = Client::new(who.name, who.can);
        let cancellation = CancellationToken::new();
        let work = begin(client.clone(), cancellation.clone());
        Self { work, client, signals, untended: None, cancellation, asked: Vec::new(), inputs }
    }

    /// Its answer, if it is there within a moment and nothing comes before it. If not, it runs on where it is tended to.
    pub(super) async fn answer_within(&mut self, moment: Duration) -> Option<Answer> {
        let answered = async {
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => {
                    self.untended = Some(signal);
                    None
                }
                answer = &mut self.work => Some(answer),
            }
        };
        let answer = tokio::time::timeout(moment, answered).await.ok()??;
        // What it said last comes before its end.
        self.untended = self.signals.try_recv().ok();
        if self.untended.is_some() {
            self.work = Box::pin(std::future::ready(answer));
            return None;
        }
        Some(self.settled(answer))
    }

    /// The answer as its client is told.
    fn settled(&self, answer: Answer) -> Answer {
        match self.client.missing() {
            Some(need) => Err(ErrorData::missing_required_client_capability(capability(need))),
            None => answer,
        }
    }
}

/// Who sends a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Who {
    pub(super) name: String,
    pub(super) can: Abilities,
}

impl Who {
    pub(super) fn new(info: Option<&Implementation>, can: Option<&ClientCapabilities>) -> Self {
        Self {
            name: info.map(|info| client_name(&info.name)).unwrap_or_default(),
            can: can.map(abilities).unwrap_or_default(),
        }
    }

    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self::new(context.client_info().as_ref(), context.client_capabilities().as_ref())
    }
}

/// The way to the client while its request runs.
pub(super) struct Way<'a> {
    pub(super) peer: &'a Peer<RoleServer>,
    /// The request's own.
    pub(super) cancellation: &'a CancellationToken,
    /// What its progress goes by, if it wants to hear of it.
    pub(super) progress: Option<ProgressToken>,
    /// From which level on the request wants log messages, where that goes with each request.
    pub(super) log_level: Option<LogLevel>,
}

impl<'a> Way<'a> {
    pub(super) fn of(context: &'a RequestContext<RoleServer>) -> Self {
        Self {
            peer: &context.peer,
            cancellation: &context.ct,
            progress: context.meta.get_progress_token(),
            log_level: context.meta.log_level().map(answer::from_log_level),
        }
    }
}

/// Whether this request follows the revision without sessions.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

pub(super) struct Exchange<'a> {
    pub(super) who: Who,
    /// `None` where the client wants to hear nothing before the answer.
    pub(super) way: Option<Way<'a>>,
    /// Whether the request follows the revision without sessions.
    pub(super) is_stateless: bool,
    pub(super) connection: &'a Connection,
    pub(super) parked: &'a Parked,
    /// What the request wants, in full: answers count only for the same again.
    pub(super) wanted: Value,
}

impl<'a> Exchange<'a> {
    /// Begins the work, or takes over the parked work of the request that this one repeats, and
    /// stays with it until it is done or needs something.
    ///
    /// Boxed, as are the rarer ways through it: whatever holds it is moved a dozen times on its way into a task and out.
    pub(super) fn run(
        mut self,
        repeated: Repeated,
        begin: impl FnOnce(Client, CancellationToken) -> BoxFuture<'static, Answer> + Send + 'a,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            // It may have waited until everything was loaded.
            if self.way.as_ref().is_some_and(|way| way.cancellation.is_cancelled()) {
                return Err(ErrorData::internal_error("cancelled", None));
            }
            let running = match &repeated.state {
                Some(state) => self.take_over(state, repeated.inputs)?,
                None => Running::begin(std::mem::take(&mut self.who), repeated.inputs, begin),
            };
            if !running.asked.is_empty() {
                return self.park(running);
            }
            self.tend(running).await
        })
    }

    fn take_over(&self, state: &str, inputs: BTreeMap<String, Value>) -> Result<Running, ErrorData> {
        let Some(work) = self.parked.take(state, &self.wanted) else {
            let message =
                "requestState is unknown, of another request, or too old; send the request without it";
            return Err(ErrorData::invalid_params(message, None));
        };
        let mut running = work.running;
        let mut unanswered = Vec::new();
        for ask in std::mem::take(&mut running.asked) {
            match answers_to(&ask, &inputs) {
                // If the asker is gone, so is the reason to ask.
                Some(answers) => drop(ask.reply.send(Ok(answers))),
                None => unanswered.push(ask),
            }
        }
        running.asked = unanswered;
        Ok(running)
    }

    pub(super) async fn tend(&self, mut running: Running) -> Answer {
        // The running work's cancellation follows the request's, as long as it is tended to.
        let mut cancelled = false;
        let mut asking = FuturesUnordered::<BoxFuture<'_, ()>>::new();
        loop {
            tokio::select! {
                // Signals first: what the work said last comes before its end.
                biased;
                Some(signal) = next(&mut running.untended, &mut running.signals) => match signal {
                    Signal::Ask(ask) if !self.is_stateless => asking.push(Box::pin(self.request(ask))),
                    Signal::Ask(ask) => {
                        if let Some(ask) = answer_at_once(ask, &running.inputs) {
                            running.asked.push(ask);
                            return self.park(running);
                        }
                    }
                    note => Box::pin(self.tell(note)).await,
                },
                Some(()) = asking.next(), if !asking.is_empty() => {}
                answer = &mut running.work => {
                    while let Ok(note) = running.signals.try_recv() {
                        Box::pin(self.tell(note)).await;
                    }
                    return running.settled(answer);
                }
                () = self.cancelled(), if !cancelled => {
                    cancelled = true;
                    running.cancellation.cancel();
                }
            }
        }
    }

    async fn cancelled(&self) {
        match &self.way {
            Some(way) => way.cancellation.cancelled().await,
            // Dropped, and its work with it.
            None => std::future::pending().await,
        }
    }

    /// Ends the request with the questions; the work waits for their answers.
    fn park(&self, running: Running) -> Answer {
        let questions = running.asked.iter().flat_map(|ask| &ask.questions);
        let requests: Result<InputRequests, String> =
            questions.map(|(key, question)| Ok((key.clone(), input_request(question)?))).collect();
        let requests = requests.map_err(|reason| ErrorData::internal_error(reason, None))?;
        let state = self.parked.put(Work { running, wanted: self.wanted.clone() })?;
        Ok(Reply::Inputs(InputRequiredResult::new(Some(requests), Some(state))))
    }

    /// Puts the questions as requests of their own. Dropped with the work that asked.
    async fn request(&self, mut ask: Ask) {
        let answers = async {
            let mut answers = BTreeMap::new();
            for (key, question) in &ask.questions {
                answers.insert(key.clone(), self.request_one(question).await?);
            }
            Ok(answers)
        };
        let answers = tokio::select! {
            () = ask.reply.closed() => return,
            answers = tokio::time::timeout(PATIENCE, answers) => answers.unwrap_or(Err(AskError::Gone)),
        };
        // If the asker is gone, so is the reason to ask.
        drop(ask.reply.send(answers));
    }

    async fn request_one(&self, question: &Question) -> Result<Value, AskError> {
        let peer = self.way.as_ref().ok_or(AskError::Gone)?.peer;
        let answer = match input_request(question).map_err(AskError::Refused)? {
            InputRequest::Elicitation(request) => {
                peer.create_elicitation(request.params).await.map(serde_json::to_value)
            }
            InputRequest::CreateMessage(request) => {
                peer.create_message(request.params).await.map(serde_json::to_value)
            }
            InputRequest::ListRoots(_) => peer.list_roots().await.map(serde_json::to_value),
            other => return Err(AskError::Refused(format!("{other:?}"))),
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(AskError::Refused(error.to_string())),
            Err(error) => Err(AskError::Refused(error.to_string())),
        }
    }

    /// Sends a note, if the client wants such. One that is gone misses nothing, nor does one that gave up; at the end
    /// nobody takes notes any more.
    async fn tell(&self, note: Signal) {
        let Some(way) = &self.way else { return };
        match note {
            Signal::Progress { progress, total, message } => {
                let Some(token) = &way.progress else { return };
                let mut param = ProgressNotificationParam::new(token.clone(), progress);
                param.total = total;
                param.message = message;
                let _ = way.cancellation.run_until_cancelled(way.peer.notify_progress(param)).await;
            }
            Signal::Log { level, data } => {
                if self.log_level(way).is_some_and(|wanted| level >= wanted) {
                    let param = LoggingMessageNotificationParam::new(answer::log_level(level), data);
                    let telling = way.peer.notify_logging_message(param);
                    let _ = way.cancellation.run_until_cancelled(telling).await;
                }
            }
            // The work ended without waiting for the answer.
            Signal::Ask(_) => {}
        }
    }

    /// From which level on log messages are wanted; `None` for not at all.
    fn log_level(&self, way: &Way<'_>) -> Option<LogLevel> {
        if self.is_stateless { way.log_level } else { Some(self.connection.log_level()) }
    }
}

async fn next(untended: &mut Option<Signal>, signals: &mut mpsc::Receiver<Signal>) -> Option<Signal> {
    match untended.take() {
        Some(signal) => Some(signal),
        None => signals.recv().await,
    }
}

/// Of what a client calls itself, what fits into a line.
fn client_name(name: &str) -> String {
    visible(&name[..name.floor_char_boundary(NAME_LIMIT)])
}

fn abilities(can: &ClientCapabilities) -> Abilities {
    // Forms were there before there were modes: who names no mode means forms.
    let forms = can.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    Abilities { forms, sampling: can.sampling.is_some(), roots: can.roots.is_some() }
}

fn capability(need: Need) -> ClientCapabilities {
    let mut needed = ClientCapabilities::default();
    match need {
        Need::Form => needed.elicitation = Some(rmcp::model::ElicitationCapability::default()),
        Need::Sampling => needed.sampling = Some(rmcp::model::SamplingCapability::default()),
        Need::Roots => needed.roots = Some(rmcp::model::RootsCapabilities::default()),
    }
    needed
}

/// Answers from what came with the request, or gives the question back.
fn answer_at_once(ask: Ask, inputs: &BTreeMap<String, Value>) -> Option<Ask> {
    if ask.acceptance == Acceptance::Asked {
        return Some(ask);
    }
    match answers_to(&ask, inputs) {
        Some(answers) => {
            drop(ask.reply.send(Ok(answers)));
            None
        }
        None => Some(ask),
    }
}

/// All answers, if all are there and are answers.
fn answers_to(ask: &Ask, inputs: &BTreeMap<String, Value>) -> Option<BTreeMap<String, Value>> {
    let answer = |(key, question): (&String, &Question)| {
        let answer = inputs.get(key).filter(|answer| question.is_answered_by(answer))?;
        Some((key.clone(), answer.clone()))
    };
    ask.questions.iter().map(answer).collect()
}

fn input_request(question: &Question) -> Result<InputRequest, String> {
    use rmcp::model::{CreateMessageRequest, ElicitRequest, ElicitRequestParams, ListRootsRequest};
    let wrong = |error: serde_json::Error| error.to_string();
    Ok(match question {
        Question::Form { message, schema } => {
            let requested_schema = serde_json::from_value(schema.clone()).map_err(wrong)?;
            let message = message.clone();
            let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
            InputRequest::Elicitation(ElicitRequest::new(params))
        }
        Question::Sampling { params } => {
            let params = serde_json::from_value(params.clone()).map_err(wrong)?;
            InputRequest::CreateMessage(CreateMessageRequest::new(params))
        }
        Question::Roots => InputRequest::ListRoots(ListRootsRequest::default()),
    })
}
