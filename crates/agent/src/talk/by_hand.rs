//! What a person does to a talk beside talking: taking the last message back, loading a group.

use pinza_core::{CallId, Content, ErrorKind, GroupName, MetaTool, ToolError};
use pinza_state::SessionChange;
use serde_json::json;

use super::{
    Stage, Talk, TalkError,
    record::{Kept, Record},
    rounds::UNREADABLE,
};
use crate::{
    event::Usage,
    message::{Call, CallResult, Message, Part},
};

impl Talk {
    /// Takes the user's last message back, with all that followed it. What tools did meanwhile stays done, what was
    /// spent stays spent, and groups that were loaded stay loaded. Gives what the message said.
    pub async fn undo(&mut self) -> Result<Vec<Content>, TalkError> {
        let index = self.messages.iter().rposition(is_said).ok_or(TalkError::NothingSaid)?;
        let place = self.places[index];
        if place == 0 {
            return Err(TalkError::SummedUp);
        }
        let mut spent = Usage::default();
        for kept in self.store.messages(&self.id, place - 1).await? {
            let kept: Kept = serde_json::from_value(kept.body).map_err(TalkError::Unreadable)?;
            spent += kept.usage.unwrap_or_default();
        }
        let mut record = self.record.clone();
        record.aside += spent;
        let state = Some(written(&record)?);
        let change = SessionChange { without: Some(place), state, ..SessionChange::default() };
        self.store.change_session(&self.id, change).await?;
        self.record = record;
        self.unsaved = false;
        self.filled = 0;
        self.places.truncate(index);
        match self.messages.drain(index..).next() {
            Some(Message::User { content }) => Ok(content),
            _ => Ok(Vec::new()),
        }
    }

    /// Loads a group as if the model had: it reads that it was asked to, did, and with which result. So it learns of the
    /// tools in whatever way its provider reveals them.
    pub async fn load(&mut self, group: &GroupName, stage: &Stage) -> Result<(), TalkError> {
        let stage = Stage { scope: self.scope(stage), ..stage.clone() };
        let view = stage.scope.view(stage.engine.policy());
        let Some(loader) = view.meta_tool(MetaTool::LoadToolGroup) else {
            let message = "The tool that loads groups is switched off here".to_owned();
            return Err(ToolError::new(ErrorKind::ToolDisabled, message).into());
        };
        let call = Call {
            id: CallId::new(format!("by_hand_{}", self.places.last().copied().unwrap_or(0) + 1)),
            name: loader.definition().name.to_string(),
            arguments: json!({ "group_name": group }),
            malformed: None,
            opaque: None,
        };
        let runnable = call.to_tool_call().into_iter().collect();
        let round = self.record.conversation.round(&stage.engine, runnable, &stage.scope, |_| {}).await;
        let result =
            round.outcomes.into_iter().next().map_or_else(|| Err(ToolError::cancelled()), |one| one.result);
        if let Err(error) = result {
            return Err(error.into());
        }
        self.unsaved = true;
        let results = vec![CallResult { id: call.id.clone(), name: call.name.clone(), result }];
        let asked = Message::user(format!("Load the tool group '{group}'."));
        let called = Message::Assistant { parts: vec![Part::ToolCall(call)] };
        let answered = Message::Results { results };
        self.keep([asked, called, answered].map(|message| (message, None)).into()).await
    }
}

/// Whether a person said it: not we, about a call that could not be read.
fn is_said(message: &Message) -> bool {
    matches!(message, Message::User { .. }) && message.text() != UNREADABLE
}

fn written(record: &Record) -> Result<serde_json::Value, TalkError> {
    serde_json::to_value(record).map_err(TalkError::Unreadable)
}
