//! That lists have changed: told by whoever changes them, heard by every open connection.
//!
//! Only the fact travels. A client that hears of it asks for the list, so nothing is lost when
//! several changes are heard of as one.

use std::sync::Arc;

use tokio::sync::watch;

/// Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Changes {
    generations: Arc<watch::Sender<Generations>>,
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
        Self { generations: Arc::new(watch::Sender::new(Generations::default())) }
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

    /// Hears of changes from now on.
    pub(super) fn listen(&self) -> Heard {
        let incoming = self.generations.subscribe();
        let seen = *incoming.borrow();
        Heard { incoming, seen }
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self::new()
    }
}

/// One listener's place among the changes.
pub(super) struct Heard {
    incoming: watch::Receiver<Generations>,
    seen: Generations,
}

/// Which lists are others than before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changed {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl Heard {
    /// Waits for the next change; `None` when there can be none any more.
    pub(super) async fn next(&mut self) -> Option<Changed> {
        self.incoming.changed().await.ok()?;
        let now = *self.incoming.borrow_and_update();
        let changed = Changed {
            tools: now.tools != self.seen.tools,
            prompts: now.prompts != self.seen.prompts,
            resources: now.resources != self.seen.resources,
        };
        self.seen = now;
        Some(changed)
    }
}
