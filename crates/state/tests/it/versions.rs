use pinza_state::{StateError, Store};

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    drop(Store::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StateError::Newer { found: 99, .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_no_database_is_said() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    std::fs::write(&path, "this is no database, but a text that is long enough to look at").unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("not a database"), "{error}");
}

/// A session of the first version is read as it is; only what was not written down then is missing.
#[tokio::test]
async fn an_older_file_is_brought_up() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("../../src/migrations/0001_start.sql")).unwrap();
    connection.execute("INSERT INTO sessions VALUES ('s', 'Old', NULL, 1, 1, 'null')", []).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.session("s").await.unwrap().unwrap().title, "Old");
    assert_eq!(store.requests("s").await.unwrap(), (Vec::new(), Vec::new()));
}

#[test]
fn several_that_begin_with_a_new_file_at_once_all_open_it() {
    for _ in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        let gate = std::sync::Barrier::new(8);
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    gate.wait();
                    Store::open(&path).unwrap();
                });
            }
        });
    }
}
