//! A stream that is being read: bytes to server-sent events to our events.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use sse_stream::SseByteStream;

use super::Item;
use crate::{
    event::StreamEvent,
    providers::{Asked, Decoder, ProviderError, ProviderErrorKind, ProviderKind, adapter},
};

/// An answer that is longer is none: a hundred thousand tokens, each in an event of its own, are
/// forty megabytes.
const LONGEST: usize = 128 * 1024 * 1024;

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ReadError>> + Send>>;

/// Why the bytes of an answer ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("the provider was silent for too long")]
    Silent,
    #[error("the connection to the provider broke: {0}")]
    Broken(String),
    #[error("the provider's answer is longer than {} MiB", LONGEST / 1024 / 1024)]
    TooLong,
}

/// Reads an answer that comes from somewhere else than a server: a recording, a proxy.
pub fn read_answer<S: Stream<Item = Bytes> + Send + 'static>(
    kind: ProviderKind,
    asked: &Asked,
    bytes: S,
) -> impl Stream<Item = Item> + Send + use<S> {
    let bytes = bytes.map(Ok::<_, std::convert::Infallible>);
    Reading::new(bytes, |_| false, adapter(kind).decoder(asked)).into_stream()
}

pub(super) struct Reading {
    events: SseByteStream<Chunks>,
    decoder: Box<dyn Decoder>,
    /// Events that were read and not yet handed on.
    queue: VecDeque<StreamEvent>,
    /// The server has sent its last byte: what is still to be parsed may be half of something.
    ended: Arc<AtomicBool>,
    content_began: bool,
    over: bool,
}

impl Reading {
    pub(super) fn new<E: std::error::Error + 'static>(
        bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
        is_timeout: fn(&E) -> bool,
        decoder: Box<dyn Decoder>,
    ) -> Self {
        let bytes = bytes.map_err(move |error| match is_timeout(&error) {
            true => ReadError::Silent,
            false => ReadError::Broken(reason(&error)),
        });
        let ended = Arc::new(AtomicBool::new(false));
        Self {
            events: SseByteStream::new(bounded(bytes, ended.clone())),
            decoder,
            ended,
            queue: VecDeque::new(),
            content_began: false,
            over: false,
        }
    }

    /// Reads until the model has said something. An error up to there may be retried.
    pub(super) async fn first_words(&mut self) -> Result<(), ProviderError> {
        while !self.over && !self.queue.iter().any(StreamEvent::is_content) {
            self.fill().await?;
        }
        Ok(())
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Item> + Send {
        stream::unfold(self, |mut reading| async move { Some((reading.next().await?, reading)) })
    }

    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                self.content_began |= event.is_content();
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Err(mut error) = self.fill().await {
                self.over = true;
                error.content_began = self.content_began;
                return Some(Err(error));
            }
        }
    }

    /// Takes in one server-sent event, or the end.
    async fn fill(&mut self) -> Result<(), ProviderError> {
        let events = match self.events.next().await {
            Some(Ok(event)) => match event.data {
                Some(data) if !data.is_empty() => {
                    self.decoder.event(&data).map_err(|error| self.perhaps_cut(error))?
                }
                // A comment that keeps the connection alive, or an event without a word.
                _ => Vec::new(),
            },
            Some(Err(error)) => {
                self.over = true;
                let error = self.perhaps_cut(unread(error));
                // Many a server breaks off where it should say goodbye: whether anything is missing is
                // for the decoder to say.
                self.decoder.end().map_err(|_| error)?
            }
            None => {
                self.over = true;
                self.decoder.end()?
            }
        };
        // Whatever follows the last word is not waited for.
        self.over |= events.iter().any(|event| matches!(event, StreamEvent::Done { .. }));
        self.queue.extend(events);
        Ok(())
    }

    /// The last thing in a stream makes no sense if the stream was cut in the middle of it.
    fn perhaps_cut(&self, error: ProviderError) -> ProviderError {
        let is_last = self.ended.load(Ordering::Relaxed);
        let is_cut = is_last && error.kind == ProviderErrorKind::Malformed;
        if is_cut { ProviderError::truncated() } else { error }
    }
}

/// The bytes up to the limit, and an end to an event that a server forgot to end: it is JSON, so
/// one that was cut does not pass for whole.
fn bounded(
    bytes: impl Stream<Item = Result<Bytes, ReadError>> + Send + 'static,
    ended: Arc<AtomicBool>,
) -> Chunks {
    let end = stream::once(async move {
        ended.store(true, Ordering::Relaxed);
        Ok(Bytes::from_static(b"\n\n"))
    });
    let counted = bytes.chain(end).scan(Some(0_usize), |read, chunk| {
        let item = match (read.as_mut(), chunk) {
            (None, _) => return std::future::ready(None),
            (Some(_), Err(error)) => Err(error),
            (Some(read), Ok(chunk)) => {
                *read = read.saturating_add(chunk.len());
                if *read > LONGEST { Err(ReadError::TooLong) } else { Ok(chunk) }
            }
        };
        if item.is_err() {
            *read = None;
        }
        std::future::ready(Some(item))
    });
    Box::pin(counted)
}

fn unread(error: sse_stream::Error) -> ProviderError {
    let sse_stream::Error::Body(error) = error else {
        return ProviderError::malformed("it is not UTF-8");
    };
    let kind = match error.downcast_ref::<ReadError>() {
        Some(ReadError::Silent) => ProviderErrorKind::TimedOut,
        Some(ReadError::TooLong) => ProviderErrorKind::Malformed,
        Some(ReadError::Broken(_)) | None => ProviderErrorKind::Truncated,
    };
    ProviderError::new(kind, pinza_core::visible(&error.to_string()))
}

/// The innermost reason of an error: the others say only where it passed.
pub(super) fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    pinza_core::visible(&innermost.to_string())
}
