//! Work that waits for its client to come back with answers.
//!
//! The client gets an opaque handle that nobody can guess, good for one request, for the same
//! request that asked, and for a while. What is never fetched is cancelled.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::ErrorData;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::{
    exchange::{PATIENCE, Running},
    secret,
};

/// Work that may wait at one time.
const PLACES: usize = 256;

pub(super) struct Work {
    pub(super) running: Running,
    pub(super) wanted: Value,
}

/// A std lock, held to put or take and never across an await.
#[derive(Clone, Default)]
pub(super) struct Parked(Arc<Mutex<HashMap<String, Place>>>);

struct Place {
    work: Work,
    /// Gives the place up after a while; ends with it.
    _expiry: AbortOnDropHandle<()>,
}

impl Parked {
    /// Keeps the work, which runs on meanwhile, and returns the handle to fetch it with.
    pub(super) fn put(&self, mut work: Work) -> Result<String, ErrorData> {
        let state = secret().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= PLACES {
            work.running.cancellation.cancel();
            return Err(ErrorData::internal_error("too many calls wait for their client's answers", None));
        }
        work.running.work = run_on(work.running.work);
        let (parked, own) = (self.clone(), state.clone());
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            parked.give_up(&own);
        });
        places.insert(state.clone(), Place { work, _expiry: AbortOnDropHandle::new(expiry) });
        Ok(state)
    }

    /// The work behind a handle, if it is for the same request. A wrong request does not spoil it.
    pub(super) fn take(&self, state: &str, wanted: &Value) -> Option<Work> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.get(state)?.work.wanted != *wanted {
            return None;
        }
        places.remove(state).map(|place| place.work)
    }

    /// Nobody will come back.
    pub(super) fn give_up_all(&self) {
        let places = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for place in places.into_values() {
            place.work.running.cancellation.cancel();
        }
    }

    fn give_up(&self, state: &str) {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(state);
        if let Some(place) = place {
            place.work.running.cancellation.cancel();
        }
    }
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parked").finish_non_exhaustive()
    }
}

/// The same work on a task of its own, which ends when the work is dropped.
fn run_on(
    work: pinza_core::BoxFuture<'static, super::exchange::Answer>,
) -> pinza_core::BoxFuture<'static, super::exchange::Answer> {
    let task = AbortOnDropHandle::new(tokio::spawn(work));
    Box::pin(async move {
        task.await.unwrap_or_else(|error| Err(ErrorData::internal_error(error.to_string(), None)))
    })
}
