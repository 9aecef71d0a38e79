//! What the model has, could have and has cost: `/tools`, `/groups`, `/load`, `/skills`, `/tokens`.

use std::sync::Arc;

use pinza::core::{CancellationToken, GroupName, View, meta, visible};

use super::super::{
    super::{Result, author::counted, receipt},
    desk::Desk,
    explain,
    round::note,
};

/// How many hits of a search are shown.
const HITS: i64 = 12;

impl Desk<'_> {
    pub(super) fn tools(&mut self, wanted: Option<&str>) -> Result<()> {
        let view = self.chat.view();
        match wanted {
            None => self.all_tools(&view),
            Some(name) if view.group(name).is_some() => self.group(&view, name),
            Some(words) => {
                let found = meta::find(&view, &[words], None, HITS)?;
                match found.as_slice() {
                    [] => self.say(&meta::nothing(&view)),
                    found => found.iter().for_each(|found| self.say(&format!("  {}", found.line()))),
                }
            }
        }
        Ok(())
    }

    fn all_tools(&mut self, view: &View) {
        let shown = self.talk.record().conversation.tools().iter();
        let shown: Vec<[String; 2]> =
            shown.map(|tool| [tool.name.to_string(), first_line(&tool.description)]).collect();
        self.say(&format!("the model sees {}:", counted(shown.len(), "tool")));
        self.rows(shown);
        let loaded = self.talk.groups();
        let rest: Vec<String> = view
            .groups()
            .filter(|group| !loaded.contains(&group.name))
            .map(|group| format!("{} ({})", group.name, view.group_tools(group.name.as_str()).count()))
            .collect();
        if !rest.is_empty() {
            self.say(&format!("it can load: {}", rest.join(", ")));
        }
    }

    fn group(&mut self, view: &View, name: &str) {
        let is_loaded = self.talk.groups().iter().any(|group| group.as_str() == name);
        let state = if is_loaded { "is loaded" } else { "is not loaded: /load it, or the model will" };
        self.say(&format!("the group {} {state}", visible(name)));
        let tools = view.group_tools(name).map(|entry| entry.definition());
        self.rows(tools.map(|tool| [tool.name.to_string(), first_line(&tool.description)]));
    }

    pub(super) fn groups(&mut self) {
        let view = self.chat.view();
        let loaded = self.talk.groups();
        let rows: Vec<[String; 2]> = view
            .groups()
            .map(|group| {
                let mark = if loaded.contains(&group.name) { "✓" } else { " " };
                let count = counted(view.group_tools(group.name.as_str()).count(), "tool");
                [format!("{mark} {}", group.name), format!("{count}: {}", first_line(&group.description))]
            })
            .collect();
        if rows.is_empty() {
            self.say("there are no groups here");
        }
        self.rows(rows);
    }

    pub(super) async fn load(&mut self, group: Option<&str>) -> Result<()> {
        let Some(group) = group else { anyhow::bail!("which group? /groups shows them") };
        let group = GroupName::new(group)?;
        let stage = self.chat.stage(CancellationToken::new(), Arc::new(|_| {}));
        self.talk.load(&group, &stage).await.map_err(explain)?;
        self.show([note(&format!("+ group {group}"))]);
        Ok(())
    }

    pub(super) fn skills(&mut self) {
        let view = self.chat.view();
        let rows: Vec<[String; 2]> =
            view.skills().map(|skill| [skill.name.to_string(), first_line(&skill.description)]).collect();
        if rows.is_empty() {
            self.say("there are no skills here");
        }
        self.rows(rows);
    }

    pub(super) async fn tokens(&mut self) -> Result<()> {
        match self.talk.receipt().await.map_err(explain)? {
            Some(receipt) => receipt::lines(&receipt).iter().for_each(|line| self.say(line)),
            None => self.say("nothing was sent yet"),
        }
        Ok(())
    }
}

/// Descriptions come from anywhere: one line of them, with odd characters visible.
fn first_line(text: &str) -> String {
    visible(text.lines().next().unwrap_or_default().trim())
}
