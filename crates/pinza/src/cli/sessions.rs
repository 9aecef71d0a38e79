//! `pinza sessions`: what was said.

use pinza::{
    ToolError,
    agent::Receipt,
    core::{ErrorKind, visible},
    state::{Session, Store},
};
use serde_json::json;

use super::{Done, Global, Result, args::Sessions, chat::explain, journal, memory::on_state, receipt};
use crate::terminal::Printer;

pub(crate) fn run(global: &Global, printer: &Printer, command: Sessions) -> Result {
    on_state(global, async |store| {
        match command {
            Sessions::List { limit } => {
                let sessions = store.sessions(limit).await.map_err(journal::explain)?;
                printer.json_or(
                    || json!({ "sessions": sessions }),
                    |out| {
                        out.columns(sessions.iter().map(|session| {
                            let count = super::author::counted(
                                usize::try_from(session.messages).unwrap_or(0),
                                "message",
                            );
                            [session.id.clone(), when(session.updated), count, visible(&session.title)]
                        }));
                    },
                );
            }
            Sessions::Show { id, receipt: false } => show(printer, store, &id).await?,
            Sessions::Show { id, receipt: true } => show_receipt(printer, store, &id).await?,
            Sessions::Export { id } => {
                let session = find(store, &id).await?;
                let messages = store.messages(&id, 0).await.map_err(journal::explain)?;
                printer.data(&json!({ "session": session, "state": session.state, "messages": messages }));
            }
            Sessions::Rm { ids } => {
                for id in &ids {
                    find(store, id).await?;
                }
                for id in &ids {
                    store.remove_session(id).await.map_err(journal::explain)?;
                }
                printer.json_or(
                    || json!({ "status": "success", "removed": ids }),
                    |out| out.line(&format!("Removed: {}", ids.join(", "))),
                );
            }
        }
        Ok(Done::Well)
    })
}

async fn show(printer: &Printer, store: &Store, id: &str) -> Result<()> {
    let session = find(store, id).await?;
    let messages = store.messages(id, 0).await.map_err(journal::explain)?;
    printer.json_or(
        || {
            let shown = messages.iter().map(
                |one| json!({ "seq": one.seq, "role": one.role, "text": one.text, "created": one.created }),
            );
            json!({ "session": session, "messages": shown.collect::<Vec<_>>() })
        },
        |out| {
            out.heading(&format!("{}  {}", session.id, visible(&session.title)));
            for message in &messages {
                out.line("");
                out.line(&format!("{} · {}", message.role, when(message.created)));
                out.text(&message.text);
            }
        },
    );
    Ok(())
}

async fn show_receipt(printer: &Printer, store: &Store, id: &str) -> Result<()> {
    find(store, id).await?;
    let Some(receipt) = Receipt::of_session(store, id).await.map_err(explain)? else {
        let message = format!("There is no receipt of the session '{}'", visible(id));
        let why = "Nothing was asked in it, or it is of a Pinza that did not write down what it sent.";
        return Err(ToolError::new(ErrorKind::NotFound, message).hint(why).into());
    };
    printer.json_or(|| json!(receipt), |out| receipt::lines(&receipt).iter().for_each(|line| out.line(line)));
    Ok(())
}

async fn find(store: &Store, id: &str) -> Result<Session> {
    let session = store.session(id).await.map_err(journal::explain)?;
    session.ok_or_else(|| {
        let message = format!("There is no session '{}'", visible(id));
        ToolError::new(ErrorKind::NotFound, message).hint("See what there is: pinza sessions list").into()
    })
}

/// A time for people, in their zone.
pub(crate) fn when(milliseconds: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
