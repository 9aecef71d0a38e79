//! `[net.rewrite]`: the user's own detours, such as an API's origin to a local stand-in.
//!
//! A rule matches whole origins and whole path segments, never bare text: a rule for
//! `https://api.example.com` must not send `https://api.example.com.evil` anywhere.

use url::Url;

use super::request::{has_userinfo, is_web};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("net.rewrite: '{text}' is not a plain http or https URL")]
pub struct RewriteError {
    pub text: String,
}

/// The rules, the longest path first, so that the most specific one wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Rewrites(Vec<(Url, Url)>);

impl Rewrites {
    pub(super) fn new(rules: &[(String, String)]) -> Result<Self, RewriteError> {
        let pair = |(from, to): &(String, String)| Ok((plain_url(from)?, plain_url(to)?));
        let mut rules = rules.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
        rules.sort_by_key(|(from, _)| std::cmp::Reverse(base(from).len()));
        Ok(Self(rules))
    }

    /// Where `url` goes instead; its query and credentials go along.
    pub(super) fn apply(&self, url: &Url) -> Option<Url> {
        self.0.iter().find_map(|(from, to)| {
            let rest = remainder(from, url)?;
            let mut target = to.clone();
            target.set_path(&format!("{}{rest}", base(to)));
            target.set_query(url.query());
            // A web URL can always carry credentials.
            let _ = target.set_username(url.username());
            let _ = target.set_password(url.password());
            Some(target)
        })
    }
}

/// The path of `url` below `from`: empty, or beginning with a slash.
fn remainder<'a>(from: &Url, url: &'a Url) -> Option<&'a str> {
    let rest = url.path().strip_prefix(base(from))?;
    (from.origin() == url.origin() && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

fn base(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

fn plain_url(text: &str) -> Result<Url, RewriteError> {
    let plain =
        |url: &Url| is_web(url) && !has_userinfo(url) && url.query().is_none() && url.fragment().is_none();
    Url::parse(text).ok().filter(plain).ok_or_else(|| RewriteError { text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(rules: &[(&str, &str)], url: &str) -> Option<String> {
        let rules: Vec<_> = rules.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Some(Rewrites::new(&rules).unwrap().apply(&Url::parse(url).unwrap())?.into())
    }

    #[test]
    fn rules_match_origins_and_whole_segments() {
        let rules = [
            ("https://api.example.com", "http://127.0.0.1:9000"),
            ("https://api.example.com/v1/", "http://127.0.0.1:9001/base/"),
        ];
        let cases = [
            ("https://api.example.com", Some("http://127.0.0.1:9000/")),
            ("https://api.example.com:443/a?q=1", Some("http://127.0.0.1:9000/a?q=1")),
            ("https://API.example.com/a/../b", Some("http://127.0.0.1:9000/b")),
            ("https://u:p@api.example.com/a", Some("http://u:p@127.0.0.1:9000/a")),
            ("https://api.example.com/v1", Some("http://127.0.0.1:9001/base")),
            ("https://api.example.com/v1/x", Some("http://127.0.0.1:9001/base/x")),
            ("https://api.example.com/v10", Some("http://127.0.0.1:9000/v10")),
            ("https://api.example.com.evil/", None),
            ("https://api.example.com@evil/", None),
            ("https://api.example.com:444/", None),
            ("http://api.example.com/", None),
            ("https://evil/https://api.example.com", None),
        ];
        for (url, target) in cases {
            assert_eq!(rewritten(&rules, url).as_deref(), target, "{url}");
        }
    }

    #[test]
    fn a_rule_is_a_plain_url() {
        for bad in ["", "api.example.com", "file:///etc", "http://u@host", "http://host/?q", "http://h/#f"] {
            let rule = (bad.to_owned(), "http://127.0.0.1".to_owned());
            assert_eq!(Rewrites::new(&[rule]).unwrap_err().text, bad);
        }
    }
}
