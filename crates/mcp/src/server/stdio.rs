//! The server on this process's stdin and stdout: one client, until its end of the pipe closes.

use std::sync::Arc;

use pinza_core::CancellationToken;
use rmcp::{
    service::{ServerInitializeError, serve_server_with_ct},
    transport::io::stdio_pipes,
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Server, connection::Transport, frames::Frames, memo::Memo, session::Session};

/// Why a client on stdio could not be served.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StdioError(String);

impl Server {
    /// Serves until stdin ends or `stop` is cancelled. Answers that are on their way are still sent.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> Result<(), StdioError> {
        let (read, write) = stdio_pipes();
        self.serve_stream(read, write, stop).await
    }

    /// As [`serve_stdio`](Self::serve_stdio), on any pair of streams.
    pub async fn serve_stream<R, W>(
        &self,
        read: R,
        write: W,
        stop: CancellationToken,
    ) -> Result<(), StdioError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler = self.handler(Transport::Stdio);
        let session = Session::new(handler.clone(), stop.clone());
        let frames = Frames::new(read, write, Memo::new(Arc::clone(&self.late)), session);
        let serving = serve_server_with_ct(handler, frames, stop).await;
        let running = match serving {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(StdioError(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| StdioError(error.to_string()))
    }
}
