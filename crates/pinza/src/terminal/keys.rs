//! Keys, as a terminal in raw mode sends them: on a thread of their own, or one after the other.
//!
//! Bytes are read and understood here, because a reader of keys that keeps bytes for later would take them from the
//! editor, which reads the same terminal between rounds. Whatever was read and not used is handed back. And a terminal
//! that is gone is a key too, so that nobody waits there for ever.

use std::{collections::VecDeque, os::fd::OwnedFd, sync::Arc, thread::JoinHandle, time::Duration};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const ESCAPE: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// How long the rest of a sequence may take; after that an escape was the key.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
/// How often is looked whether the terminal is gone, where no key is read.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    /// With Ctrl, as a small letter.
    Ctrl(char),
    Enter,
    /// Alt-Enter and Ctrl-J: a line break within a message.
    Break,
    Backspace,
    Escape,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// All of it is one, whatever characters it has.
    Paste(String),
    /// The terminal is gone.
    Gone,
}

/// The keys that are pressed while it lives.
pub(crate) struct Keys {
    pressed: UnboundedReceiver<Key>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    pub(crate) fn read() -> std::io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let (told, pressed) = unbounded_channel();
        let watched = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("keys".into()).spawn(move || listen(&watched, &told))?;
        Ok(Self { pressed, stop, thread: Some(thread) })
    }

    /// The next key; for ever waiting once the terminal is gone.
    pub(crate) async fn next(&mut self) -> Key {
        match self.pressed.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }

    /// No more keys are read. What was pressed and not taken comes back.
    pub(crate) fn stop(mut self) -> Vec<Key> {
        self.end();
        std::iter::from_fn(|| self.pressed.try_recv().ok()).collect()
    }

    fn end(&mut self) {
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.end();
    }
}

/// Keys one after the other, for whoever waits for nothing else. No byte is taken beyond the key that is asked for:
/// what was typed ahead is for whoever reads next.
#[derive(Default)]
pub(crate) struct KeyReader {
    parser: Parser,
    ready: VecDeque<Key>,
}

impl KeyReader {
    /// The next key; for ever [`Key::Gone`] once the terminal is gone. Blocking.
    pub(crate) fn next(&mut self) -> Key {
        loop {
            if let Some(key) = self.wait(None) {
                return key;
            }
        }
    }

    /// The next key, unless none comes within this time. Blocking.
    pub(crate) fn next_within(&mut self, patience: &Timespec) -> Option<Key> {
        self.wait(Some(patience))
    }

    fn wait(&mut self, patience: Option<&Timespec>) -> Option<Key> {
        if self.ready.is_empty() {
            let heard = self.parser.hear(None, patience, &mut [0], &mut |key| self.ready.push_back(key));
            if heard == Heard::Gone {
                self.ready.push_back(Key::Gone);
            }
        }
        self.ready.pop_front()
    }
}

/// Comes back once the terminal is gone, without taking a key from anybody.
pub(crate) async fn terminal_gone() {
    let stdin = std::io::stdin();
    loop {
        let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
        let looked = poll(&mut watched, Some(&Timespec::default()));
        // Asked for or not, these are told.
        if looked.is_ok() && watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn listen(stop: &OwnedFd, told: &UnboundedSender<Key>) {
    let mut parser = Parser::default();
    let mut bytes = [0; 1024];
    loop {
        match parser.hear(Some(stop), None, &mut bytes, &mut |key| drop(told.send(key))) {
            Heard::Something => {}
            Heard::Stop => return,
            Heard::Gone => break,
        }
    }
    let _ = told.send(Key::Gone);
}

/// What came of waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// Bytes, or none in time.
    Something,
    Stop,
    Gone,
}

/// Makes keys of bytes that may be cut anywhere.
#[derive(Default)]
struct Parser {
    bytes: Vec<u8>,
    pasted: Option<Vec<u8>>,
}

impl Parser {
    /// Waits for bytes of stdin, at most as many as there is room for, and tells the keys that they make.
    fn hear(
        &mut self,
        stop: Option<&OwnedFd>,
        patience: Option<&Timespec>,
        room: &mut [u8],
        told: &mut impl FnMut(Key),
    ) -> Heard {
        let stdin = std::io::stdin();
        let patience = if self.is_inside_escape() { Some(&REST) } else { patience };
        let mut watched = vec![PollFd::new(&stdin, PollFlags::IN)];
        watched.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
        match poll(&mut watched, patience) {
            Err(Errno::INTR) => return Heard::Something,
            Err(_) => return Heard::Gone,
            Ok(0) => {
                self.flush(told);
                return Heard::Something;
            }
            Ok(_) => {}
        }
        if watched.get(1).is_some_and(|stop| !stop.revents().is_empty()) {
            self.flush(told);
            return Heard::Stop;
        }
        match rustix::io::read(&stdin, &mut *room) {
            Err(Errno::INTR | Errno::AGAIN) => Heard::Something,
            Ok(count) if count > 0 => {
                self.push(&room[..count], told);
                Heard::Something
            }
            // A terminal that was closed ends, or is an error.
            Ok(_) | Err(_) => Heard::Gone,
        }
    }

    fn push(&mut self, bytes: &[u8], told: &mut impl FnMut(Key)) {
        self.bytes.extend_from_slice(bytes);
        while self.step(told) {}
    }

    /// The rest of a sequence does not come: it was an escape, and then other keys.
    fn flush(&mut self, told: &mut impl FnMut(Key)) {
        if self.pasted.is_none() && self.bytes.first() == Some(&ESCAPE) {
            self.bytes.remove(0);
            told(Key::Escape);
            while self.step(told) {}
        }
    }

    fn is_inside_escape(&self) -> bool {
        self.pasted.is_none() && self.bytes.first() == Some(&ESCAPE)
    }

    /// Takes one key; false if there are too few bytes for one.
    fn step(&mut self, told: &mut impl FnMut(Key)) -> bool {
        if self.pasted.is_some() {
            return self.paste(told);
        }
        let Some(&first) = self.bytes.first() else { return false };
        let taken = match first {
            ESCAPE => return self.escape(told),
            b'\r' => known(Key::Enter),
            b'\n' => known(Key::Break),
            0x7f | 0x08 => known(Key::Backspace),
            b'\t' => (1, None),
            1..=26 => known(Key::Ctrl(char::from(first - 1 + b'a'))),
            0..=31 => (1, None),
            _ => match character(&self.bytes) {
                Some((length, c)) => (length, c.map(Key::Char)),
                None => return false,
            },
        };
        self.bytes.drain(..taken.0);
        taken.1.into_iter().for_each(told);
        true
    }

    fn escape(&mut self, told: &mut impl FnMut(Key)) -> bool {
        let (length, key) = match self.bytes.get(1) {
            None => return false,
            Some(b'[') => {
                let Some(end) = self.bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                    return false;
                };
                let sequence = &self.bytes[2..2 + end + 1];
                if *sequence == *b"200~" {
                    self.pasted = Some(Vec::new());
                }
                (2 + end + 1, named(sequence))
            }
            Some(b'O') if self.bytes.len() < 3 => return false,
            Some(b'O') => (3, named(&self.bytes[2..3])),
            Some(b'\r' | b'\n') => (2, Some(Key::Break)),
            Some(&ESCAPE) => (1, Some(Key::Escape)),
            // With Alt: no key of ours, and no letter either.
            Some(_) => match character(&self.bytes[1..]) {
                Some((length, _)) => (1 + length, None),
                None => return false,
            },
        };
        self.bytes.drain(..length);
        key.into_iter().for_each(told);
        true
    }

    fn paste(&mut self, told: &mut impl FnMut(Key)) -> bool {
        let Some(pasted) = &mut self.pasted else { return false };
        // Only the end of what is known can be the beginning of the mark.
        let from = pasted.len().saturating_sub(PASTE_END.len());
        pasted.append(&mut self.bytes);
        let end = pasted[from..].windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let Some(end) = end.map(|end| from + end) else { return false };
        self.bytes = pasted.split_off(end + PASTE_END.len());
        pasted.truncate(end);
        let text = String::from_utf8_lossy(pasted).replace("\r\n", "\n").replace('\r', "\n");
        self.pasted = None;
        told(Key::Paste(text));
        true
    }
}

/// A key that moves, by what follows its introducer. Other keys mean nothing here.
fn named(sequence: &[u8]) -> Option<Key> {
    Some(match sequence {
        b"A" => Key::Up,
        b"B" => Key::Down,
        b"H" | b"1~" | b"7~" => Key::Home,
        b"F" | b"4~" | b"8~" => Key::End,
        b"5~" => Key::PageUp,
        b"6~" => Key::PageDown,
        _ => return None,
    })
}

fn known(key: Key) -> (usize, Option<Key>) {
    (1, Some(key))
}

/// How many bytes the next character has, and it, if it is one; `None` if more bytes are needed to tell.
fn character(bytes: &[u8]) -> Option<(usize, Option<char>)> {
    let part = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(part) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => std::str::from_utf8(&part[..error.valid_up_to()]).ok()?,
        Err(error) => return error.error_len().map(|length| (length, None)),
    };
    valid.chars().next().map(|c| (c.len_utf8(), (!c.is_control()).then_some(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(pieces: &[&[u8]]) -> Vec<Key> {
        let mut parser = Parser::default();
        let mut keys = Vec::new();
        for piece in pieces {
            parser.push(piece, &mut |key| keys.push(key));
        }
        parser.flush(&mut |key| keys.push(key));
        keys
    }

    #[test]
    fn bytes_become_keys_however_they_are_cut() {
        let ctrl = Key::Ctrl;
        let cases: [(&str, &[Key]); 13] = [
            ("aß日🦀", &[Key::Char('a'), Key::Char('ß'), Key::Char('日'), Key::Char('🦀')]),
            ("\r\n\x7f", &[Key::Enter, Key::Break, Key::Backspace]),
            ("\x03\x0f\x15", &[ctrl('c'), ctrl('o'), ctrl('u')]),
            ("\x1b[A\x1b[1;5Cx\x1bOP\x1bOB", &[Key::Up, Key::Char('x'), Key::Down]),
            ("\x1b[H\x1b[4~\x1bOH\x1bOF", &[Key::Home, Key::End, Key::Home, Key::End]),
            ("\x1b[5~\x1b[6~\x1b[3~", &[Key::PageUp, Key::PageDown]),
            ("\x1b\ry", &[Key::Break, Key::Char('y')]),
            ("\x1bby", &[Key::Char('y')]),
            ("\x1b", &[Key::Escape]),
            ("\x1b\x1b", &[Key::Escape, Key::Escape]),
            ("\x1b[200~y\ry\x03\x1b[201~z", &[Key::Paste("y\ny\u{3}".into()), Key::Char('z')]),
            ("\x1b[200~a\x1b[A\x1b[201~", &[Key::Paste("a\x1b[A".into())]),
            ("\u{9b}A", &[Key::Char('A')]),
        ];
        for (typed, expected) in cases {
            assert_eq!(keys(&[typed.as_bytes()]), expected, "{typed:?}");
            let single: Vec<&[u8]> = typed.as_bytes().chunks(1).collect();
            assert_eq!(keys(&single), expected, "{typed:?} byte by byte");
        }
        assert_eq!(keys(&[b"\xff\xfea"]), [Key::Char('a')]);
    }
}
