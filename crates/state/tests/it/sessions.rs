use pinza_state::{NewMessage, SessionChange, StateError};
use serde_json::json;

use crate::store;

fn message(text: &str) -> NewMessage {
    NewMessage { role: "user", body: json!({ "text": text }), text: text.into() }
}

fn saying(texts: &[&str]) -> SessionChange {
    SessionChange { messages: texts.iter().map(|text| message(text)).collect(), ..SessionChange::default() }
}

#[tokio::test]
async fn what_was_said_is_there_in_order_for_whoever_opens_it_next() {
    let home = tempfile::tempdir().unwrap();
    {
        let store = store(&home);
        store.begin_session("s", Some("writer")).await.unwrap();
        assert_eq!(store.change_session("s", saying(&["one", "two"])).await.unwrap(), 2);
        let change = SessionChange {
            state: Some(json!({"groups": ["pdf"]})),
            title: Some("A talk".into()),
            ..saying(&["three"])
        };
        assert_eq!(store.change_session("s", change).await.unwrap(), 3);
    }
    let store = store(&home);
    let session = store.begin_session("s", None).await.unwrap();
    assert_eq!(
        (session.title.as_str(), session.agent.as_deref(), session.messages),
        ("A talk", Some("writer"), 3)
    );
    assert_eq!(session.state, json!({"groups": ["pdf"]}));
    let messages = store.messages("s", 0).await.unwrap();
    let texts: Vec<&str> = messages.iter().map(|message| message.body["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(store.messages("s", 2).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_is_written_to_a_session_that_is_not_there() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let error = store.change_session("nobody", saying(&["lost"])).await.unwrap_err();
    assert!(matches!(error, StateError::NoSession(_)), "{error}");
    assert!(store.search_history("lost", 5).await.unwrap().is_empty());
    store.begin_session("s", None).await.unwrap();
    store.change_session("s", saying(&["kept"])).await.unwrap();
    assert!(store.remove_session("s").await.unwrap());
    assert!(!store.remove_session("s").await.unwrap());
    assert!(store.messages("s", 0).await.unwrap().is_empty());
    assert!(store.search_history("kept", 5).await.unwrap().is_empty(), "not to be found either");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_share_a_home() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (store(&home), store(&home));
    one.begin_session("s", None).await.unwrap();
    let write = |store: pinza_state::Store| async move {
        for number in 0..50 {
            store.change_session("s", saying(&[&number.to_string()])).await.unwrap();
        }
    };
    tokio::join!(write(one.clone()), write(two.clone()));
    let messages = one.messages("s", 0).await.unwrap();
    let places: Vec<i64> = messages.iter().map(|message| message.seq).collect();
    assert_eq!(places, (1..=100).collect::<Vec<_>>());
    assert_eq!(two.sessions(10).await.unwrap()[0].messages, 100);
}

#[tokio::test]
async fn a_session_is_open_in_one_pinza_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let (one, other) = (store(&home), store(&home));
    let hold = one.hold_session("../s").await.unwrap();
    let again = one.hold_session("../s").await.unwrap();
    other.hold_session("t").await.unwrap();
    for held in [hold, again] {
        let error = other.hold_session("../s").await.unwrap_err();
        let process = std::process::id();
        assert_eq!(
            error.to_string(),
            format!("the session '../s' is open in another Pinza (process {process})")
        );
        drop(held);
    }
    let _taken = other.hold_session("../s").await.unwrap();
    one.hold_session("../s").await.unwrap_err();
}

#[tokio::test]
async fn what_a_crash_left_of_a_hold_is_swept_away() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let _held = store.hold_session("a").await.unwrap();
    let directory = home.path().join("state.sessions");
    std::fs::write(directory.join("left"), "1").unwrap();
    let files = || std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(files(), 3, "the turn, one that is held, one that is left");
    drop(store.hold_session("b").await.unwrap());
    assert_eq!(files(), 2);
    store.hold_session("a").await.unwrap();
}

#[tokio::test]
async fn messages_are_taken_back_and_their_places_are_free_again() {
    let home = tempfile::tempdir().unwrap();
    {
        let store = store(&home);
        store.begin_session("s", None).await.unwrap();
        store.begin_session("other", None).await.unwrap();
        store.change_session("other", saying(&["not", "mine", "either"])).await.unwrap();
        store.change_session("s", saying(&["apples", "pears", "plums"])).await.unwrap();
        let change = SessionChange { without: Some(2), state: Some(json!(1)), ..saying(&["figs"]) };
        assert_eq!(store.change_session("s", change).await.unwrap(), 2);
    }
    let store = store(&home);
    let texts =
        |messages: Vec<pinza_state::Message>| messages.into_iter().map(|one| one.text).collect::<Vec<_>>();
    assert_eq!(texts(store.messages("s", 0).await.unwrap()), ["apples", "figs"]);
    assert_eq!(store.messages("other", 0).await.unwrap().len(), 3);
    assert_eq!(store.session("s").await.unwrap().unwrap().state, json!(1));
    assert!(store.search_history("plums", 5).await.unwrap().is_empty(), "not to be found either");
}

#[tokio::test]
async fn only_a_session_that_was_never_used_is_removed_as_such() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    for id in ["empty", "said", "loaded"] {
        store.begin_session(id, None).await.unwrap();
    }
    store.change_session("said", saying(&["hello"])).await.unwrap();
    store.change_session("loaded", SessionChange { state: Some(json!({})), ..saying(&[]) }).await.unwrap();
    for (id, removed) in [("empty", true), ("said", false), ("loaded", false), ("nobody", false)] {
        assert_eq!(store.remove_unused_session(id).await.unwrap(), removed, "{id}");
    }
}
