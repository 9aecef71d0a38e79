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
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::lanes::Lanes;

/// Connections at one time; more are closed at once.
const CONNECTIONS: usize = if cfg!(test) { 16 } else { 1024 };
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
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

    /// Serves until it is asked to stop, and then until the last call is answered, for a while. Takes connections on the
    /// runtime that it is called on, and serves them there and on threads of its own.
    pub async fn serve(self, site: Router, stop: Stop) {
        // Only HTTP/1: to whoever says nothing at all, it is the only one with a time to speak.
        let mut builder = Builder::new(TokioExecutor::new()).http1_only();
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
        let farewell = GracefulShutdown::new();
        let lanes = Lanes::start();
        let mut connections = JoinSet::new();
        loop {
            let stream = tokio::select! {
                () = stop.asked.cancelled() => break,
                stream = accept(&self.listener) => stream,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            };
            if lanes.open() >= CONNECTIONS {
                continue;
            }
            let (builder, site, farewell) = (builder.clone(), site.clone(), farewell.watcher());
            let place = lanes.take_place();
            let runtime = place.runtime.clone();
            let connection = async move {
                let _place = place;
                // Known to the lane's runtime from here on. What it cannot take is closed.
                let Ok(stream) = TcpStream::from_std(stream) else { return };
                let service = TowerToHyperService::new(site);
                let connection = builder.serve_connection(TokioIo::new(stream), service);
                // A client that breaks off is not this server's fault.
                let _ = farewell.watch(connection.into_owned()).await;
            };
            connections.spawn_on(connection, &runtime);
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

/// The next connection, of no runtime yet. Answers go out at once: small packets that wait for others cost 40 ms a call.
async fn accept(listener: &TcpListener) -> std::net::TcpStream {
    loop {
        let accepted = listener.accept().await;
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                return stream;
            }
            // Out of descriptors, or the client is gone already: neither is better at once.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        io::{BufRead as _, BufReader, Write as _},
        net::TcpStream,
        sync::atomic::{AtomicUsize, Ordering},
        thread::{self, JoinHandle},
    };

    use axum::routing::get;

    use super::*;

    /// A server that tells on which thread it answers; `/slow` answers only when it is told to stop.
    struct Served {
        address: SocketAddr,
        stop: CancellationToken,
        /// Slow answers under way.
        running: Arc<AtomicUsize>,
        thread: JoinHandle<()>,
    }

    impl Served {
        fn start() -> Self {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let bound = runtime.block_on(bind("127.0.0.1:0".parse().unwrap())).unwrap();
            let (address, stop) = (bound.address(), CancellationToken::new());
            let (asked, running) = (stop.clone(), Arc::new(AtomicUsize::new(0)));
            let (entered, left, told) = (Arc::clone(&running), Arc::clone(&running), stop.clone());
            let thread = thread::spawn(move || {
                let who = || async {
                    // Whatever is begun here is done here.
                    let other = tokio::spawn(async { thread::current().id() }).await.unwrap();
                    assert_eq!(other, thread::current().id());
                    format!("{other:?}\n")
                };
                let slow = || async move {
                    entered.fetch_add(1, Ordering::Relaxed);
                    told.cancelled().await;
                    sleep(Duration::from_millis(100)).await;
                    entered.fetch_sub(1, Ordering::Relaxed);
                    "slept\n"
                };
                let site = Router::new().route("/", get(who)).route("/slow", get(slow));
                let is_busy = Arc::new(move || left.load(Ordering::Relaxed) > 0);
                let stop = Stop { asked, streams: CancellationToken::new(), is_busy };
                runtime.block_on(bound.serve(site, stop));
            });
            Self { address, stop, running, thread }
        }

        fn connect(&self) -> Client {
            let stream = TcpStream::connect(self.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            Client(BufReader::new(stream))
        }
    }

    struct Client(BufReader<TcpStream>);

    impl Client {
        fn send(&mut self, path: &str) {
            write!(self.0.get_mut(), "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        }

        /// The body, of one line.
        fn answer(&mut self) -> String {
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                assert!(self.0.read_line(&mut line).unwrap() > 0, "the connection is closed");
            }
            line.clear();
            self.0.read_line(&mut line).unwrap();
            line
        }

        fn thread(&mut self) -> String {
            self.send("/");
            self.answer()
        }
    }

    #[test]
    fn a_connection_stays_on_its_thread_and_many_are_spread() {
        let served = Served::start();
        let mut clients: Vec<Client> = (0..8).map(|_| served.connect()).collect();
        let threads: Vec<String> = clients.iter_mut().map(Client::thread).collect();
        for (client, thread) in clients.iter_mut().zip(&threads) {
            assert_eq!(&client.thread(), thread);
        }
        let lanes = thread::available_parallelism().map_or(1, usize::from).min(clients.len());
        assert_eq!(threads.iter().collect::<HashSet<_>>().len(), lanes);
    }

    #[test]
    fn one_too_many_is_closed_and_a_place_that_is_left_is_free() {
        let served = Served::start();
        let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| served.connect()).collect();
        clients.iter_mut().for_each(|client| drop(client.thread()));
        let is_served = || {
            let mut client = served.connect();
            // It may be closed before all is sent.
            let _ = write!(client.0.get_mut(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            matches!(client.0.read_line(&mut String::new()), Ok(read) if read > 0)
        };
        assert!(!is_served());
        clients.pop();
        // The server has to notice first.
        while !is_served() {
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn who_says_nothing_is_hung_up_on() {
        let served = Served::start();
        for little in ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
            let mut client = served.connect();
            client.0.get_mut().write_all(little.as_bytes()).unwrap();
            let mut said = String::new();
            // Reset or closed; a client that waits is told by its own clock.
            let read = client.0.read_line(&mut said);
            let is_late = read.is_err_and(|error| {
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
            });
            assert!(!is_late, "{little:?}: {said}");
        }
    }

    #[test]
    fn who_comes_alone_is_served_where_connections_are_taken() {
        let served = Served::start();
        assert_eq!(served.connect().thread(), format!("{:?}\n", served.thread.thread().id()));
    }

    #[test]
    fn the_end_waits_for_answers_on_every_thread() {
        let served = Served::start();
        let mut clients: Vec<Client> = (0..4).map(|_| served.connect()).collect();
        clients.iter_mut().for_each(|client| client.send("/slow"));
        while served.running.load(Ordering::Relaxed) < clients.len() {
            thread::sleep(Duration::from_millis(5));
        }
        served.stop.cancel();
        for client in &mut clients {
            assert_eq!(client.answer(), "slept\n");
        }
        served.thread.join().unwrap();
    }
}
