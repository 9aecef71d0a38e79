//! One request, until its answer is whole, breaks off or is cancelled. It costs in all three cases, so what it
//! cost comes back beside the answer and not with it.

use futures_util::StreamExt as _;

use super::{Setup, Stage, TalkError};
use crate::{
    event::{StopReason, StreamEvent, Usage},
    message::Message,
    providers::{ProviderError, Request},
};

/// What one request brought.
pub(super) struct Answer {
    pub(super) message: Message,
    pub(super) stop: StopReason,
    pub(super) usage: Usage,
}

/// Asks; `told` hears of all that comes before the end, but for the usage.
pub(super) async fn ask(
    request: &Request<'_>,
    setup: &Setup,
    stage: &Stage,
    mut told: impl FnMut(StreamEvent),
) -> (Result<Answer, TalkError>, Usage) {
    let mut usage = Usage::default();
    let mut stream = match setup.client.stream(request) {
        Ok(stream) => stream,
        Err(error) => return (Err(error.into()), usage),
    };
    let answer = loop {
        let item = tokio::select! {
            biased;
            () = stage.scope.cancellation.cancelled() => break Err(TalkError::Cancelled),
            item = stream.next() => item,
        };
        match item {
            Some(Ok(StreamEvent::Done { stop, message, .. })) => break Ok(Answer { message, stop, usage }),
            Some(Ok(StreamEvent::Usage { usage: last })) => usage = last,
            Some(Ok(event)) => told(event),
            Some(Err(error)) => break Err(error.into()),
            None => break Err(ProviderError::truncated().into()),
        }
    };
    (answer, usage)
}
