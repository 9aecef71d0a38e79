//! What happens at run time, kept in SQLite: sessions and their messages, the journal of calls,
//! memory. The only crate that knows SQL.
//!
//! What is acknowledged survives `kill -9`: a durable write is answered after its commit, and
//! commits of several callers are grouped. The journal of finished calls is written behind their
//! backs, because a call of twenty microseconds must not wait for a disk.

// The way to the file: one writer, readers beside it.
mod error;
mod instance;
mod migrations;
mod store;
mod writer;

// What is kept.
mod calls;
mod history;
mod hold;
mod memory;
mod requests;
mod sessions;

mod journal;

pub use calls::{Call, CallFilter, CallStatus};
pub use error::StateError;
pub use history::{Found, FoundIn};
pub use hold::SessionHold;
pub use journal::{Journal, Keep, Redact};
pub use memory::Memory;
pub use requests::{NewPiece, NewRequest, Piece, Request};
pub use sessions::{Message, NewMessage, Session, SessionChange};
pub use store::Store;
