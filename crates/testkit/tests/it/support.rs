//! A client that sends one request and reads everything that comes back.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Without the transfer encoding.
    pub(crate) body: String,
}

/// Posts to a URL like `http://127.0.0.1:1/v1/messages`.
pub(crate) fn post(url: &str, headers: &str, body: &Value) -> Answer {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_chunked = head.contains("transfer-encoding: chunked");
    Answer { status, body: if is_chunked { unchunk(body) } else { body.to_owned() } }
}

/// The chunks joined; a stream that was cut ends where it was cut.
fn unchunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body += &after[..size];
        rest = &after[size + 2..];
    }
    body
}
