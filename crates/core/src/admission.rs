//! Hop 7 of a call: how many tools run at once, and which run alone.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit};

use crate::{error::ToolError, scope::CallScope};

/// Tools that run at the same time; more wait their turn.
const LIMIT: usize = 256;

#[derive(Debug)]
pub(crate) struct Admission {
    places: Semaphore,
    /// Shared by ordinary tools, held alone by exclusive ones. Tokio's lock is fair, so a
    /// stream of ordinary calls cannot keep an exclusive one out.
    floor: RwLock<()>,
}

/// A place on the floor, given back when dropped.
#[derive(Debug)]
#[expect(dead_code, reason = "held for its drop")]
pub(crate) enum Place<'a> {
    Shared(SemaphorePermit<'a>, RwLockReadGuard<'a, ()>),
    Alone(SemaphorePermit<'a>, RwLockWriteGuard<'a, ()>),
    /// A nested call stands where its parent stands; waiting for a place of its own could
    /// wait for the parent.
    Nested,
}

impl Default for Admission {
    fn default() -> Self {
        Self { places: Semaphore::new(LIMIT), floor: RwLock::new(()) }
    }
}

impl Admission {
    pub(crate) async fn enter(&self, exclusive: bool, scope: &CallScope) -> Result<Place<'_>, ToolError> {
        if scope.is_nested() {
            return Ok(Place::Nested);
        }
        tokio::select! {
            biased;
            place = self.wait(exclusive) => place,
            () = scope.cancellation.cancelled() => Err(ToolError::cancelled()),
        }
    }

    async fn wait(&self, exclusive: bool) -> Result<Place<'_>, ToolError> {
        // The semaphore is never closed; if it were, the program is ending.
        let place = self.places.acquire().await.map_err(|_| ToolError::cancelled())?;
        Ok(if exclusive {
            Place::Alone(place, self.floor.write().await)
        } else {
            Place::Shared(place, self.floor.read().await)
        })
    }
}
