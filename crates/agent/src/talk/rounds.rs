//! One message of the user, until the model has no more to say or to do.

use std::sync::Arc;

use pinza_core::{CallId, CallScope, Caller, Content, ProgressSink, View};

use super::{
    Event, Finish, Setup, Stage, Talk, TalkError,
    asking::{self, Answer},
    event::Events,
    record::loading,
    sent::sent,
};
use crate::{
    event::{StopReason, StreamEvent, Usage},
    message::{Call, Message, Part},
    providers::Request,
};

pub(super) const UNREADABLE: &str = "Your last call could not be read. Write it again, as its schema says.";

impl Talk {
    /// Says something to the model, and does what it asks for until it is done. `Start` and the end of the events
    /// are told here.
    pub async fn say(
        &mut self,
        content: Vec<Content>,
        setup: &Setup,
        stage: &Stage,
    ) -> Result<Finish, TalkError> {
        let (provider, model) = (setup.client.kind().to_string(), setup.model.clone());
        (stage.events)(Event::Start { provider, model, reveal: setup.reveal });
        let stage = Stage { scope: self.scope(stage), ..stage.clone() };
        let mut said = self.work(content, setup, &stage).await;
        if self.unsaved {
            said = self.keep(Vec::new()).await.and(said);
        }
        (stage.events)(match &said {
            Ok(finish) => Event::Done(finish.clone()),
            Err(error) => Event::error(error),
        });
        said
    }

    async fn work(
        &mut self,
        content: Vec<Content>,
        setup: &Setup,
        stage: &Stage,
    ) -> Result<Finish, TalkError> {
        self.keep(vec![(Message::User { content }, None)]).await?;
        let view = stage.scope.view(stage.engine.policy());
        let mut usage = Usage::default();
        for round in 1..=setup.limits.rounds {
            self.check_spending(setup)?;
            let answer = self.ask_with_room(setup, stage, &view).await?;
            usage += answer.usage;
            let calls: Vec<Call> = answer.message.calls().cloned().collect();
            let text = answer.message.text();
            self.keep(vec![(answer.message, Some(answer.usage))]).await?;
            let mut goes_on = !calls.is_empty() || answer.stop == StopReason::Paused;
            if !calls.is_empty() {
                self.run(calls, stage).await?;
            }
            let queued: Vec<Message> =
                stage.inbox.take().into_iter().map(|content| Message::User { content }).collect();
            let heard: Vec<String> = queued.iter().map(Message::text).collect();
            let unreadable = (answer.stop == StopReason::MalformedCall).then(|| Message::user(UNREADABLE));
            let more: Vec<_> = queued.into_iter().chain(unreadable).map(|message| (message, None)).collect();
            if !more.is_empty() {
                goes_on = true;
                self.keep(more).await?;
                heard.into_iter().for_each(|text| (stage.events)(Event::UserMessage { text }));
            }
            if !goes_on {
                return Ok(Finish { text, stop: answer.stop, usage, rounds: round });
            }
        }
        Err(TalkError::Rounds(setup.limits.rounds))
    }

    fn check_spending(&self, setup: &Setup) -> Result<(), TalkError> {
        let used = self.usage.total();
        match setup.limits.tokens {
            Some(cap) if used >= cap => Err(TalkError::Spent { used, cap }),
            _ => Ok(()),
        }
    }

    /// Asks, and makes room before it if there is little, or after it if there was too little.
    async fn ask_with_room(
        &mut self,
        setup: &Setup,
        stage: &Stage,
        view: &View,
    ) -> Result<Answer, TalkError> {
        self.make_room_if_needed(setup, stage).await?;
        match self.ask(setup, stage, view).await {
            Err(error) if error.is_too_long() && self.make_room(setup, stage).await? => {
                self.ask(setup, stage, view).await
            }
            Ok(answer) if answer.stop == StopReason::ContextFull && self.make_room(setup, stage).await? => {
                self.put_aside(answer.usage);
                self.ask(setup, stage, view).await
            }
            other => other,
        }
    }

    async fn ask(&mut self, setup: &Setup, stage: &Stage, view: &View) -> Result<Answer, TalkError> {
        let request = Request {
            model: &setup.model,
            system: &self.record.system,
            messages: &self.messages,
            tools: self.record.offer(view),
            reveal: setup.reveal,
            max_tokens: setup.max_tokens,
            effort: setup.effort,
            cache_key: Some(&self.id),
        };
        let mut text = String::new();
        let told = |event: StreamEvent| {
            if let StreamEvent::TextDelta { text: more } = &event {
                text.push_str(more);
            }
            Event::of_stream(&event).into_iter().for_each(|event| (stage.events)(event));
        };
        let (answer, usage) = asking::ask(&request, setup, stage, told).await;
        let said = answer.as_ref().ok().map(|answer| &answer.message);
        // What was refused cost nothing.
        if said.is_some() || matches!(answer, Err(TalkError::Cancelled)) || usage != Usage::default() {
            let sent = sent(self.record.kind, &request, self.record.listing(), view, said, usage)?;
            self.store.keep_request(&self.id, sent).await?;
        }
        self.count(usage, stage);
        match &answer {
            Ok(_) => {}
            Err(TalkError::Cancelled) if !text.is_empty() => {
                // What was read is part of the talk, also for the model.
                let parts = vec![Part::Text { text, opaque: None }];
                self.keep(vec![(Message::Assistant { parts }, Some(usage))]).await?;
            }
            Err(_) => self.put_aside(usage),
        }
        answer
    }

    pub(super) fn count(&mut self, usage: Usage, stage: &Stage) {
        self.usage += usage;
        if usage != Usage::default() {
            self.filled = usage.total();
            (stage.events)(Event::Usage { usage });
        }
    }

    /// Remembers what a request cost whose answer does not become a message.
    pub(super) fn put_aside(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.record.aside += usage;
            self.unsaved = true;
        }
    }

    /// The surroundings of this talk's calls.
    pub(super) fn scope(&self, stage: &Stage) -> CallScope {
        CallScope {
            caller: Caller::Agent { session: self.id.clone() },
            session: Some(self.id.as_str().into()),
            loading: loading(self.record.reveal),
            progress: Some(Arc::new(Told(Arc::clone(&stage.events)))),
            ..stage.scope.clone()
        }
    }
}

/// Progress of tools, as events.
struct Told(Events);

impl ProgressSink for Told {
    fn progress(&self, call: &CallId, partial: &[Content]) {
        (self.0)(Event::ToolProgress { id: call.clone(), content: partial.to_vec() });
    }
}
