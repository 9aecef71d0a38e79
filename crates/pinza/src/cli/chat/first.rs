//! Setting a model up, for whoever has none: a few questions, one tiny request to see whether it works, and then
//! `[providers.NAME]` in the configuration. Until the last step nothing is written, so Ctrl-C leaves everything as it was.

use anyhow::Context as _;
use futures_util::StreamExt as _;
use pinza::{
    agent::{
        Message, Offer, ProviderClient, ProviderConfig, ProviderError, ProviderKind, Request, Retries,
        Reveal, StreamEvent,
    },
    core::visible,
    host::secrets::Secret,
};
use toml_edit::{Item, Table, value};

use super::{
    super::{Result, env, session::Session},
    picker::pick,
    provider,
};
use crate::{
    config::{ConfigFile, table},
    home::Home,
    terminal::{Asked, Look, question, secret, write_stdout},
};

/// Where Ollama listens; others are one edit away.
const OWN_SERVER: &str = "http://127.0.0.1:11434/v1";
/// How many names of models are shown.
const SHOWN: usize = 12;

const KINDS: [(&str, &str, ProviderKind); 4] = [
    ("Anthropic", "anthropic", ProviderKind::Anthropic),
    ("OpenAI", "openai", ProviderKind::OpenAi),
    ("Gemini", "gemini", ProviderKind::Gemini),
    (
        "a server of your own that speaks OpenAI's API (Ollama, vLLM, llama.cpp …)",
        "own",
        ProviderKind::OpenAi,
    ),
];

/// Where the key is.
enum Key {
    None,
    Typed(Secret),
    Variable(String),
}

/// A provider as it is coming together.
struct Draft {
    name: &'static str,
    kind: ProviderKind,
    base_url: Option<String>,
    key: Key,
    model: String,
}

/// Offers to set a model up. Tells whether there is one now. Blocking.
pub(super) fn offer(session: &Session, look: Look) -> Result<bool> {
    let first = FirstTime { session, look };
    match first.asked("Set one up now? [Y/n] ", "")? {
        Some(answer) if matches!(answer.to_lowercase().as_str(), "" | "y" | "yes") => {}
        _ => return Ok(false),
    }
    let Some(draft) = first.draft()? else {
        say("nothing was changed");
        return Ok(false);
    };
    keep(&session.home, &draft)?;
    say(&format!("written to {}: [providers.{}]", session.home.config_file().display(), draft.name));
    Ok(true)
}

struct FirstTime<'a> {
    session: &'a Session,
    look: Look,
}

/// What is still to be asked, the next one first.
#[derive(Clone, Copy)]
enum Step {
    Address,
    Key,
    Model,
    Test,
}

impl FirstTime<'_> {
    /// A provider that was tested, or that is wanted all the same.
    fn draft(&self) -> Result<Option<Draft>> {
        let names = KINDS.map(|(shown, ..)| shown.to_owned());
        let Some(place) = pick("Whose model?", &names, self.look)? else { return Ok(None) };
        let (_, name, kind) = KINDS[place];
        let mut draft = Draft { name, kind, base_url: None, key: Key::None, model: String::new() };
        let mut step = if draft.is_own() { Step::Address } else { Step::Key };
        loop {
            let next = match step {
                Step::Address => self.address(&mut draft)?.map(|()| Step::Key),
                Step::Key => self.key(&mut draft)?.map(|()| Step::Model),
                Step::Model => self.model(&mut draft)?.map(|()| Step::Test),
                Step::Test => match self.test(&draft) {
                    Ok(()) => {
                        say("it works");
                        return Ok(Some(draft));
                    }
                    Err(error) => {
                        say(&format!("it did not work: {error:#}"));
                        match self.what_now(&draft)? {
                            Some(None) => return Ok(Some(draft)),
                            other => other.flatten(),
                        }
                    }
                },
            };
            match next {
                Some(next) => step = next,
                None => return Ok(None),
            }
        }
    }

    fn address(&self, draft: &mut Draft) -> Result<Option<()>> {
        let begun = draft.base_url.as_deref().unwrap_or(OWN_SERVER);
        let Some(answer) = self.asked("Its address: ", begun)? else { return Ok(None) };
        draft.base_url = Some(answer);
        Ok(Some(()))
    }

    /// A key, the name of a variable that has one, or none.
    fn key(&self, draft: &mut Draft) -> Result<Option<()>> {
        let none = if draft.is_own() { "nothing if it wants none" } else { "nothing to name a variable" };
        let prompt = format!("Its key (not shown, kept encrypted; {none}): ");
        let Asked::Answer(key) = secret(&prompt)? else { return Ok(None) };
        draft.key = match key.as_str() {
            "" if draft.is_own() => Key::None,
            "" => {
                let prompt = "The variable with the key: ";
                let Some(name) = self.asked(prompt, draft.kind.default_key_env())? else { return Ok(None) };
                Key::Variable(name)
            }
            key => Key::Typed(Secret::new(key)),
        };
        Ok(Some(()))
    }

    fn model(&self, draft: &mut Draft) -> Result<Option<()>> {
        let listed = self.ask_server(draft, async |client| client.models().await);
        // Not every server has a list; whatever else is wrong, the test will say it.
        let models = listed.unwrap_or_default();
        if !models.is_empty() {
            let more = models.len().saturating_sub(SHOWN);
            let rest = if more > 0 { format!(" … and {more} more") } else { String::new() };
            let shown: Vec<&str> = models.iter().take(SHOWN).map(String::as_str).collect();
            say(&format!("it has: {}{rest}", shown.join(", ")));
        }
        loop {
            let prompt =
                if models.is_empty() { "Its model's name: " } else { "Which model? (Tab completes) " };
            let Asked::Answer(model) = question(self.look, prompt, &draft.model, &models)? else {
                return Ok(None);
            };
            if !model.is_empty() {
                draft.model = model;
                return Ok(Some(()));
            }
            if !self.look.redraws {
                // The end of the input looks like an empty line there.
                return Ok(None);
            }
        }
    }

    /// One tiny request.
    fn test(&self, draft: &Draft) -> Result<()> {
        say(&format!("asking {} …", visible(&draft.model)));
        self.ask_server(draft, async |client| {
            let messages = [Message::user("Say OK.")];
            let request = Request {
                model: &draft.model,
                system: "",
                messages: &messages,
                tools: Offer::default(),
                reveal: Reveal::Append,
                max_tokens: Some(64),
                effort: None,
                cache_key: None,
            };
            let mut stream = client.stream(&request)?;
            while let Some(event) = stream.next().await {
                if let StreamEvent::Done { .. } = event? {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The step to go on with; none to keep it as it is; nothing to leave.
    fn what_now(&self, draft: &Draft) -> Result<Option<Option<Step>>> {
        let mut choices = vec![("another model", Some(Step::Model)), ("another key", Some(Step::Key))];
        if draft.is_own() {
            choices.push(("another address", Some(Step::Address)));
        }
        choices.push(("the same again", Some(Step::Test)));
        choices.push(("keep it as it is", None));
        let rows: Vec<String> = choices.iter().map(|(shown, _)| (*shown).to_owned()).collect();
        Ok(pick("What now?", &rows, self.look)?.map(|place| choices[place].1))
    }

    fn ask_server<T>(
        &self,
        draft: &Draft,
        ask: impl AsyncFnOnce(ProviderClient) -> std::result::Result<T, ProviderError>,
    ) -> Result<T> {
        let key = match &draft.key {
            Key::None => None,
            Key::Typed(key) => Some(key.clone()),
            Key::Variable(name) => provider::key(self.session, draft.kind, Some(name), None)?,
        };
        let config = ProviderConfig {
            base_url: draft.base_url.clone(),
            key,
            key_env: draft.key_env(),
            // Somebody is waiting, and can say it again.
            retries: Retries { times: 0, ..Retries::default() },
            ..ProviderConfig::new(draft.kind)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = ProviderClient::new(config).map(|client| runtime.block_on(ask(client)));
        asked.and_then(|answer| answer).map_err(|error| match &error.hint {
            Some(hint) => anyhow::anyhow!("{} ({})", visible(&error.to_string()), visible(hint)),
            None => anyhow::anyhow!("{}", visible(&error.to_string())),
        })
    }

    fn asked(&self, prompt: &str, begun: &str) -> Result<Option<String>> {
        Ok(match question(self.look, prompt, begun, &[])? {
            Asked::Answer(answer) => Some(answer),
            Asked::Left => None,
        })
    }
}

impl Draft {
    fn is_own(&self) -> bool {
        self.name == "own"
    }

    /// The variable that will have the key.
    fn key_env(&self) -> Option<String> {
        match &self.key {
            Key::None => None,
            Key::Typed(_) if self.is_own() => Some("OWN_API_KEY".to_owned()),
            Key::Typed(_) => Some(self.kind.default_key_env().to_owned()),
            Key::Variable(name) => Some(name.clone()),
        }
    }
}

/// The key first: a configuration must not name a variable that is not there.
fn keep(home: &Home, draft: &Draft) -> Result<()> {
    let key_env = draft.key_env();
    if let (Key::Typed(key), Some(name)) = (&draft.key, &key_env) {
        env::open(home)?.set(name, key.expose()).context("the key could not be kept")?;
    }
    ConfigFile::edit(home.config_file(), |document| {
        let mut written = Table::new();
        written.insert("type", value(draft.kind.name()));
        let optional = [("base_url", &draft.base_url), ("api_key_env", &key_env)];
        for (key, text) in optional {
            if let Some(text) = text {
                written.insert(key, value(text));
            }
        }
        written.insert("model", value(&draft.model));
        table(document, "providers")?.insert(draft.name, Item::Table(written));
        Ok(())
    })
    .map(drop)
}

fn say(text: &str) {
    write_stdout(format!("{text}\n").as_bytes());
}
