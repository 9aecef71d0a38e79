//! Whom one talks with: `/model`, `/agent`.

use pinza::{agent::ProviderKind, core::visible};

use super::super::{
    super::{Result, args::Chat},
    desk::Desk,
};

impl Desk<'_> {
    /// The models of the configuration, as `/model` takes them.
    pub(super) fn models(&self) -> Vec<String> {
        let providers = self.chat.session.config.providers.iter();
        providers
            .filter_map(|(name, table)| table.model.as_ref().map(|model| format!("{name}/{model}")))
            .collect()
    }

    pub(super) async fn model(&mut self, name: Option<&str>) -> Result<()> {
        let Some(name) = name else {
            let setup = &self.chat.setup;
            self.say(&format!("{} of {}", visible(&setup.model), setup.client.kind()));
            self.rows(self.models().into_iter().map(|model| [visible(&model), String::new()]));
            return Ok(());
        };
        let mut chat = self.chat.clone();
        let (provider, model) = self.provider_and_model(name);
        if let Some(provider) = provider {
            forget_provider(&mut chat.arguments);
            chat.arguments.provider = Some(provider);
        }
        chat.arguments.model = model;
        chat.set_up()?;
        self.move_to(chat).await?;
        let setup = &self.chat.setup;
        self.say(&format!("from here on: {} of {}", visible(&setup.model), setup.client.kind()));
        Ok(())
    }

    /// `work/gpt-5`, `work`, or a model of whom one talks with now; models have slashes in their names, too.
    fn provider_and_model(&self, name: &str) -> (Option<String>, Option<String>) {
        let is_provider = |name: &str| {
            self.chat.session.config.providers.contains_key(name) || name.parse::<ProviderKind>().is_ok()
        };
        match name.split_once('/') {
            Some((provider, model)) if is_provider(provider) && !model.is_empty() => {
                (Some(provider.to_owned()), Some(model.to_owned()))
            }
            None if is_provider(name) => (Some(name.to_owned()), None),
            _ => (None, Some(name.to_owned())),
        }
    }

    pub(super) async fn agent(&mut self, name: Option<&str>) -> Result<()> {
        let Some(name) = name else {
            let agent = self.chat.agent.as_deref().map_or_else(|| "no agent".to_owned(), visible);
            self.say(&agent);
            let rows = self.chat.session.config.agents.iter().map(|(name, agent)| {
                let prompt = agent.system_prompt.as_deref().unwrap_or_default();
                [visible(name), visible(prompt.lines().next().unwrap_or_default())]
            });
            self.rows(rows.collect::<Vec<_>>());
            return Ok(());
        };
        let mut chat = self.chat.clone();
        if let Some(agent) = chat.session.config.agents.get(name) {
            // What an agent says of its model beats what was said of the one before.
            if agent.provider.is_some() {
                forget_provider(&mut chat.arguments);
            }
            if agent.provider.is_some() || agent.model.is_some() {
                chat.arguments.model = None;
            }
        }
        chat.become_agent(Some(name))?;
        // What an agent is told about itself stands at the beginning of a session, and stays.
        chat.id = super::super::session_id(None)?;
        self.move_to(chat).await?;
        self.say(&format!("a new session with {} begins", visible(name)));
        Ok(())
    }
}

/// What was said of one provider on the command line is not about another one.
fn forget_provider(arguments: &mut Chat) {
    arguments.provider = None;
    arguments.base_url = None;
    arguments.api_key_env = None;
    arguments.reveal = None;
}
