//! `pinza memory`: what agents were told to remember.

use pinza::{
    ToolError,
    core::{ErrorKind, visible},
    state::{FoundIn, Store},
};
use serde_json::json;

use super::{Done, Global, Result, args::Memory, journal, sessions::when};
use crate::{home::Home, terminal::Printer};

pub(crate) fn run(global: &Global, printer: &Printer, command: Memory) -> Result {
    on_state(global, async |store| {
        match command {
            Memory::List => {
                let memories = store.memories().await.map_err(journal::explain)?;
                printer.json_or(
                    || json!({ "memories": memories }),
                    |out| {
                        let row = |one: &pinza::state::Memory| {
                            [one.id.to_string(), when(one.updated), visible(&one.text)]
                        };
                        out.columns(memories.iter().map(row));
                    },
                );
            }
            Memory::Add { text } => {
                let memory = store.save_memory(&text).await.map_err(journal::explain)?;
                printer.json_or(|| json!(memory), |out| out.line(&format!("Remembered as {}.", memory.id)));
            }
            Memory::Search { query, limit } => {
                let found = store.search_history(&query, limit).await.map_err(journal::explain)?;
                printer.json_or(
                    || json!({ "found": found }),
                    |out| {
                        out.columns(found.iter().map(|one| {
                            let place = match &one.place {
                                FoundIn::Session { session, seq, .. } => format!("{session} {seq}"),
                                FoundIn::Memory { id } => format!("memory {id}"),
                            };
                            [place, when(one.created), visible(&one.excerpt)]
                        }));
                    },
                );
            }
            Memory::Rm { ids } => {
                let known = store.memories().await.map_err(journal::explain)?;
                if let Some(id) = ids.iter().find(|id| !known.iter().any(|memory| memory.id == **id)) {
                    let error = ToolError::new(ErrorKind::NotFound, format!("There is no memory {id}"));
                    return Err(error.hint("See what there is: pinza memory list").into());
                }
                for id in &ids {
                    store.remove_memory(*id).await.map_err(journal::explain)?;
                }
                printer
                    .json_or(|| json!({ "status": "success", "removed": ids }), |out| out.line("Forgotten."));
            }
        }
        Ok(Done::Well)
    })
}

/// Runs a command on this home's state.
pub(crate) fn on_state(global: &Global, run: impl AsyncFnOnce(&Store) -> Result) -> Result {
    let home = Home::find(global.home.as_deref())?;
    home.create()?;
    let store = journal::open(&home)?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(&store))
}
