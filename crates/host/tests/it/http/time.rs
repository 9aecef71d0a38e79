//! Servers and resolvers that never begin, and callers that leave.

use super::*;

#[tokio::test]
async fn silence_times_out() {
    let head = wire::head("200 OK", &[("content-length", "9")]);
    let forever = Duration::from_secs(600);
    let replies = [
        Reply::Hang,
        Reply::Parts(vec![(NOW, head.clone()), (forever, b"late".to_vec())]),
        Reply::Parts(vec![(NOW, head[..20].to_vec()), (forever, head[20..].to_vec())]),
        // A drip of headers is no answer either.
        Reply::Endless {
            head: b"HTTP/1.1 200 OK\r\nx: ".to_vec(),
            again: b"y".to_vec(),
            pause: Duration::from_millis(50),
        },
    ];
    for reply in replies {
        let error = answer(reply, 100).await.expect_err("silence");
        assert_eq!(error, HttpError::TimedOut);
        let answer = error.answer();
        assert_eq!((answer.kind, answer.message.as_str()), (ErrorKind::Timeout, "HTTP request timed out"));
    }
}

#[tokio::test]
async fn a_slow_body_that_moves_is_fine() {
    let part = |text: &str| (Duration::from_millis(150), text.as_bytes().to_vec());
    let head = wire::head("200 OK", &[("content-length", "6")]);
    let parts = vec![(NOW, head), part("a"), part("b"), part("c"), part("d"), part("e"), part("f")];
    assert_eq!(answer(Reply::Parts(parts), 100).await.unwrap().body, b"abcdef");
}

#[tokio::test]
async fn a_dropped_request_leaves_no_connection() {
    let pause = Duration::from_millis(20);
    let drip = Reply::Endless { head: wire::head("200 OK", &[]), again: b"x".to_vec(), pause };
    for reply in [Reply::Hang, drip] {
        let server = WireServer::start(move |_| reply.clone());
        let request = fetch(get(&server.url("/")));
        tokio::time::timeout(Duration::from_millis(300), request).await.expect_err("it goes on");
        assert_eq!(server.connections(), 1);
        let gone = async {
            while server.open_connections() > 0 {
                tokio::time::sleep(pause).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the connection ends");
    }
}

#[tokio::test]
async fn a_resolver_that_hangs_times_out() {
    #[derive(Debug)]
    struct Silent;
    impl Resolve for Silent {
        fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(std::future::pending())
        }
    }
    let client = HttpClient::new(HttpOptions { resolver: Arc::new(Silent), ..brief() }).unwrap();
    let error = client.send(get("http://x.test/"), &Desk::grants_all()).await;
    assert_eq!(error.expect_err("no answer"), HttpError::TimedOut);
}
