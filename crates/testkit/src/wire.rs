//! A scripted HTTP server that speaks raw bytes, so that a test can be as rude as it likes.
//!
//! It runs on a thread of its own and stops when dropped: blocking and async tests use it
//! alike. One request a connection.
#![expect(clippy::expect_used, reason = "a test whose server cannot start has failed")]

use std::{
    fmt::Write as _,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The request line and the headers, as they came.
    pub head: String,
    pub body: Vec<u8>,
}

impl RecordedRequest {
    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// With its query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let mut named = headers.filter(|(header, _)| header.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub enum Reply {
    /// Written as they are, then the connection is closed.
    Bytes(Vec<u8>),
    /// Written one by one, each after its pause; then the connection is closed.
    Parts(Vec<(Duration, Vec<u8>)>),
    /// Written one by one, and then the connection stays open.
    Stall(Vec<(Duration, Vec<u8>)>),
    /// A head, then the same bytes for ever, a pause before each.
    Endless { head: Vec<u8>, again: Vec<u8>, pause: Duration },
    /// No answer at all, and the connection stays open.
    Hang,
}

impl Reply {
    /// 200 with a plain text body.
    pub fn ok(body: impl AsRef<[u8]>) -> Self {
        Self::new("200 OK", &[("content-type", "text/plain")], body)
    }

    /// 200 with a JSON body.
    pub fn json(body: &serde_json::Value) -> Self {
        Self::new("200 OK", &[("content-type", "application/json")], body.to_string())
    }

    pub fn redirect(status: &str, location: &str) -> Self {
        Self::new(status, &[("location", location)], "")
    }

    /// A whole answer with its `content-length`; `status` is like `404 Not Found`.
    pub fn new(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len().to_string();
        let mut bytes = head(status, &[headers, &[("content-length", length.as_str())]].concat());
        bytes.extend_from_slice(body);
        Self::Bytes(bytes)
    }
}

/// The head of an answer, blank line included. Without a length the body ends with the
/// connection.
pub fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("connection: close\r\n\r\n");
    text.into_bytes()
}

/// A running server on a port of 127.0.0.1.
#[derive(Debug)]
pub struct WireServer {
    address: SocketAddr,
    seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: Mutex<Vec<RecordedRequest>>,
    accepted: AtomicUsize,
    open: AtomicUsize,
}

type Handler = dyn Fn(&RecordedRequest) -> Reply + Send + Sync;

impl WireServer {
    pub fn start(handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at(0, handler).expect("a free port")
    }

    /// The same on one port; 0 for a free one.
    pub fn start_at(
        port: u16,
        handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        // Bound here, so that the address is known before the thread runs.
        let listener = std::net::TcpListener::bind(("127.0.0.1", port))?;
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a non-blocking listener");
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let accepting = accept(listener, Arc::new(handler), seen.clone());
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::select! { () = accepting => (), _ = stopped => () }
            });
        });
        Ok(Self { address, seen, stop: Some(stop), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.seen.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were accepted, with or without a request.
    pub fn connections(&self) -> usize {
        self.seen.accepted.load(Ordering::SeqCst)
    }

    /// How many connections are open now.
    pub fn open_connections(&self) -> usize {
        self.seen.open.load(Ordering::SeqCst)
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        // Dropping the sender stops the accept loop; the runtime takes its tasks along.
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: std::net::TcpListener, handler: Arc<Handler>, seen: Arc<Seen>) {
    let listener = TcpListener::from_std(listener).expect("a listener");
    while let Ok((stream, _)) = listener.accept().await {
        seen.accepted.fetch_add(1, Ordering::SeqCst);
        seen.open.fetch_add(1, Ordering::SeqCst);
        let (handler, seen) = (handler.clone(), seen.clone());
        tokio::spawn(async move {
            // An error here is the client leaving, which many tests are about.
            let _ = serve(stream, &*handler, &seen).await;
            seen.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

async fn serve(mut stream: TcpStream, handler: &Handler, seen: &Seen) -> std::io::Result<()> {
    let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
    seen.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    match handler(&request) {
        Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
        Reply::Parts(parts) => write_parts(&mut stream, parts).await?,
        Reply::Stall(parts) => {
            write_parts(&mut stream, parts).await?;
            wait_for_end(&mut stream).await?;
        }
        Reply::Endless { head, again, pause } => {
            stream.write_all(&head).await?;
            loop {
                tokio::time::sleep(pause).await;
                stream.write_all(&again).await?;
            }
        }
        Reply::Hang => wait_for_end(&mut stream).await?,
    }
    stream.shutdown().await
}

async fn write_parts(stream: &mut TcpStream, parts: Vec<(Duration, Vec<u8>)>) -> std::io::Result<()> {
    for (pause, bytes) in parts {
        tokio::time::sleep(pause).await;
        stream.write_all(&bytes).await?;
    }
    Ok(())
}

/// Until the client leaves.
async fn wait_for_end(stream: &mut TcpStream) -> std::io::Result<()> {
    while stream.read(&mut [0; 512]).await? > 0 {}
    Ok(())
}

/// `None` if the client leaves before it has sent a whole request.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<RecordedRequest>> {
    const BLANK: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(BLANK.len()).position(|window| window == BLANK) {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let mut body = bytes.split_off(end + BLANK.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut request = RecordedRequest { head, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    request.body = body;
    Ok(Some(request))
}
