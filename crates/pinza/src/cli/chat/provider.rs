//! Which model is asked, and with which key.

use std::process::Command;

use anyhow::{Context, bail};
use pinza::{
    agent::{Limits, ProviderClient, ProviderConfig, ProviderKind, Reveal, Setup},
    core::visible,
    host::secrets::Secret,
};

use super::super::{Result, args::Chat, env, session::Session};
use crate::{
    config::{AgentTable, ProviderTable},
    terminal::with_signals,
};

/// What an agent is told where nobody says otherwise.
const PROMPT: &str = "You are a helpful assistant with tools. Use them where they help, several at once where they do not \
                      depend on each other, and say plainly what you did and found.";

/// There is nobody to talk with yet.
#[derive(Debug, thiserror::Error)]
#[error(
    "no model is set up
hint: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and say --model, or
hint: use a server of your own: --provider openai --base-url http://127.0.0.1:11434/v1 --model NAME, or
hint: write [providers.NAME] with type and model to config.toml: pinza config edit"
)]
pub(super) struct NothingSetUp;

pub(super) fn setup(session: &Session, chat: &Chat, agent: &AgentTable) -> Result<Setup> {
    let table = table(session, chat, agent)?;
    let kind = table.kind;
    let model = chat.model.clone().or_else(|| agent.model.clone()).or_else(|| table.model.clone());
    let Some(model) = model else {
        bail!("which model of {kind}? Say it with --model, or as model in config.toml");
    };
    let base_url = chat.base_url.clone().or_else(|| table.base_url.clone());
    let key_env = chat.api_key_env.clone().or_else(|| table.api_key_env.clone());
    let key = key(session, kind, key_env.as_deref(), table.api_key_command.as_deref())?;
    let reveal = chat.reveal.or(table.reveal).unwrap_or_else(|| Reveal::default_for(kind));
    if !reveal.works_with(kind) {
        bail!(
            "{kind} has no way to defer tools: --reveal {reveal} works with anthropic and openai-responses"
        );
    }
    // Said before anything is begun. Servers at home want no key.
    if key.is_none() && base_url.is_none() {
        let name = kind.default_key_env();
        bail!(
            "there is no key for {kind}\nhint: set {name}, or keep it: pinza env set {name}; a server of your own is named with --base-url"
        );
    }
    let config = ProviderConfig { base_url, key, key_env, ..ProviderConfig::new(kind) };
    let client = ProviderClient::new(config).map_err(|error| match error.hint.clone() {
        Some(hint) => anyhow::anyhow!("{error}\nhint: {hint}"),
        None => anyhow::anyhow!("{error}"),
    })?;
    let window = table.window.unwrap_or_else(|| default_window(kind));
    Ok(Setup {
        client,
        model,
        reveal,
        prompt: agent.system_prompt.clone().unwrap_or_else(|| PROMPT.to_owned()),
        limits: Limits { rounds: agent.rounds.unwrap_or(Limits::ROUNDS), tokens: agent.tokens, window },
        max_tokens: table.max_tokens,
        effort: table.effort,
    })
}

/// The provider that was named; else the only one that is set up, here or in the environment.
fn table(session: &Session, chat: &Chat, agent: &AgentTable) -> Result<ProviderTable> {
    let configured = &session.config.providers;
    if let Some(name) = chat.provider.as_ref().or(agent.provider.as_ref()) {
        if let Some(table) = configured.get(name) {
            return Ok(table.clone());
        }
        let Ok(kind) = name.parse() else {
            let names =
                configured.keys().map(String::as_str).chain(ProviderKind::ALL.map(ProviderKind::name));
            let known = names.collect::<Vec<_>>().join(", ");
            bail!("there is no provider '{}'; there are: {known}", visible(name));
        };
        return Ok(plain(kind));
    }
    if let Some((_, first)) = configured.first() {
        return Ok(first.clone());
    }
    match of_environment() {
        Some(kind) => Ok(plain(kind)),
        None => Err(NothingSetUp.into()),
    }
}

/// The provider that a talk would be with where nobody says otherwise: its name, and the model if one is set.
pub(in crate::cli) fn known(session: &Session) -> Option<(String, Option<String>)> {
    match session.config.providers.first() {
        Some((name, table)) => Some((name.clone(), table.model.clone())),
        None => of_environment().map(|kind| (kind.name().to_owned(), None)),
    }
}

/// The first provider whose key is in the environment.
fn of_environment() -> Option<ProviderKind> {
    let has_key =
        |kind: &ProviderKind| std::env::var_os(kind.default_key_env()).is_some_and(|key| !key.is_empty());
    [ProviderKind::Anthropic, ProviderKind::OpenAi, ProviderKind::Gemini].into_iter().find(has_key)
}

fn plain(kind: ProviderKind) -> ProviderTable {
    ProviderTable {
        kind,
        base_url: None,
        api_key_env: None,
        api_key_command: None,
        model: None,
        reveal: None,
        effort: None,
        max_tokens: None,
        window: None,
    }
}

/// From the environment, from the encrypted store, or from a command.
pub(super) fn key(
    session: &Session,
    kind: ProviderKind,
    variable: Option<&str>,
    command: Option<&[String]>,
) -> Result<Option<Secret>> {
    let name = variable.unwrap_or(kind.default_key_env());
    if let Some(value) = std::env::var(name).ok().filter(|value| !value.is_empty()) {
        return Ok(Some(Secret::new(value)));
    }
    if let Some(kept) = env::open(&session.home)?.get(name).ok().flatten() {
        return Ok(Some(kept));
    }
    if let Some(command) = command {
        return from_command(command).map(Some);
    }
    // Servers at home want none; whoever names a variable wants it used.
    match variable {
        Some(name) => {
            bail!("there is no key in {}: set it, or keep it with pinza env set {0}", visible(name))
        }
        None => Ok(None),
    }
}

fn from_command(command: &[String]) -> Result<Secret> {
    let [program, arguments @ ..] = command else { bail!("api_key_command is empty") };
    let mut asking = Command::new(program);
    asking.args(arguments).stdin(std::process::Stdio::null());
    let output = with_signals(|| asking.output())
        .with_context(|| format!("cannot run {} for the key", visible(program)))?;
    if !output.status.success() {
        // What it printed may be half a key.
        bail!("{} gave no key: {}", visible(program), output.status);
    }
    let key = String::from_utf8(output.stdout).context("the key is not text")?;
    Ok(Secret::new(key.trim_end_matches(['\r', '\n'])))
}

/// What the makers' present models have at least; a configuration knows better.
fn default_window(kind: ProviderKind) -> u64 {
    match kind {
        ProviderKind::OpenAi | ProviderKind::OpenAiResponses => 128_000,
        ProviderKind::Anthropic => 200_000,
        ProviderKind::Gemini => 1_000_000,
    }
}
