//! What factories know when they make tools: for whom, where, and through which bridge.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use crate::fs::FsBridge;

/// Everything is optional: a factory that needs a missing field says so.
#[derive(Clone, Debug, Default)]
pub struct ToolContext {
    pub config: Option<Value>,
    pub workspace_dir: Option<PathBuf>,
    pub agent_dir: Option<PathBuf>,
    pub agent_id: Option<String>,
    pub session_key: Option<String>,
    pub message_channel: Option<String>,
    pub agent_account_id: Option<String>,
    pub sandboxed: bool,
    /// The root of file tools; the workspace where nothing else is said.
    pub root: Option<PathBuf>,
    pub bridge: Option<Arc<dyn FsBridge>>,
}

/// A field that a factory needs and the context does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the context has no '{field}'")]
pub struct MissingField {
    pub field: &'static str,
}

/// The field's value, or the reason why a factory makes nothing.
pub fn need<'a, T>(value: &'a Option<T>, field: &'static str) -> Result<&'a T, MissingField> {
    value.as_ref().ok_or(MissingField { field })
}
