//! Pinza as an MCP server: tools, skills and kept results, for any agent that speaks MCP.
//!
//! [`Served`] says what there is to serve; a [`Server`] made of it speaks both revisions
//! (2026-07-28 and 2025-11-25) over stdio and as an HTTP endpoint. It decides nothing about
//! tools: what is listed comes from a [`View`](pinza_core::View), what is called goes through
//! the engine.

mod answer;
mod approver;
mod brief;
mod call;
mod changes;
mod client;
mod connection;
mod exchange;
mod frames;
mod front;
mod handler;
mod http;
mod http_session;
mod listing;
mod memo;
mod params;
mod parked;
mod plain;
mod refused;
mod session;
mod skills;
mod source;
mod stdio;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use pinza_core::{CallId, Engine, PromptDesk, Rule, Selection, Snapshot, View};

pub use changes::Changes;
pub use client::{AskError, Client, LogLevel, Need, Question};
pub use front::{Front, KeepFront};
pub use http::{BODY_LIMIT, Endpoint};
pub use source::{
    PromptArgument, PromptInfo, PromptSource, PromptText, ResourceBody, ResourceInfo, ResourceSource,
    SourceError, TemplateInfo,
};
pub use stdio::StdioError;

use connection::{Connection, Transport};
use front::Late;
use handler::Handler;
use listing::Listings;
use parked::Parked;
use skills::SkillPrompts;

/// How much of the tools a client is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Core tools, and the means to find and reach the others.
    #[default]
    Groups,
    /// Only the means to find and reach tools.
    Search,
    /// Every tool.
    Full,
    /// Core tools, and those of loaded groups as they are loaded. As [`Groups`](Self::Groups)
    /// where there is no session that could remember what is loaded.
    Dynamic,
}

/// Writes down a rule that a person wants kept. From then on the engine's policy has it.
pub type Remember = Arc<dyn Fn(&Rule) -> Result<(), String> + Send + Sync>;

/// What there is to serve.
pub struct Served {
    pub version: String,
    pub engine: Arc<Engine>,
    /// The tools of this moment.
    pub snapshot: Arc<dyn Fn() -> Arc<Snapshot> + Send + Sync>,
    /// What clients may ever come to see.
    pub toolset: Arc<Selection>,
    pub exposure: Exposure,
    /// Answers for the client's user, who is asked otherwise.
    pub desk: Option<Arc<PromptDesk>>,
    /// Without it, "always" is not offered.
    pub remember: Option<Remember>,
    /// Beside skills.
    pub prompts: Vec<Arc<dyn PromptSource>>,
    pub resources: Vec<Arc<dyn ResourceSource>>,
    pub changes: Changes,
    /// Told what a client on stdio could be told at once the next time.
    pub keep_front: Option<KeepFront>,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("exposure", &self.exposure).finish_non_exhaustive()
    }
}

/// Serves. Cheap to clone; all clones share what they know.
#[derive(Clone, Debug)]
pub struct Server {
    late: Arc<Late>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    served: Served,
    parked: Parked,
    listings: Listings,
    /// Makes the ids of this server's calls differ from those of every other one.
    nonce: String,
    calls: AtomicU64,
}

/// What every call over MCP is called, so that results that it keeps can be told from others.
pub const CALL_PREFIX: &str = "mcp-";

impl Server {
    /// Fails only where the system has no randomness to give.
    pub fn new(served: Served) -> io::Result<Self> {
        let server = Self { late: Arc::new(Late::new(None, served.changes.clone())) };
        server.open(served)?;
        Ok(server)
    }

    /// A server that says what its front says, while what there is to serve is still being loaded.
    pub fn ahead(front: Front, changes: Changes) -> Self {
        Self { late: Arc::new(Late::new(Some(front), changes)) }
    }

    /// Waits until the front has said what it has to say. Loading before that would only be in its way.
    pub async fn wanted(&self) {
        self.late.wanted().await;
    }

    /// Hands in what there is to serve. A client that was told of other tools is told that they changed.
    pub fn open(&self, mut served: Served) -> io::Result<()> {
        let nonce = secret()?;
        served.prompts.insert(0, Arc::new(SkillPrompts::of(&served)));
        let (parked, listings, calls) = (Parked::default(), Listings::default(), AtomicU64::new(0));
        self.late.set(Arc::new(Shared { served, parked, listings, nonce, calls }));
        Ok(())
    }

    /// Ends calls that wait for a client to come back with answers: at the end of the server nobody will.
    pub fn abandon_waiting(&self) {
        if let Some(shared) = self.late.loaded() {
            shared.parked.give_up_all();
        }
    }

    fn handler(&self, transport: Transport) -> Handler {
        Handler::new(Arc::clone(&self.late), Connection::new(transport))
    }
}

impl Shared {
    /// What clients may ever use, now.
    fn view(&self, loading: pinza_core::Loading) -> View {
        let served = &self.served;
        let (snapshot, toolset) = ((served.snapshot)(), Arc::clone(&served.toolset));
        View { snapshot, policy: served.engine.policy(), toolset, loading, ceiling: None }
    }

    /// Nobody else's, and not to be guessed: the file of a kept result is named after it.
    fn next_call(&self) -> CallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        CallId::new(format!("{CALL_PREFIX}{}-{number}", &self.nonce[..16]))
    }
}

/// 128 bits that nobody can guess, as text.
fn secret() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(crate::hex(&bytes))
}
