//! This runtime as something to serve over MCP: its tools as they are at each moment, its approver's
//! place taken by the client's user, and results that were too long as resources.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use pinza_core::{BoxFuture, FsBridge, FsError, OUTPUT_LIMIT, PromptDesk, Selection};
use pinza_mcp::server::{
    CALL_PREFIX, Changes, Exposure, KeepFront, Remember, ResourceBody, ResourceInfo, ResourceSource, Served,
    SourceError,
};

use crate::Pinza;

/// Choices about what clients see and may do.
#[derive(Default)]
pub struct ServeOptions {
    pub exposure: Exposure,
    pub selection: Selection,
    /// Answers in the place of the clients' users.
    pub desk: Option<Arc<PromptDesk>>,
    /// Keeps the rules that they want kept.
    pub remember: Option<Remember>,
    /// Told of every reload.
    pub changes: Changes,
    /// Keeps what a client can be told at once the next time.
    pub keep_front: Option<KeepFront>,
}

impl std::fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServeOptions").field("exposure", &self.exposure).finish_non_exhaustive()
    }
}

impl Pinza {
    /// What a [`Server`](pinza_mcp::server::Server) serves.
    pub fn served(&self, options: ServeOptions) -> Served {
        let runtime = self.clone();
        let kept = self.files().map(|files| Arc::new(KeptResults::new(files)) as Arc<dyn ResourceSource>);
        Served {
            version: env!("CARGO_PKG_VERSION").into(),
            engine: Arc::clone(self.engine()),
            snapshot: Arc::new(move || runtime.snapshot()),
            toolset: Arc::new(options.selection),
            exposure: options.exposure,
            desk: options.desk,
            remember: options.remember,
            prompts: Vec::new(),
            resources: kept.into_iter().collect(),
            changes: options.changes,
            keep_front: options.keep_front,
        }
    }
}

/// Where the engine keeps texts that are too long, in the workspace.
const DIRECTORY: &str = ".pinza/out";
const SCHEME: &str = "pinza://out/";
/// So many of the last ones are listed; all can be read.
const LISTED: usize = 200;

/// Results of calls over MCP that were too long to be sent. Only those: what other callers kept
/// is not this client's.
struct KeptResults {
    files: Arc<dyn FsBridge>,
    listed: Mutex<VecDeque<ResourceInfo>>,
}

impl KeptResults {
    fn new(files: Arc<dyn FsBridge>) -> Self {
        Self { files, listed: Mutex::default() }
    }
}

impl ResourceSource for KeptResults {
    fn list(&self) -> BoxFuture<'_, Vec<ResourceInfo>> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        Box::pin(std::future::ready(listed))
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<ResourceBody, SourceError>> {
        Box::pin(async move {
            let name = uri.strip_prefix(SCHEME).filter(|name| is_kept(name)).ok_or(SourceError::NotFound)?;
            let path = format!("{DIRECTORY}/{name}");
            let bytes = self.files.read(&path, OUTPUT_LIMIT as u64).await.map_err(|error| match error {
                FsError::NotFound => SourceError::NotFound,
                error => SourceError::Failed(error.to_string()),
            })?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(ResourceBody::Text { mime_type: "text/plain".into(), text })
        })
    }

    fn kept_by<'a>(&'a self, call: &'a str) -> BoxFuture<'a, Option<ResourceInfo>> {
        Box::pin(async move {
            let name = format!("{call}.txt");
            let stat = self.files.stat(&format!("{DIRECTORY}/{name}")).await.ok()??;
            let info = ResourceInfo {
                uri: format!("{SCHEME}{name}"),
                name,
                description: "The whole text of a result that was too long".into(),
                mime_type: Some("text/plain".into()),
                size: Some(stat.size),
            };
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            listed.truncate(LISTED - 1);
            listed.push_front(info.clone());
            Some(info)
        })
    }
}

/// A plain name of a result that was kept for a call over MCP.
fn is_kept(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    name.strip_suffix(".txt").is_some_and(|call| call.starts_with(CALL_PREFIX) && call.chars().all(plain))
}
