//! The pattern language of policy rules: `*` stands for any text, `?` for one character,
//! and `\` takes the next character as it is. Nothing else is special, so that commands and
//! URLs can be written as they are.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

enum Token {
    Any,
    One,
    Literal(char),
}

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
        let tokens = self.tokens();
        let text: Vec<char> = text.chars().collect();
        let (mut t, mut c) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while c < text.len() {
            match tokens.get(t) {
                Some(Token::Any) => {
                    retry = Some((t, c));
                    t += 1;
                    continue;
                }
                Some(Token::One) => {
                    t += 1;
                    c += 1;
                    continue;
                }
                Some(Token::Literal(literal)) if *literal == text[c] => {
                    t += 1;
                    c += 1;
                    continue;
                }
                _ => {}
            }
            let Some((star, start)) = retry else { return false };
            retry = Some((star, start + 1));
            t = star + 1;
            c = start + 1;
        }
        tokens[t..].iter().all(|token| matches!(token, Token::Any))
    }

    fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(self.0.len());
        let mut chars = self.0.chars();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Any,
                '?' => Token::One,
                '\\' => Token::Literal(chars.next().unwrap_or('\\')),
                c => Token::Literal(c),
            });
        }
        tokens
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
