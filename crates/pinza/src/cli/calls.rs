//! `pinza calls`: the journal.

use std::time::Duration;

use pinza::{
    ToolError,
    core::{ErrorKind, visible},
    state::{Call, CallFilter, Store},
};
use serde_json::json;

use super::{
    Done, Global, Result,
    args::{Calls, CallsOf},
    journal,
    memory::on_state,
    sessions::when,
};
use crate::terminal::{Out, Printer};

/// How often `tail` looks.
const GLANCE: Duration = Duration::from_millis(250);

pub(crate) fn run(global: &Global, printer: &Printer, command: Calls) -> Result {
    on_state(global, async |store| match command {
        Calls::List(of) => {
            let calls = list(store, &of, 0).await?;
            printer.json_or(|| json!({ "calls": calls }), |out| rows(out, &calls));
            Ok(Done::Well)
        }
        Calls::Show { id } => {
            let Some(call) = store.call(id).await.map_err(journal::explain)? else {
                let error = ToolError::new(ErrorKind::NotFound, format!("There is no call {id}"));
                return Err(error.hint("See the last ones: pinza calls list").into());
            };
            printer.json_or(|| json!(call), |out| show(out, &call));
            Ok(Done::Well)
        }
        Calls::Tail(of) => tail(printer, store, &of).await,
    })
}

async fn list(store: &Store, of: &CallsOf, after: i64) -> Result<Vec<Call>> {
    let CallsOf { session, tool, status, limit } = of.clone();
    let filter = CallFilter { session, tool, status, after };
    store.calls(filter, limit).await.map_err(journal::explain)
}

/// Each call once, when it has ended; until the reader goes away or the program is stopped.
async fn tail(printer: &Printer, store: &Store, of: &CallsOf) -> Result {
    let mut after = 0;
    let mut running: Vec<i64> = Vec::new();
    loop {
        let mut ended = Vec::new();
        for id in std::mem::take(&mut running) {
            match store.call(id).await.map_err(journal::explain)? {
                Some(call) if call.ended.is_none() => running.push(id),
                Some(call) => ended.push(call),
                None => {}
            }
        }
        for call in list(store, of, after).await? {
            after = after.max(call.id);
            if call.ended.is_some() { ended.push(call) } else { running.push(call.id) }
        }
        for call in &ended {
            printer.json_or(|| json!(call), |out| rows(out, std::slice::from_ref(call)));
        }
        tokio::time::sleep(GLANCE).await;
    }
}

fn rows(out: &mut Out, calls: &[Call]) {
    out.columns(calls.iter().map(|call| {
        let took = call.ended.map_or_else(String::new, |ended| format!("{} ms", ended - call.started));
        [call.id.to_string(), when(call.started), visible(&call.tool), call.status.0.clone(), took, by(call)]
    }));
}

/// Who called, and in which session where that is not said already.
fn by(call: &Call) -> String {
    match &call.session {
        Some(session) if !call.caller.contains(session) => visible(&format!("{} {session}", call.caller)),
        _ => visible(&call.caller),
    }
}

fn show(out: &mut Out, call: &Call) {
    let mut facts = vec![
        ["tool".to_owned(), visible(&call.tool)],
        ["status".to_owned(), call.status.0.clone()],
        ["caller".to_owned(), visible(&call.caller)],
        ["started".to_owned(), when(call.started)],
    ];
    if let Some(session) = &call.session {
        facts.push(["session".to_owned(), visible(session)]);
    }
    if let Some(ended) = call.ended {
        facts.push(["took".to_owned(), format!("{} ms", ended - call.started)]);
    }
    for decision in call.decisions.as_array().into_iter().flatten() {
        let granted = if decision["granted"] == true { "granted" } else { "denied" };
        let asked = if decision["asked"] == true { ", asked" } else { "" };
        let capability = decision["capability"].as_str().unwrap_or_default();
        facts.push([capability.to_owned(), format!("{granted}{asked}")]);
    }
    out.columns(facts);
    if let Some(arguments) = &call.arguments {
        out.line("");
        out.line(&visible(&format!("{arguments:#}")).replace("\\n", "\n"));
    }
    if let Some(result) = &call.result {
        out.line("");
        out.text(result);
    }
}
