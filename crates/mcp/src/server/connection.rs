//! What one client has of this server beyond single requests: its desk, the groups it loaded,
//! the level of its log. A stateless request has a connection of its own, which ends with it.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use pinza_core::{CallId, Effect, GroupName, PromptDesk, View};
use rmcp::{RoleServer, service::Peer};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::task::AbortOnDropHandle;

use super::{
    Served,
    approver::{ClientApprover, Holds},
    client::{Client, LogLevel, Need},
    exchange::Who,
};

/// How the client is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Stdio,
    Http,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) transport: Transport,
    /// Whose session it is, since its first call.
    pub(super) known: OnceLock<Arc<Known>>,
    /// Whether the client has said who it is once more since then. It may be another one.
    pub(super) begun_anew: AtomicBool,
    /// Made when it is first asked for: requests without sessions need none.
    session: OnceLock<Option<Arc<str>>>,
    /// Shows one prompt at a time and remembers answers, for as long as there is a session.
    session_desk: OnceLock<Arc<PromptDesk>>,
    pub(super) callers: Callers,
    /// Std locks, held for a look-up and never across an await.
    loaded: Mutex<Vec<GroupName>>,
    log_level: Mutex<LogLevel>,
    subscribed: Mutex<HashSet<String>>,
    /// Whether groups were loaded that the client has not been told of.
    grown: AtomicBool,
    /// Made for the first subscription: other clients are told in other ways, or not at all.
    growth: OnceLock<watch::Sender<()>>,
    /// Tells the client of changes; ends with the connection.
    listening: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// The client of a session, and the way to it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) peer: Peer<RoleServer>,
    pub(super) who: Who,
}

impl Connection {
    pub(super) fn new(transport: Transport) -> Arc<Self> {
        Arc::new(Self {
            transport,
            known: OnceLock::new(),
            begun_anew: AtomicBool::new(false),
            session: OnceLock::new(),
            session_desk: OnceLock::new(),
            callers: Callers::default(),
            loaded: Mutex::default(),
            log_level: Mutex::new(LogLevel::Info),
            subscribed: Mutex::default(),
            grown: AtomicBool::new(false),
            growth: OnceLock::new(),
            listening: Mutex::default(),
        })
    }

    /// The session that calls of this client are noted under. Not the one of its requests: whoever knows that one
    /// can speak for the client.
    pub(super) fn session(&self) -> Option<Arc<str>> {
        let made = || getrandom::u64().ok().map(|random| format!("mcp-{random:016x}").into());
        self.session.get_or_init(made).clone()
    }

    /// Where a call of this client asks.
    pub(super) fn desk(&self, served: &Served, client: &Client, holds: Holds) -> Arc<PromptDesk> {
        match (&served.desk, holds) {
            (Some(desk), _) => Arc::clone(desk),
            (None, _) if !client.can(Need::Form) => Arc::new(PromptDesk::closed()),
            (None, Holds::Session) => {
                Arc::clone(self.session_desk.get_or_init(|| desk(&self.callers, served, holds)))
            }
            // A call that waits for its client to come back keeps no other one from asking.
            (None, Holds::Call) => desk(&self.callers, served, holds),
        }
    }

    /// The groups that were loaded here, in this order.
    pub(super) fn loaded(&self) -> Vec<GroupName> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in what a call changed.
    pub(super) fn apply(&self, effects: &[Effect], view: &View) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        for Effect::ActivateGroup { group } in effects {
            let is_there = view.group_tools(group.as_str()).next().is_some();
            if is_there && !loaded.contains(group) {
                loaded.push(group.clone());
                self.grown.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Whether other tools are visible than the client knows of; it is told now.
    pub(super) fn take_grown(&self) -> bool {
        self.grown.swap(false, Ordering::Relaxed)
    }

    /// Hears of every group that is loaded here from now on.
    pub(super) fn listen_to_growth(&self) -> watch::Receiver<()> {
        self.growth.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    /// Tells subscriptions that other tools are visible.
    pub(super) fn tell_growth(&self) {
        if let Some(growth) = self.growth.get() {
            growth.send_replace(());
        }
    }

    pub(super) fn keep_listening(&self, task: JoinHandle<()>) {
        let task = AbortOnDropHandle::new(task);
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    pub(super) fn log_level(&self) -> LogLevel {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }

    pub(super) fn subscribe(&self, uri: String) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(super) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

fn desk(callers: &Callers, served: &Served, holds: Holds) -> Arc<PromptDesk> {
    let approver = ClientApprover { callers: callers.clone(), remember: served.remember.clone(), holds };
    Arc::new(PromptDesk::new(Arc::new(approver)))
}

/// Which client each running call is for: a prompt names its call and nothing else.
#[derive(Clone, Debug, Default)]
pub(super) struct Callers(Arc<Mutex<HashMap<CallId, Client>>>);

impl Callers {
    /// Known until the guard is dropped.
    pub(super) fn enter(&self, call: CallId, client: Client) -> Calling {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), client);
        Calling { callers: self.clone(), call }
    }

    /// A call inside a call has its id after that call's, behind a dot.
    pub(super) fn of(&self, call: &CallId) -> Option<Client> {
        let outermost = call.as_str().split('.').next().unwrap_or_default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&CallId::new(outermost)).cloned()
    }
}

pub(super) struct Calling {
    callers: Callers,
    call: CallId,
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.callers.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call);
    }
}
