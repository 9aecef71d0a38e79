//! The operating system and the network on tools' behalf: jailed files, guarded HTTP,
//! supervised processes, encrypted variables.
//!
//! Everything here assumes that the tool, the model or the web page behind a request is
//! hostile; each module says what it defends and how.

pub mod files;
pub mod http;
pub mod process;
pub mod secrets;
