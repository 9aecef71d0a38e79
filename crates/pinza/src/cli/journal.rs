//! The state of this home, and the journal of the calls that this program makes.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use pinza::{
    OpenState,
    core::CallObserver,
    host::secrets::VariableStore,
    state::{Journal, Keep, Redact, StateError, Store},
};

use super::{Global, Result, env};
use crate::{
    config::{JournalTable, KeepResults},
    home::Home,
};

/// Shorter values are words that stand everywhere.
const SHORTEST_SECRET: usize = 6;

pub(crate) fn open(home: &Home) -> Result<Store> {
    Store::open(&home.path.join("state.db")).map_err(explain)
}

/// The state of this home for tools, opened when one of them is called.
pub(crate) fn shared(home: &Home) -> OpenState {
    let path = home.path.join("state.db");
    let opened: Mutex<Option<Store>> = Mutex::new(None);
    Arc::new(move || {
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*opened {
            return Ok(store.clone());
        }
        Ok(opened.insert(Store::open(&path)?).clone())
    })
}

pub(crate) fn observer(
    global: &Global,
    home: &Home,
    table: &JournalTable,
    store: &Store,
) -> Result<Arc<dyn CallObserver>> {
    let keep = match table.results {
        KeepResults::None => Keep::Nothing,
        KeepResults::Head => Keep::Head,
        KeepResults::Full => Keep::All,
    };
    store.forget_calls_soon(Duration::from_secs(u64::from(table.days) * 24 * 3600));
    let redact = redact(env::open(home)?, global.env.clone());
    Ok(Arc::new(Journal::new(store.clone(), keep, redact)))
}

/// An error of the state, with what to do about it.
pub(crate) fn explain(error: StateError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => anyhow::anyhow!("{error}\nhint: {hint}"),
        None => anyhow::anyhow!("{error}"),
    }
}

/// Replaces the values of kept and given variables by their names. They are read when the first row is written.
fn redact(kept: VariableStore, given: Vec<(String, String)>) -> Redact {
    let secrets: OnceLock<Vec<(String, String)>> = OnceLock::new();
    Arc::new(move |text| {
        let secrets = secrets.get_or_init(|| values(&kept, &given));
        let replace = |text: String, (name, value): &(String, String)| {
            if text.contains(value) { text.replace(value, &format!("[secret {name}]")) } else { text }
        };
        secrets.iter().fold(text.to_owned(), replace)
    })
}

/// Each value as it is, and as it stands in JSON.
fn values(kept: &VariableStore, given: &[(String, String)]) -> Vec<(String, String)> {
    // What cannot be read cannot have reached a tool either.
    let kept = kept.all().unwrap_or_default();
    let kept = kept.iter().map(|(name, secret)| (name.clone(), secret.expose().to_owned()));
    let mut values = Vec::new();
    for (name, value) in kept.chain(given.iter().cloned()).filter(|(_, value)| value.len() >= SHORTEST_SECRET)
    {
        let quoted = serde_json::Value::from(value.as_str()).to_string();
        let inner = quoted[1..quoted.len() - 1].to_owned();
        if inner != value {
            values.push((name.clone(), inner));
        }
        values.push((name, value));
    }
    // A value that holds another one goes first.
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    values
}
