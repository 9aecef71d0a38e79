//! Waiting without going to sleep.
//!
//! Going to sleep and being woken takes longer than a small call does, where processors are virtual
//! ones many times longer. So where small calls come one at a time, both sides stay awake for a
//! moment: Pinza for the answer, the worker for the next call.

use std::{
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::net::{RecvFlags, recv};

/// A call that took its worker less than this is a small one, and so, it is hoped, is the next.
pub(crate) const SMALL: Duration = Duration::from_micros(300);

/// How long one stays awake: a small call and its way.
const AWAKE: Duration = Duration::from_micros(400);

/// Waits a moment for something to be read from a socket. The reader sees what came, or sleeps.
pub(crate) fn wait_awake(socket: &impl AsFd) {
    let begun = Instant::now();
    let mut byte = [0; 1];
    while begun.elapsed() < AWAKE {
        match recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            // The other side may be waiting for this very processor.
            Err(rustix::io::Errno::AGAIN) => std::thread::yield_now(),
            _ => return,
        }
    }
}
