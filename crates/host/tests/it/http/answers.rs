//! What comes back, whole or cut.

use super::*;

#[tokio::test]
async fn a_whole_answer() {
    let headers = [("x-b", "1"), ("x-a", "2"), ("x-b", "3")];
    let response = answer(Reply::new("404 Not Found", &headers, "gone"), 100).await.unwrap();
    assert_eq!((response.status, response.reason.as_str()), (404, "Not Found"));
    assert_eq!(response.body, b"gone");
    assert_eq!((response.truncated, response.total), (false, Some(4)));
    let of_b: Vec<_> = response.headers.iter().filter(|(name, _)| name == "x-b").collect();
    assert_eq!(of_b.len(), 2);
    assert_eq!(response.header("X-A"), Some("2"));
}

#[tokio::test]
async fn bodies_are_cut_exactly() {
    for (max_body, body, truncated) in
        [(3, "abc", true), (4, "abcd", false), (5, "abcd", false), (0, "", true)]
    {
        let response = answer(Reply::ok("abcd"), max_body).await.unwrap();
        assert_eq!(response.body, body.as_bytes());
        assert_eq!((response.truncated, response.total), (truncated, Some(4)), "{max_body}");
    }
    let empty = answer(Reply::new("204 No Content", &[], ""), 0).await.unwrap();
    assert_eq!((empty.body.len(), empty.truncated), (0, false));
}

#[tokio::test]
async fn a_body_without_length_has_no_total() {
    let bytes = [wire::head("200 OK", &[]), b"abc".to_vec()].concat();
    let response = answer(Reply::Bytes(bytes), 10).await.unwrap();
    assert_eq!((response.body.as_slice(), response.total), (&b"abc"[..], None));
}

#[tokio::test]
async fn a_short_body_is_an_error() {
    let bytes = [wire::head("200 OK", &[("content-length", "10")]), b"abc".to_vec()].concat();
    let error = answer(Reply::Bytes(bytes), 10).await.expect_err("seven bytes are missing");
    assert!(matches!(error, HttpError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn encodings_are_undone() {
    let reply = Reply::new("200 OK", &[("content-encoding", "gzip")], gzip(b"plain"));
    let response = answer(reply, 100).await.unwrap();
    assert_eq!((response.body.as_slice(), response.total), (&b"plain"[..], None));
    assert_eq!(response.header("content-encoding"), None);
    // An encoding that nobody knows is left alone, and its length counts.
    let reply = Reply::new("200 OK", &[("content-encoding", "rot13")], "cynva");
    let response = answer(reply, 100).await.unwrap();
    assert_eq!((response.body.as_slice(), response.total), (&b"cynva"[..], Some(5)));
}

pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
