//! That lists have changed: told by whoever changes them, heard by every open connection.
//!
//! Only the fact travels. A client that hears of it asks for the list, so nothing is lost when
//! several changes are heard of as one.

use std::sync::Arc;

use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

/// Resources that a listener has not heard of yet. One that is so far behind hears of the others.
const UNHEARD: usize = 256;

/// Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Changes {
    generations: Arc<watch::Sender<Generations>>,
    resources: broadcast::Sender<Arc<str>>,
}

/// How often each list has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Generations {
    pub(super) tools: u64,
    pub(super) prompts: u64,
    pub(super) resources: u64,
}

impl Changes {
    pub fn new() -> Self {
        let generations = Arc::new(watch::Sender::new(Generations::default()));
        Self { generations, resources: broadcast::Sender::new(UNHEARD) }
    }

    pub fn tools(&self) {
        self.generations.send_modify(|now| now.tools += 1);
    }

    pub fn prompts(&self) {
        self.generations.send_modify(|now| now.prompts += 1);
    }

    pub fn resources(&self) {
        self.generations.send_modify(|now| now.resources += 1);
    }

    /// This resource is another one than it was.
    pub fn resource(&self, uri: &str) {
        // Nobody may be listening.
        let _ = self.resources.send(uri.into());
    }

    /// Hears of changes from now on.
    pub(super) fn listen(&self) -> Heard {
        let lists = self.generations.subscribe();
        let seen = *lists.borrow();
        Heard { lists, seen, resources: self.resources.subscribe() }
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self::new()
    }
}

/// One listener's place among the changes.
pub(super) struct Heard {
    lists: watch::Receiver<Generations>,
    seen: Generations,
    resources: broadcast::Receiver<Arc<str>>,
}

/// What is other than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Lists { tools: bool, prompts: bool, resources: bool },
    Resource(Arc<str>),
}

impl Heard {
    /// Waits for the next change; `None` when there can be none any more.
    pub(super) async fn next(&mut self) -> Option<Change> {
        loop {
            tokio::select! {
                changed = self.lists.changed() => {
                    changed.ok()?;
                    let now = *self.lists.borrow_and_update();
                    let before = std::mem::replace(&mut self.seen, now);
                    return Some(Change::Lists {
                        tools: now.tools != before.tools,
                        prompts: now.prompts != before.prompts,
                        resources: now.resources != before.resources,
                    });
                }
                uri = self.resources.recv() => match uri {
                    Ok(uri) => return Some(Change::Resource(uri)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }
}
