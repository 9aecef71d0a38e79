//! What can go wrong with the variable store, in plain words and with one way out.

use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error("'{0}' is not the name of a variable")]
    BadName(String),
    #[error("the variables' key is empty")]
    EmptyKey,
    #[error("the variables in '{}' are encrypted and the key file '{}' is missing", .store.display(), .key.display())]
    KeyMissing { store: PathBuf, key: PathBuf },
    #[error("the key file '{}' can be read by others (mode {mode:03o})", .path.display())]
    KeyExposed { path: PathBuf, mode: u32 },
    #[error("the key file '{}' does not hold a key", .path.display())]
    KeyUnreadable { path: PathBuf },
    #[error("the key does not open the variables: they were encrypted with another one")]
    WrongKey,
    #[error("the variables in '{}' were changed by something else than Pinza", .0.display())]
    Tampered(PathBuf),
    #[error("'{}' is not a variable store: {reason}", .path.display())]
    Garbage { path: PathBuf, reason: String },
    #[error("'{}' was written by a newer Pinza (version {version} of the format)", .path.display())]
    Newer { path: PathBuf, version: u64 },
    #[error("the variables would be larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("another process has been writing the variables for {seconds} s")]
    Busy { seconds: u64 },
    #[error("cannot encrypt or decrypt: {0}")]
    Crypto(String),
    #[error("cannot {verb} '{}': {source}", .path.display())]
    Io { verb: &'static str, path: PathBuf, source: io::Error },
}

impl SecretsError {
    /// The one thing to try next.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadName(_) => Some("Use letters, digits and underscores, and no digit first."),
            Self::EmptyKey => {
                Some("Give PINZA_KEY 64 hex digits or a passphrase, or unset it to use the key file.")
            }
            Self::KeyMissing { .. } => {
                Some("Put the key file back, or set PINZA_KEY to the key or passphrase that was used.")
            }
            Self::KeyExposed { .. } => {
                Some("Run chmod 600 on it; if others may have read it, change what it protects.")
            }
            Self::KeyUnreadable { .. } => Some("It should be 64 hex digits; put the right file back."),
            Self::WrongKey => Some("Use the key file or the PINZA_KEY that the variables were set with."),
            Self::Tampered(_) | Self::Garbage { .. } => {
                Some("Restore the file from a backup, or move it away and set the variables again.")
            }
            Self::Newer { .. } => Some("Update Pinza."),
            Self::TooLarge { .. } => Some("Keep large data in files."),
            Self::Busy { .. } => Some("Look for another Pinza that hangs."),
            Self::Crypto(_) | Self::Io { .. } => None,
        }
    }
}
