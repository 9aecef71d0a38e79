//! What a line begins, by its first letters.

use crate::terminal::Look;

/// What the items of one list have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet(char),
    Number(char),
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) marker: Marker,
    pub(super) number: u64,
    /// How far in its content stands.
    pub(super) indent: usize,
    /// Its bullet or its box.
    sign: &'static str,
}

impl Item {
    /// Its marker as it is shown.
    pub(super) fn shown(&self, number: u64) -> String {
        match self.marker {
            Marker::Bullet(_) => format!("{} ", self.sign),
            Marker::Number(delimiter) if self.sign.is_empty() => format!("{number}{delimiter} "),
            Marker::Number(delimiter) => format!("{number}{delimiter} {} ", self.sign),
        }
    }
}

pub(super) fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Does a block other than a paragraph begin here? `interrupts`: in the middle of a paragraph, where an
/// item has to have a content, and the number 1.
pub(super) fn starts_block(text: &str, interrupts: bool) -> bool {
    let indent = spaces(text);
    let text = &text[indent..];
    let plain = Look { colour: false, redraws: false };
    let starts_item = || {
        item(text, plain).is_some_and(|(item, rest)| {
            let first = matches!(item.marker, Marker::Bullet(_)) || item.number == 1;
            !interrupts || (first && !rest.trim().is_empty())
        })
    };
    indent < 4
        && (text.starts_with('>')
            || heading(text).is_some()
            || fence(text).is_some()
            || is_rule(text)
            || starts_item())
}

/// An item, and what stands in it in this line.
pub(super) fn item(text: &str, look: Look) -> Option<(Item, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let first = text[digits..].chars().next()?;
    let (marker, number) = match first {
        '-' | '+' | '*' if digits == 0 => (Marker::Bullet(first), 0),
        '.' | ')' if (1..10).contains(&digits) => (Marker::Number(first), text[..digits].parse().ok()?),
        _ => return None,
    };
    let mut indent = digits + 1;
    let after = &text[indent..];
    let gap = spaces(after);
    if gap == 0 && !after.is_empty() {
        return None;
    }
    // Five spaces are one and the indentation of code.
    let gap = if gap > 4 || gap == after.len() { gap.min(1) } else { gap };
    let content = &after[gap..];
    indent += gap.max(1);
    let (task, content) = task(content);
    let sign = match (task, marker, look.redraws) {
        (Some(true), _, true) => "☑",
        (Some(false), _, true) => "☐",
        (Some(true), _, false) => "[x]",
        (Some(false), _, false) => "[ ]",
        (None, Marker::Bullet(_), true) => "•",
        (None, Marker::Bullet(_), false) => "-",
        (None, Marker::Number(_), _) => "",
    };
    Some((Item { marker, number, indent, sign }, content))
}

fn task(content: &str) -> (Option<bool>, &str) {
    for (sign, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = content.strip_prefix(sign) {
            return (Some(done), rest);
        }
    }
    (None, content)
}

/// Its level and its text.
pub(super) fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let title = &text[level..];
    if !(1..=6).contains(&level) || !(title.is_empty() || title.starts_with(' ')) {
        return None;
    }
    let title = title.trim();
    // Closing marks, if a space is before them.
    let bare = title.trim_end_matches('#');
    Some((level, if bare.is_empty() || bare.ends_with(' ') { bare.trim_end() } else { title }))
}

/// Its letter, its length, and what is said of the code.
pub(super) fn fence(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length, info.trim()))
}

pub(super) fn is_rule(text: &str) -> bool {
    let mut letters = text.chars().filter(|letter| *letter != ' ');
    let Some(first @ ('-' | '_' | '*')) = letters.next() else { return false };
    let mut count = 1;
    letters.all(|letter| {
        count += 1;
        letter == first
    }) && count >= 3
}

/// The level of a heading that this underlines.
pub(super) fn underline(text: &str) -> Option<usize> {
    let text = text.trim_end();
    match text.chars().next()? {
        '=' if text.trim_start_matches('=').is_empty() => Some(1),
        '-' if text.trim_start_matches('-').is_empty() => Some(2),
        _ => None,
    }
}
