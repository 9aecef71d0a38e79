//! Foreign text, made to fit: cut or wrapped by columns, with odd characters visible.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::super::clean::cleaned;

/// At most so many columns; what is left out is an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    match width {
        0 => String::new(),
        1 => "…".to_owned(),
        _ => {
            let mut used = 1;
            let fits = |c: &char| {
                used += c.width().unwrap_or(0);
                used <= width
            };
            text.chars().take_while(fits).chain(['…']).collect()
        }
    }
}

/// Rows of at most so many columns, broken between words where that is possible.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut rows = Vec::new();
    let mut rest = text;
    loop {
        let (fits, after) = split(rest, width);
        if after.is_empty() {
            break;
        }
        let at_word = if after.starts_with(' ') { Some(fits.len()) } else { fits.rfind(' ') };
        let end = at_word.filter(|end| !rest[..*end].trim().is_empty()).unwrap_or(fits.len());
        rows.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start_matches(' ');
    }
    rows.push(rest.to_owned());
    rows
}

/// The lines of a text that somebody else wrote, with nothing in them that steers a terminal.
pub(crate) fn flowing(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| cleaned(line).into_owned())
}

/// As much as fits, at least one character, and the rest.
fn split(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    for (index, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && index > 0 {
            return text.split_at(index);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns() {
        for (text, width, expected) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("hello", 1, "…"),
            ("日本語", 2, "…"),
            ("hello", 0, ""),
        ] {
            assert_eq!(cut(text, width), expected, "{text} {width}");
        }
    }

    #[test]
    fn text_is_wrapped_between_words() {
        for (text, width, expected) in [
            ("", 10, &[""][..]),
            ("one two three", 8, &["one two", "three"]),
            ("one two three", 7, &["one two", "three"]),
            ("a  b", 2, &["a", "b"]),
            ("abcdefghij kl", 4, &["abcd", "efgh", "ij", "kl"]),
            ("日本語 日本", 5, &["日本", "語", "日本"]),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text}");
        }
    }

    #[test]
    fn nothing_odd_is_left() {
        let lines: Vec<String> = flowing("a\tb\u{1b}[2J\r\nc\u{202e}d").collect();
        assert_eq!(lines, ["a   b\\u{1b}[2J", "c\\u{202e}d"]);
    }
}
