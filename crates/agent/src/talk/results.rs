//! The calls of a turn and their results.
//!
//! Each result is on disk when somebody is told of it, also while other calls of the turn still run: what was shown as
//! done is done, whatever happens next. So a turn may leave several rows of results; read again they are one
//! message, as the model was sent them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use pinza_core::{CallId, Effect, Engine, Outcome, Stop, ToolCall, ToolError, View};
use pinza_state::{NewMessage, SessionChange, Store};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Event, Stage, Talk, TalkError, event::Events, record::Kept, resume::row};
use crate::message::{Call, CallResult, Message};

/// What of a turn's results is on disk.
#[derive(Default)]
struct OnDisk {
    calls: HashSet<CallId>,
    place: Option<i64>,
}

impl Talk {
    /// Runs all calls of a turn and keeps all their answers.
    pub(super) async fn run(&mut self, calls: Vec<Call>, stage: &Stage) -> Result<(), TalkError> {
        let (results, stop) = self.results(&calls, stage).await?;
        let repeated = self.repeated.count(&calls, &results);
        self.messages.push(Message::Results { results });
        if stage.scope.cancellation.is_cancelled() {
            return Err(TalkError::Cancelled);
        }
        stop.map_or(Ok(()), |stop| Err(stop.into())).and(repeated)
    }

    async fn results(
        &mut self,
        calls: &[Call],
        stage: &Stage,
    ) -> Result<(Vec<CallResult>, Option<Stop>), TalkError> {
        let runnable: Vec<ToolCall> = calls.iter().filter_map(|call| call.to_tool_call().ok()).collect();
        for call in &runnable {
            (stage.events)(Event::ToolStarted { id: call.id.clone(), name: call.name.clone() });
        }
        let names = runnable.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        let (telling, told) = unbounded_channel();
        let keeping = keep_each(&self.store, &self.id, names, told, &stage.events);
        let engine: &Arc<Engine> = &stage.engine;
        // The sender goes with the round, and so ends what listens to it.
        let tell = move |outcome: &Outcome| drop(telling.send(outcome.clone()));
        let running = self.record.conversation.round(engine, runnable, &stage.scope, tell);
        let (round, on_disk) = tokio::join!(running, keeping);
        let on_disk = on_disk?;
        self.unsaved |= round.changed;
        let mut outcomes = round.outcomes.into_iter();
        let mut result = |call: &Call| {
            let result = match call.to_tool_call() {
                Ok(_) => {
                    outcomes.next().map_or_else(|| Err(ToolError::cancelled()), |outcome| outcome.result)
                }
                Err(text) => Err(malformed(text)),
            };
            CallResult { id: call.id.clone(), name: call.name.clone(), result }
        };
        let results: Vec<CallResult> = calls.iter().map(&mut result).collect();
        self.keep_rest(&results, on_disk).await?;
        round.loaded.into_iter().for_each(|group| (stage.events)(Event::GroupLoaded { group }));
        Ok((results, round.stop))
    }

    /// Results of which nobody was told, and what the round changed.
    async fn keep_rest(&mut self, results: &[CallResult], on_disk: OnDisk) -> Result<(), TalkError> {
        let rest: Vec<CallResult> =
            results.iter().filter(|result| !on_disk.calls.contains(&result.id)).cloned().collect();
        let place = match on_disk.place {
            Some(place) if rest.is_empty() && !self.unsaved => place,
            _ => {
                let state = self.unsaved.then(|| serde_json::to_value(&self.record)).transpose();
                let state = state.map_err(TalkError::Unreadable)?;
                let messages = match rest.is_empty() {
                    true => Vec::new(),
                    false => vec![row(&Message::Results { results: rest }, None)?],
                };
                let change = SessionChange { messages, state, ..SessionChange::default() };
                self.store.change_session(&self.id, change).await?
            }
        };
        self.unsaved = false;
        self.places.push(place);
        Ok(())
    }

    /// Applies what results of the last turn have changed, where Pinza stopped before that was kept.
    pub(super) fn apply_last_effects(&mut self, view: &View) {
        let Some(Message::Results { results }) = self.messages.last() else { return };
        let outputs = results.iter().filter_map(|result| result.result.as_ref().ok());
        let effects: Vec<Effect> = outputs.flat_map(|output| output.effects.clone()).collect();
        for effect in effects {
            let Effect::ActivateGroup { group } = &effect;
            if !self.record.conversation.groups().contains(group) {
                self.record.conversation.apply(&effect, view);
                self.unsaved = true;
            }
        }
    }
}

/// Keeps each result as it comes, and tells of it then.
async fn keep_each(
    store: &Store,
    id: &str,
    names: HashMap<CallId, String>,
    mut told: UnboundedReceiver<Outcome>,
    events: &Events,
) -> Result<OnDisk, TalkError> {
    let mut on_disk = OnDisk::default();
    while let Some(outcome) = told.recv().await {
        let event = Event::finished(&outcome);
        let name = names.get(&outcome.id).cloned().unwrap_or_else(|| outcome.tool.clone());
        let result = CallResult { id: outcome.id.clone(), name, result: outcome.result };
        let message: NewMessage = row(&Message::Results { results: vec![result] }, None)?;
        let change = SessionChange { messages: vec![message], ..SessionChange::default() };
        on_disk.place = Some(store.change_session(id, change).await?);
        on_disk.calls.insert(outcome.id);
        events(event);
    }
    Ok(on_disk)
}

/// The rows of a session as the messages that they are: results of one turn are one message, in the order of its calls.
pub(super) fn joined(rows: Vec<pinza_state::Message>) -> Result<Vec<(i64, Kept)>, TalkError> {
    let mut messages: Vec<(i64, Kept)> = Vec::new();
    let mut calls: Vec<CallId> = Vec::new();
    for row in rows {
        let kept: Kept = serde_json::from_value(row.body).map_err(TalkError::Unreadable)?;
        match (messages.last_mut(), kept) {
            (
                Some((place, Kept { message: Message::Results { results }, .. })),
                Kept { message: Message::Results { results: more }, .. },
            ) => {
                *place = row.seq;
                results.extend(more);
                put_in_order(results, &calls);
            }
            (_, kept) => {
                if matches!(kept.message, Message::Assistant { .. }) {
                    calls = kept.message.calls().map(|call| call.id.clone()).collect();
                }
                messages.push((row.seq, kept));
            }
        }
    }
    Ok(messages)
}

/// Results stand in the order of their calls, whichever came first.
pub(super) fn put_in_order(results: &mut [CallResult], calls: &[CallId]) {
    results.sort_by_key(|result| calls.iter().position(|call| *call == result.id));
}

fn malformed(text: &str) -> ToolError {
    let shown: String = text.chars().take(200).collect();
    ToolError::validation(format!("The arguments are not JSON: {}", pinza_core::visible(&shown)))
}
