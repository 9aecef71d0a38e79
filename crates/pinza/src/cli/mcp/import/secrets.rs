//! Names for what is kept encrypted, and what must not be shown of an entry.

use std::collections::BTreeMap;

use toml_edit::{Item, Table, Value};

/// Words in the name of an option whose value is nobody's business.
const TELLING: [&str; 9] =
    ["token", "secret", "password", "passwd", "key", "auth", "credential", "bearer", "pat"];

/// How well-known services begin their keys.
const BEGINNINGS: [&str; 10] =
    ["sk-", "pk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"];

/// Names of variables, and whose value each has. A name with another value is never taken.
#[derive(Default)]
pub(super) struct Names {
    /// None where the value is not known, and so never the same.
    taken: BTreeMap<String, Option<String>>,
    new: Vec<(String, String)>,
}

impl Names {
    pub(super) fn known(&mut self, name: &str, value: &str) {
        self.taken.insert(name.to_owned(), Some(value.to_owned()));
    }

    pub(super) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned(), None);
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }

    /// The name under which a server's value is kept.
    pub(super) fn keep(&mut self, server: &str, key: &str, value: &str) -> String {
        let (server, key) = (plain(server), plain(key));
        let long = format!("{server}_{key}");
        let is_its_own = key.strip_prefix(&server).is_some_and(|rest| rest.starts_with('_'));
        let short = is_its_own.then_some(key).into_iter();
        let numbered = (2_u64..).map(|number| format!("{long}_{number}"));
        for name in short.chain([long.clone()]).chain(numbered) {
            match self.taken.get(&name) {
                Some(Some(known)) if known == value => return name,
                Some(_) => {}
                None => {
                    self.known(&name, value);
                    self.new.push((name.clone(), value.to_owned()));
                    return name;
                }
            }
        }
        // Numbers do not end.
        long
    }

    /// What is to be kept that was not there before.
    pub(super) fn into_new(self) -> Vec<(String, String)> {
        self.new
    }
}

fn plain(text: &str) -> String {
    text.to_uppercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Whether a command or an address seems to hold a secret.
pub(super) fn stand_in(entry: &Table) -> bool {
    masked(entry).to_string() != entry.to_string()
}

/// The entry with `…` in place of what looks like a secret in its command or address.
pub(super) fn masked(entry: &Table) -> Table {
    let mut entry = entry.clone();
    if let Some(words) = entry.get_mut("command").and_then(Item::as_array_mut) {
        let mut follows_option = false;
        for word in words.iter_mut() {
            let Some(text) = word.as_str().map(str::to_owned) else { continue };
            let shown =
                if follows_option && !text.starts_with('-') { "…".into() } else { masked_word(&text) };
            follows_option = text.starts_with('-') && !text.contains('=') && is_telling(&text);
            if shown != text {
                *word = Value::from(shown);
            }
        }
    }
    let address = entry.get("url").and_then(Item::as_str).map(str::to_owned);
    if let Some(shown) = address.as_deref().map(masked_word).filter(|shown| Some(shown) != address.as_ref()) {
        entry.insert("url", shown.into());
    }
    entry
}

fn masked_word(word: &str) -> String {
    if let Ok(mut url) = url::Url::parse(word)
        && url.has_host()
    {
        let has_user = !url.username().is_empty() || url.password().is_some();
        if !has_user && url.query().is_none() && !url.path().split('/').any(is_like_a_key) {
            return word.to_owned();
        }
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        let path: Vec<&str> =
            url.path().split('/').map(|part| if is_like_a_key(part) { "…" } else { part }).collect();
        let host = url.host_str().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        return format!("{}://…{host}{port}{}…", url.scheme(), path.join("/"));
    }
    match word.split_once(['=', ':']) {
        Some((name, _)) if is_telling(name) => format!("{}…", &word[..=name.len()]),
        Some((name, value)) if is_like_a_key(value.trim()) => format!("{}…", &word[..=name.len()]),
        _ if is_like_a_key(word) => "…".into(),
        _ => word.to_owned(),
    }
}

fn is_telling(name: &str) -> bool {
    let name = name.to_lowercase();
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    parts.into_iter().any(|part| {
        // `apikey` and `authtoken` are written without a gap, `keyboard` is not meant.
        TELLING.iter().any(|word| part == *word || (word.len() > 2 && part.ends_with(word)))
            || part.starts_with("auth")
    })
}

/// Long and without sense.
fn is_like_a_key(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_+=".contains(c);
    let is_odd = word.len() >= 24
        && word.chars().all(is_part)
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic());
    is_odd || (word.len() >= 10 && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_value() {
        let mut names = Names::default();
        names.known("GITHUB_TOKEN", "mine");
        names.reserve("WIKI_URL");
        let cases = [
            ("git", "GITHUB_TOKEN", "a", "GIT_GITHUB_TOKEN"),
            ("github", "GITHUB_TOKEN", "b", "GITHUB_GITHUB_TOKEN"),
            ("github", "GITHUB_TOKEN", "mine", "GITHUB_TOKEN"),
            ("github", "GITHUB_HOST", "b", "GITHUB_HOST"),
            ("my-db", "url", "c", "MY_DB_URL"),
            ("my_db", "url", "d", "MY_DB_URL_2"),
            ("my_db", "URL", "c", "MY_DB_URL"),
            ("wiki", "url", "e", "WIKI_URL_2"),
        ];
        for (server, key, value, expected) in cases {
            assert_eq!(names.keep(server, key, value), expected, "{server} {key} {value}");
        }
        assert!(!names.into_new().iter().any(|(name, _)| name == "GITHUB_TOKEN"));
    }

    #[test]
    fn what_looks_like_a_secret_is_not_shown() {
        let cases = [
            (vec!["npx", "-y", "@scope/server-github", "/data/some-directory"], vec![]),
            (vec!["x", "--token", "hidden"], vec!["hidden"]),
            (vec!["x", "--api-key=hidden", "--port", "8080"], vec!["hidden"]),
            (vec!["x", "--apikey", "hidden", "seen"], vec!["hidden"]),
            (vec!["x", "sk-hidden-123456"], vec!["hidden"]),
            (vec!["x", "Authorization: Bearer hidden"], vec!["hidden"]),
            (vec!["x", "postgres://me:hidden@db/x"], vec!["hidden"]),
            (vec!["x", "https://example.com/mcp?k=hidden"], vec!["hidden"]),
        ];
        for (words, hidden) in cases {
            let mut entry = Table::new();
            entry.insert("command", Item::Value(words.iter().copied().collect::<toml_edit::Array>().into()));
            let shown = masked(&entry).to_string();
            assert_eq!(stand_in(&entry), !hidden.is_empty(), "{shown}");
            assert!(hidden.iter().all(|text| !shown.contains(text)), "{shown}");
            assert!(!words.contains(&"seen") || shown.contains("seen"), "{shown}");
        }
    }
}
