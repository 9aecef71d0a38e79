//! `pinza chat`: a talk with a model that has these tools: one message, line by line, or at a terminal.

mod commands;
mod desk;
mod first;
mod images;
mod past;
mod picker;
pub(super) mod provider;
mod round;
mod shown;

use std::{
    io::{IsTerminal as _, Read as _},
    sync::Arc,
};

use anyhow::{Context, bail, ensure};
use pinza::{
    agent::{Events, Inbox, Setup, Stage, Talk, TalkError},
    core::{CallScope, Caller, CancellationToken, Content, Selection, View, visible},
    state::{Session as StoredSession, Store},
};
use tokio::io::AsyncBufReadExt as _;

use self::round::{Questions, ScreenApprover};
use super::{
    Done, Global, Result,
    args::Chat,
    call::cancel_on_signal,
    journal,
    session::{Session, is_known},
};
use crate::{
    config::{AgentTable, ConfigFile},
    home::Home,
    terminal::{Look, Printer, Screen},
};

/// Long enough for what people and programs make up.
const LONGEST_SESSION: usize = 128;

pub(crate) fn run(global: &Global, printer: &Printer, chat: Chat) -> Result {
    let at_terminal = chat.prompt.is_none()
        && !global.json
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal();
    ensure!(at_terminal || !chat.resume, "--resume needs a terminal to choose at; name one with --session");
    let prompt = chat.prompt.as_deref().map(message).transpose()?;
    let look = Look::of_stdout(chat.plain);
    let questions = Questions::default();
    // Where nothing may be drawn again, questions are asked as everywhere else.
    let (mut session, noting) = if at_terminal && look.redraws && !global.yes {
        let config_file = Home::find(global.home.as_deref())?.config_file();
        let approver = Arc::new(ScreenApprover::new(config_file, questions.clone()));
        Session::open_noting_with(global, |builder| builder.approver(approver))?
    } else {
        Session::open_noting(global)?
    };
    printer.problems(&session.problems);
    let agent = agent(&session, chat.agent.as_deref())?;
    let id = session_id(chat.session.as_deref())?;
    let setup = match provider::setup(&session, &chat, &agent) {
        Err(error) if at_terminal && error.is::<provider::NothingSetUp>() => {
            printer.failure(&error);
            if !first::offer(&session, look)? {
                return Ok(Done::Answered);
            }
            session.config = ConfigFile::read(session.home.config_file())?.config;
            provider::setup(&session, &chat, &agent)?
        }
        other => other?,
    };
    let toolset = toolset(&session, &agent)?;
    let _watch = match prompt {
        // One message is answered with the tools that there are now.
        Some(_) => None,
        None => Some(session.pinza.watch()?),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let agent = chat.agent.clone();
    let chat = Chatting {
        printer,
        global,
        session: &session,
        store: noting.0.clone(),
        arguments: chat,
        setup,
        id,
        toolset,
        agent,
        questions,
    };
    let done = runtime.block_on(async {
        match prompt {
            Some(text) => chat.say_once(text).await,
            None if at_terminal => chat.at_terminal(Screen::new(look, global.verbose)).await,
            None => chat.line_by_line().await,
        }
    });
    runtime.shutdown_background();
    done
}

/// What a talk is made of.
#[derive(Clone)]
struct Chatting<'a> {
    printer: &'a Printer,
    global: &'a Global,
    session: &'a Session,
    store: Store,
    /// As they were typed, and as they were changed since.
    arguments: Chat,
    setup: Setup,
    id: String,
    toolset: Arc<Selection>,
    agent: Option<String>,
    /// What is asked about calls, at a terminal.
    questions: Questions,
}

impl Chatting<'_> {
    async fn say_once(&self, text: String) -> Result {
        let mut talk = self.open().await?;
        let said = self.say(&mut talk, vec![Content::text(text)], CancellationToken::new()).await?;
        Ok(if said { Done::Well } else { Done::Answered })
    }

    async fn line_by_line(&self) -> Result {
        let mut talk = self.open().await?;
        // Read on a thread of its own: servers, reloads and signals go on while nobody writes.
        let mut lines = tokio::io::BufReader::new(tokio::io::stdin()).lines();
        let mut all_well = true;
        loop {
            let end = CancellationToken::new();
            let signals = cancel_on_signal(end.clone())?;
            let line = tokio::select! {
                () = end.cancelled() => break,
                line = lines.next_line() => line.context("cannot read from stdin")?,
            };
            signals.abort();
            let Some(line) = line else { break };
            if !line.trim().is_empty() {
                let content = vec![Content::text(line)];
                all_well &= self.say(&mut talk, content, CancellationToken::new()).await?;
            }
        }
        Ok(if all_well { Done::Well } else { Done::Answered })
    }

    async fn open(&self) -> Result<Talk> {
        let opened =
            Talk::open(&self.store, &self.id, self.agent.as_deref(), &self.setup, &self.view()).await;
        let (talk, gone) = opened.map_err(explain)?;
        for group in gone {
            self.printer.warning(&format!("the group '{group}' of this session is no longer there"));
        }
        Ok(talk)
    }

    /// Tells whether it was answered.
    async fn say(
        &self,
        talk: &mut Talk,
        content: Vec<Content>,
        cancellation: CancellationToken,
    ) -> Result<bool> {
        let signals = cancel_on_signal(cancellation.clone())?;
        let stage = self.stage(cancellation, shown::events(self.global, &self.id));
        let said = talk.say(content, &self.setup, &stage).await;
        signals.abort();
        match said {
            Ok(_) => Ok(true),
            // It was told as an event.
            Err(_) => Ok(false),
        }
    }

    fn stage(&self, cancellation: CancellationToken, events: Events) -> Stage {
        let engine = Arc::clone(self.session.pinza.engine());
        Stage { engine, scope: self.scope(cancellation), events, inbox: Inbox::default() }
    }

    /// What the model may ever use.
    fn view(&self) -> View {
        self.scope(CancellationToken::new()).view(self.session.pinza.engine().policy())
    }

    /// Goes on as what the configuration says of an agent.
    fn become_agent(&mut self, name: Option<&str>) -> Result<()> {
        self.agent = name.map(str::to_owned);
        self.toolset = toolset(self.session, &agent(self.session, name)?)?;
        self.set_up()
    }

    /// Goes on with a session that was kept, and with its agent.
    fn become_session(&mut self, kept: &StoredSession) -> Result<()> {
        self.id.clone_from(&kept.id);
        self.become_agent(kept.agent.as_deref())
    }

    /// Finds the model anew, after arguments or agent have changed.
    fn set_up(&mut self) -> Result<()> {
        let agent = agent(self.session, self.agent.as_deref())?;
        self.setup = provider::setup(self.session, &self.arguments, &agent)?;
        Ok(())
    }

    fn scope(&self, cancellation: CancellationToken) -> CallScope {
        let caller = Caller::Agent { session: self.id.clone() };
        CallScope { toolset: Arc::clone(&self.toolset), cancellation, ..self.session.pinza.scope(caller) }
    }
}

fn message(text: &str) -> Result<String> {
    let mut text = text.to_owned();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("cannot read the message from stdin")?;
    }
    ensure!(!text.trim().is_empty(), "the message is empty");
    Ok(text)
}

fn agent(session: &Session, name: Option<&str>) -> Result<AgentTable> {
    let Some(name) = name else { return Ok(AgentTable::default()) };
    let Some(agent) = session.config.agents.get(name) else {
        let known: Vec<&str> = session.config.agents.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("there is no agent '{}'; in the configuration: {known}", visible(name));
    };
    Ok(agent.clone())
}

fn toolset(session: &Session, agent: &AgentTable) -> Result<Arc<Selection>> {
    let Some(tools) = &agent.tools else { return Ok(Arc::default()) };
    if let Some(unknown) = tools.iter().find(|name| !is_known(&session.pinza, name)) {
        bail!("an agent's tools name '{}', but there is no such tool or set", visible(unknown));
    }
    if tools.is_empty() {
        // An empty selection chooses everything; an empty list means nothing.
        let all = session.pinza.snapshot().tools().map(|entry| entry.meta().id.to_string()).collect();
        return Ok(Arc::new(Selection { exclude: all, ..Selection::default() }));
    }
    Ok(Arc::new(Selection { include: tools.clone(), ..Selection::default() }))
}

fn session_id(given: Option<&str>) -> Result<String> {
    let Some(id) = given else {
        let random = getrandom::u64().map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
        return Ok(format!("{random:012x}")[..12].to_owned());
    };
    let fits = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    ensure!(
        !id.is_empty() && id.len() <= LONGEST_SESSION && id.chars().all(fits),
        "a session's id has letters, digits, - _ . : and at most {LONGEST_SESSION} characters"
    );
    Ok(id.to_owned())
}

pub(super) fn explain(error: TalkError) -> anyhow::Error {
    match error {
        TalkError::State(error) => journal::explain(error),
        other => match other.hint() {
            Some(hint) => anyhow::anyhow!("{other}\nhint: {hint}"),
            None => anyhow::anyhow!("{other}"),
        },
    }
}
