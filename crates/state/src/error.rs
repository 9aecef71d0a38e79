//! Why the state could not be read or written.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("{path} was written by a newer Pinza (version {found} of its tables, this one knows {known})")]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("cannot open {path}: {reason}")]
    Open { path: PathBuf, reason: String },
    #[error("the state could not be read or written: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("the state holds something that cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    #[error("there is no session '{0}'")]
    NoSession(String),
    #[error("the session '{session}' is open in another Pinza (process {holder})")]
    Busy { session: String, holder: String },
    #[error("there is no memory {0}")]
    NoMemory(i64),
    #[error("the state could not be written: {0}")]
    Commit(String),
    #[error("the state is closed")]
    Closed,
}

impl StateError {
    /// What to do about it, where something can be done.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Newer { .. } => Some("Use the newer Pinza, or another home: --home DIR"),
            Self::Open { .. } => Some("Is the home on a disk that is full, or owned by somebody else?"),
            Self::NoSession(_) => Some("See what there is: pinza sessions list"),
            Self::Busy { .. } => Some(
                "Go on there, or end it first; another session is begun with another --session ID, or with none",
            ),
            Self::NoMemory(_) => Some("See what there is: pinza memory list"),
            Self::Sql(_) | Self::Json(_) | Self::Commit(_) | Self::Closed => None,
        }
    }
}
