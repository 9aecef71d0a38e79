//! Rows for people, cut to the terminal where it can be measured.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::super::desk::Desk;
use crate::terminal::{Line, cut};

impl Desk<'_> {
    /// Rows of two, two spaces in: what is named, and a line about it.
    pub(super) fn rows(&mut self, rows: impl IntoIterator<Item = [String; 2]>) {
        let width = if self.screen.look().redraws {
            self.screen.measure();
            self.screen.width()
        } else {
            // Nothing is kept from those who listen.
            usize::MAX
        };
        self.show(lines(rows.into_iter().collect(), width));
    }
}

fn lines(rows: Vec<[String; 2]>, width: usize) -> Vec<Line> {
    let column = rows.iter().map(|[name, _]| name.width()).max().unwrap_or(0);
    let line = |[name, about]: [String; 2]| {
        let gap = " ".repeat(column - name.width() + 2);
        let about = cut(&about, width.saturating_sub(column + 4));
        if about.is_empty() {
            return Line::from(format!("  {name}").as_str());
        }
        let mut line = Line::from(format!("  {name}{gap}").as_str());
        line.spans.push((Style::new().dimmed(), about));
        line
    };
    rows.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_wide_characters_too() {
        let rows = vec![["日本".to_owned(), "weather".to_owned()], ["ab".to_owned(), "日本語".to_owned()]];
        let shown: Vec<String> = lines(rows, 13)
            .iter()
            .map(|line| line.written(crate::terminal::Look { colour: false, redraws: true }))
            .collect();
        assert_eq!(shown, ["  日本  weat…", "  ab    日本…"]);
    }
}
