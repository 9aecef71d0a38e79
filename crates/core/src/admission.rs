//! Hop 7 of a call: how many tools run at once, and which run alone.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{error::ToolError, scope::CallScope};

/// Tools that run at the same time; more wait their turn.
const LIMIT: u32 = 256;

#[derive(Debug)]
pub(crate) struct Admission {
    /// An ordinary tool takes one place, an exclusive one takes them all. Tokio's semaphore
    /// is fair, so a stream of ordinary calls cannot keep an exclusive one out.
    places: Semaphore,
}

impl Default for Admission {
    fn default() -> Self {
        Self { places: Semaphore::new(LIMIT as usize) }
    }
}

impl Admission {
    /// A place, given back when dropped. `None` for a nested call: it stands where its parent
    /// stands, and waiting for a place of its own could mean waiting for the parent.
    pub(crate) async fn enter(
        &self,
        exclusive: bool,
        scope: &CallScope,
    ) -> Result<Option<SemaphorePermit<'_>>, ToolError> {
        if scope.is_nested() {
            return Ok(None);
        }
        let places = if exclusive { LIMIT } else { 1 };
        tokio::select! {
            biased;
            // The semaphore is never closed; if it were, the program is ending.
            place = self.places.acquire_many(places) => place.map(Some).map_err(|_| ToolError::cancelled()),
            () = scope.cancellation.cancelled() => Err(ToolError::cancelled()),
        }
    }
}
