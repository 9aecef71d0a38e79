//! Ordinary failures, in the words that a model hears.

use tokio::io::AsyncWriteExt as _;

use super::*;

#[tokio::test]
async fn a_closed_port_refuses() {
    // Bound, so that nobody else gets the port, but never listening.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let error = fetch(get(&url)).await.expect_err("closed").answer();
    assert_eq!((error.kind, error.message), (ErrorKind::NetworkError, format!("Connection refused: {url}")));
}

#[tokio::test]
async fn an_unknown_name_cannot_be_resolved() {
    let resolver = names(|_, _| Vec::new());
    let client = HttpClient::new(HttpOptions { resolver, ..brief() }).unwrap();
    let error = client.send(get("http://no.such.test/"), &Desk::grants_all()).await;
    let error = error.expect_err("unknown").answer();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::NetworkError, "Cannot resolve host: no.such.test")
    );
}

#[tokio::test]
async fn https_to_a_plain_server_fails_cleanly() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    };
    let error = tokio::select! {
        sent = fetch(get(&url)) => sent.expect_err("no TLS").answer(),
        () = plain => unreachable!(),
    };
    assert_eq!(error.kind, ErrorKind::ExecutionError);
    assert_eq!(error.message, "HTTP request failed: received corrupt message of type InvalidContentType");
}
