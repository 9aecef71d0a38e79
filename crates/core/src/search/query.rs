//! A request in words, taken apart: its clauses, and how many things it asks for.

use super::words::words;

/// More words than a request has. What a hostile caller adds beyond costs nothing.
const MAX_WORDS: usize = 400;
const MAX_CLAUSES: usize = 32;
/// Fewer words do not make a request of their own.
const REQUEST_WORDS: usize = 3;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Query {
    /// The meaningful words of each clause, in order.
    pub(super) clauses: Vec<Vec<String>>,
    /// How many things are asked for, one after the other; at least one.
    pub(super) requests: usize,
}

/// How much of a break there is between two words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    None,
    /// Of a clause: a comma, *and*.
    Clause,
    /// Of a request: a full stop, *then*.
    Request,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let mut query = Self { clauses: vec![Vec::new()], requests: 0 };
        let mut in_request = 0;
        for token in text.split_inclusive(char::is_whitespace).take(MAX_WORDS) {
            let (before, after) = breaks(token);
            if before != Break::None {
                query.end(before, &mut in_request);
                continue;
            }
            let clause = query.clauses.len() - 1;
            for word in words(token) {
                in_request += 1;
                query.clauses[clause].push(word);
            }
            query.end(after, &mut in_request);
        }
        query.end(Break::Request, &mut in_request);
        query.clauses.retain(|clause| !clause.is_empty());
        query.requests = query.requests.max(1);
        query
    }

    fn end(&mut self, kind: Break, in_request: &mut usize) {
        if kind == Break::Request {
            self.requests += usize::from(*in_request >= REQUEST_WORDS);
            *in_request = 0;
        }
        let is_begun = self.clauses.last().is_some_and(|clause| !clause.is_empty());
        if kind != Break::None && is_begun && self.clauses.len() < MAX_CLAUSES {
            self.clauses.push(Vec::new());
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().flatten().map(String::as_str)
    }
}

/// The break that a token *is* (a conjunction), and the one that follows it.
fn breaks(token: &str) -> (Break, Break) {
    let bare = token.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    let is = match bare.as_str() {
        "and" | "or" | "but" => Break::Clause,
        "then" | "also" | "finally" | "additionally" | "afterwards" | "next" | "lastly" | "furthermore"
        | "moreover" | "once" => Break::Request,
        _ => Break::None,
    };
    let after = if token.contains('\n') {
        Break::Request
    } else {
        let closing = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ']' | '”' | '’');
        match token.trim_end_matches(closing).chars().last() {
            Some('.' | '!' | '?' | ';' | '。' | '！' | '？') => Break::Request,
            Some(',' | ':') => Break::Clause,
            _ => Break::None,
        }
    };
    (is, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, requests: usize, clauses: &[&str]) {
        let query = Query::parse(text);
        let found: Vec<String> = query.clauses.iter().map(|clause| clause.join(" ")).collect();
        assert_eq!(found, clauses, "{text}");
        assert_eq!(query.requests, requests, "{text}");
    }

    #[test]
    fn a_request_falls_into_clauses() {
        check("resize the image", 1, &["resize image"]);
        check("Resize the big image, and rotate it", 1, &["resize big image", "rotate"]);
        check(
            "Find the cheapest flights to Oslo. Then book \"Hotel Bristol\" for two nights.",
            2,
            &["find cheapest flights oslo", "book hotel bristol nights"],
        );
        check("", 1, &[]);
        check("please, could you?", 1, &[]);
    }

    #[test]
    fn a_request_without_end_is_cut() {
        let query = Query::parse(&"alpha, ".repeat(100_000));
        assert_eq!(query.words().count(), MAX_WORDS);
        assert_eq!(query.clauses.len(), MAX_CLAUSES);
    }
}
