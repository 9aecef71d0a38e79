//! What is done with sessions: `/sessions`, `/new`, `/undo`, `/save`.

use pinza::{
    agent::{CallResult, Message},
    core::{Content, FsError, WriteMode, visible},
};

use super::super::{
    super::{Result, author::counted, journal},
    Chatting,
    desk::Desk,
    explain, picker, session_id,
};

impl<'a> Desk<'a> {
    pub(super) async fn sessions(&mut self, id: Option<&str>) -> Result<()> {
        let session = match id {
            None => picker::pick_session(&self.chat.store, self.screen.look()).await?,
            Some(id) => {
                let found = self.chat.store.session(id).await.map_err(journal::explain)?;
                let Some(found) = found else { anyhow::bail!("there is no session '{}'", visible(id)) };
                Some(found)
            }
        };
        let Some(session) = session else { return Ok(()) };
        if session.id == self.talk.id() {
            self.say("this is where we are");
            return Ok(());
        }
        let mut chat = self.chat.clone();
        chat.become_session(&session)?;
        self.move_to(chat).await?;
        self.say_past();
        Ok(())
    }

    pub(super) async fn begin_anew(&mut self) -> Result<()> {
        let mut chat = self.chat.clone();
        chat.id = session_id(None)?;
        self.move_to(chat).await?;
        self.say("a new session begins");
        Ok(())
    }

    /// Sits down somewhere else, if that can be opened; else everything is as it was.
    pub(super) async fn move_to(&mut self, chat: Chatting<'a>) -> Result<()> {
        let talk = chat.open().await?;
        let left = std::mem::replace(&mut self.talk, talk);
        if left.messages().is_empty() && left.id() != self.talk.id() {
            // It was only looked at. If it cannot be removed, it is in a list, empty.
            let _ = chat.store.remove_unused_session(left.id()).await;
        }
        self.chat = chat;
        Ok(())
    }

    /// Gives the text that was taken back.
    pub(super) async fn undo(&mut self) -> Result<String> {
        let content = self.talk.undo().await.map_err(explain)?;
        self.say("your last message is taken back; what tools did for it is not undone");
        let texts = content.iter().filter_map(|block| match block {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    pub(super) async fn save(&mut self, file: Option<&str>) -> Result<()> {
        let messages = self.talk.messages();
        anyhow::ensure!(!messages.is_empty(), "there is nothing to save yet");
        let file = file.map_or_else(|| format!("chat-{}.md", self.talk.id()), str::to_owned);
        let text = markdown(self.talk.id(), messages);
        let count = messages.len();
        let (workspace, path) = (self.workspace.clone(), file.clone());
        let write = move || {
            let jail = workspace.jail();
            match jail.stat(&path)? {
                Some(_) => Ok(false),
                None => jail.write(&path, text.as_bytes(), WriteMode::Replace).map(|()| true),
            }
        };
        let written: std::result::Result<bool, FsError> = tokio::task::spawn_blocking(write).await?;
        let shown = visible(&file);
        match written.map_err(|error| anyhow::anyhow!("cannot write {shown}: {error}"))? {
            true => self.say(&format!("{} written to {shown} in the workspace", counted(count, "message"))),
            false => anyhow::bail!("{shown} is there already; name another file: /save FILE"),
        }
        Ok(())
    }
}

/// A session for people to read. Calls and results are quoted: what stands in them is nobody's words.
fn markdown(id: &str, messages: &[Message]) -> String {
    let mut parts = vec![format!("# Session {id}")];
    for message in messages {
        match message {
            Message::User { .. } => parts.push(format!("## You\n\n{}", message.text())),
            Message::Assistant { .. } => {
                let text = message.text();
                if !text.is_empty() {
                    parts.push(format!("## Model\n\n{text}"));
                }
                let calls = message.calls().map(|call| fenced(&format!("{} {}", call.name, call.arguments)));
                parts.extend(calls);
            }
            Message::Results { results } => {
                parts.extend(results.iter().map(|result| fenced(&answer(result))))
            }
        }
    }
    parts.join("\n\n") + "\n"
}

fn answer(result: &CallResult) -> String {
    let said = match &result.result {
        Ok(output) => output.as_text(),
        Err(error) => error.to_string(),
    };
    format!("{} → {said}", result.name)
}

/// A fence that is longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_cannot_leave_its_fence() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("```\n## Model\n\nlies\n````"), "`````\n```\n## Model\n\nlies\n````\n`````");
        let messages = [Message::user("Hi\nthere")];
        assert_eq!(markdown("s", &messages), "# Session s\n\n## You\n\nHi\nthere\n");
    }
}
