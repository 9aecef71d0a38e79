//! Text from tools and models, made safe to show to a person.
//!
//! A prompt that asks for permission must show what it asks for: control characters, ANSI
//! sequences, bidirectional overrides and invisible characters could draw something else.

use std::fmt::Write as _;

/// Characters that change how others are shown, or show nothing at all.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// `text` with every control, formatting or invisible character written as an escape.
/// The result is one line and takes no control of a terminal.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_control() || is_hidden(c) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", c as u32);
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_shown() {
        let cases = [
            ("git status", "git status"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("one\ntwo\r\t", "one\\ntwo\\r\\t"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("c1\u{9b}31m", "c1\\u{9b}31m"),
            ("Grüße 日本 🦀", "Grüße 日本 🦀"),
        ];
        for (text, shown) in cases {
            assert_eq!(visible(text), shown);
        }
    }
}
