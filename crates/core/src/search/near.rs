//! Words that the catalog does not have, but almost: one letter off.
//!
//! Each word is kept under all its forms with one letter left out; two words with a common
//! form are at most a few letters apart. That is a few look-ups for an unknown word, where
//! comparing it with every known one would take milliseconds.

use std::collections::HashMap;

use super::index::Term;

/// Shorter words have too many neighbours that mean something else.
const SHORTEST: usize = 5;
/// Nobody mistypes words that are longer; a hostile one would have many forms.
const LONGEST: usize = 24;

#[derive(Debug, Default)]
pub(super) struct NearWords {
    forms: HashMap<Box<str>, Vec<Term>>,
    words: HashMap<Term, Box<str>>,
}

impl NearWords {
    pub(super) fn new<'a>(words: impl Iterator<Item = (&'a str, Term)>) -> Self {
        let mut near = Self::default();
        for (word, term) in words.filter(|(word, _)| is_fit(word)) {
            near.words.insert(term, word.into());
            for form in forms(word) {
                near.forms.entry(form.into()).or_default().push(term);
            }
        }
        near
    }

    /// The known words one mistake away: a letter too few, too many, wrong, or two swapped.
    pub(super) fn to(&self, word: &str) -> impl Iterator<Item = Term> {
        let mut found: Vec<Term> = Vec::new();
        if is_fit(word) {
            for term in forms(word).iter().filter_map(|form| self.forms.get(form.as_str())).flatten() {
                let is_near = || strsim::osa_distance(word, &self.words[term]) == 1;
                if !found.contains(term) && is_near() {
                    found.push(*term);
                }
            }
        }
        found.into_iter()
    }
}

fn is_fit(word: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&word.chars().count()) && !word.contains(|c: char| c.is_ascii_digit())
}

/// The word itself and the word without each of its letters.
fn forms(word: &str) -> Vec<String> {
    let without = |skipped: usize| {
        word.chars().enumerate().filter(|(at, _)| *at != skipped).map(|(_, letter)| letter).collect()
    };
    (0..=word.chars().count()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_is_forgiven() {
        let near = NearWords::new([("calendar", 1), ("weather", 2), ("read", 3)].into_iter());
        for (word, expected) in [
            ("calender", vec![1]),
            ("calndar", vec![1]),
            ("caelndar", vec![1]),
            ("weatherr", vec![2]),
            ("wetahr", vec![]),
            ("reed", vec![]),
        ] {
            assert_eq!(near.to(word).collect::<Vec<_>>(), expected, "{word}");
        }
    }
}
