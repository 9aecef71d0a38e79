use pinza_state::{NewPiece, NewRequest, StateError};
use serde_json::json;

use crate::store;

fn request(number: u64, texts: &[&str]) -> NewRequest {
    let piece = |text: &&str| NewPiece { about: json!({ "kind": "said" }), text: (*text).to_owned() };
    NewRequest {
        body: json!({ "number": number }),
        parts: vec![("messages", texts.iter().map(piece).collect())],
    }
}

#[tokio::test]
async fn a_text_is_kept_once_and_counted_as_often_as_it_was_sent() {
    let home = tempfile::tempdir().unwrap();
    {
        let store = store(&home);
        store.begin_session("s", None).await.unwrap();
        store.begin_session("t", None).await.unwrap();
        store.keep_request("s", request(1, &["a", "b"])).await.unwrap();
        store.keep_request("t", request(1, &["b"])).await.unwrap();
    }
    // Another process, which knows nothing of the first.
    let store = store(&home);
    store.keep_request("s", request(2, &["a", "b", "ok", "ok", "a", "ok"])).await.unwrap();
    let (requests, pieces) = store.requests("s").await.unwrap();
    let texts = |index: usize| {
        let numbers = &requests[index].parts["messages"];
        let text = |number: &i64| pieces.iter().find(|piece| piece.number == *number).unwrap().text.as_str();
        numbers.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(requests.iter().map(|request| request.body["number"].clone()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(texts(0), ["a", "b"]);
    assert_eq!(texts(1), ["a", "b", "ok", "ok", "a", "ok"]);
    // Twice "a", thrice "ok": only these are there more than once, because they were sent so.
    assert_eq!(pieces.len(), 6);
    store.keep_request("s", request(3, &["a", "b", "ok", "ok", "a", "ok"])).await.unwrap();
    assert_eq!(store.requests("s").await.unwrap().1.len(), 6);

    let error = store.keep_request("nobody", request(1, &["x"])).await.unwrap_err();
    assert!(matches!(error, StateError::NoSession(_)), "{error}");
    store.remove_session("s").await.unwrap();
    assert_eq!(store.requests("s").await.unwrap(), (Vec::new(), Vec::new()));
    assert_eq!(store.requests("t").await.unwrap().1.len(), 1);
}
