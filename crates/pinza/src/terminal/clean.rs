//! Flowing text of models, tools and servers, made fit for a terminal.
//!
//! Nothing of theirs may steer the terminal, turn the direction of writing, hide, or take another
//! number of columns than we count. What has an honest use in flowing text and shows nothing (joiners,
//! variation selectors) is left out: terminals disagree about the width of what it joins. All else that is
//! odd is shown as an escape, so that a reader sees that something was there.

use std::borrow::Cow;

use pinza::core::visible;
use unicode_width::UnicodeWidthChar as _;

/// More marks on one letter than any script has are there to spill over other lines.
const MARKS: usize = 4;

/// One line without its line break; tabs become spaces, up to the next fourth column.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let (mut column, mut marks) = (0, 0);
    for c in text.chars() {
        if c.width() == Some(0) {
            marks += 1;
        } else {
            marks = 0;
        }
        let before = clean.len();
        match c {
            ' '..='~' => clean.push(c),
            '\t' => clean.extend(std::iter::repeat_n(' ', 4 - column % 4)),
            // Spaces of other widths, and a letter that looks like one.
            '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{2800}'
            | '\u{85}'
            | '\u{2028}'
            | '\u{2029}' => clean.push(' '),
            '\u{ad}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0000}'..='\u{e0fff}' => {}
            _ if marks > MARKS => {}
            c => clean.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        }
        column += clean[before..].chars().count();
    }
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_odd_stays() {
        let cases = [
            ("plain", "plain"),
            ("a\u{1b}[2J\u{9b}31m\u{7}", "a\\u{1b}[2J\\u{9b}31m\\u{7}"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("zero\u{200b}width\u{feff}", "zerowidth"),
            ("👨\u{200d}👩\u{200d}👧 ⚠\u{fe0f}", "👨👩👧 ⚠"),
            ("a\tb\t\tc", "a   b       c"),
            ("\u{2800}\u{2003}x", "  x"),
            ("e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}!", "e\u{301}\u{301}\u{301}\u{301}!"),
            ("\u{3164}", "\\u{3164}"),
            ("Grüße 日本 🦀", "Grüße 日本 🦀"),
        ];
        for (text, clean) in cases {
            assert_eq!(super::cleaned(text), clean, "{text:?}");
        }
    }
}
