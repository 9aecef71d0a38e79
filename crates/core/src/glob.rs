//! The pattern language of policy rules: `*` stands for any text, `?` for one character,
//! and `\` takes the next character as it is. Nothing else is special, so that commands and
//! URLs can be written as they are.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// A pattern that matches exactly this text.
    pub fn exactly(text: &str) -> Self {
        let mut pattern = String::with_capacity(text.len());
        for c in text.chars() {
            if matches!(c, '*' | '?' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        Self(pattern)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the whole text matches. Linear in practice: only the last `*` is retried.
    pub fn matches(&self, text: &str) -> bool {
        let (mut pattern, mut text) = (self.0.chars(), text.chars());
        // What follows the last `*`, and the text from where that was tried.
        let mut retry = None;
        while !text.as_str().is_empty() {
            let before = text.clone();
            let fits = match pattern.next() {
                Some('*') => {
                    retry = Some((pattern.clone(), before));
                    continue;
                }
                Some('?') => text.next().is_some(),
                Some('\\') => text.next() == Some(pattern.next().unwrap_or('\\')),
                literal => text.next() == literal,
            };
            if !fits {
                let Some((after, from)) = &mut retry else { return false };
                from.next();
                (pattern, text) = (after.clone(), from.clone());
            }
        }
        pattern.all(|c| c == '*')
    }
}

impl std::fmt::Display for Glob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("git *", "git status", true),
            ("git *", "git", false),
            ("git *", "legit status", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b", false),
            ("?at", "cat", true),
            ("?at", "at", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("http://[::1]/*", "http://[::1]/x", true),
        ];
        for (pattern, text, matches) in cases {
            assert_eq!(Glob::new(pattern).matches(text), matches, "{pattern} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn exactly_matches_itself_and_no_other(text in ".*", other in ".*") {
            let glob = Glob::exactly(&text);
            proptest::prop_assert!(glob.matches(&text));
            proptest::prop_assert_eq!(glob.matches(&other), text == other);
        }
    }
}
