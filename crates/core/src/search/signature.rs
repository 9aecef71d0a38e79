//! How a hit is shown: on one line, in as few tokens as tell what it is and how it is called.

use std::fmt::Write as _;

use crate::{registry::Entry, visible::visible};

/// A sentence for a list, not the whole description.
const SENTENCE: usize = 160;

/// `name(param, optional?) [group]: sentence`.
pub fn signature(entry: &Entry) -> String {
    let definition = entry.definition();
    let parameters = &definition.parameters;
    let parameter = |(name, _): (&String, _)| {
        let optional = if parameters.is_required(name) { "" } else { "?" };
        format!("{}{optional}", visible(name))
    };
    let list: Vec<String> = parameters.properties().map(parameter).collect();
    let mut line = format!("{}({})", definition.name, list.join(", "));
    // Writing to a String cannot fail.
    if let Some(group) = &entry.meta().group {
        let _ = write!(line, " [{group}]");
    }
    let sentence = first_sentence(&definition.description);
    if !sentence.is_empty() {
        let _ = write!(line, ": {sentence}");
    }
    line
}

/// What follows a hit's signature where others are almost the same.
pub fn also<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { String::new() } else { format!(" (also: {})", names.join(", ")) }
}

/// Its author's first sentence, in one line.
fn first_sentence(description: &str) -> String {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.match_indices(". ").map(|(at, _)| at + 1).find(|end| !is_abbreviation(&text[..*end]));
    let sentence = &text[..end.unwrap_or(text.len())];
    if sentence.chars().count() <= SENTENCE {
        return visible(sentence);
    }
    let cut: String = sentence.chars().take(SENTENCE).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    visible(&format!("{whole_words}…"))
}

fn is_abbreviation(text: &str) -> bool {
    ["e.g.", "i.e.", "etc.", "vs.", "approx."].iter().any(|known| text.ends_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_enough() {
        for (description, expected) in [
            ("Reads a file. Then more.", "Reads a file."),
            ("Reads files (e.g. notes. Or\nmore) at once", "Reads files (e.g. notes."),
            ("Version 1.5 of it", "Version 1.5 of it"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(description), expected);
        }
        let long = first_sentence(&"word ".repeat(100));
        assert!(long.ends_with("word…") && long.chars().count() <= SENTENCE + 1, "{long}");
    }

    #[test]
    fn a_description_cannot_leave_its_line() {
        assert_eq!(first_sentence("One\n- two\u{1b}[2J"), "One - two\\u{1b}[2J");
    }
}
