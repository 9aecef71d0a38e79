//! Opening a session, new or old.

use std::collections::HashMap;

use pinza_core::{ErrorKind, GroupName, ToolError, View};
use pinza_state::{CallFilter, NewMessage, SessionChange, Store};

use super::{
    Setup, Talk, TalkError,
    record::{Kept, Record, loading},
    repeated::Repeated,
    results::{joined, put_in_order},
};
use crate::{
    event::Usage,
    message::{Call, CallResult, Message},
};

/// How many of the last calls of a session are looked through for those that were interrupted.
const CALLS: usize = 1000;

impl Talk {
    /// Goes on with a session, or begins it; no other Pinza can until the talk is dropped. Groups that it had loaded and that are gone come back beside it.
    pub async fn open(
        store: &Store,
        id: &str,
        agent: Option<&str>,
        setup: &Setup,
        view: &View,
    ) -> Result<(Self, Vec<GroupName>), TalkError> {
        let view = &View { loading: loading(setup.reveal), ..view.clone() };
        let hold = store.hold_session(id).await?;
        let session = store.begin_session(id, agent).await?;
        let is_new = session.state.is_null();
        let record = if is_new {
            let memories = store.memories().await?.into_iter().map(|memory| memory.text).collect::<Vec<_>>();
            Record::new(setup, view, &memories)
        } else {
            serde_json::from_value(session.state).map_err(TalkError::Unreadable)?
        };
        let moved = record.moved_to(setup, view);
        let mut talk = Self {
            store: store.clone(),
            _hold: hold,
            id: id.to_owned(),
            unsaved: is_new || moved.is_some(),
            record: moved.unwrap_or(record),
            messages: Vec::new(),
            places: Vec::new(),
            usage: Usage::default(),
            filled: 0,
            repeated: Repeated::default(),
        };
        talk.read().await?;
        talk.apply_last_effects(view);
        talk.answer_interrupted().await?;
        let gone = talk.record.conversation.gone(view);
        Ok((talk, gone))
    }

    async fn read(&mut self) -> Result<(), TalkError> {
        self.usage = self.record.aside;
        let upto = self.record.summary.as_ref().map_or(0, |summary| summary.upto);
        if let Some(summary) = &self.record.summary {
            self.messages.push(Message::user(summary.text.clone()));
            self.places.push(0);
        }
        let mut calls: Vec<Call> = Vec::new();
        for (place, Kept { message, usage }) in joined(self.store.messages(&self.id, 0).await?)? {
            if let Some(usage) = usage {
                self.usage += usage;
                self.filled = usage.total();
            }
            match &message {
                Message::Results { results } => {
                    // Calls that were interrupted have no result yet.
                    calls.retain(|call| results.iter().any(|result| result.id == call.id));
                    // A count that has come to its end has stopped the talk then; here only the next call counts.
                    drop(self.repeated.count(&calls, results));
                }
                _ => calls = message.calls().cloned().collect(),
            }
            if place > upto {
                self.messages.push(message);
                self.places.push(place);
            }
        }
        Ok(())
    }

    /// Calls that were under way when Pinza stopped are answered, and not run again.
    async fn answer_interrupted(&mut self) -> Result<(), TalkError> {
        let calls = self.unanswered();
        if calls.is_empty() {
            return Ok(());
        }
        let filter = CallFilter { session: Some(self.id.clone()), ..CallFilter::default() };
        let journal = self.store.calls(filter, CALLS).await?;
        let known: HashMap<&str, &str> =
            journal.iter().map(|row| (row.call.as_str(), row.status.0.as_str())).collect();
        let results = calls.iter().map(|call| {
            let message = match known.get(call.id.as_str()) {
                None => "Pinza stopped before this call began. It was not run",
                Some(&"success") => "Pinza stopped when this call had succeeded; its result is lost. It is not run again",
                Some(_) => "Pinza stopped while this call ran. Whether it had its effect is not known; it is not run again",
            };
            let result = Err(ToolError::new(ErrorKind::Interrupted, message));
            CallResult { id: call.id.clone(), name: call.name.clone(), result }
        });
        let message = Message::Results { results: results.collect() };
        self.keep(vec![(message, None)]).await?;
        self.join_last();
        Ok(())
    }

    /// Calls of the last turn without a result.
    fn unanswered(&self) -> Vec<Call> {
        let (turn, results) = match self.messages.as_slice() {
            [.., turn, Message::Results { results }] => (Some(turn), results.as_slice()),
            other => (other.last(), &[][..]),
        };
        let is_open = |call: &&Call| !results.iter().any(|result| result.id == call.id);
        turn.into_iter().flat_map(Message::calls).filter(is_open).cloned().collect()
    }

    /// Results that came in two parts are one message.
    fn join_last(&mut self) {
        if let [.., turn, Message::Results { results: first }, Message::Results { results: second }] =
            self.messages.as_mut_slice()
        {
            let calls: Vec<_> = turn.calls().map(|call| call.id.clone()).collect();
            first.append(second);
            put_in_order(first, &calls);
            self.messages.pop();
            let last = self.places.pop();
            if let (Some(place), Some(last)) = (self.places.last_mut(), last) {
                *place = last;
            }
        }
    }

    /// Puts messages behind the others. When this comes back, they are on disk, and the record with them.
    pub(super) async fn keep(&mut self, messages: Vec<(Message, Option<Usage>)>) -> Result<(), TalkError> {
        let title = match (self.messages.is_empty(), messages.first()) {
            (true, Some((message, _))) => Some(title(&message.text())),
            _ => None,
        };
        let state = match self.unsaved {
            true => Some(serde_json::to_value(&self.record).map_err(TalkError::Unreadable)?),
            false => None,
        };
        let mut new = Vec::new();
        for (message, usage) in &messages {
            new.push(row(message, *usage)?);
        }
        let change = SessionChange { messages: new, state, title, ..SessionChange::default() };
        let last = self.store.change_session(&self.id, change).await?;
        self.unsaved = false;
        let first = last - i64::try_from(messages.len()).unwrap_or(0);
        for (place, (message, _)) in (first + 1..).zip(messages) {
            self.messages.push(message);
            self.places.push(place);
        }
        Ok(())
    }
}

/// A message as it is kept.
pub(super) fn row(message: &Message, usage: Option<Usage>) -> Result<NewMessage, TalkError> {
    let kept = Kept { message: message.clone(), usage };
    let body = serde_json::to_value(&kept).map_err(TalkError::Unreadable)?;
    Ok(NewMessage { role: role(message), body, text: shown(message) })
}

fn role(message: &Message) -> &'static str {
    match message {
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Results { .. } => "tool",
    }
}

/// What people read and search in.
fn shown(message: &Message) -> String {
    let text = message.text();
    match message {
        Message::User { .. } => text,
        Message::Assistant { .. } => {
            let calls = message.calls().map(|call| format!("[{} {}]", call.name, call.arguments));
            std::iter::once(text).filter(|text| !text.is_empty()).chain(calls).collect::<Vec<_>>().join("\n")
        }
        Message::Results { results } => {
            let line = |result: &CallResult| match &result.result {
                Ok(output) => output.as_text(),
                Err(error) => error.to_string(),
            };
            results.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

fn title(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let mut title: String = line.chars().take(60).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}
