//! What a client on stdio is told before everything is loaded: who serves, and the list of tools, as they were written
//! the last time.
//!
//! Whoever keeps a front sees to it that nothing has changed since. Everything is loaded all the same, and if the
//! tools turn out to be others, the client is told so; all that is not in the front waits until then.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rmcp::model::ServerConfig;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, SetOnce};

use super::{Changes, Shared, handler, listing::Listing};

/// Keeps a front for the next start.
pub type KeepFront = Arc<dyn Fn(&Front) + Send + Sync>;

#[derive(Clone, Debug)]
pub struct Front {
    head: Head,
    /// The head, and the list of tools as the protocol's own code wrote it.
    bytes: Arc<Vec<u8>>,
    /// Where it begins among them.
    start: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    info: ServerConfig,
    /// What the list is an answer to.
    asked: Params,
    /// The listing behind it.
    listing: String,
    /// How long the list is, so that one that was cut is none.
    length: usize,
}

/// What the answer to a request for the list depends on, beside the tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Params {
    /// Agreed upon with the client; `None` where every request names its own.
    pub(super) revision: Option<String>,
    pub(super) params: Option<Box<str>>,
}

impl Front {
    pub(super) fn new(shared: &Shared, listing: &Listing, asked: &Params, result: &[u8]) -> Self {
        let (info, listing) = (handler::info(shared), digest(listing));
        let head = Head { info, asked: asked.clone(), listing, length: result.len() };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(result);
        Self { head, bytes: Arc::new(bytes), start: 0 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// From whatever has [`bytes`](Self::bytes) from `start` on; `None` for anything else.
    pub fn from_bytes(bytes: Vec<u8>, start: usize) -> Option<Self> {
        let own = bytes.get(start..)?;
        let end = own.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(&own[..end]).ok()?;
        (head.length == own.len() - end - 1).then(|| Self { head, bytes: Arc::new(bytes), start })
    }

    fn answer_to(&self, asked: &Params) -> Option<&[u8]> {
        (self.head.asked == *asked).then(|| &self.bytes[self.bytes.len() - self.head.length..])
    }
}

/// What is served, as soon as it is loaded.
#[derive(Debug)]
pub(super) struct Late {
    shared: SetOnce<Arc<Shared>>,
    /// Told when a client wants more than the front has to say, or has heard it all.
    wanted: Notify,
    front: Option<Front>,
    /// Whether the front told of other tools than there are, and nobody was there yet to hear so.
    is_stale: AtomicBool,
    pub(super) changes: Changes,
}

impl Late {
    pub(super) fn new(front: Option<Front>, changes: Changes) -> Self {
        let is_stale = AtomicBool::new(false);
        Self { shared: SetOnce::new(), wanted: Notify::new(), front, is_stale, changes }
    }

    pub(super) fn set(&self, shared: Arc<Shared>) {
        let is_other = self
            .front
            .as_ref()
            .is_some_and(|front| front.head.listing != digest(&shared.listing(shared.served.exposure, &[])));
        // There is one who loads.
        let _ = self.shared.set(shared);
        if is_other {
            self.is_stale.store(true, Ordering::Release);
            self.changes.tools();
        }
    }

    /// Whether somebody who listens from now on has to be told that the tools are others.
    pub(super) fn takes_stale(&self) -> bool {
        self.is_stale.swap(false, Ordering::AcqRel)
    }

    /// Waits until it is there.
    pub(super) async fn shared(&self) -> &Arc<Shared> {
        match self.shared.get() {
            Some(shared) => shared,
            None => {
                self.wanted.notify_one();
                self.shared.wait().await
            }
        }
    }

    /// The list, if the front has it.
    pub(super) fn listed(&self, asked: &Params) -> Option<&[u8]> {
        self.front.as_ref()?.answer_to(asked)
    }

    /// The list is with the client.
    pub(super) fn has_listed(&self) {
        self.wanted.notify_one();
    }

    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    pub(super) fn loaded(&self) -> Option<&Arc<Shared>> {
        self.shared.get()
    }

    pub(super) fn info(&self) -> ServerConfig {
        match (self.loaded(), &self.front) {
            (Some(shared), _) => handler::info(shared),
            (None, Some(front)) => front.head.info.clone(),
            (None, None) => ServerConfig::default(),
        }
    }
}

fn digest(listing: &Listing) -> String {
    let text = serde_json::to_vec(&(&listing.instructions, &listing.tools)).unwrap_or_default();
    crate::hex(&Sha256::digest(&text))
}
