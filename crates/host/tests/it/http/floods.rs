//! Servers that never stop.

use super::*;

const MAX: usize = 100 * 1024;

fn endless(headers: &[(&str, &str)], start: &[u8], again: &[u8]) -> Reply {
    let head = [wire::head("200 OK", headers), start.to_vec()].concat();
    Reply::Endless { head, again: again.to_vec(), pause: NOW }
}

async fn is_cut(reply: Reply) {
    let response = answer(reply, MAX).await.unwrap();
    assert!(response.truncated);
    assert_eq!(response.body.len(), MAX);
}

#[tokio::test]
async fn an_endless_body_is_cut() {
    is_cut(endless(&[], b"", &[b'x'; 8192])).await;
    is_cut(endless(&[("transfer-encoding", "chunked")], b"", b"5\r\nhello\r\n".repeat(800).as_slice())).await;
}

#[tokio::test]
async fn bombs_are_cut() {
    let bomb = answers::gzip(&vec![0; 64 << 20]);
    is_cut(Reply::new("200 OK", &[("content-encoding", "gzip")], bomb)).await;
    // 64 MiB of zeros.
    let brotli: [u8; 53] = [
        0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff, 0xff,
        0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f, 0x00, 0x88,
        0xc3, 0x22, 0x00, 0xdd, 0xfb, 0xff, 0xfc, 0xff, 0xff, 0xc7, 0x3f, 0x01, 0x10, 0x87, 0x05, 0x00, 0xba,
        0xf7, 0xff,
    ];
    is_cut(Reply::new("200 OK", &[("content-encoding", "br")], brotli)).await;
    // A frame head, then four bytes for every 128 KiB.
    let (start, block) = ([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38], [0x02, 0x00, 0x10, 0x00]);
    is_cut(endless(&[("content-encoding", "zstd")], &start, &block)).await;
}

#[tokio::test]
async fn a_stream_that_decodes_to_nothing_is_silence() {
    let start = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let hollow = [0x00, 0x00, 0x00, 0xff, 0xff].repeat(100);
    let error = answer(endless(&[("content-encoding", "gzip")], &start, &hollow), MAX).await;
    assert_eq!(error.expect_err("no byte arrives"), HttpError::TimedOut);
}

#[tokio::test]
async fn too_many_headers_are_an_error() {
    let many = (0..5000).map(|n| format!("x-{n}: {n}\r\n")).collect::<String>();
    let long = "y".repeat(8192);
    let replies = [
        Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{many}\r\n").into_bytes()),
        Reply::Endless { head: b"HTTP/1.1 200 OK\r\n".into(), again: many.into(), pause: NOW },
        Reply::Endless { head: b"HTTP/1.1 200 OK\r\nx: ".into(), again: long.into(), pause: NOW },
    ];
    for reply in replies {
        let error = answer(reply, MAX).await.expect_err("a flood");
        assert_eq!(error.to_string(), "HTTP request failed: message head is too large");
    }
}

#[tokio::test]
async fn endless_preludes_time_out() {
    let again = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10);
    let error = answer(Reply::Endless { head: Vec::new(), again, pause: NOW }, MAX).await;
    assert_eq!(error.expect_err("no answer"), HttpError::TimedOut);
}

#[tokio::test]
async fn nonsense_is_an_error() {
    for bytes in
        ["", "SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 999999 X\r\n\r\n", "\0\0\0\0", "HTTP/1.1 200 OK\r\nx\r\n\r\n"]
    {
        let error = answer(Reply::Bytes(bytes.into()), MAX).await.expect_err(bytes).answer();
        assert_eq!(error.kind, ErrorKind::ExecutionError);
        assert!(error.message.starts_with("HTTP request failed: "), "{}", error.message);
    }
}
