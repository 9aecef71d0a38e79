use pinza_state::{FoundIn, NewMessage, SessionChange, StateError};
use serde_json::json;

use crate::store;

#[tokio::test]
async fn words_are_found_whatever_signs_stand_around_them() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    store.begin_session("s", None).await.unwrap();
    let texts = ["We talked about sailing boats", "The invoice is 4,200 EUR", "Nothing of note"];
    let messages =
        texts.map(|text| NewMessage { role: "user", body: json!(null), text: text.into() }).to_vec();
    store.change_session("s", SessionChange { messages, ..SessionChange::default() }).await.unwrap();
    for (query, place) in [
        ("sail", 1),
        ("boat AND (", 1),
        ("\"invoice\" OR *", 2),
        ("NEAR(invoice)", 2),
        ("text: invoice -^2", 2),
    ] {
        let found = store.search_history(query, 5).await.unwrap();
        let FoundIn::Session { seq, .. } = &found[0].place else { panic!("{found:?}") };
        assert_eq!(*seq, place, "{query}");
    }
    for query in ["", "  ", "***", "elephants"] {
        assert!(store.search_history(query, 5).await.unwrap().is_empty(), "{query}");
    }
}

#[tokio::test]
async fn memory_is_kept_changed_and_found() {
    let home = tempfile::tempdir().unwrap();
    let store = store(&home);
    let tea = store.save_memory("Likes green tea").await.unwrap();
    store.save_memory("Lives in Turin").await.unwrap();
    store.update_memory(tea.id, "Likes black coffee").await.unwrap();
    assert!(store.search_history("tea", 5).await.unwrap().is_empty());
    assert_eq!(store.search_history("coffee", 5).await.unwrap()[0].place, FoundIn::Memory { id: tea.id });
    assert!(matches!(store.update_memory(99, "x").await, Err(StateError::NoMemory(99))));
    assert!(store.remove_memory(tea.id).await.unwrap());
    let left: Vec<String> = store.memories().await.unwrap().into_iter().map(|memory| memory.text).collect();
    assert_eq!(left, ["Lives in Turin"]);
}
