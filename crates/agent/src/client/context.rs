//! What an error about one request may say, and what it must not: the key.

use pinza_host::secrets::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::ProviderConfig;
use crate::{
    providers::{Encoded, ProviderError, ProviderErrorKind, ProviderKind, Request, adapter},
    reveal::Reveal,
};

/// Shorter ones are no secrets: servers that want no key are given words like `none`.
const SHORTEST_KEY: usize = 8;

/// How much of a server's own words an error repeats.
const QUOTE: usize = 600;

#[derive(Debug)]
pub(super) struct Context {
    kind: ProviderKind,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// The URL without credentials and query.
    shown_url: String,
    model: String,
    reveal: Reveal,
    key: Option<Secret>,
    key_name: String,
}

impl Context {
    pub(super) fn new(
        config: &ProviderConfig,
        base: &Url,
        encoded: &Encoded,
        request: &Request<'_>,
    ) -> Result<Self, ProviderError> {
        let key = config.key.as_ref().map(|key| Secret::new(key.expose().trim()));
        let key = key.filter(|key| !key.expose().is_empty());
        if key.is_none() && config.base_url.is_none() {
            let message = format!("there is no key for {}: set {}", config.kind, config.key_name());
            return Err(ProviderError::new(ProviderErrorKind::Unauthorized, message));
        }
        let url = join(base, encoded);
        let mut shown = url.clone();
        // These fail only for URLs that cannot have such parts.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        Ok(Self {
            kind: config.kind,
            headers: headers(config, encoded, key.as_ref())?,
            shown_url: pinza_core::visible(shown.as_str()),
            url,
            model: pinza_core::visible(request.model),
            reveal: request.reveal,
            key,
            key_name: config.key_name().to_owned(),
        })
    }

    /// The error as a person should read it: with what we know beside what the server says, and
    /// without the key, wherever the server put it.
    pub(super) fn dress(&self, mut error: ProviderError) -> ProviderError {
        let said = self.quote(&error.message);
        let (message, hint) = match error.kind {
            ProviderErrorKind::Unauthorized if self.key.is_none() => {
                (format!("{said}; no key was sent: set {}", self.key_name), None)
            }
            ProviderErrorKind::Unauthorized => {
                let hint = "the key may be wrong, expired, or not allowed to use this model";
                (format!("{said}; the key came from {}", self.key_name), Some(hint.to_owned()))
            }
            ProviderErrorKind::ModelNotFound => (
                format!("the model '{}' was not found at {}: {said}", self.model, self.shown_url),
                Some("check the model's name and the base URL".to_owned()),
            ),
            ProviderErrorKind::ContextTooLong => {
                (format!("the conversation is too long for '{}': {said}", self.model), None)
            }
            ProviderErrorKind::Unreachable => (
                format!("cannot reach {} at {}: {said}", self.kind, self.shown_url),
                Some("is the server running, and the base URL right?".to_owned()),
            ),
            ProviderErrorKind::BadRequest if self.is_about_reveal(&said) => {
                let hint = format!("'{}' may not know deferred tools: use --reveal append", self.model);
                (said, Some(hint))
            }
            ProviderErrorKind::TimedOut | ProviderErrorKind::Truncated => {
                (format!("{said} ({})", self.shown_url), None)
            }
            _ => (said, None),
        };
        error.message = message;
        error.hint = error.hint.map(|hint| self.quote(&hint)).or(hint);
        error
    }

    /// Whether a server complains of what only the `native` way to reveal sends.
    fn is_about_reveal(&self, said: &str) -> bool {
        let words = ["defer_loading", "tool_reference", "tool_search", "namespace"];
        self.reveal == Reveal::Native && words.iter().any(|word| said.contains(word))
    }

    /// Somebody else's words: without the key, and not all of them.
    fn quote(&self, said: &str) -> String {
        let said = self.scrub(said);
        let mut shown: String = said.chars().take(QUOTE).collect();
        if shown.len() < said.len() {
            shown.push('…');
        }
        shown
    }

    fn scrub(&self, text: &str) -> String {
        match &self.key {
            Some(key) if key.expose().len() >= SHORTEST_KEY => text.replace(key.expose(), "[key]"),
            _ => text.to_owned(),
        }
    }
}

/// The path below the base; a version that both name stands once.
fn join(base: &Url, encoded: &Encoded) -> Url {
    let mut url = base.clone();
    let before = base.path().trim_end_matches('/');
    let version = before.rsplit('/').next().unwrap_or_default();
    let repeated = format!("/{version}/");
    let path = match encoded.path.strip_prefix(&repeated) {
        Some(rest) if !version.is_empty() => format!("{before}/{rest}"),
        _ => format!("{before}{}", encoded.path),
    };
    url.set_path(&path);
    let queries: Vec<&str> = base.query().into_iter().chain(encoded.query).collect();
    url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
    url.set_fragment(None);
    url
}

fn headers(
    config: &ProviderConfig,
    encoded: &Encoded,
    key: Option<&Secret>,
) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &encoded.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key {
        let (name, before) = adapter(config.kind).authorization();
        let value = zeroize::Zeroizing::new(format!("{before}{}", key.expose()));
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = format!("the key in {} has characters that no key has", config.key_name());
            ProviderError::new(ProviderErrorKind::Unauthorized, message)
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-very-secret-key";

    fn context(
        kind: ProviderKind,
        base: &str,
        path: &str,
        key: Option<&str>,
    ) -> Result<Context, ProviderError> {
        let mut config = ProviderConfig::new(kind);
        config.base_url = Some(base.to_owned());
        config.key = key.map(Secret::new);
        let encoded =
            Encoded { path: path.into(), query: None, headers: Vec::new(), body: Default::default() };
        Context::new(&config, &config.base().unwrap(), &encoded, &request())
    }

    fn request() -> Request<'static> {
        let (tools, reveal) = (crate::Offer::default(), Reveal::Native);
        let (max_tokens, effort, cache_key) = (None, None, None);
        Request { model: "m", system: "", messages: &[], tools, reveal, max_tokens, effort, cache_key }
    }

    #[test]
    fn a_model_that_does_not_know_deferred_tools_is_named() {
        let context = context(ProviderKind::Anthropic, "http://h", "/x", None).unwrap();
        let dressed =
            |said: &str| context.dress(ProviderError::new(ProviderErrorKind::BadRequest, said)).hint;
        let hint = "'m' may not know deferred tools: use --reveal append";
        assert_eq!(dressed("tools.2.defer_loading: Extra inputs are not permitted").as_deref(), Some(hint));
        assert_eq!(dressed("messages: too few"), None);
    }

    #[test]
    fn paths_come_after_the_base_and_versions_once() {
        use ProviderKind as Kind;
        for (kind, base, path, url) in [
            (Kind::OpenAi, "http://h/v1", "/chat/completions", "http://h/v1/chat/completions"),
            (Kind::OpenAi, "http://h/v1/", "/chat/completions", "http://h/v1/chat/completions"),
            (Kind::OpenAi, "http://h/x/y?a=b", "/responses", "http://h/x/y/responses?a=b"),
            (Kind::Anthropic, "http://h", "/v1/messages", "http://h/v1/messages"),
            (Kind::Anthropic, "http://h/v1", "/v1/messages", "http://h/v1/messages"),
            (Kind::Anthropic, "http://h/anthropic/", "/v1/messages", "http://h/anthropic/v1/messages"),
            (Kind::Gemini, "http://h/v1beta", "/v1beta/models/m:s", "http://h/v1beta/models/m:s"),
        ] {
            assert_eq!(context(kind, base, path, None).unwrap().url.as_str(), url);
        }
    }

    #[test]
    fn no_error_holds_the_key() {
        let context = context(ProviderKind::OpenAi, "http://u:pw@h/v1?k=q", "/x", Some(KEY)).unwrap();
        for kind in [
            ProviderErrorKind::Unauthorized,
            ProviderErrorKind::ModelNotFound,
            ProviderErrorKind::Unreachable,
            ProviderErrorKind::Server,
        ] {
            let error = ProviderError::new(kind, format!("you sent {KEY}!")).hint(KEY);
            let error = context.dress(error);
            let shown = format!("{error} {error:?} {context:?}");
            assert!(!shown.contains(KEY), "{shown}");
            assert!(error.message.contains("[key]"), "{error}");
            assert!(!error.message.contains("pw") && !error.message.contains("k=q"), "{error}");
        }
    }

    #[test]
    fn a_servers_words_are_bounded_and_half_a_key_is_not_left_over() {
        let context = context(ProviderKind::OpenAi, "http://h", "/x", Some(KEY)).unwrap();
        for start in QUOTE - 40..QUOTE {
            let said = format!("\u{1b}[2J{}{KEY}{}", "x".repeat(start), "y".repeat(5000));
            let body = serde_json::json!({ "error": { "message": said } });
            let error = context.dress(crate::providers::answered(400, &body));
            assert!(error.message.starts_with("the provider answered 400: \\u{1b}[2Jxxx"), "{error}");
            assert!(error.message.chars().count() <= QUOTE + 1);
            assert!(error.message.ends_with('…') && !error.message.contains("sk-"), "{error}");
        }
    }

    #[test]
    fn a_wrong_or_missing_key_is_named_by_its_variable() {
        let error = || ProviderError::new(ProviderErrorKind::Unauthorized, "the provider answered 401");
        let with = context(ProviderKind::OpenAi, "http://h", "/x", Some(KEY)).unwrap().dress(error());
        assert_eq!(with.message, "the provider answered 401; the key came from OPENAI_API_KEY");
        let without = context(ProviderKind::Gemini, "http://h", "/x", None).unwrap().dress(error());
        assert_eq!(without.message, "the provider answered 401; no key was sent: set GEMINI_API_KEY");
        let odd = context(ProviderKind::OpenAi, "http://h", "/x", Some("sk-\n-secret")).unwrap_err();
        assert_eq!(odd.message, "the key in OPENAI_API_KEY has characters that no key has");
        let config = ProviderConfig::new(ProviderKind::Anthropic);
        let encoded =
            Encoded { path: "/x".into(), query: None, headers: Vec::new(), body: Default::default() };
        let none = Context::new(&config, &config.base().unwrap(), &encoded, &request()).unwrap_err();
        assert_eq!(none.message, "there is no key for anthropic: set ANTHROPIC_API_KEY");
    }
}
