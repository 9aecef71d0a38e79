//! The server on this process's stdin and stdout: one client, until its end of the pipe closes.

use pinza_core::CancellationToken;
use rmcp::{
    RoleServer,
    model::ClientJsonRpcMessage,
    service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server_with_ct},
    transport::{async_rw::AsyncRwTransport, io::stdio_pipes},
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Server, connection::Transport};

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
        let frames = Frames { inner: AsyncRwTransport::new_server(read, write), has_begun: false };
        let serving = serve_server_with_ct(self.handler(Transport::Stdio), frames, stop).await;
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

/// Lines of JSON. What comes before the first request and is none cannot mean anything yet, and is passed over.
struct Frames<R: AsyncRead, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, R, W>,
    has_begun: bool,
}

impl<R, W> rmcp::transport::Transport<RoleServer> for Frames<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.has_begun |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
