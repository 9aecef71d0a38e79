//! The test runs itself again as the one that is killed.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::Arc,
};

use pinza_core::{CallObserver as _, Caller, Of, Started};
use pinza_state::{CallFilter, Journal, Keep, NewMessage, SessionChange, Store};
use serde_json::json;

const HOME: &str = "PINZA_STATE_TEST_HOME";

/// The half that is killed: says what was acknowledged, and goes on for ever.
#[tokio::test]
#[ignore = "run by the test below"]
async fn child() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = Store::open(&std::path::Path::new(&home).join("state.db")).unwrap();
    store.begin_session("s", None).await.unwrap();
    let journal = Journal::new(store.clone(), Keep::Head, Arc::new(str::to_owned));
    let (id, caller) = (pinza_core::CallId::new("c"), Caller::Agent { session: "s".into() });
    let session = Arc::from("s");
    let of = Of { serial: 1, id: &id, tool: "acts", caller: &caller, session: Some(&session) };
    let arguments = Arc::default();
    let started = Started { of, arguments: &arguments, read_only: false };
    journal.before_run(&started).unwrap().await.unwrap();
    for number in 1.. {
        let message = NewMessage { role: "user", body: json!(number), text: number.to_string() };
        let change = SessionChange { messages: vec![message], ..SessionChange::default() };
        let last = store.change_session("s", change).await.unwrap();
        println!("acknowledged {last}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_and_what_ran_was_interrupted() {
    let home = tempfile::tempdir().unwrap();
    for round in 1..=5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "crash::child", "--nocapture"])
            .env(HOME, home.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok());
        let acknowledged: i64 = said.take(7 * round).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let store = crate::store(&home);
        let messages = store.messages("s", 0).await.unwrap();
        assert!(messages.len() as i64 >= acknowledged);
        let calls = store.calls(CallFilter::default(), 99).await.unwrap();
        let states: Vec<&str> = calls.iter().map(|call| call.status.0.as_str()).collect();
        assert_eq!(states, vec!["interrupted"; round], "each of the dead left one");
    }
}
