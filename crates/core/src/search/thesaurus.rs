//! Concepts: words that mean about the same to somebody who looks for a tool.
//!
//! A concept is indexed like a word, so that it is worth what its rarity in the catalog says:
//! *get* is in half of all tools and finds nothing, *lawyer* finds the one tool about *legal* texts.

use std::{collections::HashMap, sync::LazyLock};

use super::words::stem;

static CONCEPTS: LazyLock<HashMap<String, Vec<u16>>> = LazyLock::new(|| parse(include_str!("thesaurus.txt")));

/// The concepts of a stem.
pub(super) fn concepts(stem: &str) -> &'static [u16] {
    CONCEPTS.get(stem).map_or(&[], Vec::as_slice)
}

fn parse(text: &str) -> HashMap<String, Vec<u16>> {
    let mut concepts: HashMap<String, Vec<u16>> = HashMap::new();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for (number, line) in (0..).zip(lines) {
        for word in line.split_whitespace() {
            let of_word = concepts.entry(stem(word).into_owned()).or_default();
            if of_word.last() != Some(&number) {
                of_word.push(number);
            }
        }
    }
    concepts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_share_a_concept() {
        let share = |a: &str, b: &str| concepts(&stem(a)).iter().any(|it| concepts(&stem(b)).contains(it));
        assert!(share("deleting", "removes"));
        assert!(share("lawyer", "legal"));
        assert!(!share("lawyer", "weather"));
    }
}
