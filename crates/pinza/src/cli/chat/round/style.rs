//! How the lines of a round look.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pinza::core::visible;

use crate::terminal::Line;

pub(super) const PLAIN: Style = Style::new();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const ASKS: Style = AnsiColor::Yellow.on_default();

/// The widest that lines of ours become.
pub(super) const WIDEST: usize = 100;

pub(super) fn line<T: Into<String>>(spans: impl IntoIterator<Item = (Style, T)>) -> Line {
    let mut line = Line::default();
    line.spans.extend(spans.into_iter().map(|(style, text)| (style, text.into())));
    line
}

/// One quiet line.
pub(in super::super) fn note(text: &str) -> Line {
    line([(DIM, format!("  {text}"))])
}

/// What the user said, as it stands in a talk.
pub(super) fn said_by_user(text: &str) -> Vec<Line> {
    let mut marks = std::iter::once("› ").chain(std::iter::repeat("  "));
    let row = |text: &str| line([(BOLD, format!("{}{}", marks.next().unwrap_or_default(), visible(text)))]);
    text.lines().map(row).collect()
}

/// A time that has passed, as people say it.
pub(super) fn time(time: Duration) -> String {
    let milliseconds = time.as_millis();
    match time.as_secs() {
        0 => format!("{milliseconds} ms"),
        1..=9 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        seconds @ 10..=59 => format!("{seconds} s"),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

/// 1,990 and not 1990.
pub(in super::super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers() {
        for (milliseconds, shown) in
            [(0, "0 ms"), (999, "999 ms"), (1234, "1.2 s"), (45_000, "45 s"), (65_000, "1 min 05 s")]
        {
            assert_eq!(time(Duration::from_millis(milliseconds)), shown);
        }
        for (number, shown) in [(0, "0"), (999, "999"), (1990, "1,990"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), shown);
        }
    }
}
