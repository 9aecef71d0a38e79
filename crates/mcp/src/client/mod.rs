//! Other MCP servers as groups of tools.
//!
//! An *upstream* is one configured server. Its tools come from what was seen of it last (`record`), so that thirteen
//! configured servers cost nothing until one is used; the first call starts it, or reaches it over HTTP, and waits
//! (`upstream`). What it then shows is compared with what was accepted, and a tool that changed is held until a person
//! has looked at it: a description is text that a model obeys.
//!
//! Everything that comes from a server is foreign: messages are bounded (`stdio`, `http`), its processes hang under a
//! supervisor with a clean environment, its questions reach a person or nobody (`question`), and its model requests are
//! refused.

mod awake;
mod call;
mod connection;
mod content;
mod credentials;
mod guarded;
mod handler;
mod http;
mod oauth;
mod question;
mod record;
mod redirect;
mod services;
mod shelf;
mod spec;
mod stdio;
mod tool;
mod unread;
mod upstream;
mod wire;

pub use connection::Facts;
pub use record::{Change, Face, Record, SeenTool};
pub use services::{Browser, NoVariables, Services, Variables, references};
pub use shelf::{Shelf, ShelfProblem, Upstreams};
pub use spec::{CALL_TIMEOUT, Launch, Origin, Restarts, Revision, START_TIMEOUT, SignIn, Spec, UpstreamName};
pub use upstream::{Contact, Standing, Upstream, UpstreamError};

/// The largest message that is taken from a server. A result of 16 MiB of text fits with its escapes.
const MESSAGE_LIMIT: usize = 32 << 20;
