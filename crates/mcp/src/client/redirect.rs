//! Where the browser comes back to: a port on this machine that takes one answer.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use url::Url;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The head of a request that carries a code.
const HEAD_LIMIT: usize = 16 << 10;

pub(crate) struct Redirect {
    listener: TcpListener,
    address: String,
}

/// What an authorization server sends back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    pub(crate) code: String,
    pub(crate) state: String,
    pub(crate) issuer: Option<String>,
}

impl Redirect {
    /// On the port that was registered before, if it is free.
    pub(crate) async fn bind(port: Option<u16>) -> Result<Self, String> {
        let listener = match port {
            Some(port) => TcpListener::bind(("127.0.0.1", port)).await.ok(),
            None => None,
        };
        let failed = |error| format!("no port on this machine to come back to: {error}");
        let listener = match listener {
            Some(listener) => listener,
            None => TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?,
        };
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, address: format!("http://127.0.0.1:{port}/callback") })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the answer. What comes to another path, or is no answer, is told so and not counted: anybody on this
    /// machine can connect.
    pub(crate) async fn wait(self) -> Result<Callback, String> {
        let waiting = async {
            loop {
                let Ok((mut stream, _)) = self.listener.accept().await else { continue };
                let Ok(Some(target)) = timeout(Duration::from_secs(5), request_target(&mut stream)).await
                else {
                    continue;
                };
                match self.read(&target) {
                    Some(answer) => {
                        let text = match &answer {
                            Ok(_) => "Signed in. You can close this page and go back to Pinza.",
                            Err(_) => "That did not work. Go back to Pinza to see why.",
                        };
                        reply(&mut stream, "200 OK", text).await;
                        return answer;
                    }
                    None => reply(&mut stream, "404 Not Found", "Nothing here.").await,
                }
            }
        };
        let late = |_| format!("nobody signed in within {} minutes", PATIENCE.as_secs() / 60);
        timeout(PATIENCE, waiting).await.map_err(late)?
    }

    fn read(&self, target: &str) -> Option<Result<Callback, String>> {
        let url = Url::parse(&self.address).ok()?.join(target).ok()?;
        if url.path() != "/callback" {
            return None;
        }
        let value =
            |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if let Some(error) = value("error") {
            let detail = value("error_description").map(|text| format!(" ({text})")).unwrap_or_default();
            return Some(Err(pinza_core::visible(&format!("the authorization server said {error}{detail}"))));
        }
        let (code, state) = (value("code")?, value("state")?);
        Some(Ok(Callback { code, state, issuer: value("iss") }))
    }
}

/// The target of a GET, once its head is whole.
async fn request_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD_LIMIT || stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().filter(|target| target.starts_with('/')).map(str::to_owned)
}

async fn reply(stream: &mut TcpStream, status: &str, text: &str) {
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nreferrer-policy: \
         no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // The browser may be gone; the answer has come all the same.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn knock(port: u16, target: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }

    #[tokio::test]
    async fn the_first_real_answer_counts() {
        let redirect = Redirect::bind(None).await.unwrap();
        let port = Url::parse(redirect.address()).unwrap().port().unwrap();
        let waiting = tokio::spawn(redirect.wait());
        for noise in ["/favicon.ico", "/callback", "/callback?code=1", "/other?code=1&state=2"] {
            knock(port, noise).await;
        }
        knock(port, "/callback?code=a%20b&state=s&iss=https%3A%2F%2Fa.example").await;
        let callback = waiting.await.unwrap().unwrap();
        let expected =
            Callback { code: "a b".into(), state: "s".into(), issuer: Some("https://a.example".into()) };
        assert_eq!(callback, expected);
    }

    #[tokio::test]
    async fn a_refusal_is_an_answer() {
        let redirect = Redirect::bind(None).await.unwrap();
        let port = Url::parse(redirect.address()).unwrap().port().unwrap();
        let waiting = tokio::spawn(redirect.wait());
        knock(port, "/callback?error=access_denied&error_description=no%1b%5b31m").await;
        let error = waiting.await.unwrap().unwrap_err();
        assert!(error.contains("access_denied") && !error.contains('\u{1b}'), "{error:?}");
    }
}
