//! Binding a port, taking connections and letting them go.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use pinza_core::CancellationToken;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

/// Connections at one time; more are closed at once.
const CONNECTIONS: usize = 1024;
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// How long answers that are on their way get at the end.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long streams get to notice their end.
const CLOSING: Duration = Duration::from_millis(500);

/// A port that is bound, and not yet served.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

/// When to end, and how.
#[derive(Clone)]
pub struct Stop {
    /// No more connections from now on.
    pub asked: CancellationToken,
    /// Ends streams that would go on for ever.
    pub streams: CancellationToken,
    /// Whether there are calls that somebody waits for.
    pub is_busy: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("asked", &self.asked.is_cancelled()).finish_non_exhaustive()
    }
}

pub async fn bind(address: SocketAddr) -> io::Result<Bound> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}

impl Bound {
    /// The address with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is asked to stop, and then until the last call is answered, for a while.
    pub async fn serve(self, site: Router, stop: Stop) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
        let farewell = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        loop {
            let stream = tokio::select! {
                () = stop.asked.cancelled() => break,
                stream = accept(&self.listener) => stream,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
            let service = TowerToHyperService::new(site.clone());
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            let connection = farewell.watch(connection);
            connections.spawn(async move {
                // A client that breaks off is not this server's fault.
                let _ = connection.await;
                drop(place);
            });
        }
        drop(self.listener);
        let quiet = async {
            while (stop.is_busy)() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = timeout(FAREWELL, quiet).await;
        stop.streams.cancel();
        let _ = timeout(CLOSING, farewell.shutdown()).await;
        connections.shutdown().await;
    }
}

/// The next connection. Answers go out at once: small packets that wait for others cost 40 ms a call.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                return stream;
            }
            // Out of descriptors, or the client is gone already: neither is better at once.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}
