//! Choosing one of several: with the arrows or by its number.

use anstyle::Style;
use anyhow::Context as _;
use pinza::{
    core::visible,
    state::{Session, Store},
};

use rustix::time::Timespec;

use super::super::{Result, journal, sessions::when};
use crate::terminal::{Caret, Key, KeyReader, Line, Look, Screen, ask, cut, write_stdout};

/// How many sessions are looked through.
const SESSIONS: usize = 200;
/// How many rows are shown at once.
const ROWS: usize = 12;
/// How often one who waits for a key looks whether the terminal has another size.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// One of the sessions in which something was said, the newest first; none if it is left.
pub(super) async fn pick_session(store: &Store, look: Look) -> Result<Option<Session>> {
    let mut sessions = store.sessions(SESSIONS).await.map_err(journal::explain)?;
    sessions.retain(|session| session.messages > 0);
    if sessions.is_empty() {
        write_stdout(b"there are no sessions yet\n");
        return Ok(None);
    }
    let row = |session: &Session| {
        let agent = session.agent.as_deref().map(|agent| format!(" ({})", visible(agent)));
        format!("{}  {}{}", when(session.updated), visible(&session.title), agent.unwrap_or_default())
    };
    let rows: Vec<String> = sessions.iter().map(row).collect();
    let picked = tokio::task::spawn_blocking(move || pick("Which session?", &rows, look))
        .await
        .context("choosing was stopped")??;
    Ok(picked.map(|place| sessions.swap_remove(place)))
}

/// The place of the row that was chosen. Blocking.
pub(super) fn pick(title: &str, rows: &[String], look: Look) -> Result<Option<usize>> {
    if rows.is_empty() {
        return Ok(None);
    }
    if !look.redraws {
        return Ok(pick_by_number(title, rows));
    }
    let mut list = List { rows: rows.len(), at: 0, first: 0, typed: String::new() };
    let (mut screen, mut keys) = (Screen::new(look, false), KeyReader::default());
    screen.seize().context("cannot use this terminal")?;
    let heading = format!("{title}  (↑ ↓ or a number, Enter; Esc leaves)");
    loop {
        screen.measure();
        let shown = list.drawn(&heading, rows, screen.width(), screen.height());
        screen.draw(&[], shown, Caret::Hidden);
        if screen.gone() {
            return Ok(None);
        }
        if let Some(picked) = keys.next_within(&LOOK).and_then(|key| list.key(key)) {
            return Ok(picked);
        }
    }
}

fn pick_by_number(title: &str, rows: &[String]) -> Option<usize> {
    for (number, row) in rows.iter().enumerate() {
        write_stdout(format!("{}. {row}\n", number + 1).as_bytes());
    }
    loop {
        let answer = ask(&format!("{title} Its number, or nothing to leave: "));
        if answer.is_empty() {
            return None;
        }
        match answer.parse::<usize>() {
            Ok(number) if (1..=rows.len()).contains(&number) => return Some(number - 1),
            _ => write_stdout(format!("a number from 1 to {}, please\n", rows.len()).as_bytes()),
        }
    }
}

/// Where one is in a list.
struct List {
    rows: usize,
    at: usize,
    /// The first row that is shown.
    first: usize,
    /// The digits of a number so far.
    typed: String,
}

impl List {
    /// What a key does; the choice, where it makes one.
    fn key(&mut self, key: Key) -> Option<Option<usize>> {
        let last = self.rows - 1;
        match key {
            Key::Ctrl('c' | 'd') | Key::Escape | Key::Char('q') | Key::Gone => return Some(None),
            Key::Enter | Key::Break => return Some(Some(self.at)),
            Key::Char(digit) if digit.is_ascii_digit() => {
                self.typed.push(digit);
                return self.number();
            }
            Key::Up | Key::Char('k') => self.at = self.at.saturating_sub(1),
            Key::Down | Key::Char('j') => self.at = (self.at + 1).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(ROWS),
            Key::PageDown => self.at = (self.at + ROWS).min(last),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::Char(_) | Key::Ctrl(_) | Key::Backspace | Key::Paste(_) => {}
        }
        self.typed.clear();
        None
    }

    /// Goes to the number that is typed; Enter takes it, for a digit may follow.
    fn number(&mut self) -> Option<Option<usize>> {
        match self.typed.parse::<usize>() {
            Ok(number) if (1..=self.rows).contains(&number) => self.at = number - 1,
            _ => self.typed.clear(),
        }
        None
    }

    fn scroll(&mut self, room: usize) {
        self.first = self.first.min(self.at).max((self.at + 1).saturating_sub(room));
    }

    /// The heading and the rows around the place, as many as there is room for.
    fn drawn(&mut self, heading: &str, rows: &[String], columns: usize, height: usize) -> Vec<Line> {
        let room = ROWS.min(height.saturating_sub(2).max(1));
        self.scroll(room);
        let fitting = |text: &str| cut(text, columns.saturating_sub(1));
        let row = |(place, row): (usize, &String)| {
            let is_here = place == self.at;
            let (mark, style) = if is_here { ("›", Style::new().bold()) } else { (" ", Style::new()) };
            Line::from(vec![(style, fitting(&format!("{mark} {:>3}. {row}", place + 1)))])
        };
        let shown = rows.iter().enumerate().skip(self.first).take(room).map(row);
        std::iter::once(Line::from(fitting(heading).as_str())).chain(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_numbers_and_the_ends_of_the_list() {
        let mut list = List { rows: 20, at: 0, first: 0, typed: String::new() };
        let mut press = |key: Key, at| {
            assert_eq!(list.key(key.clone()), None);
            list.scroll(5);
            assert_eq!(list.at, at, "{key:?}");
            assert!((list.first..list.first + 5).contains(&at), "{key:?}: {} is out of sight", at);
        };
        press(Key::Up, 0);
        press(Key::Down, 1);
        press(Key::End, 19);
        press(Key::Down, 19);
        press(Key::Char('1'), 0);
        press(Key::Char('7'), 16);
        press(Key::Char('9'), 16);
        press(Key::Char('3'), 2);
        press(Key::Home, 0);
        press(Key::PageDown, 12);
        assert_eq!(list.key(Key::Enter), Some(Some(12)));
        for key in [Key::Escape, Key::Ctrl('c'), Key::Gone] {
            assert_eq!(list.key(key), Some(None));
        }
    }
}
