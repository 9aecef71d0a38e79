//! Who calls, and what surrounds the call.

use std::{collections::HashSet, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    approval::PromptDesk,
    bounds::TextLimit,
    names::{Capability, ToolName},
    policy::Policy,
    registry::Snapshot,
    selection::Selection,
    tool::ProgressSink,
    view::{Loading, View},
};

/// The entry that a call came through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The embedding program.
    Library,
    Cli,
    Agent {
        session: String,
    },
    Mcp {
        client: String,
    },
    Web,
    Schedule {
        id: String,
    },
    /// Another tool, from inside its own call, so many calls deep.
    Tool {
        name: ToolName,
        depth: u8,
    },
}

impl std::fmt::Display for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Library => f.write_str("library"),
            Self::Cli => f.write_str("cli"),
            Self::Agent { .. } => f.write_str("agent"),
            Self::Mcp { client } => write!(f, "mcp:{client}"),
            Self::Web => f.write_str("web"),
            Self::Schedule { id } => write!(f, "schedule:{id}"),
            Self::Tool { name, .. } => write!(f, "tool:{name}"),
        }
    }
}

/// Which tools a caller sees.
#[derive(Clone, Debug)]
pub enum Visibility {
    /// Every enabled tool.
    All,
    /// An agent's tool set: core tools, loaded groups.
    Only(Arc<HashSet<ToolName>>),
}

impl Visibility {
    pub fn only(names: impl IntoIterator<Item = ToolName>) -> Self {
        Self::Only(Arc::new(names.into_iter().collect()))
    }

    pub fn sees(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

/// Everything about a call that is not the call itself. Cheap to clone.
#[derive(Clone)]
pub struct CallScope {
    pub caller: Caller,
    /// The conversation that this call is part of, and every call that it makes.
    pub session: Option<Arc<str>>,
    /// Pinned by the caller, so that what was shown is what runs.
    pub snapshot: Arc<Snapshot>,
    pub visibility: Visibility,
    /// What the caller may ever come to see.
    pub toolset: Arc<Selection>,
    pub loading: Loading,
    pub desk: Arc<PromptDesk>,
    /// The most that this call may use: the ceilings of the tools that it came through.
    pub ceiling: Option<Arc<[Capability]>>,
    pub cancellation: CancellationToken,
    pub progress: Option<Arc<dyn ProgressSink>>,
    pub text_limit: TextLimit,
}

impl CallScope {
    /// A caller that sees every tool and has nobody to ask.
    pub fn new(caller: Caller, snapshot: Arc<Snapshot>) -> Self {
        let session = match &caller {
            Caller::Agent { session } => Some(session.as_str().into()),
            _ => None,
        };
        Self {
            caller,
            session,
            snapshot,
            visibility: Visibility::All,
            toolset: Arc::default(),
            loading: Loading::default(),
            desk: Arc::new(PromptDesk::closed()),
            ceiling: None,
            cancellation: CancellationToken::new(),
            progress: None,
            text_limit: TextLimit::MODEL,
        }
    }

    /// What the caller may use, under a policy.
    pub fn view(&self, policy: Arc<Policy>) -> View {
        let (snapshot, toolset) = (Arc::clone(&self.snapshot), Arc::clone(&self.toolset));
        View { snapshot, policy, toolset, loading: self.loading, ceiling: self.ceiling.clone() }
    }

    /// How many calls surround this one.
    pub(crate) fn depth(&self) -> u8 {
        match self.caller {
            Caller::Tool { depth, .. } => depth,
            _ => 0,
        }
    }

    /// A call from inside a call already has its place.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self.caller, Caller::Tool { .. })
    }
}

impl std::fmt::Debug for CallScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallScope").field("caller", &self.caller).finish_non_exhaustive()
    }
}
