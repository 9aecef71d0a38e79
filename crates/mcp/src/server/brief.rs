//! Answers in a session that are there at once, as plain JSON.
//!
//! The SDK answers every request of a session with a stream of events: for those that stay open, and can be taken up
//! again. Most answers are one message after a moment, and a client has it sooner if it is the whole body. So a stream is
//! looked at for a moment before it is sent; one that begins with anything else, or with nothing yet, is sent as it is.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Either, Full};
use serde::Deserialize;
use tokio::time::timeout;

/// Long enough for most calls, and too short for anybody to notice.
pub(super) const MOMENT: Duration = Duration::from_millis(50);

/// A body whose beginning was looked at.
pub(super) struct Begun<B> {
    seen: VecDeque<Frame<Bytes>>,
    rest: B,
}

impl<B> Begun<B> {
    /// One that nobody looked at.
    pub(super) fn whole(rest: B) -> Self {
        Self { seen: VecDeque::new(), rest }
    }
}

/// Sends a stream that is one answer as that.
pub(super) async fn brief<B>(mut answer: Response<B>) -> Response<Either<Full<Bytes>, Begun<B>>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut seen = VecDeque::new();
    let mut whole = None;
    if is_stream(&answer) {
        // What was seen is kept, also when the moment is over.
        let _ = timeout(MOMENT, async {
            while let Some(Ok(frame)) = answer.body_mut().frame().await {
                let found = frame.data_ref().map(event);
                seen.push_back(frame);
                match found {
                    Some(Event::Nothing) => {}
                    Some(Event::Answer(message)) => return whole = Some(message),
                    Some(Event::Other) | None => return,
                }
            }
        })
        .await;
    }
    match whole {
        Some(message) => {
            answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            answer.map(|_| Either::Left(Full::new(message)))
        }
        None => answer.map(|rest| Either::Right(Begun { seen, rest })),
    }
}

fn is_stream<B>(answer: &Response<B>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    answer.status() == StatusCode::OK && kind.is_some_and(|kind| kind == "text/event-stream")
}

enum Event {
    /// An id to come back with, a comment.
    Nothing,
    Answer(Bytes),
    Other,
}

/// An answer has no method.
#[derive(Deserialize)]
struct Message {
    method: Option<serde::de::IgnoredAny>,
    result: Option<serde::de::IgnoredAny>,
    error: Option<serde::de::IgnoredAny>,
}

/// What a piece of a stream is, which the SDK writes event by event.
fn event(bytes: &Bytes) -> Event {
    let Some(text) = bytes.strip_suffix(b"\n\n") else { return Event::Other };
    let lines = text.split(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    let (first, second) = (data.next().unwrap_or_default(), data.next());
    if first.is_empty() && second.is_none() {
        return Event::Nothing;
    }
    match serde_json::from_slice::<Message>(first) {
        Ok(Message { method: None, result, error })
            if second.is_none() && (result.is_some() || error.is_some()) =>
        {
            Event::Answer(bytes.slice_ref(first))
        }
        _ => Event::Other,
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Begun<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.seen.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.seen.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.seen.is_empty() {
            true => self.rest.size_hint(),
            false => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_from_all_else() {
        let of = |text: &'static str| event(&Bytes::from_static(text.as_bytes()));
        for answer in [
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
            "id: 3/1\ndata:{\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}\n\n",
        ] {
            assert!(
                matches!(of(answer), Event::Answer(json) if json.starts_with(b"{") && json.ends_with(b"}"))
            );
        }
        for nothing in ["id: 0/1\nretry: 3000\ndata:\n\n", ": still there\n\n", "id: 1\ndata: \n\n"] {
            assert!(matches!(of(nothing), Event::Nothing), "{nothing}");
        }
        for other in [
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n",
            "data: {\"id\":1,\"method\":\"elicitation/create\",\"result\":{}}\n\n",
            "data: {\"id\":1,\"result\":{}}\ndata: {}\n\n",
            "data: {\"id\":1,\"result\":{}}",
            "data: {\"id\":1}\n\n",
            "data: 5\n\n",
        ] {
            assert!(matches!(of(other), Event::Other), "{other}");
        }
    }
}
