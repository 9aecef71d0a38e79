//! Text to terms: identifiers fall into their words, words that carry no meaning in a request
//! are left out, and what is left is stemmed.

use std::{borrow::Cow, collections::HashSet, sync::LazyLock};

use rust_stemmers::{Algorithm, Stemmer};

/// Words of grammar and of politeness. They say that somebody wants something, never what.
const STOP_WORDS: &str = "\
a an the of to in on at by for from with without into onto about as is are was were be been being am do does did done \
doing have has had having i me my mine myself you your yours yourself he him his she her hers it its itself we us our \
ours they them their theirs this that these those there here and or but if then else so than too very just also only \
not no nor can could would will shall should may might must please kindly help helps helping want wants wanted wanna \
need needs needed like likes let lets tell give gives giving gave show able assist assistance assisting hi hello hey \
greetings thanks thank what which who whom whose when where why how any some all each both more most other such own \
same s t d ll m re ve don doesn isn aren wasn didn won shouldn couldn wouldn once after before afterwards finally \
first firstly second secondly third next lastly additionally using use used uses utilize provide provides provided \
know up out off over under again further because while during through between until against via per looking look \
trying try interested wondering wish hope something anything someone one two three specific specified given certain \
various following certainly sure course okay ok yes oh assistant ai bot";

static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// The words of a text that mean something, in lower case: of prose, of `camelCase`,
/// `snake_case`, `kebab-case` and `utf8Text` alike.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    all_words(text).filter(|word| !STOP.contains(word.as_str()))
}

/// The same with the words that mean nothing: a name may consist of them.
pub(super) fn all_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || is_apostrophe(c)))
        .filter_map(|token| token.split(is_apostrophe).find(|part| !part.is_empty()))
        .flat_map(split)
}

/// What words are compared by: `calculating`, `calculates` and `calculate` are one.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    STEMMER.stem(word)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    /// Of a script that puts no spaces between words.
    Dense,
}

fn kind(c: char) -> Kind {
    match c {
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Kind::Dense,
        c if c.is_numeric() => Kind::Digit,
        c if c.is_uppercase() => Kind::Upper,
        _ => Kind::Lower,
    }
}

/// `parseHTTPRequest2` → parse, http, request, 2.
fn split(token: &str) -> Vec<String> {
    let letters: Vec<char> = token.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut start = 0;
    for at in 1..=letters.len() {
        let ends = at == letters.len() || {
            let (before, here) = (kind(letters[at - 1]), kind(letters[at]));
            // The last capital of a row begins a word if a small letter follows it.
            let begins_word =
                here == Kind::Upper && letters.get(at + 1).is_some_and(|c| kind(*c) == Kind::Lower);
            match (before, here) {
                (Kind::Upper, Kind::Lower) => false,
                (Kind::Upper, Kind::Upper) => begins_word,
                (before, here) => before != here,
            }
        };
        if ends {
            push(&mut parts, &letters[start..at]);
            start = at;
        }
    }
    parts
}

fn push(parts: &mut Vec<String>, letters: &[char]) {
    if letters.len() > 2 && kind(letters[0]) == Kind::Dense {
        parts.extend(letters.windows(2).map(|pair| pair.iter().collect()));
    } else {
        parts.push(letters.iter().flat_map(|c| c.to_lowercase()).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_fall_into_their_words() {
        let cases: [(&str, &[&str]); 9] = [
            ("parseHTTPRequest2", &["parse", "http", "request", "2"]),
            ("snake_case-and.dots", &["snake", "case", "dots"]),
            ("server__tool", &["server", "tool"]),
            ("URLTool", &["url", "tool"]),
            ("utf8", &["utf", "8"]),
            ("iOS", &["i", "os"]),
            ("John's dogs’ tails", &["john", "dogs", "tails"]),
            ("搜索网页", &["搜索", "索网", "网页"]),
            ("Größe messen", &["größe", "messen"]),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = all_words(text).filter(|word| word != "and").collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn words_of_asking_are_no_words_of_the_request() {
        let found: Vec<String> = words("Hello! Could you please help me to resize the images?").collect();
        assert_eq!(found, ["resize", "images"]);
    }

    #[test]
    fn forms_of_a_word_are_one() {
        assert_eq!(stem("calculating"), stem("calculates"));
        assert_ne!(stem("image"), stem("imagine"));
    }
}
