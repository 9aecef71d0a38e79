//! Keys, as a terminal in raw mode sends them, read on a thread of their own.
//!
//! Bytes are read and understood here, because a reader of keys that keeps bytes for later would take them from the
//! editor, which reads the same terminal between rounds. Whatever was read and not used is handed back.

use std::{os::fd::OwnedFd, sync::Arc, thread::JoinHandle};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const ESCAPE: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// How long the rest of a sequence may take; after that an escape was the key.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };

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

fn listen(stop: &OwnedFd, told: &UnboundedSender<Key>) {
    let stdin = std::io::stdin();
    let mut parser = Parser::default();
    loop {
        let patience = parser.is_inside_escape().then_some(&REST);
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        match poll(&mut watched, patience) {
            Err(Errno::INTR) => continue,
            Err(_) => break,
            Ok(0) => {
                parser.flush(&mut |key| drop(told.send(key)));
                continue;
            }
            Ok(_) => {}
        }
        let (input, stopped) = (watched[0].revents(), !watched[1].revents().is_empty());
        if stopped {
            parser.flush(&mut |key| drop(told.send(key)));
            return;
        }
        if !input.is_empty() {
            let mut bytes = [0; 1024];
            match rustix::io::read(&stdin, &mut bytes) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(count) if count > 0 => parser.push(&bytes[..count], &mut |key| drop(told.send(key))),
                // A terminal that was closed ends, or is an error.
                Ok(_) | Err(_) => break,
            }
        }
    }
    let _ = told.send(Key::Gone);
}

/// Makes keys of bytes that may be cut anywhere.
#[derive(Default)]
struct Parser {
    bytes: Vec<u8>,
    pasted: Option<Vec<u8>>,
}

impl Parser {
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
                if self.bytes[2..2 + end + 1] == *b"200~" {
                    self.pasted = Some(Vec::new());
                }
                // Arrows and function keys mean nothing here.
                (2 + end + 1, None)
            }
            Some(b'O') if self.bytes.len() < 3 => return false,
            Some(b'O') => (3, None),
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
        let cases: [(&str, &[Key]); 11] = [
            ("aß日🦀", &[Key::Char('a'), Key::Char('ß'), Key::Char('日'), Key::Char('🦀')]),
            ("\r\n\x7f", &[Key::Enter, Key::Break, Key::Backspace]),
            ("\x03\x0f\x15", &[ctrl('c'), ctrl('o'), ctrl('u')]),
            ("\x1b[A\x1b[1;5Cx\x1bOP", &[Key::Char('x')]),
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
