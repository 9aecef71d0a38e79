//! Choosing one of several: with the arrows or by its number.

use anyhow::Context as _;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use pinza::{
    core::visible,
    state::{Session, Store},
};

use super::super::{Result, journal, sessions::when};
use crate::terminal::{Look, Raw, ask, cut, write_stdout};

/// How many sessions are looked through.
const SESSIONS: usize = 200;
/// How many rows are shown at once.
const ROWS: usize = 12;

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
    let _raw = Raw::new()?;
    let mut drawn = 0;
    let picked = loop {
        let (columns, height) = crossterm::terminal::size().unwrap_or((80, 24));
        let room = ROWS.min(usize::from(height).saturating_sub(2).max(1));
        list.scroll(room);
        let columns = usize::from(columns);
        let shown = list.drawn(rows, room, columns, look);
        let heading =
            cut(&format!("{title}  (↑ ↓ or a number, Enter; Esc leaves)"), columns.saturating_sub(1));
        write_stdout(format!("{}{heading}\r\n{}", erased(drawn), shown.concat()).as_bytes());
        drawn = shown.len() + 1;
        let Event::Key(key) = read().context("cannot read from the terminal")? else { continue };
        if let Some(picked) = list.key(key) {
            break picked;
        }
    };
    write_stdout(erased(drawn).as_bytes());
    Ok(picked)
}

/// Goes so many rows up and clears all below.
fn erased(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A\r\x1b[J") }
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
    fn key(&mut self, key: KeyEvent) -> Option<Option<usize>> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let last = self.rows - 1;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if control => return Some(None),
            KeyCode::Esc | KeyCode::Char('q') => return Some(None),
            KeyCode::Enter => return Some(Some(self.at)),
            KeyCode::Char('j' | 'm') if control => return Some(Some(self.at)),
            KeyCode::Char(digit) if digit.is_ascii_digit() => {
                self.typed.push(digit);
                return self.number();
            }
            KeyCode::Up | KeyCode::Char('k') => self.at = self.at.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.at = (self.at + 1).min(last),
            KeyCode::PageUp => self.at = self.at.saturating_sub(ROWS),
            KeyCode::PageDown => self.at = (self.at + ROWS).min(last),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = last,
            _ => {}
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

    fn drawn(&self, rows: &[String], room: usize, columns: usize, look: Look) -> Vec<String> {
        let bold = anstyle::Style::new().bold();
        let shown = rows.iter().enumerate().skip(self.first).take(room);
        let row = |(place, row): (usize, &String)| {
            let mark = if place == self.at { "›" } else { " " };
            let text = cut(&format!("{mark} {:>3}. {row}", place + 1), columns.saturating_sub(1));
            match place == self.at && look.colour {
                true => format!("{bold}{text}{bold:#}\r\n"),
                false => format!("{text}\r\n"),
            }
        };
        shown.map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_numbers_and_the_ends_of_the_list() {
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let mut list = List { rows: 20, at: 0, first: 0, typed: String::new() };
        let mut press = |code, at| {
            assert_eq!(list.key(key(code)), None);
            list.scroll(5);
            assert_eq!(list.at, at, "{code:?}");
            assert!((list.first..list.first + 5).contains(&at), "{code:?}: {} is out of sight", at);
        };
        press(KeyCode::Up, 0);
        press(KeyCode::Down, 1);
        press(KeyCode::End, 19);
        press(KeyCode::Down, 19);
        press(KeyCode::Char('1'), 0);
        press(KeyCode::Char('7'), 16);
        press(KeyCode::Char('9'), 16);
        press(KeyCode::Char('3'), 2);
        press(KeyCode::Home, 0);
        press(KeyCode::PageDown, 12);
        assert_eq!(list.key(key(KeyCode::Enter)), Some(Some(12)));
        assert_eq!(list.key(key(KeyCode::Esc)), Some(None));
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(list.key(control), Some(None));
    }
}
