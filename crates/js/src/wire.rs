//! The socket to a worker, on Pinza's side.

use std::io;

use tokio::{
    io::AsyncWriteExt as _,
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
};

use crate::{
    awake::wait_awake,
    frame::{self, FromWorker, HEAD},
};

/// Room for one read; a larger frame takes several.
const CHUNK: usize = 16 << 10;

/// Frames from a worker. What has come of one stays here, so reading may be given up at any time.
#[derive(Debug)]
pub(crate) struct Incoming {
    half: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Incoming {
    pub(crate) fn new(half: OwnedReadHalf) -> Self {
        Self { half, buffer: Vec::with_capacity(CHUNK) }
    }

    /// The next frame.
    pub(crate) async fn frame(&mut self) -> io::Result<(FromWorker, Vec<u8>)> {
        loop {
            if let Some(frame) = self.next()? {
                return Ok(frame);
            }
            self.half.readable().await?;
            self.buffer.reserve(CHUNK);
            match self.half.try_read_buf(&mut self.buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits a moment for a frame, without going to sleep.
    pub(crate) fn wait_awake(&self) {
        wait_awake(self.half.as_ref());
    }

    /// A frame that has come whole.
    fn next(&mut self) -> io::Result<Option<(FromWorker, Vec<u8>)>> {
        let Some(head) = self.buffer.first_chunk::<HEAD>() else { return Ok(None) };
        let (body, json) = frame::lengths(*head)?;
        if self.buffer.len() < HEAD + body {
            return Ok(None);
        }
        let rest = self.buffer.split_off(HEAD + body);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.drain(..HEAD);
        frame::decode(frame, json).map(Some)
    }
}

/// Frames to a worker, one at a time. A script may end while the answer to its request is under
/// way: what was begun and not finished makes the worker useless, because it would take the next
/// frame for the rest.
#[derive(Debug)]
pub(crate) struct Outgoing {
    half: OwnedWriteHalf,
    spoiled: bool,
}

impl Outgoing {
    pub(crate) fn new(half: OwnedWriteHalf) -> Self {
        Self { half, spoiled: false }
    }

    pub(crate) async fn send(&mut self, frames: &[u8]) -> io::Result<()> {
        if self.spoiled {
            return Err(io::Error::other("an earlier frame was not finished"));
        }
        self.spoiled = true;
        self.half.write_all(frames).await?;
        self.spoiled = false;
        Ok(())
    }

    pub(crate) fn is_spoiled(&self) -> bool {
        self.spoiled
    }
}
